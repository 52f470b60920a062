//! The view of the routing node: its connections and its beliefs.

use crate::ids::NodeId;
use crate::network::{Connection, Node, ThreatBelief, TrustPolicy};
use crate::score::Score;
use alloc::boxed::Box;
use core::cmp::Ordering;

/// A map that is read in the order of its keys: one pass over it serves a pass over all nodes.
struct Cursor<'a, V> {
    entries: Box<dyn Iterator<Item = (&'a NodeId, &'a V)> + 'a>,
    next: Option<(&'a NodeId, &'a V)>,
}

impl<'a, V> Cursor<'a, V> {
    fn new(entries: impl Iterator<Item = (&'a NodeId, &'a V)> + 'a) -> Self {
        let mut entries: Box<dyn Iterator<Item = _>> = Box::new(entries);
        let next = entries.next();
        Self { entries, next }
    }

    /// Returns the value of this key. Keys must be asked for in ascending order.
    fn get(&mut self, key: &NodeId) -> Option<&'a V> {
        while let Some((found, value)) = self.next {
            match found.cmp(key) {
                Ordering::Less => self.next = self.entries.next(),
                Ordering::Equal => return Some(value),
                Ordering::Greater => return None,
            }
        }
        None
    }
}

/// The connections and beliefs of the routing node, read in the order of ids.
pub(super) struct View<'a> {
    stranger: Score,
    connections: Option<Cursor<'a, Connection>>,
    beliefs: Option<Cursor<'a, ThreatBelief>>,
}

impl<'a> View<'a> {
    pub(super) fn new(policy: &TrustPolicy, node: Option<&'a Node>) -> Self {
        Self {
            stranger: policy.connection.initial_weight,
            connections: node.map(|node| Cursor::new(node.connections.iter())),
            beliefs: node.map(|node| Cursor::new(node.threat_beliefs.iter())),
        }
    }

    /// Returns the connection factor of a node: the weight of the connection, else that of a new one.
    pub(super) fn connection(&mut self, node: &NodeId) -> Score {
        let connection = self.connections.as_mut().and_then(|connections| connections.get(node));
        connection.map_or(self.stranger, |connection| connection.weight)
    }

    /// Returns the believed level of threat of a node.
    pub(super) fn threat(&mut self, node: &NodeId) -> Score {
        let belief = self.beliefs.as_mut().and_then(|beliefs| beliefs.get(node));
        belief.map_or(Score::ZERO, |belief| belief.level)
    }
}
