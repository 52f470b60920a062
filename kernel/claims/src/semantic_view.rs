//! What claims about the semantic state read.
//!
//! It is all that such a claim can read, and its hash covers all of it. So a model checker evaluates these claims once for each
//! view, however many states have it.

use crate::reference::items::changes_items;
use alloc::vec::Vec;
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

    /// Returns the view with these items at this time.
    #[must_use]
    pub const fn at(self, semantic: &'a SemanticState, now: Timestamp) -> Self {
        Self { semantic, now, ..self }
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SemanticStep<'a> {
    before: SemanticView<'a>,
    events: Vec<&'a Event>,
    after: SemanticView<'a>,
}

impl<'a> SemanticStep<'a> {
    /// Returns the view of a step.
    #[must_use]
    pub fn new(before: &'a State, events: &'a [Event], after: &'a State) -> Self {
        let events = events.iter().filter(|event| is_of_view(event)).collect();
        Self { before: SemanticView::new(before), events, after: SemanticView::new(after) }
    }

    /// Returns the view before the step.
    #[must_use]
    pub const fn before(&self) -> &SemanticView<'a> {
        &self.before
    }

    /// Returns the events about the semantic state, the session, and the scope of the request.
    #[must_use]
    pub fn events(&self) -> &[&'a Event] {
        &self.events
    }

    /// Returns the view after the step.
    #[must_use]
    pub const fn after(&self) -> &SemanticView<'a> {
        &self.after
    }
}

/// Returns whether an event is about what a view contains.
const fn is_of_view(event: &Event) -> bool {
    changes_items(event)
        || matches!(event, Event::SessionEnded | Event::UserMsg { .. } | Event::PlanAdopted { .. })
}
