//! One run of a mutant.

use super::mutant::{Mutant, Part};
use crate::check;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::KernelModel;
use crate::scopes::{Bounds, Model, SMALL_COMPACTION, Scope, named};
use orchestrion_claims::{CLAIMS, ClaimCheck, Contract};
use orchestrion_explorer::{Exploration, ModelError, ObservationSet, Options, ResourceLimits, Termination};
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::module::Role;
use std::collections::BTreeMap;

/// A small scope at which most mutants are killed.
pub(super) const QUICK_SCOPE: Scope = named(
    "first",
    Bounds {
        requests: 1,
        tasks: 2,
        network_tasks: 1,
        workflow_tasks: 2,
        workflows: 1,
        parallel_tasks: 2,
        environment: [1, 0],
        local_failures: false,
        items: 2,
        facts_from: Phase::Round(Role::Security),
        compaction: SMALL_COMPACTION,
        context_tokens: 22,
    },
);

/// A mutant may have this multiple of the unmodified kernel's states before its run is given up.
const GROWTH: usize = 4;

/// The status of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantStatus {
    /// A claim detected the fault.
    Killed {
        /// The position of the claim in [`CLAIMS`].
        claim: usize,
        /// How the claim detected it.
        by: KillReason,
        /// The model.
        model: &'static str,
    },
    /// The mutant panicked.
    Panicked,
    /// The mutant behaves differently, and no claim detects it.
    Survived,
    /// The mutant behaves like the unmodified kernel in every model at this scope.
    Equivalent,
    /// The mutant has too many states, and no claim detected it so far.
    Inconclusive,
}

/// How a claim detected a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// A violation at this depth.
    Broken(usize),
    /// A liveness violation.
    Liveness,
    /// The claim became vacuous: its premise is never reached.
    Vacuous,
}

/// The behavior of the unmodified kernel at one scope, for comparison.
#[derive(Debug)]
pub(super) struct Baseline {
    scope: Scope,
    /// The models, the smallest first.
    models: Vec<Explored>,
    /// The claims that may detect a fault: those that the unmodified kernel satisfies, except two about code that no
    /// mutant changes.
    effective_claims: Vec<usize>,
}

#[derive(Debug)]
struct Explored {
    model: Model,
    states: usize,
    digest: u64,
    /// The scope before it gave the same behavior: the model does not depend on the scope, and a mutant is not explored again.
    is_repeated: bool,
    /// The observations that occurred, by [`Observation::index`].
    seen: Vec<bool>,
}

impl Explored {
    fn saw(&self, mark: Observation) -> bool {
        self.seen.get(mark.index()).copied().unwrap_or(false)
    }
}

impl Baseline {
    /// Explores the unmodified kernel in these models.
    pub(super) fn of(
        policy: &Policy,
        scope: Scope,
        models: &[Model],
        before: Option<&Self>,
    ) -> Result<Self, ModelError> {
        let mut explored_models = Vec::new();
        let mut deadly: Vec<usize> = (0..CLAIMS.len()).filter(|claim| !is_of_code(*claim)).collect();
        for &model in models {
            let kernel = KernelModel::with_digest(KernelUnderTest::unmodified(policy.clone()), model, &scope);
            let explored = orchestrion_explorer::explore(&kernel, &Options::default(), &mut |_| ())?;
            let seen = (0..OBSERVATION_COUNT).map(|mark| explored.witness(mark).is_some()).collect();
            // Counterexamples are replayed step by step, which the digest would count.
            let digest = kernel.digest();
            for claim in deadly.clone() {
                if check::claim_result(&kernel, &explored, claim)?.counterexample.is_some() {
                    deadly.retain(|kept| *kept != claim);
                }
            }
            let is_same = |other: &Explored| other.model == model && other.digest == digest;
            let is_repeated = before.is_some_and(|before| before.models.iter().any(is_same));
            explored_models.push(Explored { model, states: explored.states(), digest, is_repeated, seen });
        }
        explored_models.sort_by_key(|explored| explored.states);
        Ok(Self { scope, models: explored_models, effective_claims: deadly })
    }

    /// The models that explore faults of a part, the smallest first.
    fn of_part(&self, part: Part) -> impl Iterator<Item = &Explored> {
        self.models.iter().filter(move |explored| part.is_explored_in(&explored.model))
    }

    /// The claims that the unmodified kernel violates.
    pub(super) fn left_out(&self) -> Vec<usize> {
        (0..CLAIMS.len())
            .filter(|claim| !is_of_code(*claim) && !self.effective_claims.contains(claim))
            .collect()
    }
}

/// Runs a mutant at one scope after the other. The last one decides whether it differs from the unmodified kernel.
pub(super) fn try_out(mutant: &Mutant, baselines: &[Baseline]) -> Result<MutantStatus, ModelError> {
    let mut status = MutantStatus::Equivalent;
    let mut runs = BTreeMap::new();
    for baseline in baselines {
        status = at_scope(mutant, baseline, &mut runs)?;
        if matches!(status, MutantStatus::Killed { .. } | MutantStatus::Panicked) {
            break;
        }
    }
    Ok(status)
}

/// What the exploration of one model showed of a mutant that it did not kill.
#[derive(Clone, Debug)]
struct ModelRun {
    /// The mutant behaves like the unmodified kernel.
    is_same: bool,
    /// The exploration was given up.
    is_cut: bool,
    /// The claims whose premise was reached, by position.
    premises: Vec<bool>,
}

/// Runs a mutant at one scope. `runs` has the latest run of each model.
fn at_scope(
    mutant: &Mutant,
    baseline: &Baseline,
    runs: &mut BTreeMap<&'static str, ModelRun>,
) -> Result<MutantStatus, ModelError> {
    for real in baseline.of_part(mutant.part) {
        // Claims also probe unexpected inputs in every state. So a row changes nothing only if it is never enabled.
        let come_to = |row: usize| {
            let starts = |phase: &Phase| TRANSITIONS[row].from.contains(*phase);
            Phase::ALL.iter().filter(|phase| starts(phase)).any(|phase| real.saw(Observation::Phase(*phase)))
        };
        if mutant.row.is_some_and(|row| !come_to(row)) {
            let premises = (0..CLAIMS.len()).map(|claim| real.saw(Observation::Premise(claim))).collect();
            runs.insert(real.model.name, ModelRun { is_same: true, is_cut: false, premises });
            continue;
        }
        if real.is_repeated && runs.contains_key(real.model.name) {
            continue;
        }
        let kernel = KernelModel::with_digest(mutant.subject.clone(), real.model, &baseline.scope);
        let limits =
            ResourceLimits { states: Some(real.states.saturating_mul(GROWTH)), ..ResourceLimits::default() };
        let options = Options { limits, stop_at: baseline.marks(), ..Options::default() };
        let explored = match orchestrion_explorer::explore(&kernel, &options, &mut |_| ()) {
            Err(ModelError::Panicked { .. }) => return Ok(MutantStatus::Panicked),
            explored => explored?,
        };
        if let Some((claim, by)) = killer(&kernel, &explored, baseline)? {
            return Ok(MutantStatus::Killed { claim, by, model: real.model.name });
        }
        let reached = |claim| explored.witness(Observation::Premise(claim).index()).is_some();
        let run = ModelRun {
            is_same: kernel.digest() == real.digest,
            is_cut: explored.ended() != Termination::Exhausted,
            premises: (0..CLAIMS.len()).map(reached).collect(),
        };
        runs.insert(real.model.name, run);
    }
    let spoke =
        |claim: usize| baseline.of_part(mutant.part).any(|real| real.saw(Observation::Premise(claim)));
    let silenced = |claim: &&usize| spoke(**claim) && !runs.values().any(|run| run.premises[**claim]);
    Ok(match baseline.effective_claims.iter().find(silenced) {
        _ if runs.values().any(|run| run.is_cut) => MutantStatus::Inconclusive,
        Some(claim) => MutantStatus::Killed { claim: *claim, by: KillReason::Vacuous, model: "every" },
        None if runs.values().all(|run| run.is_same) => MutantStatus::Equivalent,
        None => MutantStatus::Survived,
    })
}

/// The first claim that an exploration violates and the unmodified kernel does not.
fn killer(
    kernel: &KernelModel,
    explored: &Exploration,
    baseline: &Baseline,
) -> Result<Option<(usize, KillReason)>, ModelError> {
    let witness = |claim: &usize| Some((*claim, explored.witness(Observation::Violation(*claim).index())?));
    if let Some((claim, witness)) = baseline.effective_claims.iter().find_map(witness) {
        return Ok(Some((claim, KillReason::Broken(explored.steps_to(witness)))));
    }
    for claim in baseline.effective_claims.iter().filter(|claim| kernel.liveness_property(**claim).is_some())
    {
        if check::claim_result(kernel, explored, *claim)?.counterexample.is_some() {
            return Ok(Some((*claim, KillReason::Liveness)));
        }
    }
    Ok(None)
}

impl Baseline {
    /// The observations of the claims that may detect a fault.
    fn marks(&self) -> ObservationSet {
        let mut marks = ObservationSet::empty(OBSERVATION_COUNT);
        self.effective_claims.iter().for_each(|claim| marks.insert(Observation::Violation(*claim).index()));
        marks
    }
}

/// Whether a claim is about code that no mutant changes.
fn is_of_code(claim: usize) -> bool {
    let of_code = |check: &ClaimCheck| {
        matches!(check, ClaimCheck::Contract(Contract::Deterministic | Contract::ReplaysFromLog))
    };
    CLAIMS.get(claim).is_some_and(|claim| of_code(&claim.check))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use orchestrion_kernel::module::Module;
    use orchestrion_kernel::{Event, Events, State};

    /// A baseline of two models, which reach what the mutants below change.
    fn baseline(policy: &Policy) -> Baseline {
        let models = ["debate", "lifecycle"].map(|name| Model::from_name(name).unwrap());
        Baseline::of(policy, QUICK_SCOPE, &models, None).unwrap()
    }

    /// Returns the status of a mutant of a policy, given the policy's baseline.
    fn status(policy: &Policy, baseline: &[Baseline], spoil: fn(&State, &mut Events)) -> MutantStatus {
        let subject =
            KernelUnderTest { mutate_events: Some(spoil), ..KernelUnderTest::unmodified(policy.clone()) };
        let mutant =
            Mutant { location: String::new(), fault: String::new(), subject, row: None, part: Part::Core };
        try_out(&mutant, baseline).unwrap()
    }

    #[test]
    fn mutant_is_killed_survives_or_is_equivalent() {
        let hardened = Policy::hardened();
        let baseline = [baseline(&hardened)];
        assert!(matches!(
            status(&hardened, &baseline, |_, events| events
                .retain(|event| !matches!(event, Event::AuditRecorded { .. }))),
            MutantStatus::Killed { .. }
        ));
        // No claim reads the module of a failure, which is that of the call.
        let falsify = |_: &State, events: &mut Events| {
            for event in events {
                if let Event::CallFailed { module, .. } = event {
                    *module = Module::Auditor;
                }
            }
        };
        assert_eq!(status(&hardened, &baseline, falsify), MutantStatus::Survived);
        assert_eq!(status(&hardened, &baseline, |_, _| ()), MutantStatus::Equivalent);
    }

    #[test]
    fn failing_claim_kills_no_mutant() {
        let drawn = Policy::as_drawn();
        let baseline = baseline(&drawn);
        let left_out = baseline.left_out();
        assert_eq!(status(&drawn, &[baseline], |_, _| ()), MutantStatus::Equivalent);
        let left_out: Vec<&str> = left_out.into_iter().map(|claim| CLAIMS[claim].id).collect();
        assert!(left_out.contains(&"C-01") && left_out.contains(&"C-06"), "{left_out:?}");
    }
}
