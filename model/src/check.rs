//! Checking: explores every model, checks every claim, and merges the results.

mod reach;

pub use reach::{ReachResult, reach};

use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::induction::InductionCounterexample;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::{KernelModel, initial_state, rename_ids};
use crate::scopes::{Model, Scope};
use crate::transition_counts::TransitionCounts;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_explorer::liveness::{self, Lasso, LivenessResult, Step};
use orchestrion_explorer::{
    Checkpoint, Exploration, ModelError, Options, Progress, ResumeError, Termination, step_at,
};
use orchestrion_kernel::{Event, Input, Policy, State, TimedInput};

/// One explored model.
#[derive(Clone, Debug)]
pub struct ModelRun {
    /// The name of the model.
    pub model: &'static str,
    /// The name of the scope.
    pub scope: String,
    /// The name of the policy.
    pub policy: String,
    /// The number of distinct kernel states.
    pub states: usize,
    /// The number of distinct products of state and history; less than twice as many.
    pub products: usize,
    /// The number of accepted inputs, and the initial state.
    pub steps: u64,
    /// The largest distance of a product from the initial state, in steps.
    pub depth: usize,
    /// How the exploration ended.
    pub ended: Termination,
    /// An upper bound of the probability that two products collided; 0 if whole states were compared.
    pub collision: f64,
    /// The number of distinct kernel states in which the context of the pending call is not proven optimal.
    pub unproven_contexts: usize,
    /// The result of each claim, in the order of [`CLAIMS`].
    pub found: Vec<ClaimResult>,
    /// The depth of the first witness of each observation, by [`Observation::index`].
    pub first_depths: Vec<Option<usize>>,
}

impl ModelRun {
    /// Whether every state was expanded.
    #[must_use]
    pub const fn is_exhaustive(&self) -> bool {
        matches!(self.ended, Termination::Exhausted)
    }

    /// The depth of the first witness of an observation.
    #[must_use]
    pub fn first_depth(&self, mark: Observation) -> Option<usize> {
        self.first_depths.get(mark.index()).copied().flatten()
    }
}

/// The result of one claim in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimResult {
    /// Whether the claim's premise was reached.
    pub premise_reached: bool,
    /// A shortest counterexample.
    pub counterexample: Option<Counterexample>,
    /// A step from a well-formed state that violates the claim.
    pub induction: Option<Box<InductionCounterexample>>,
    /// Whether a liveness claim might be violated beyond a resource limit, or a claim about the optimum of contexts in a state
    /// whose context is not proven optimal.
    pub is_inconclusive: bool,
}

/// A path to a violation or to an observation, as inputs to a new conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The policy of the run, including the limits that a model sets.
    pub policy: Policy,
    /// The inputs. Those of a cycle occur twice.
    pub inputs: Vec<TimedInput>,
    /// The number of inputs before the cycle; `None` without a cycle.
    pub stem_len: Option<usize>,
    /// The transitions of the cycle; without a cycle, those of the last step.
    pub rows: Vec<&'static str>,
}

impl Counterexample {
    /// Converts a path in canonical ids into inputs that a new conversation accepts, and the state after them.
    pub(crate) fn of(kernel: &KernelUnderTest, inputs: &[Input], stem: Option<usize>) -> (Self, State) {
        let mut state: State = initial_state();
        let mut raw = Vec::with_capacity(inputs.len());
        let mut rows = Vec::new();
        let shown_from = stem.unwrap_or(inputs.len().saturating_sub(1));
        for (n, input) in inputs.iter().enumerate() {
            let timed = TimedInput::in_state(&state, rename_ids(input, &state));
            if let Ok(events) = kernel.decide(&state, &timed.input) {
                state = kernel.apply(&state, &events);
                rows.extend(events.iter().filter(|_| n >= shown_from).filter_map(row_id));
            }
            raw.push(timed);
        }
        (Self { policy: kernel.policy.clone(), inputs: raw, stem_len: stem, rows }, state)
    }

    /// The path of these inputs of a model, in canonical ids.
    #[must_use]
    pub fn from_inputs(kernel: &KernelModel, inputs: &[Input]) -> Self {
        Self::of(kernel.subject(), inputs, None).0
    }

    /// Whether it shows the finding of the claim, and not another defect that violates the claim too.
    #[must_use]
    pub fn is_of_finding(&self, claim: &Claim) -> bool {
        claim.finding_row.is_none_or(|row| self.rows.contains(&row))
    }

    /// The number of inputs of the cycle.
    #[must_use]
    pub fn cycle_len(&self) -> Option<usize> {
        self.stem_len.map(|stem| (self.inputs.len() - stem) / 2)
    }
}

fn row_id(event: &Event) -> Option<&'static str> {
    match event {
        Event::Transitioned { row } => Some(row.transition().id),
        _ => None,
    }
}

/// The verdict on one claim over all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The claim holds in every state and every fair run of every model.
    Holds,
    /// The claim fails. This is a shortest counterexample, of those that show the finding of the claim if one does.
    Fails {
        /// The position of the run.
        run: usize,
        /// The counterexample.
        counterexample: Box<Counterexample>,
    },
    /// No run reached the premise of the claim.
    Vacuous,
    /// No run violates the claim, but one hit a resource limit, or met a context that is not proven optimal.
    Inconclusive,
    /// No run violates the claim, but a step from a well-formed state of an enumeration does.
    NotInductive {
        /// The counterexample.
        counterexample: Box<InductionCounterexample>,
    },
    /// The claim was not checked, for this reason.
    NotChecked(&'static str),
}

impl Verdict {
    /// The name of the verdict.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails { .. } => "fails",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
            Self::NotInductive { .. } => "not_inductive",
            Self::NotChecked(_) => "not_checked",
        }
    }
}

/// Explores one model of a kernel and checks every claim. `progress` is called at most ten times a second.
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn explore(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ModelRun, ModelError> {
    let kernel =
        KernelModel::new(subject.clone(), model, scope).with_packing(options.limits.memory_bytes.is_some());
    let exploration = orchestrion_explorer::explore(&kernel, options, progress)?;
    run(&kernel, subject, model, scope, &exploration)
}

/// Explores as [`explore()`] does, writes checkpoints, and continues from the checkpoint if there is one.
///
/// # Errors
///
/// As [`explore()`], and if the checkpoint is damaged, belongs to another exploration or cannot be written.
pub fn explore_with_checkpoints(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    checkpoint: &Checkpoint,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ModelRun, ResumeError> {
    let kernel = KernelModel::new(subject.clone(), model, scope).with_packing(true);
    let exploration = orchestrion_explorer::explore_with_checkpoints(&kernel, options, checkpoint, progress)?;
    Ok(run(&kernel, subject, model, scope, &exploration)?)
}

/// Explores as [`explore()`] does, and counts states and steps by phase. Takes about twice the time.
///
/// # Errors
///
/// As [`explore()`].
pub fn explore_counting(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(ModelRun, TransitionCounts), ModelError> {
    let packs = options.limits.memory_bytes.is_some();
    let kernel = KernelModel::with_counts(subject.clone(), model, scope).with_packing(packs);
    let exploration = orchestrion_explorer::explore(&kernel, options, progress)?;
    let tally = kernel.tally();
    Ok((run(&kernel, subject, model, scope, &exploration)?, tally))
}

fn run(
    kernel: &KernelModel,
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    exploration: &Exploration,
) -> Result<ModelRun, ModelError> {
    let found = (0..CLAIMS.len()).map(|claim| claim_result(kernel, exploration, claim));
    let seen = (0..OBSERVATION_COUNT)
        .map(|mark| exploration.witness(mark).map(|witness| exploration.steps_to(witness)));
    Ok(ModelRun {
        model: model.name,
        scope: scope.name.to_string(),
        policy: subject.policy.name.clone(),
        found: found.collect::<Result<_, _>>()?,
        // After a resource limit, some observed states were not counted.
        states: kernel.states_seen().min(exploration.states()),
        unproven_contexts: kernel.unproven_contexts().min(exploration.states()),
        products: exploration.states(),
        steps: exploration.generated(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        collision: exploration.collision_probability(),
        first_depths: seen.collect(),
    })
}

/// Returns the result of one claim.
pub(crate) fn claim_result(
    kernel: &KernelModel,
    explored: &Exploration,
    claim: usize,
) -> Result<ClaimResult, ModelError> {
    let premise_reached = explored.witness(Observation::Premise(claim).index()).is_some();
    let is_inconclusive =
        CLAIMS.get(claim).is_some_and(|claim| claim.needs_proven_contexts) && kernel.unproven_contexts() > 0;
    let found = ClaimResult { premise_reached, is_inconclusive, ..ClaimResult::default() };
    if let Some((number, property)) = kernel.liveness_property(claim) {
        return Ok(match liveness::check_property(explored, number, property) {
            LivenessResult::Holds => found,
            LivenessResult::Inconclusive { .. } => ClaimResult { is_inconclusive: true, ..found },
            LivenessResult::Violated(lasso) => {
                ClaimResult { counterexample: Some(of_lasso(kernel, &lasso)?), ..found }
            }
        });
    }
    let Some(witness) = explored.witness(Observation::Violation(claim).index()) else { return Ok(found) };
    let inputs = explored.path_to_witness(kernel, witness)?.into_actions();
    Ok(ClaimResult { counterexample: Some(Counterexample::of(kernel.subject(), &inputs, None).0), ..found })
}

/// Converts a lasso into its stem and two repetitions of its cycle.
fn of_lasso(kernel: &KernelModel, lasso: &Lasso) -> Result<Counterexample, ModelError> {
    let mut product = kernel.start();
    let mut inputs = Vec::new();
    let mut walk = |steps: &[Step]| {
        for step in steps {
            let Some((input, next)) = step_at(kernel, &product, step.position) else {
                return Err(ModelError::changed("take", "a step", "none", &product));
            };
            inputs.push(input);
            product = next;
        }
        Ok(product.clone())
    };
    let entry = walk(&lasso.stem)?;
    for _ in 0..2 {
        let again = walk(&lasso.cycle)?;
        if again != entry {
            return Err(ModelError::changed("take", "the state where the loop begins", "another", &again));
        }
    }
    let stem = (!lasso.cycle.is_empty()).then_some(lasso.stem.len());
    Ok(Counterexample::of(kernel.subject(), &inputs, stem).0)
}

/// Merges the runs of one policy, claim by claim, in the order of [`CLAIMS`].
#[must_use]
pub fn merge_verdicts(policy: &Policy, runs: &[ModelRun]) -> Vec<Verdict> {
    let of_claim = |(i, claim): (usize, &Claim)| {
        if let Some(why) = (claim.not_applicable)(policy) {
            return Verdict::NotChecked(why);
        }
        let found =
            || runs.iter().enumerate().filter_map(|(run, r)| r.found.get(i).map(|found| (run, found)));
        let shortest = found()
            .filter_map(|(run, found)| found.counterexample.as_ref().map(|way| (run, way)))
            .min_by_key(|(_, way)| (!way.is_of_finding(claim), way.inputs.len()));
        let of_induction = found()
            .find_map(|(_, found)| found.induction.clone().filter(|counterexample| counterexample.refutes));
        match (shortest, of_induction) {
            (Some((run, way)), _) => Verdict::Fails { run, counterexample: Box::new(way.clone()) },
            (None, Some(counterexample)) => Verdict::NotInductive { counterexample },
            (None, None)
                if runs.iter().any(|run| !run.is_exhaustive())
                    || found().any(|(_, found)| found.is_inconclusive) =>
            {
                Verdict::Inconclusive
            }
            (None, None) if found().any(|(_, found)| found.premise_reached) => Verdict::Holds,
            (None, None) => Verdict::Vacuous,
        }
    };
    CLAIMS.iter().enumerate().map(of_claim).collect()
}
