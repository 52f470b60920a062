//! The trust network (001): nodes, their capabilities, connections and trust, and routing by their score.
//!
//! | module | content |
//! |---|---|
//! | [`policy`] | every constant, with the defaults of the source |
//! | [`routing`] | the node that gets a task, and why |
//! | [`interaction`] | one interaction at one end of a connection |
//! | [`defense`] | threat beliefs and signals |
//! | [`convergence`], [`aggregation`] | one answer of several nodes |
//!
//! [`crate::state::NetworkState`] is the network of a conversation; [`NetworkInput`] and [`NetworkEvent`] change it. Numbers are
//! millionths; `numeric` computes exponentials and logarithms. Deliberately absent: reading a network from a file, keys and
//! signatures.

pub mod aggregation;
mod capability;
mod connection;
mod connection_machine;
pub mod convergence;
pub mod defense;
mod directory;
mod error;
mod event;
mod exchange;
mod feedback;
mod handoff;
mod input;
pub mod interaction;
mod machine;
mod millionths;
mod node;
mod node_machine;
mod partners;
pub mod policy;
mod requirements;
pub mod routing;
mod step;
mod trust;
mod workflow;

pub use capability::{Capability, CapabilityCategory, CapabilityConstraints, CapabilityState};
pub use connection::{Connection, ConnectionStatus, Connections};
pub use connection_machine::{
    CONNECTION_TRANSITIONS, ConnectionGuard, ConnectionTransition, ConnectionTrigger,
};
pub use defense::{DEFENSE_TRANSITIONS, DefenseGuard, DefenseTransition, DefenseTrigger};
pub use error::NetworkError;
pub use event::{AssignedStep, NetworkEvent};
pub use exchange::{Contribution, Exchange, ExchangeOutcome, NodeInteraction};
pub use feedback::Feedback;
pub use handoff::HandoffRefusal;
pub use input::{HandoffReceipt, InteractionReport, NetworkInput, SignatureStatus};
pub use interaction::{Interaction, InteractionOutcome, WarningReason};
pub use machine::NetworkTransition;
pub use millionths::Millionths;
pub use node::{Defense, DefenseStatus, Node, NodeRecord, NodeStatus, ThreatBelief};
pub use node_machine::{NODE_TRANSITIONS, NodeAction, NodeGuard, NodeTransition, NodeTrigger};
pub use partners::RecentPartners;
pub use policy::{TrustPolicy, TrustPolicyError};
pub use requirements::{Priority, Requirements, TaskConstraints};
pub use routing::{RoutingResult, explain_route, route, route_ensemble};
pub use step::{STEP_TRANSITIONS, StepGuard, StepStatus, StepTransition, StepTrigger, step_transition};
pub use trust::{TrustComponents, aggregate_quality, compute_trust};
pub use workflow::{
    WORKFLOW_TRANSITIONS, WorkflowGuard, WorkflowStatus, WorkflowTransition, WorkflowTrigger,
    workflow_transition,
};

pub(crate) use rpds::RedBlackTreeMapSync as Map;

use crate::ids::{CapabilityId, NodeId};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// The nodes of a trust network by id. A clone shares every node.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<Node>", into = "Vec<Node>"))]
pub struct Network {
    nodes: Map<NodeId, Node>,
    directory: directory::Directory,
}

/// Ignores the directory, which follows from the nodes.
impl PartialEq for Network {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for Network {}

impl Hash for Network {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nodes.hash(state);
    }
}

impl Network {
    /// Returns the node with this id.
    #[must_use]
    pub fn node(&self, id: &NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// Changes the node with this id; none if it is not in the network. Its id stays.
    pub fn update<T>(&mut self, id: &NodeId, change: impl FnOnce(&mut Node) -> T) -> Option<T> {
        let node = self.nodes.get_mut(id)?;
        let before = directory::Published::new(node);
        let result = change(node);
        if node.id != *id {
            node.id = id.clone();
        }
        // Most changes are about what a node keeps to itself.
        if !before.is_still(node) {
            let is_removed = |capability: &&CapabilityId| !node.capabilities.contains_key(*capability);
            self.directory.remove(id, before.capabilities().filter(is_removed));
            self.directory.insert(node);
        }
        Some(result)
    }

    /// Iterates over the nodes in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// Delivers a signal to this node; none if it is not in the network. The subject is expelled once a confirmed belief
    /// is high enough.
    pub fn receive_signal(
        &mut self,
        policy: &TrustPolicy,
        receiver: &NodeId,
        signal: &defense::Signal,
    ) -> Option<defense::SignalOutcome> {
        let outcome = self.update(receiver, |node| defense::receive_signal(policy, node, signal))?;
        match &outcome {
            defense::SignalOutcome::Ignored => {}
            defense::SignalOutcome::Received { belief, .. } => {
                self.update(&signal.subject, |subject| {
                    subject.trigger_threat_report(&policy.status, belief);
                });
            }
        }
        Some(outcome)
    }

    /// Adds a node, or replaces the one with its id.
    pub fn insert(&mut self, node: Node) {
        if let Some(old) = self.nodes.get(&node.id) {
            self.directory.remove(&old.id, old.capabilities.keys());
        }
        self.directory.insert(&node);
        self.nodes.insert_mut(node.id.clone(), node);
    }

    /// Removes the node with this id; whether there was one.
    pub fn remove(&mut self, id: &NodeId) -> bool {
        if let Some(old) = self.nodes.get(id) {
            self.directory.remove(id, old.capabilities.keys());
        }
        self.nodes.remove_mut(id)
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.size()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl From<Vec<Node>> for Network {
    fn from(nodes: Vec<Node>) -> Self {
        nodes.into_iter().collect()
    }
}

impl From<Network> for Vec<Node> {
    fn from(network: Network) -> Self {
        network.iter().cloned().collect()
    }
}

impl FromIterator<Node> for Network {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        let mut network = Self::default();
        nodes.into_iter().for_each(|node| network.insert(node));
        network
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    const LOW: Score = Score::ZERO;
    const HIGH: Score = Score::ONE;

    fn node(id: &str, capabilities: &[&str], quality: Score) -> Node {
        let mut node = Node::new(&TrustPolicy::default().start, NodeId::new(id));
        let capabilities = capabilities.iter().map(|id| Capability::new(CapabilityId::new(*id), 1));
        capabilities.for_each(|one| node.add_capability(CapabilityState::new(one, quality)));
        node
    }

    /// Changes a network. Its directory must equal that of a network created from the changed nodes.
    fn check_directory(name: &str, change: impl FnOnce(&mut Network)) {
        let nodes = [node("a", &["read", "sum"], HIGH), node("b", &["read"], HIGH), node("c", &["sum"], LOW)];
        let mut network: Network = nodes.into_iter().collect();
        change(&mut network);
        let created: Network = network.iter().cloned().collect();
        assert_eq!(network.directory, created.directory, "{name}");
    }

    #[test]
    fn directory_follows_from_the_nodes() {
        let (a, b, read) = (NodeId::new("a"), NodeId::new("b"), CapabilityId::new("read"));
        check_directory("replaced node with fewer capabilities", |network| {
            network.insert(node("a", &["sum"], HIGH));
        });
        check_directory("replaced node of another quality", |network| {
            network.insert(node("b", &["read"], LOW))
        });
        check_directory("replaced capabilities", |network| {
            let other = node("a", &["write"], HIGH);
            network.update(&a, |node| node.capabilities = other.capabilities);
        });
        check_directory("removed capability", |network| {
            network.update(&a, |node| node.capabilities.remove(&read));
        });
        check_directory("other trust", |network| {
            network.update(&b, |node| node.trust = LOW);
        });
        check_directory("expelled node", |network| {
            network.update(&b, |node| node.status = NodeStatus::Expelled);
        });
        check_directory("removed node", |network| assert!(network.remove(&a)));
    }
}
