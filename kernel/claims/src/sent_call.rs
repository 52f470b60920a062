//! A call that a step sends, with the context that the module receives.

use orchestrion_kernel::context::{
    ByteMeasure, ContextError, ContextProblem, ModuleContext, build_context_with_problem,
};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::{Call, State};
use orchestrion_optimizer::ExactSelector;

/// A call that a step sends with a context.
#[derive(Clone, Debug)]
pub struct SentCall {
    /// The operation.
    pub operation: Operation,
    /// The selection problem that the context solves.
    pub problem: ContextProblem,
    /// The context.
    pub context: ModuleContext,
}

impl SentCall {
    /// Builds the context of the call that these events send, with the kernel's own code; `None` if they send no call with a
    /// context.
    #[must_use]
    pub fn of_step(policy: &Policy, events: &[Event], after: &State) -> Option<Result<Self, ContextError>> {
        let operation = sent_operation(events, after)?;
        let selector = ExactSelector::from_policy(policy);
        let built = build_context_with_problem(policy, after, operation, &ByteMeasure, &selector);
        Some(built.map(|(problem, context)| Self { operation, problem, context }))
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

/// Returns the operation that these events call with a context: its module reads one, and it is not over budget.
#[must_use]
pub fn sent_operation(events: &[Event], after: &State) -> Option<Operation> {
    let is_over_budget = after.control().request().is_some_and(|request| request.over_budget);
    emitted_call(events, after).filter(|_| !is_over_budget).map(|call| call.operation)
}

/// Returns the call that these events emitted, if its module reads a context.
pub(crate) fn emitted_call(events: &[Event], after: &State) -> Option<Call> {
    let is_emitted = events.iter().any(|event| matches!(event, Event::ToolCall { .. }));
    after.control().pending_call().filter(|call| is_emitted && call.operation.takes_context())
}
