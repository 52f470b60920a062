//! What claims about the semantic state read.
//!
//! It is all that such a claim can read, and its hash covers all of it. So a model checker evaluates these claims once for each
//! view, however many states have it.

use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{Timestamp, UserId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::state::State;

/// The semantic state, with the session, the scope of the running request and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SemanticView<'a> {
    semantic: &'a SemanticState,
    session: Option<&'a UserId>,
    request_scope: Option<&'a Scope>,
    now: Timestamp,
}

impl<'a> SemanticView<'a> {
    /// Returns the view of a state.
    #[must_use]
    pub fn new(state: &'a State) -> Self {
        Self {
            semantic: state.semantic(),
            session: state.control().session(),
            request_scope: state.control().request().map(|request| &request.scope),
            now: state.now(),
        }
    }

    /// Returns the semantic state.
    #[must_use]
    pub const fn semantic(&self) -> &'a SemanticState {
        self.semantic
    }

    /// Returns the user whose session is open.
    #[must_use]
    pub const fn session(&self) -> Option<&'a UserId> {
        self.session
    }

    /// Returns the scope of the running request; `None` if no request runs.
    #[must_use]
    pub const fn request_scope(&self) -> Option<&'a Scope> {
        self.request_scope
    }

    /// Returns the time.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }
}

/// A step, as claims about the semantic state read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SemanticStep<'a> {
    /// The view before it.
    pub before: SemanticView<'a>,
    /// Its events.
    pub events: &'a [Event],
    /// The view after it.
    pub after: SemanticView<'a>,
}
