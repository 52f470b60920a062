//! Handoffs at the sender and at the receiver (001 §6).

use super::connection::Connection;
use super::node::{Node, NodeStatus};
use super::policy::{RoutingPolicy, TrustPolicy};
use crate::ids::{CapabilityId, NodeId, Timestamp};
use core::fmt;

/// The reason why a receiver refuses a handoff, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum HandoffRefusal {
    /// The signature is invalid.
    InvalidSignature,
    /// No such handoff is expected: it was accepted already, its call ended, or it was never sent.
    NotExpected,
    /// The receiver lacks the capability.
    MissingCapability,
    /// The capability is unavailable, or the node is expelled.
    Unavailable,
    /// The load of the capability is above the limit.
    Overloaded,
}

impl HandoffRefusal {
    /// Every reason, in the order of the checks.
    pub const ALL: [Self; 5] = [
        Self::InvalidSignature,
        Self::NotExpected,
        Self::MissingCapability,
        Self::Unavailable,
        Self::Overloaded,
    ];
}

impl fmt::Display for HandoffRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidSignature => "the signature is invalid",
            Self::NotExpected => "no such handoff is expected",
            Self::MissingCapability => "the capability is missing",
            Self::Unavailable => "the capability is unavailable",
            Self::Overloaded => "the capability is overloaded",
        })
    }
}

impl Node {
    /// Notes a handoff to a partner: the connection is active now. A stranger gets a connection with fresh values.
    pub fn send_handoff(&mut self, policy: &TrustPolicy, partner: &NodeId, at: Timestamp) {
        let fresh = || Connection::new(&policy.connection, at);
        self.connections.update(partner, fresh, |connection| {
            connection.last_active = connection.last_active.max(at);
        });
    }

    /// Checks whether the node accepts a task of this capability now. The signature is checked before.
    ///
    /// # Errors
    /// [`HandoffRefusal`] with the first check that fails.
    pub fn check_handoff(
        &self,
        policy: &RoutingPolicy,
        capability: &CapabilityId,
    ) -> Result<(), HandoffRefusal> {
        let state = self.capabilities.get(capability).ok_or(HandoffRefusal::MissingCapability)?;
        if !state.available || self.status == NodeStatus::Expelled {
            return Err(HandoffRefusal::Unavailable);
        }
        if state.load() > policy.overload_above {
            return Err(HandoffRefusal::Overloaded);
        }
        Ok(())
    }

    /// Starts a task of a capability, which raises its load by `1 / max_capacity`.
    pub fn start_task(&mut self, capability: &CapabilityId) {
        if let Some(state) = self.capabilities.get_mut(capability) {
            state.current_tasks = state.current_tasks.saturating_add(1);
        }
    }

    /// Ends a task of a capability, which lowers its load.
    pub fn end_task(&mut self, capability: &CapabilityId) {
        if let Some(state) = self.capabilities.get_mut(capability) {
            state.current_tasks = state.current_tasks.saturating_sub(1);
        }
    }
}
