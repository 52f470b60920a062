//! The notice to a host that a receiver refused a handoff (001 §6.2, §11.3).

use orchestrion_kernel::network::{HandoffReceipt, HandoffRefusal, NetworkEvent};
use orchestrion_kernel::{CallId, Event, NodeId};
use std::fmt;

/// A handoff that its receiver refused. The conversation continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedHandoff {
    /// The number with which the handoff was delivered to the mailbox; `None` if [`Host::transmit`](crate::Host::transmit) returned it.
    pub sequence: Option<u64>,
    /// The call that the handoff names.
    pub call: CallId,
    /// The sender that it names.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The failed check.
    pub refusal: HandoffRefusal,
    /// Why the signature is invalid.
    pub detail: Option<String>,
    /// The call that repeats the attempt. Absent if the expected handoff can still arrive, or if no other node is left: then the
    /// call fails.
    pub repeated_as: Option<CallId>,
}

impl RefusedHandoff {
    /// Returns the refusal in a batch, if it has one.
    pub(crate) fn in_batch(sequence: Option<u64>, events: &[Event], detail: Option<String>) -> Option<Self> {
        let (receipt, refusal) = events.iter().find_map(|event| match event {
            Event::Network(NetworkEvent::HandoffRefused { receipt, refusal }) => Some((receipt, *refusal)),
            _ => None,
        })?;
        let HandoffReceipt { call, from, to, .. } = receipt.clone();
        let repeated_as = events.iter().find_map(|event| match event {
            Event::ToolCall { call, .. } => Some(*call),
            _ => None,
        });
        Some(Self { sequence, call, from, to, refusal, detail, repeated_as })
    }
}

impl fmt::Display for RefusedHandoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, from, to, refusal, detail, repeated_as, .. } = self;
        write!(f, "{to} refuses the handoff of call {call} from {from}: {refusal}")?;
        if let Some(detail) = detail {
            write!(f, "; {detail}")?;
        }
        if let Some(next) = repeated_as {
            write!(f, "; call {next} repeats it")?;
        }
        Ok(())
    }
}
