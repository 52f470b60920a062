//! The orchestrator's state, and `apply`, its sole writer (000 §4).
//!
//! `State` is the fold of the log: the log itself is not in it. It stays small on purpose (design §2): a
//! role's latest argument only, counters only where the policy compares them, and nothing of a request once
//! it is over but its items.

mod request;

pub use request::{Debate, PlanRevision, Request, ScoredRevision, StartedTask};

use crate::control::phase::Phase;
use crate::control::table::Transition;
use crate::event::Event;
use crate::ids::{CallId, ConversationId, RequestId, TraceId, UserId};
use crate::knowledge::Principal;
use crate::module::Operation;
use crate::semantic::SemanticState;

/// One conversation: `(S, C)` of 000's `O`; its log `τ` belongs to whoever runs the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Everything that is known.
    pub semantic: SemanticState,
    /// Where control stands.
    pub control: Control,
}

/// The control state `C`: a phase, and what the phases remember.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Control {
    conversation: ConversationId,
    phase: Phase,
    session: Option<UserId>,
    next_request: RequestId,
    next_call: CallId,
    waiting: Option<Call>,
    request: Option<Request>,
}

/// A call that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// What it asks.
    pub operation: Operation,
}

impl State {
    /// A conversation in which nothing has happened.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            semantic: SemanticState::default(),
            control: Control {
                conversation,
                phase: Phase::Idle,
                session: None,
                next_request: RequestId::FIRST,
                next_call: CallId::FIRST,
                waiting: None,
                request: None,
            },
        }
    }

    /// Writes one event. Total: an event that does not fit is written as far as it makes sense, and never
    /// panics; events of `decide` always fit.
    pub fn apply(&mut self, event: &Event) {
        self.semantic.apply(event);
        self.control.apply(event);
    }

    /// Whoever speaks: the user whose session is open.
    #[must_use]
    pub fn session_principal(&self) -> Principal {
        self.semantic.session_principal(self.control.session())
    }

    /// Renames everything that only counts up, keeping its order: item ids, the live call id, plan revisions
    /// (design §2, rule 3). Two states that differ only in such names become equal. Requests keep their numbers, as
    /// items are keyed by them. One whose user was never verified leaves no item, so states may differ in the next
    /// number alone; how many, the scope of a model bounds.
    pub fn canonicalize(&mut self) {
        self.semantic.canonicalize();
        self.control.canon();
    }
}

impl Control {
    /// The conversation.
    #[must_use]
    pub const fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// Where control stands.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Whose session is open.
    #[must_use]
    pub const fn session(&self) -> Option<&UserId> {
        self.session.as_ref()
    }

    /// The call that is waited for.
    #[must_use]
    pub const fn pending_call(&self) -> Option<Call> {
        self.waiting
    }

    /// The running request.
    #[must_use]
    pub const fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// The running request, to be spoiled.
    #[cfg(feature = "mutants")]
    #[must_use]
    pub const fn request_mut(&mut self) -> Option<&mut Request> {
        self.request.as_mut()
    }

    /// The number that the next request gets.
    #[must_use]
    pub const fn next_request(&self) -> RequestId {
        self.next_request
    }

    /// The id that the next call gets.
    #[must_use]
    pub const fn next_call(&self) -> CallId {
        self.next_call
    }

    /// The trace id of a request of this conversation.
    #[must_use]
    pub fn trace_id(&self, request: RequestId) -> TraceId {
        TraceId { conversation: self.conversation.clone(), request }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { user } => self.session = Some(user.clone()),
            Event::SessionEnded => self.session = None,
            Event::UserMsg { request, text, .. } => {
                self.next_request = self.next_request.max(request.next());
                self.request = Some(Request::new(*request, text.clone()));
            }
            Event::ToolCall { call, operation: ask } => {
                self.next_call = self.next_call.max(call.next());
                self.waiting = Some(Call { id: *call, operation: *ask });
            }
            Event::ToolResult { .. } | Event::CallFailed { .. } | Event::Cancelled => {}
            Event::Transitioned { row } => self.take_transition(row.transition()),
            _ => {}
        }
        if let Some(request) = &mut self.request {
            request.apply(event, self.waiting);
        }
        if matches!(event, Event::ToolResult { .. } | Event::CallFailed { .. } | Event::Cancelled) {
            self.waiting = None;
        }
    }

    /// Changes the phase. Nothing else does.
    fn take_transition(&mut self, row: &Transition) {
        let from = core::mem::replace(&mut self.phase, row.to);
        if row.to.is_quiescent() {
            self.request = None;
        } else if let Some(request) = &mut self.request {
            request.enter(from, row.to);
        }
    }

    fn canon(&mut self) {
        self.next_call = CallId::FIRST;
        if let Some(call) = &mut self.waiting {
            call.id = CallId::FIRST;
            self.next_call = CallId::FIRST.next();
        }
        if let Some(request) = &mut self.request {
            request.canon();
        }
    }
}
