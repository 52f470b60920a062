//! What the context of a call, and the claims about it, depend on.

use orchestrion_kernel::module::Operation;
use orchestrion_kernel::state::State;

/// A call with the state, reduced to what its context depends on: the items, the session, the time, and of the request its message,
/// scope, payload, reviews and actions. A model checker evaluates claims about contexts with this state, once for each question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContextQuestion {
    operation: Operation,
    state: State,
}

impl ContextQuestion {
    /// Returns the question of a call with this operation.
    #[must_use]
    pub fn new(state: &State, operation: Operation) -> Self {
        Self { operation, state: state.reduced_to_context(operation) }
    }

    /// Returns the operation.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the reduced state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }
}
