//! Random runs of several policies with common random numbers: the same call gets the same reply under each policy.
//!
//! A choice depends on the seed, the run, what the kernel waits for, and how often it waited for that before; not on how many choices were
//! made. So two policies that part in one decision still receive the same replies to the same calls, and a difference of their results is
//! one of the policies. The rates are those of an adversary, as in [`simulate`](crate::simulate): they compare policies, and forecast
//! nothing.

use crate::adversary::Adversary;
use crate::check::Counterexample;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{FROZEN, Model, Scope};
use crate::simulate::Choices;
use orchestrion_explorer::fingerprint;
use orchestrion_kernel::event::{Conclusion, DecisionLabel};
use orchestrion_kernel::module::{ConclusionKind, Operation};
use orchestrion_kernel::{Event, Input, Policy, Score, State};
use std::collections::BTreeMap;

/// The steps of a run, at most.
const STEPS_MAX: usize = 500;

/// The confidences between which a reply is drawn: 0, 0.05, … 1. They are the same for every policy; those of an exploration follow its
/// thresholds.
const CONFIDENCE_STEPS: u32 = 20;

/// Policies that take the same random runs.
#[derive(Debug)]
pub struct CommonRuns {
    sides: Vec<Side>,
    seed: u64,
}

#[derive(Debug)]
struct Side {
    kernel: KernelUnderTest,
    adversary: Adversary,
    agreeing: Adversary,
}

/// The result of the first request of a random run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// How it ends.
    pub ending: RunEnding,
    /// The label of its latest decision.
    pub label: Option<DecisionLabel>,
    /// The passes of the debate.
    pub passes: u32,
    /// The calls.
    pub calls: u32,
}

/// How the first request of a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// It concludes.
    Concluded(Conclusion),
    /// It ends without a conclusion.
    NotConcluded,
    /// Every next input is refused.
    Halted,
    /// It has not ended after 500 steps.
    Unfinished,
}

/// What the endings have in common: the outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunOutcome {
    /// It concludes in this way.
    Concluded(ConclusionKind),
    /// It ends without a conclusion.
    NotConcluded,
    /// Every next input is refused.
    Halted,
    /// It has not ended after 500 steps.
    Unfinished,
}

/// Why a run has no further step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    Ended,
    Halted,
    Unfinished,
}

impl RunEnding {
    /// The outcome.
    #[must_use]
    pub const fn outcome(self) -> RunOutcome {
        match self {
            Self::Concluded(conclusion) => RunOutcome::Concluded(conclusion.kind),
            Self::NotConcluded => RunOutcome::NotConcluded,
            Self::Halted => RunOutcome::Halted,
            Self::Unfinished => RunOutcome::Unfinished,
        }
    }
}

impl RunOutcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Concluded(ConclusionKind::Outcome),
        Self::Concluded(ConclusionKind::Blocked),
        Self::Concluded(ConclusionKind::RolledBack),
        Self::Concluded(ConclusionKind::Aborted),
        Self::NotConcluded,
        Self::Halted,
        Self::Unfinished,
    ];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Concluded(ConclusionKind::Outcome) => "outcome",
            Self::Concluded(ConclusionKind::Blocked) => "blocked",
            Self::Concluded(ConclusionKind::RolledBack) => "rolled back",
            Self::Concluded(ConclusionKind::Aborted) => "aborted",
            Self::NotConcluded => "no conclusion",
            Self::Halted => "halted",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Returns the ending that events show, of a run that ended so, and the label of its latest decision.
pub(crate) fn ending_of(events: &[Event], tail: Tail) -> (RunEnding, Option<DecisionLabel>) {
    let mut fold = EventFold::default();
    events.iter().for_each(|event| fold.apply(event));
    (fold.ending(tail), fold.label)
}

#[derive(Default)]
struct EventFold {
    conclusion: Option<Conclusion>,
    label: Option<DecisionLabel>,
    calls: u32,
}

impl EventFold {
    fn apply(&mut self, event: &Event) {
        if let Event::Concluded { conclusion } = event {
            self.conclusion = Some(*conclusion);
        }
        if let Event::Decided { decision } = event {
            self.label = Some(decision.label);
        }
        if let Event::ToolCall { .. } = event {
            self.calls += 1;
        }
    }

    const fn ending(&self, tail: Tail) -> RunEnding {
        match (tail, self.conclusion) {
            (Tail::Ended, Some(conclusion)) => RunEnding::Concluded(conclusion),
            (Tail::Ended, None) => RunEnding::NotConcluded,
            (Tail::Halted, _) => RunEnding::Halted,
            (Tail::Unfinished, _) => RunEnding::Unfinished,
        }
    }
}

impl CommonRuns {
    /// Prepares the random runs of a model under these policies. Confidences are 0, 0.05, … 1, unless the scope states them.
    #[must_use]
    pub fn new<'p>(
        policies: impl IntoIterator<Item = &'p Policy>,
        model: Model,
        scope: &Scope,
        seed: u64,
    ) -> Self {
        let mut scope = scope.clone();
        let grid = (0..=CONFIDENCE_STEPS)
            .filter_map(|step| Score::from_millionths(step * (1_000_000 / CONFIDENCE_STEPS)));
        scope.alphabet.confidences.get_or_insert_with(|| grid.collect());
        scope.bounds.local_failures = true;
        let side = |policy: &Policy| {
            let kernel = KernelUnderTest::unmodified(policy.clone()).with_scope(model, &scope);
            let adversary = Adversary::new(&kernel.policy, model, &scope);
            let agreeing = Adversary::new(&kernel.policy, Model { free: FROZEN, ..model }, &scope);
            Side { kernel, adversary, agreeing }
        };
        Self { sides: policies.into_iter().map(side).collect(), seed }
    }

    /// Takes a run to the end of its first request under the policy at this position. The run and the seed determine every choice.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[must_use]
    pub fn run(&self, policy: usize, run: u64) -> RunResult {
        self.walk(policy, run, |_| {})
    }

    /// Returns the result and the path of a run under the policy at this position: the inputs that changed the state.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[must_use]
    pub fn run_with_path(&self, policy: usize, run: u64) -> (RunResult, Counterexample) {
        let mut inputs = Vec::new();
        let result = self.walk(policy, run, |input| inputs.push(input));
        (result, Counterexample::of(&self.sides[policy].kernel, &inputs, None).0)
    }

    /// Takes a run, and passes each input that changes the state, in canonical ids.
    fn walk(&self, policy: usize, run: u64, mut on_input: impl FnMut(Input)) -> RunResult {
        let Side { kernel, adversary, agreeing } = &self.sides[policy];
        let mut choices = Choices::new(self.seed, run);
        let mut state = initial_state();
        let mut asked: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut fold, mut passes) = (EventFold::default(), 0);
        for _ in 0..STEPS_MAX {
            let control = state.control();
            if control.phase().is_quiescent() && fold.calls > 0 {
                return fold.result(Tail::Ended, passes);
            }
            let waits: Vec<Operation> = control.pending_calls().iter().map(|call| call.operation).collect();
            let question = fingerprint(&(control.phase(), waits));
            let times = asked.entry(question).or_default();
            choices.rekey(self.seed, run, question, *times);
            *times += 1;
            let next = next_step(kernel, adversary, agreeing, &mut choices, &state, &mut fold);
            let Some((input, next)) = next else {
                return fold.result(Tail::Halted, passes);
            };
            on_input(input);
            state = next;
            passes = passes.max(state.control().request().map_or(0, |request| request.debate.pass));
        }
        fold.result(Tail::Unfinished, passes)
    }
}

impl EventFold {
    const fn result(&self, tail: Tail, passes: u32) -> RunResult {
        RunResult { ending: self.ending(tail), label: self.label, passes, calls: self.calls }
    }
}

/// Takes a random input that changes the state; `None` if there is none.
fn next_step(
    kernel: &KernelUnderTest,
    adversary: &Adversary,
    agreeing: &Adversary,
    choices: &mut Choices,
    state: &State,
    fold: &mut EventFold,
) -> Option<(Input, State)> {
    let mut options = adversary.inputs(state);
    let mut agreeing = if choices.agrees() { agreeing.inputs(state) } else { Vec::new() };
    agreeing.retain(|input| options.contains(input));
    loop {
        let from = if agreeing.is_empty() { &mut options } else { &mut agreeing };
        let at = choices.choose(from)?;
        let input = from.swap_remove(at);
        let Ok(events) = kernel.decide(state, &input) else { continue };
        let mut after = kernel.apply(state, &events);
        after.canonicalize();
        // A step that changes nothing could repeat to the end of the run.
        if after != *state {
            events.iter().for_each(|event| fold.apply(event));
            return Some((input, after));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scopes::{COMPOSED, SCOPES};

    fn results(policies: &[Policy], policy: usize) -> Vec<RunResult> {
        let runs = CommonRuns::new(policies, COMPOSED, &SCOPES[0], 7);
        (0..60).map(|run| runs.run(policy, run)).collect()
    }

    /// A policy receives the same replies beside any other one.
    #[test]
    fn runs_depend_on_policy_and_seed_alone() {
        let (hardened, as_drawn) = (Policy::hardened(), Policy::as_drawn());
        let alone = results(std::slice::from_ref(&hardened), 0);
        let both = [as_drawn, hardened];
        assert_eq!(alone, results(&both, 1));
        assert_ne!(alone, results(&both, 0));
        let outcomes: std::collections::BTreeSet<_> = alone.iter().map(|run| run.ending.outcome()).collect();
        assert!(outcomes.len() > 2, "{outcomes:?}");
    }

    /// The inputs of a path give the result of its run, in a new conversation.
    #[test]
    fn path_gives_the_result_of_its_run() {
        let policies = [Policy::hardened(), Policy::as_drawn()];
        let runs = CommonRuns::new(&policies, COMPOSED, &SCOPES[0], 7);
        for (policy, run) in [(0, 3), (0, 11), (1, 3), (1, 20)] {
            let (result, path) = runs.run_with_path(policy, run);
            let (mut state, mut events) = (initial_state(), Vec::new());
            for timed in &path.inputs {
                let decided = runs.sides[policy].kernel.decide(&state, &timed.input).unwrap();
                state = runs.sides[policy].kernel.apply(&state, &decided);
                events.extend(decided.iter().cloned());
            }
            let calls = events.iter().filter(|event| matches!(event, Event::ToolCall { .. })).count();
            assert_eq!(calls, result.calls as usize);
            assert_eq!(ending_of(&events, Tail::Ended), (result.ending, result.label));
        }
    }

    /// The threshold of the re-debate changes no reply of the first pass, so only requests with another decision differ.
    #[test]
    fn same_calls_get_same_replies() {
        let hardened = Policy::hardened();
        let mut lenient = hardened.clone();
        lenient.thresholds.veto_from = Score::ONE;
        let policies = [hardened, lenient];
        let (strict, lenient) = (results(&policies, 0), results(&policies, 1));
        let differing = strict.iter().zip(&lenient).filter(|(a, b)| a != b).count();
        assert!(differing > 0 && differing < strict.len() / 2, "{differing}");
    }
}
