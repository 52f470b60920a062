//! The view of the routing node: its connections and its beliefs.

use super::filter::TaskFilter;
use super::{Factors, complement};
use crate::ids::NodeId;
use crate::network::policy::RoutingOrder;
use crate::network::{Node, TrustPolicy};
use crate::score::{Score, Weight};

/// The connections and beliefs of the routing node; none where it is not in the network.
pub(super) struct View<'a> {
    policy: &'a TrustPolicy,
    node: Option<&'a Node>,
}

impl<'a> View<'a> {
    pub(super) fn new(policy: &'a TrustPolicy, node: Option<&'a Node>) -> Self {
        Self { policy, node }
    }

    /// Returns the factors of a candidate that publishes this trust, quality and load.
    pub(super) fn factors(
        &self,
        task: &TaskFilter<'_>,
        candidate: &NodeId,
        trust: Score,
        quality: Score,
        load: Score,
    ) -> Factors {
        match self.policy.routing.order {
            RoutingOrder::Score => {
                let bonus = self.policy.routing.preference_bonus;
                Factors {
                    trust,
                    quality,
                    availability: complement(load),
                    connection: self.connection(candidate),
                    safety: complement(self.node.map_or(Score::ZERO, |node| node.threat_level(candidate))),
                    preference: if task.is_preferred(candidate) { bonus } else { Weight::ONE },
                }
            }
            RoutingOrder::Quality => Factors { quality, ..Factors::ONE },
            RoutingOrder::RoundRobin => Factors { connection: self.turn(candidate), ..Factors::ONE },
        }
    }

    /// Returns a value that falls by a millionth with each interaction.
    fn turn(&self, candidate: &NodeId) -> Score {
        let connection = self.node.and_then(|node| node.connections.get(candidate));
        let interactions = connection.map_or(0, |connection| connection.interactions);
        complement(Score::from_millionths(interactions).unwrap_or(Score::ONE))
    }

    /// Returns the weight of the connection to a candidate, else that of a new one.
    fn connection(&self, candidate: &NodeId) -> Score {
        let connection = self.node.and_then(|node| node.connections.get(candidate));
        connection.map_or(self.policy.connection.initial_weight, |connection| connection.weight)
    }
}
