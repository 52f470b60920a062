//! The events of a batch that concern the network, in order.

use orchestrion_kernel::Event;
use orchestrion_kernel::network::NetworkEvent;
use std::collections::VecDeque;

/// The events that are not read yet.
#[derive(Clone, Debug)]
pub(super) struct Cursor(VecDeque<Event>);

impl Cursor {
    /// Keeps the calls, the failures and the events of the network.
    pub(super) fn new(events: &[Event]) -> Self {
        let is_relevant = |event: &&Event| {
            matches!(
                event,
                Event::ToolCall { .. }
                    | Event::CallFailed { .. }
                    | Event::OverBudget { .. }
                    | Event::Network(_)
            )
        };
        Self(events.iter().filter(is_relevant).cloned().collect())
    }

    pub(super) fn peek(&self) -> Option<&Event> {
        self.0.front()
    }

    pub(super) fn peek_network(&self) -> Option<&NetworkEvent> {
        match self.0.front() {
            Some(Event::Network(event)) => Some(event),
            Some(_) | None => None,
        }
    }

    pub(super) fn next(&mut self) -> Option<Event> {
        self.0.pop_front()
    }

    /// Reads an event of the network.
    pub(super) fn network(&mut self, expected: &str) -> Result<NetworkEvent, String> {
        match self.0.pop_front() {
            Some(Event::Network(event)) => Ok(event),
            other => Err(format!("expected {expected}, found {other:?}")),
        }
    }

    /// Reads exactly this event of the network.
    pub(super) fn expect(&mut self, expected: &NetworkEvent) -> Result<(), String> {
        let found = self.network(&format!("{expected:?}"))?;
        if found == *expected { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
    }
}
