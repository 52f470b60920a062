//! Observers of a conversation.

use orchestrion_kernel::Event;
use std::fmt;

/// Sees the events of each accepted input, before the call that they emit is sent. A refused input has no events.
///
/// An observer decides nothing. It is called on the thread of the conversation, so it must be quick.
pub trait Observer: Send + fmt::Debug {
    /// Takes the events of a step.
    fn observe(&mut self, step: u64, events: &[Event]);
}
