//! Nodes of the trust network.

use super::Map;
use super::capability::CapabilityState;
use super::connection::Connections;
use super::partners::RecentPartners;
use super::policy::StartPolicy;
use crate::ids::{CapabilityId, ClusterId, NodeId};
use crate::score::Score;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A node: what it publishes (capabilities, load, trust, status) and its view of others (connections, threat beliefs).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Node {
    /// The id.
    pub id: NodeId,
    /// The capabilities by id.
    #[cfg_attr(feature = "serde", serde(default))]
    pub capabilities: BTreeMap<CapabilityId, CapabilityState>,
    /// The connections by partner.
    #[cfg_attr(feature = "serde", serde(default))]
    pub connections: Connections,
    /// The beliefs about threats, by subject.
    #[cfg_attr(feature = "serde", serde(default))]
    pub threat_beliefs: Map<NodeId, ThreatBelief>,
    /// The status.
    pub status: NodeStatus,
    /// The stored trust `T`, which routing reads and the node machine scales.
    pub trust: Score,
    /// The computed trust, see [`compute_trust`](super::compute_trust).
    pub computed_trust: Score,
    /// The counters behind the status.
    #[cfg_attr(feature = "serde", serde(default))]
    pub record: NodeRecord,
    /// The partners of the latest interactions.
    #[cfg_attr(feature = "serde", serde(default))]
    pub recent_partners: Arc<RecentPartners>,
    /// The declared cluster (001 §8.2).
    #[cfg_attr(feature = "serde", serde(default))]
    pub cluster: Option<ClusterId>,
    /// The load that the node reports; without one, the largest load of its capabilities counts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reported_load: Option<Score>,
    /// The state of the defense.
    #[cfg_attr(feature = "serde", serde(default))]
    pub defense: Defense,
    /// The public key, opaque to the kernel: the boundary verifies signatures.
    #[cfg_attr(feature = "serde", serde(default))]
    pub public_key: Vec<u8>,
}

/// The status of a node; its rows are in [`NODE_TRANSITIONS`](super::NODE_TRANSITIONS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum NodeStatus {
    /// On probation.
    Probationary,
    /// Past its probation.
    Member,
    /// A member with a long record.
    Established,
    /// An established node with many partners.
    Hub,
    /// Excluded from every task.
    Expelled,
}

impl NodeStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Probationary, Self::Member, Self::Established, Self::Hub, Self::Expelled];
}

/// The counters behind a node's status. They are bounded by the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct NodeRecord {
    /// The number of counted interactions, up to the number that an established node needs.
    pub interactions: u32,
    /// The sum of their qualities, in millionths.
    pub quality_sum: u64,
    /// The number of failed probations.
    pub failed_probations: u32,
    /// The mean quality at the latest promotion.
    pub promoted_quality: Score,
}

/// A node's belief that another node is a threat.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ThreatBelief {
    /// The level `θ_threat` (001 §4.1).
    pub level: Score,
    /// The origin of the first signal behind the belief.
    #[cfg_attr(feature = "serde", serde(default))]
    pub first_origin: Option<NodeId>,
    /// Whether a signal of another origin confirmed it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub is_confirmed: bool,
}

/// The state of a node's defense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct Defense {
    /// The status.
    pub status: DefenseStatus,
    /// The priming, raised by each signal and decaying with each tick.
    pub priming: Score,
}

/// The status of a node's defense; its rows are in [`DEFENSE_TRANSITIONS`](super::DEFENSE_TRANSITIONS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DefenseStatus {
    /// No signal is recent.
    #[default]
    Normal,
    /// A signal is recent.
    Primed,
    /// The node acts against a threat.
    Defending,
}

impl DefenseStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Primed, Self::Defending];
}

impl Node {
    /// Creates a node on probation, with swift trust and no capability.
    #[must_use]
    pub fn new(policy: &StartPolicy, id: NodeId) -> Self {
        Self {
            id,
            capabilities: BTreeMap::new(),
            connections: Connections::default(),
            threat_beliefs: Map::new_sync(),
            status: NodeStatus::Probationary,
            trust: policy.swift_trust,
            computed_trust: policy.swift_trust,
            record: NodeRecord::default(),
            recent_partners: Arc::default(),
            cluster: None,
            reported_load: None,
            defense: Defense::default(),
            public_key: Vec::new(),
        }
    }

    /// Adds a capability, or replaces the one with its id.
    pub fn add_capability(&mut self, state: CapabilityState) {
        self.capabilities.insert(state.capability.id.clone(), state);
    }

    /// Returns the node's own load (001 §4.3 `node.load`): what it reports, else the largest load of its capabilities.
    #[must_use]
    pub fn load(&self) -> Score {
        let largest = || self.capabilities.values().map(CapabilityState::load).max().unwrap_or(Score::ZERO);
        self.reported_load.unwrap_or_else(largest)
    }

    /// Returns the level of threat that this node believes of another one.
    #[must_use]
    pub fn threat_level(&self, subject: &NodeId) -> Score {
        self.threat_beliefs.get(subject).map_or(Score::ZERO, |belief| belief.level)
    }
}
