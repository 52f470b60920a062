//! Inputs that do not fit the network of a conversation.

use super::policy::TrustPolicyError;
use crate::ids::{CapabilityId, NodeId};
use core::fmt;

/// Why an input about the network is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// The conversation has no network.
    NoNetwork,
    /// The conversation has a network already.
    AlreadyCreated,
    /// A constant contradicts another one.
    InvalidPolicy(TrustPolicyError),
    /// The orchestrator is not among the nodes.
    OrchestratorMissing {
        /// The orchestrator.
        orchestrator: NodeId,
    },
    /// Two nodes have the same id.
    DuplicateNode {
        /// The id.
        node: NodeId,
    },
    /// The network has no such node.
    UnknownNode {
        /// The id.
        node: NodeId,
    },
    /// The node does not hold the capability.
    UnknownCapability {
        /// The node.
        node: NodeId,
        /// The capability.
        capability: CapabilityId,
    },
    /// The orchestrator cannot leave.
    OrchestratorLeaves {
        /// The orchestrator.
        orchestrator: NodeId,
    },
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNetwork => f.write_str("no network: expected a network; create it first"),
            Self::AlreadyCreated => {
                f.write_str("network created already: expected no network; let nodes join and leave")
            }
            Self::InvalidPolicy(error) => error.fmt(f),
            Self::OrchestratorMissing { orchestrator } => {
                write!(f, "orchestrator missing: expected node {orchestrator} among the nodes, found none")
            }
            Self::DuplicateNode { node } => {
                write!(f, "duplicate node: expected distinct ids, found {node} twice")
            }
            Self::UnknownNode { node } => {
                write!(f, "unknown node: expected a node of the network, found {node}")
            }
            Self::UnknownCapability { node, capability } => {
                write!(f, "unknown capability: expected one that node {node} holds, found {capability}")
            }
            Self::OrchestratorLeaves { orchestrator } => {
                write!(f, "orchestrator {orchestrator} leaves: expected another node")
            }
        }
    }
}

impl core::error::Error for NetworkError {}
