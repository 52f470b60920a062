//! Handoffs at the sender and at the receiver (001 §6).

use super::capability::CapabilityState;
use super::connection::Connection;
use super::node::Node;
use super::policy::TrustPolicy;
use crate::ids::{CapabilityId, NodeId, Timestamp};
use core::fmt;

/// The reason why a receiver refuses a handoff, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum HandoffRefusal {
    /// The signature is invalid.
    InvalidSignature,
    /// The receiver lacks the capability.
    MissingCapability,
    /// The capability is unavailable.
    Unavailable,
    /// The load of the capability is above the limit.
    Overloaded,
}

impl HandoffRefusal {
    /// Every reason, in the order of the checks.
    pub const ALL: [Self; 4] =
        [Self::InvalidSignature, Self::MissingCapability, Self::Unavailable, Self::Overloaded];
}

impl fmt::Display for HandoffRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidSignature => "the signature is invalid",
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

    /// Accepts a handoff and counts its task in the load, or refuses it. The boundary verifies the signature.
    ///
    /// # Errors
    /// [`HandoffRefusal`] with the first check that fails.
    pub fn receive_handoff(
        &mut self,
        policy: &TrustPolicy,
        capability: &CapabilityId,
        has_valid_signature: bool,
    ) -> Result<(), HandoffRefusal> {
        if !has_valid_signature {
            return Err(HandoffRefusal::InvalidSignature);
        }
        let state = self.capabilities.get_mut(capability).ok_or(HandoffRefusal::MissingCapability)?;
        if !state.available {
            return Err(HandoffRefusal::Unavailable);
        }
        if state.load() > policy.routing.overload_above {
            return Err(HandoffRefusal::Overloaded);
        }
        state.start_task();
        Ok(())
    }

    /// Ends a task of a capability, which lowers its load.
    pub fn end_task(&mut self, capability: &CapabilityId) {
        if let Some(state) = self.capabilities.get_mut(capability) {
            state.current_tasks = state.current_tasks.saturating_sub(1);
        }
    }
}

impl CapabilityState {
    /// Starts a task, which raises the load by `1 / max_capacity`.
    pub fn start_task(&mut self) {
        self.current_tasks = self.current_tasks.saturating_add(1);
    }
}
