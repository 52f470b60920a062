//! One mutant on trial: do the claims notice?

use super::Mutant;
use crate::check;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::KernelModel;
use crate::scopes::{MODELS, Model, Scope};
use orchestrion_claims::{CLAIMS, ClaimCheck, Contract};
use orchestrion_explorer::{Exploration, ModelError, ObservationSet, Options, ResourceLimits, Termination};
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;

/// A mutant may have so many times the states of the real kernel before it is given up.
const GROWTH: usize = 4;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantStatus {
    /// A claim noticed.
    Killed {
        /// Which, by its place in [`CLAIMS`].
        claim: usize,
        /// How.
        by: KillReason,
        /// In which model.
        model: &'static str,
    },
    /// The kernel panicked.
    Panicked,
    /// It does something else than the kernel, and no claim notices.
    Survived,
    /// In every model it does exactly what the kernel does, as far as the scope goes.
    Equivalent,
    /// It grew without end, and no claim noticed so far.
    Inconclusive,
}

/// How a claim noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It is broken, so many steps away.
    Broken(usize),
    /// It is broken by a run that never ends as it should.
    Liveness,
    /// It has nothing to say any more: what it speaks of is never reached.
    Vacuous,
}

/// What the kernel itself does at one scope, to compare with.
#[derive(Debug)]
pub(super) struct Baseline {
    scope: Scope,
    /// The smallest model first.
    models: Vec<Explored>,
    /// The claims that may notice: those that the kernel itself keeps, but for two on its code, which no mutant here touches.
    effective_claims: Vec<usize>,
}

#[derive(Debug)]
struct Explored {
    model: Model,
    states: usize,
    digest: u64,
    /// What was seen, by [`Mark::number`].
    seen: Vec<bool>,
}

impl Explored {
    fn saw(&self, mark: Observation) -> bool {
        self.seen.get(mark.index()).copied().unwrap_or(false)
    }
}

impl Baseline {
    /// Explores the kernel itself.
    pub(super) fn of(policy: &Policy, scope: Scope) -> Result<Self, ModelError> {
        let mut models = Vec::new();
        let mut deadly: Vec<usize> = (0..CLAIMS.len()).filter(|claim| !is_of_code(*claim)).collect();
        for model in MODELS {
            let kernel = KernelModel::with_digest(KernelUnderTest::unmodified(policy.clone()), model, &scope);
            let explored = orchestrion_explorer::explore(&kernel, &Options::default(), &mut |_| ())?;
            let seen = (0..OBSERVATION_COUNT).map(|mark| explored.witness(mark).is_some()).collect();
            // Counterexamples are taken again step by step, which the digest would count.
            let digest = kernel.digest();
            for claim in deadly.clone() {
                if check::claim_result(&kernel, &explored, claim)?.counterexample.is_some() {
                    deadly.retain(|kept| *kept != claim);
                }
            }
            models.push(Explored { model, states: explored.states(), digest, seen });
        }
        models.sort_by_key(|explored| explored.states);
        Ok(Self { scope, models, effective_claims: deadly })
    }

    /// The claims that the kernel breaks without a fault, so that they tell nothing of mutants.
    pub(super) fn left_out(&self) -> Vec<usize> {
        (0..CLAIMS.len())
            .filter(|claim| !is_of_code(*claim) && !self.effective_claims.contains(claim))
            .collect()
    }
}

/// Tries a mutant at one scope after the other; the last one decides whether it does anything else than the kernel.
pub(super) fn try_out(mutant: &Mutant, baselines: &[Baseline]) -> Result<MutantStatus, ModelError> {
    let mut fate = MutantStatus::Equivalent;
    for baseline in baselines {
        fate = at_scope(mutant, baseline)?;
        if matches!(fate, MutantStatus::Killed { .. } | MutantStatus::Panicked) {
            break;
        }
    }
    Ok(fate)
}

fn at_scope(mutant: &Mutant, baseline: &Baseline) -> Result<MutantStatus, ModelError> {
    let (mut same, mut cut) = (true, false);
    let mut premises = vec![false; CLAIMS.len()];
    for real in &baseline.models {
        // Claims also try inputs out of place, in every state: a row changes nothing only where it never fits.
        let fits = |row: usize, phase: usize| TRANSITIONS[row].from.contains(Phase::ALL[phase]);
        let come_to = |row| (0..Phase::ALL.len()).any(|at| real.saw(Observation::Phase(at)) && fits(row, at));
        if mutant.row.is_some_and(|row| !come_to(row)) {
            premises
                .iter_mut()
                .enumerate()
                .for_each(|(claim, there)| *there |= real.saw(Observation::Premise(claim)));
            continue;
        }
        let kernel = KernelModel::with_digest(mutant.subject.clone(), real.model, &baseline.scope);
        let budget =
            ResourceLimits { states: Some(real.states.saturating_mul(GROWTH)), ..ResourceLimits::default() };
        let options = Options { budget, stop_at: baseline.marks(), ..Options::default() };
        let explored = match orchestrion_explorer::explore(&kernel, &options, &mut |_| ()) {
            Err(ModelError::Panicked { .. }) => return Ok(MutantStatus::Panicked),
            explored => explored?,
        };
        if let Some((claim, by)) = killer(&kernel, &explored, baseline)? {
            return Ok(MutantStatus::Killed { claim, by, model: real.model.name });
        }
        cut |= explored.ended() != Termination::Exhausted;
        same &= kernel.digest() == real.digest;
        premises.iter_mut().enumerate().for_each(|(claim, there)| {
            *there |= explored.witness(Observation::Premise(claim).index()).is_some()
        });
    }
    let spoke = |claim: usize| baseline.models.iter().any(|real| real.saw(Observation::Premise(claim)));
    let silenced = |claim: &&usize| spoke(**claim) && !premises[**claim];
    Ok(match baseline.effective_claims.iter().find(silenced) {
        _ if cut => MutantStatus::Inconclusive,
        Some(claim) => MutantStatus::Killed { claim: *claim, by: KillReason::Vacuous, model: "every" },
        None if same => MutantStatus::Equivalent,
        None => MutantStatus::Survived,
    })
}

/// The first claim that an exploration breaks, and the kernel does not.
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
    /// The marks of the claims that may notice.
    fn marks(&self) -> ObservationSet {
        let mut marks = ObservationSet::empty(OBSERVATION_COUNT);
        self.effective_claims.iter().for_each(|claim| marks.insert(Observation::Violation(*claim).index()));
        marks
    }
}

/// Whether a claim is about code that no mutant here touches: it would hold, or tell of the harness.
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
    use crate::mutants::QUICK_SCOPE;
    use orchestrion_kernel::{Event, Events, State};

    fn fate(policy: &Policy, spoil: fn(&State, &mut Events)) -> MutantStatus {
        let subject =
            KernelUnderTest { mutate_events: Some(spoil), ..KernelUnderTest::unmodified(policy.clone()) };
        let mutant = Mutant { location: String::new(), fault: String::new(), subject, row: None };
        try_out(&mutant, &[Baseline::of(policy, QUICK_SCOPE).unwrap()]).unwrap()
    }

    #[test]
    fn a_mutant_dies_survives_or_changes_nothing() {
        let hardened = Policy::hardened();
        assert!(matches!(
            fate(&hardened, |_, events| events.retain(|event| !matches!(event, Event::AuditRecorded { .. }))),
            MutantStatus::Killed { .. }
        ));
        // No claim reads what the user is told.
        let falsify = |_: &State, events: &mut Events| {
            for event in events {
                if let Event::FinalAnswer { text, .. } = event {
                    *text = "?".into();
                }
            }
        };
        assert_eq!(fate(&hardened, falsify), MutantStatus::Survived);
        assert_eq!(fate(&hardened, |_, _| ()), MutantStatus::Equivalent);
    }

    #[test]
    fn a_claim_that_fails_anyway_kills_nothing() {
        let drawn = Policy::as_drawn();
        assert_eq!(fate(&drawn, |_, _| ()), MutantStatus::Equivalent);
        let left_out = Baseline::of(&drawn, QUICK_SCOPE).unwrap().left_out();
        let left_out: Vec<&str> = left_out.into_iter().map(|claim| CLAIMS[claim].id).collect();
        assert!(left_out.contains(&"C-01") && left_out.contains(&"C-03"), "{left_out:?}");
    }
}
