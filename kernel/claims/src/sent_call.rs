//! A call that a step sends, with the context that the module receives.

use crate::reference::contexts::takes_context;
use orchestrion_kernel::context::{
    ByteMeasure, ContextError, ContextProblem, ModuleContext, Selector, build_context_with_problem,
};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::{Call, State};
use orchestrion_optimizer::ExactSelector;

/// What a step sends with a call that has a context.
#[derive(Clone, Debug)]
pub struct SentCall {
    /// The selection problem that the context solves.
    pub problem: ContextProblem,
    /// The context.
    pub context: ModuleContext,
}

impl SentCall {
    /// Builds the context of a call as the kernel does, with the exact selector of the policy.
    ///
    /// # Errors
    /// [`ContextError`] as [`build_context_with_problem`].
    pub fn new(policy: &Policy, state: &State, operation: Operation) -> Result<Self, ContextError> {
        Self::build(policy, state, operation, &ExactSelector::from_policy(policy))
    }

    /// Builds the context of a call with the kernel's own code, and this selector.
    ///
    /// # Errors
    /// [`ContextError`] as [`build_context_with_problem`].
    pub fn build(
        policy: &Policy,
        state: &State,
        operation: Operation,
        selector: &impl Selector,
    ) -> Result<Self, ContextError> {
        let (problem, context) =
            build_context_with_problem(policy, state, operation, &ByteMeasure, selector)?;
        Ok(Self { problem, context })
    }

    /// Returns the candidates of the context, in id order.
    #[must_use]
    pub fn candidates(&self) -> &[ItemId] {
        &self.problem.ids
    }

    /// Returns the items of the context, in id order.
    #[must_use]
    pub fn items(&self) -> &[ItemId] {
        &self.context.ids
    }
}

/// A call that a step emits, whose module reads a context.
#[derive(Clone, Copy, Debug)]
pub struct EmittedCall {
    /// The call.
    pub call: Call,
    /// The tokens that it needs by the reference: those of its pinned items with their dependencies and headings, and of its payload.
    pub required_tokens: u64,
}

/// Returns the operations that wait for a reply and were sent with a context.
pub fn waiting_operations(state: &State) -> impl Iterator<Item = Operation> {
    state.control().pending_calls().iter().filter(|call| is_sent(call)).map(|call| call.operation)
}

/// Returns whether a call is sent with a context: its module reads one, and the call was made.
#[must_use]
pub const fn is_sent(call: &Call) -> bool {
    takes_context(call.operation) && call.not_made.is_none()
}

/// Returns the call that these events emitted, if its module reads a context.
#[must_use]
pub fn emitted_call(events: &[Event], after: &State) -> Option<Call> {
    let emitted = events.iter().find_map(|event| match event {
        Event::ToolCall { call, .. } => Some(*call),
        _ => None,
    })?;
    after.control().pending_call(emitted).filter(|call| takes_context(call.operation))
}
