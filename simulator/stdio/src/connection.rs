//! The connection to a host: what a conversation sends to it, and what ends the conversation.

use crate::protocol::ToHost;
use futures_channel::mpsc;
use orchestrion_runtime::Host;

/// A connected host. Beside the calls it receives the other messages of the protocol, and never delays the conversation.
pub trait Connection: Host {
    /// Sends a message without waiting.
    fn send(&self, message: &ToHost<'_>);

    /// Whether the host sends the requests.
    fn has_requests(&self) -> bool;
}

/// What the host ends.
#[derive(Debug)]
pub struct HostEvents {
    /// Yields when the host closes the conversation.
    pub closes: mpsc::Receiver<()>,
    /// Yields when the host disconnects.
    pub disconnected: mpsc::Receiver<()>,
}
