//! The shortest inputs on which two policies decide differently.
//!
//! Until then both policies gave the same events, and applying events reads no policy: so both have the same state, and the search needs
//! only one. It explores the states that both policies reach by the same decisions. Contexts are not compared: no decision depends on
//! their text.

use crate::adversary::Adversary;
use crate::check::Counterexample;
use crate::common_runs::{RunEnding, Tail, ending_of};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::{initial_state, rename_ids};
use crate::scopes::{FROZEN, Model, Scope};
use orchestrion_explorer::{FairModel, ModelError, ObservationSet, Options, Progress, Termination};
use orchestrion_kernel::event::DecisionLabel;
use orchestrion_kernel::{Event, Events, Input, Phase, Policy, Refusal, State};

/// The steps after the difference, at most.
const TAIL_STEPS_MAX: usize = 500;

/// The one observation: the decisions about an input differ.
const DIFFERENCE: usize = 0;

/// The comparison of two policies in one model.
#[derive(Clone, Debug)]
pub struct ModelComparison {
    /// The name of the model.
    pub model: &'static str,
    /// The policies with the limits that the model and the scope set.
    pub policies: [Policy; 2],
    /// The number of distinct states that both policies reach by the same decisions.
    pub states: usize,
    /// The largest distance of such a state from the initial state, in steps.
    pub depth: usize,
    /// [`Termination::ObservationFound`] if the decisions differ somewhere.
    pub ended: Termination,
    /// The first difference on shortest inputs.
    pub difference: Option<Box<DecisionDifference>>,
}

/// The first step at which two policies decide differently.
#[derive(Clone, Debug)]
pub struct DecisionDifference {
    /// The number of the step, from 1.
    pub step: usize,
    /// The phase before the step.
    pub from: Phase,
    /// The input of the step.
    pub input: Input,
    /// What each policy does.
    pub sides: [DecisionSide; 2],
}

/// What one policy does at the difference and after it.
#[derive(Clone, Debug)]
pub struct DecisionSide {
    /// The events of the step, or its refusal.
    pub decided: Result<Events, Refusal>,
    /// The whole run: the common inputs, and then the same agreeing replies to the same calls.
    pub run: Counterexample,
    /// How the request ends.
    pub ending: RunEnding,
    /// The label of its latest decision.
    pub label: Option<DecisionLabel>,
}

/// Both kernels, as long as they decide alike.
struct CommonModel {
    kernels: [KernelUnderTest; 2],
    adversaries: [Adversary; 2],
    /// Whether waiting states are packed: then their memory is known.
    packs: bool,
}

impl CommonModel {
    fn new(policies: [&Policy; 2], model: Model, scope: &Scope, packs: bool) -> Self {
        let kernels =
            policies.map(|policy| KernelUnderTest::unmodified(policy.clone()).with_scope(model, scope));
        let adversaries =
            [&kernels[0], &kernels[1]].map(|kernel| Adversary::new(&kernel.policy, model, scope));
        Self { kernels, adversaries, packs }
    }

    /// Returns the inputs that the adversary of either policy tries.
    fn inputs(&self, state: &State) -> Vec<Input> {
        let [a, b] = &self.adversaries;
        let mut inputs = a.inputs(state);
        for input in b.inputs(state) {
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        }
        inputs
    }

    /// Decides an input under both policies. Two refusals are alike: neither changes the state.
    fn decide(&self, state: &State, input: &Input) -> Result<Option<Events>, ()> {
        let [a, b] = &self.kernels;
        match (a.decide(state, input), b.decide(state, input)) {
            (Ok(a), Ok(b)) if a == b => Ok(Some(a)),
            (Err(_), Err(_)) => Ok(None),
            (Ok(_), Ok(_)) | (Ok(_), Err(_)) | (Err(_), Ok(_)) => Err(()),
        }
    }
}

impl stateright::Model for CommonModel {
    type State = State;
    type Action = Input;

    fn init_states(&self) -> Vec<State> {
        vec![initial_state()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Input>) {
        actions.extend(self.inputs(state));
    }

    fn next_state(&self, state: &State, input: Input) -> Option<State> {
        let events = self.decide(state, &input).ok()??;
        let mut next = self.kernels[0].apply(state, &events);
        next.canonicalize();
        Some(next)
    }
}

impl FairModel for CommonModel {
    fn observation_count(&self) -> usize {
        1
    }

    fn step(&self, state: &State, input: Input, observations: &mut ObservationSet) -> Option<State> {
        match self.decide(state, &input) {
            Ok(Some(events)) => {
                let mut next = self.kernels[0].apply(state, &events);
                next.canonicalize();
                Some(next)
            }
            Ok(None) => None,
            Err(()) => {
                observations.insert(DIFFERENCE);
                None
            }
        }
    }

    fn pack(&self, state: &State, into: &mut Vec<u8>) -> bool {
        // As in the product of a model: without an encoding, `unpack` returns `None`, which the explorer reports.
        self.packs && postcard::to_io(state, into).is_ok()
    }

    fn unpack(&self, bytes: &[u8]) -> Option<State> {
        postcard::from_bytes(bytes).ok()
    }

    fn heap_bytes(&self, _: &State) -> usize {
        // As in the product of a model.
        1024
    }
}

/// Searches for the shortest inputs of one model on which two policies decide differently.
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn compare_policies(
    policies: [&Policy; 2],
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ModelComparison, ModelError> {
    let common = CommonModel::new(policies, model, scope, options.limits.memory_bytes.is_some());
    let mut stop_at = ObservationSet::empty(1);
    stop_at.insert(DIFFERENCE);
    let options = Options { stop_at, ..options.clone() };
    let exploration = orchestrion_explorer::explore(&common, &options, progress)?;
    let difference = match exploration.witness(DIFFERENCE) {
        Some(witness) => {
            let inputs = exploration.path_to_witness(&common, witness)?.into_actions();
            describe(&common, &inputs, model, scope)
        }
        None => None,
    };
    Ok(ModelComparison {
        model: model.name,
        policies: [&common.kernels[0], &common.kernels[1]].map(|kernel| kernel.policy.clone()),
        states: exploration.states(),
        depth: exploration.depth(),
        ended: exploration.ended(),
        difference: difference.map(Box::new),
    })
}

/// Describes the difference at the last of these inputs, which are in canonical ids.
fn describe(
    common: &CommonModel,
    inputs: &[Input],
    model: Model,
    scope: &Scope,
) -> Option<DecisionDifference> {
    let (last, before) = inputs.split_last()?;
    let mut state = initial_state();
    for input in before {
        let events = common.decide(&state, input).ok()??;
        state = common.kernels[0].apply(&state, &events);
        state.canonicalize();
    }
    // One adversary for both sides, so that the same call gets the same reply.
    let agreeing = Adversary::new(&common.kernels[0].policy, Model { free: FROZEN, ..model }, scope);
    let side = |kernel: &KernelUnderTest| {
        let decided = kernel.decide(&state, last);
        let mut after = state.clone();
        if let Ok(events) = &decided {
            after = kernel.apply(&state, events);
            after.canonicalize();
        }
        let tail = agreeing_tail(kernel, common, &agreeing, after);
        let all: Vec<Input> = inputs.iter().cloned().chain(tail.inputs).collect();
        let (run, _) = Counterexample::of(kernel, &all, None);
        let (ending, label) = ending_of(&events_of(kernel, &all), tail.tail);
        DecisionSide { decided, run, ending, label }
    };
    let from = state.control().phase();
    let sides = [side(&common.kernels[0]), side(&common.kernels[1])];
    Some(DecisionDifference { step: inputs.len(), from, input: last.clone(), sides })
}

/// The inputs after the difference, and how they end.
struct AgreeingTail {
    inputs: Vec<Input>,
    tail: Tail,
}

/// Continues to the end of the request: each call gets the agreeing reply, or the first one that its model has.
fn agreeing_tail(
    kernel: &KernelUnderTest,
    common: &CommonModel,
    agreeing: &Adversary,
    mut state: State,
) -> AgreeingTail {
    let mut inputs = Vec::new();
    let mut visited = vec![state.clone()];
    while !state.control().phase().is_quiescent() {
        if inputs.len() == TAIL_STEPS_MAX {
            return AgreeingTail { inputs, tail: Tail::Unfinished };
        }
        let options = common.inputs(&state);
        let agreeing = agreeing.inputs(&state).into_iter().filter(|input| options.contains(input));
        let replies = options.iter().filter(|input| !matches!(input, Input::Cancel | Input::Resume)).cloned();
        let next = agreeing.chain(replies).find_map(|input| {
            let events = kernel.decide(&state, &input).ok()?;
            let mut after = kernel.apply(&state, &events);
            after.canonicalize();
            (!visited.contains(&after)).then_some((input, after))
        });
        let Some((input, after)) = next else {
            // Every reply is refused, or leads back: the request does not end by agreement.
            let can_continue = options.iter().any(|input| kernel.decide(&state, input).is_ok());
            return AgreeingTail { inputs, tail: if can_continue { Tail::Unfinished } else { Tail::Halted } };
        };
        inputs.push(input);
        visited.push(after.clone());
        state = after;
    }
    AgreeingTail { inputs, tail: Tail::Ended }
}

/// Returns the events of these inputs, which are in canonical ids.
fn events_of(kernel: &KernelUnderTest, inputs: &[Input]) -> Vec<Event> {
    let (mut state, mut all) = (initial_state(), Vec::new());
    for input in inputs {
        if let Ok(events) = kernel.decide(&state, &rename_ids(input, &state)) {
            state = kernel.apply(&state, &events);
            all.extend(events.iter().cloned());
        }
    }
    all
}
