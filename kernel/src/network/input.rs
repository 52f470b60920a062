//! What happens to the network of a conversation (decision 0042).

use super::defense::Signal;
use super::feedback::Feedback;
use super::millionths::Millionths;
use super::node::Node;
use super::policy::TrustPolicy;
use crate::ids::{CallId, CapabilityId, NodeId};
use crate::score::Score;
use alloc::vec::Vec;

/// An input that changes the network, not the phase.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum NetworkInput {
    /// The network is created.
    Create {
        /// The node from whose view calls are routed; one of the nodes.
        orchestrator: NodeId,
        /// The constants.
        policy: TrustPolicy,
        /// The nodes.
        nodes: Vec<Node>,
    },
    /// A node joins.
    Join {
        /// The node.
        node: Node,
    },
    /// A node leaves.
    Leave {
        /// The node; not the orchestrator.
        node: NodeId,
    },
    /// A node offers a capability or withdraws it (001 §7.2).
    SetAvailable {
        /// The node.
        node: NodeId,
        /// The capability.
        capability: CapabilityId,
        /// Whether the node offers it now.
        available: bool,
    },
    /// A node reports its load (001 §7.2).
    ReportLoad {
        /// The node.
        node: NodeId,
        /// The load; `None` for the largest load of its capabilities.
        load: Option<Score>,
    },
    /// A node has a new key.
    RotateKey {
        /// The node.
        node: NodeId,
        /// The public key.
        public_key: Vec<u8>,
    },
    /// A defense signal reaches a node.
    Signal {
        /// The receiver.
        receiver: NodeId,
        /// The signal.
        signal: Signal,
    },
    /// A node no longer believes that another one is a threat.
    ResolveThreat {
        /// The node.
        node: NodeId,
        /// The subject.
        subject: NodeId,
    },
    /// Time passes: primings decay, and idle connections become dormant.
    Tick,
    /// A handoff reached its receiver (001 §6.3).
    Handoff(HandoffReceipt),
}

/// A received handoff, with its verified signature.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct HandoffReceipt {
    /// The call that is handed off.
    pub call: CallId,
    /// The sender that the handoff names.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The signature, as the boundary verified it with the key of the sender.
    pub signature: SignatureStatus,
}

/// Whether the signature of a handoff is that of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SignatureStatus {
    /// It is.
    Valid,
    /// It is not.
    Invalid,
}

/// How both ends of a call judge it (001 §10.2 step 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct InteractionReport {
    /// The feedback of the caller on the result; without it the quality of the result is that of the default ratings.
    pub feedback: Option<Feedback>,
    /// The tone of the result, from −1 to 1.
    pub tone: Millionths,
    /// The feedback of the executing node on the task; without it the quality of the task is 0.5.
    pub task_feedback: Option<Feedback>,
    /// The tone of the task, from −1 to 1.
    pub task_tone: Millionths,
}
