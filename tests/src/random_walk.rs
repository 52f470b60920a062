//! Random walks for property tests: a policy, a bias, and actions (proptest-state-machine).
//!
//! The reference state only positions the walk, so that actions can be generated for its phase. It is the kernel's own
//! state; only the [`Property`] checks behavior.

use crate::generators::{Bias, Shrink, ShrinkStrategy, WalkAction, random_policy};
use orchestrion_kernel::{ConversationId, Policy, State, TimedInput, decide};
use proptest::strategy::{BoxedStrategy, Strategy};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A property of a conversation, checked at every input.
pub trait Property: 'static {
    /// The property as a sentence.
    const STATEMENT: &'static str;

    /// Starts an empty conversation.
    fn new(policy: &Policy) -> Self;

    /// Submits one input.
    ///
    /// # Errors
    ///
    /// A sentence with the expected and the actual behavior.
    fn submit(&mut self, input: &TimedInput) -> Result<(), String>;

    /// Ends the conversation.
    ///
    /// # Errors
    ///
    /// As [`Property::submit`].
    fn finish(self) -> Result<(), String>;
}

/// Returns the conversation of every walk.
#[must_use]
pub fn conversation() -> ConversationId {
    ConversationId::new("walks")
}

/// The position of a walk.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The policy.
    pub policy: Policy,
    /// The probabilities.
    bias: Bias,
    /// The kernel state.
    state: State,
    /// The inputs of the latest action.
    inputs: Vec<TimedInput>,
}

impl Walk {
    fn new(policy: Policy, bias: Bias) -> Self {
        Self { policy, bias, state: State::new(conversation()), inputs: Vec::new() }
    }

    /// Returns the walk after an action.
    #[must_use]
    pub fn after(mut self, action: &WalkAction) -> Self {
        // The property receives the same inputs and detects a kernel panic.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let (inputs, mut state) = (action.inputs(&self.policy, &self.state), self.state.clone());
            for TimedInput { at, input } in &inputs {
                if let Ok(events) = decide(&self.policy, &state, *at, input) {
                    events.iter().for_each(|event| state.apply(event));
                }
            }
            (inputs, state)
        }));
        match result {
            Ok((inputs, state)) => (self.inputs, self.state) = (inputs, state),
            Err(_) => self.inputs = vec![action.input(&self.state)],
        }
        self
    }

    /// Returns every input of a walk, in order.
    #[must_use]
    pub fn inputs(mut self, actions: &[WalkAction]) -> Vec<TimedInput> {
        let mut all = Vec::new();
        for action in actions {
            self = self.after(action);
            all.append(&mut self.inputs);
        }
        all
    }
}

impl Shrink for Walk {
    fn shrink_candidates(&self) -> Vec<Self> {
        self.policy.shrink_candidates().into_iter().map(|policy| Self::new(policy, self.bias)).collect()
    }
}

impl ReferenceStateMachine for Walk {
    type State = Self;
    type Transition = WalkAction;

    fn init_state() -> BoxedStrategy<Self> {
        ShrinkStrategy(|rng: &mut _| Self::new(random_policy(rng), Bias::draw(rng))).boxed()
    }

    fn transitions(walk: &Self) -> BoxedStrategy<WalkAction> {
        let (policy, bias, state) = (walk.policy.clone(), walk.bias, walk.state.clone());
        ShrinkStrategy(move |rng: &mut _| WalkAction::draw(rng, &policy, &bias, &state)).boxed()
    }

    fn apply(walk: Self, action: &WalkAction) -> Self {
        walk.after(action)
    }
}

/// A property with the state of its walk.
#[derive(Debug)]
pub struct PropertyTest<P>(PhantomData<P>);

impl<P: Property> StateMachineTest for PropertyTest<P> {
    type SystemUnderTest = P;
    type Reference = Walk;

    fn init_test(walk: &Walk) -> P {
        P::new(&walk.policy)
    }

    fn apply(mut property: P, walk: &Walk, _: WalkAction) -> P {
        for input in &walk.inputs {
            panic_on_error(property.submit(input));
        }
        property
    }

    fn teardown(property: P, _: Walk) {
        panic_on_error(property.finish());
    }
}

/// proptest-state-machine detects failures as panics only.
#[allow(clippy::panic, reason = "a test fails by panicking")]
fn panic_on_error(result: Result<(), String>) {
    if let Err(message) = result {
        panic!("{message}");
    }
}
