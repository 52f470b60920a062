//! Checking: explore every model, hold every claim against everything reached, and say what was found.

mod reach;

pub use reach::{ReachResult, reach};

use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::{KernelModel, initial_state, rename_ids};
use crate::scopes::{Model, Scope};
use crate::transition_counts::TransitionCounts;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_explorer::liveness::{self, Lasso, LivenessResult, Step};
use orchestrion_explorer::{Exploration, ModelError, Options, Progress, Termination, step_at};
use orchestrion_kernel::{Input, Policy, State};

/// One explored model.
#[derive(Clone, Debug)]
pub struct ModelRun {
    /// The model's name.
    pub model: &'static str,
    /// The scope's name.
    pub scope: &'static str,
    /// The policy's name.
    pub policy: String,
    /// Different kernel states.
    pub states: usize,
    /// Different products of state and history; less than twice as many.
    pub products: usize,
    /// Steps that the kernel took, and the start.
    pub steps: u64,
    /// The most steps that any product is away from the start.
    pub depth: usize,
    /// Whether everything was explored, or what cut the exploration short.
    pub ended: Termination,
    /// How likely it is at most that two products were taken for one; 0 where whole states were compared.
    pub collision: f64,
    /// What each claim came to, in the order of [`CLAIMS`].
    pub found: Vec<ClaimResult>,
    /// How many steps away each mark was first seen, by [`Mark::number`].
    pub first_depths: Vec<Option<usize>>,
}

impl ModelRun {
    /// Whether everything was explored.
    #[must_use]
    pub const fn is_exhaustive(&self) -> bool {
        matches!(self.ended, Termination::Exhausted)
    }

    /// How many steps away a mark was first seen, if it was.
    #[must_use]
    pub fn first_depth(&self, mark: Observation) -> Option<usize> {
        self.first_depths.get(mark.index()).copied().flatten()
    }
}

/// What one run found out about one claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimResult {
    /// The claim's premise was reached.
    pub premise_reached: bool,
    /// A shortest way to break it.
    pub counterexample: Option<Counterexample>,
    /// A liveness claim that might be broken behind what was cut off.
    pub is_inconclusive: bool,
}

/// A way to break a claim, or to reach a mark, as inputs to a fresh conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The policy that it was found under; where a model puts limits of its own in the place of a policy's, with these.
    pub policy: Policy,
    /// The inputs. Those of a loop come twice.
    pub inputs: Vec<Input>,
    /// Where the loop begins that the run goes round for ever: so many inputs come before it.
    pub stem_len: Option<usize>,
}

impl Counterexample {
    /// A way in canonical names, as inputs that a fresh conversation takes one after the other, and the state that they
    /// lead to.
    fn of(kernel: &KernelModel, inputs: &[Input], stem: Option<usize>) -> (Self, State) {
        let mut state: State = initial_state();
        let mut raw = Vec::with_capacity(inputs.len());
        for input in inputs {
            let input = rename_ids(input, &state);
            if let Ok(events) = kernel.subject().decide(&state, &input) {
                state = kernel.subject().apply(&state, &events);
            }
            raw.push(input);
        }
        (Self { policy: kernel.subject().policy.clone(), inputs: raw, stem_len: stem }, state)
    }

    /// How many inputs the loop has.
    #[must_use]
    pub fn cycle_len(&self) -> Option<usize> {
        self.stem_len.map(|stem| (self.inputs.len() - stem) / 2)
    }
}

/// What all runs together say of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In every state and every fair run, of every model.
    Holds,
    /// Not: here is a shortest way to break it.
    Fails {
        /// The position of the run that found it.
        run: usize,
        /// The way.
        counterexample: Counterexample,
    },
    /// No run came where it has something to say.
    Vacuous,
    /// No run broke it, but one was cut short.
    Inconclusive,
    /// It was not checked, and why.
    NotChecked(&'static str),
}

impl Verdict {
    /// The verdict in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails { .. } => "fails",
            Self::Vacuous => "vacuous",
            Self::Inconclusive => "inconclusive",
            Self::NotChecked(_) => "not_checked",
        }
    }
}

/// Explores one model of a kernel and holds every claim against it. `progress` is told, now and then, how far it is.
///
/// # Errors
/// A [`ModelError`] if the model does not behave as one: never a verdict then.
pub fn explore(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ModelRun, ModelError> {
    let kernel =
        KernelModel::new(subject.clone(), model, scope).with_packing(options.budget.memory.is_some());
    let exploration = orchestrion_explorer::explore(&kernel, options, progress)?;
    run(&kernel, subject, model, scope, &exploration)
}

/// The same, with the states and steps counted by control state; at about twice the time.
///
/// # Errors
/// As [`explore()`].
pub fn explore_counting(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(ModelRun, TransitionCounts), ModelError> {
    let packs = options.budget.memory.is_some();
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
        scope: scope.name,
        policy: subject.policy.name.clone(),
        found: found.collect::<Result<_, _>>()?,
        // Where it was cut short, some states were seen ahead of what was counted.
        states: kernel.states_seen().min(exploration.states()),
        products: exploration.states(),
        steps: exploration.generated(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        collision: exploration.collision_probability(),
        first_depths: seen.collect(),
    })
}

/// What an exploration found out about a claim.
pub(crate) fn claim_result(
    kernel: &KernelModel,
    explored: &Exploration,
    claim: usize,
) -> Result<ClaimResult, ModelError> {
    let premise_reached = explored.witness(Observation::Premise(claim).index()).is_some();
    let found = ClaimResult { premise_reached, ..ClaimResult::default() };
    if let Some((number, promise)) = kernel.liveness_property(claim) {
        return Ok(match liveness::check_property(explored, number, promise) {
            LivenessResult::Holds => found,
            LivenessResult::Inconclusive { .. } => ClaimResult { is_inconclusive: true, ..found },
            LivenessResult::Violated(lasso) => {
                ClaimResult { counterexample: Some(of_lasso(kernel, &lasso)?), ..found }
            }
        });
    }
    let Some(witness) = explored.witness(Observation::Violation(claim).index()) else { return Ok(found) };
    let inputs = explored.path_to_witness(kernel, witness)?.into_actions();
    Ok(ClaimResult { counterexample: Some(Counterexample::of(kernel, &inputs, None).0), ..found })
}

/// A lasso as its stem and two rounds of its loop.
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
    Ok(Counterexample::of(kernel, &inputs, stem).0)
}

/// Puts the runs of one policy together, claim by claim, in the order of [`CLAIMS`].
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
            .min_by_key(|(_, way)| way.inputs.len());
        match shortest {
            Some((run, way)) => Verdict::Fails { run, counterexample: way.clone() },
            None if runs.iter().any(|run| !run.is_exhaustive())
                || found().any(|(_, found)| found.is_inconclusive) =>
            {
                Verdict::Inconclusive
            }
            None if found().any(|(_, found)| found.premise_reached) => Verdict::Holds,
            None => Verdict::Vacuous,
        }
    };
    CLAIMS.iter().enumerate().map(of_claim).collect()
}
