//! Observers of a conversation.

use orchestrion_kernel::{CallId, Event};
use std::fmt;

/// Sees the events of each accepted input, before the call that they emit is sent. A refused input has no events.
///
/// An observer changes no decision. It can forbid a call, which then fails as
/// [`Forbidden`](orchestrion_kernel::module::Failure::Forbidden) instead of being sent. It is called on the thread of the conversation, so
/// it must be quick.
pub trait Observer: Send + fmt::Debug {
    /// Takes the events of a step.
    fn observe(&mut self, step: u64, events: &[Event]);

    /// Returns why a pending call must not be sent, as a sentence for the trace; `None` if it may be. The events so far determine the result,
    /// so that it is the same after a crash.
    fn forbids(&self, _call: CallId) -> Option<String> {
        None
    }
}

impl Observer for Box<dyn Observer> {
    fn observe(&mut self, step: u64, events: &[Event]) {
        self.as_mut().observe(step, events);
    }

    fn forbids(&self, call: CallId) -> Option<String> {
        self.as_ref().forbids(call)
    }
}
