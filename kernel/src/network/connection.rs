//! Connections of a node to its partners, with cached sums for its trust.

use super::Map;
use super::millionths::Millionths;
use super::policy::ConnectionPolicy;
use crate::ids::{NodeId, Timestamp};
use crate::score::Score;
use alloc::vec::Vec;

/// What a node knows of one partner: the weight of the connection and the averages behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Connection {
    /// The weight `w`.
    pub weight: Score,
    /// The reciprocity `r`.
    pub reciprocity: Millionths,
    /// The quality `q` of the partner's work.
    pub quality: Score,
    /// The tone `τ`, from −1 to 1.
    pub tone: Millionths,
    /// The status.
    pub status: ConnectionStatus,
    /// The time of the latest handoff or interaction.
    pub last_active: Timestamp,
    /// The number of interactions.
    #[cfg_attr(feature = "serde", serde(default))]
    pub interactions: u32,
    /// The number of affirmations: interactions of high quality and tone.
    #[cfg_attr(feature = "serde", serde(default))]
    pub affirmations: u32,
}

/// The status of a connection; its rows are in [`CONNECTION_TRANSITIONS`](super::CONNECTION_TRANSITIONS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ConnectionStatus {
    /// No interaction yet.
    New,
    /// In use.
    Active,
    /// Idle for a while.
    Dormant,
    /// Decayed to the minimum weight. The values stay, so that a removal restores no weight.
    Removed,
}

impl ConnectionStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::New, Self::Active, Self::Dormant, Self::Removed];
}

impl Connection {
    /// Creates a connection with fresh values.
    #[must_use]
    pub fn new(policy: &ConnectionPolicy, at: Timestamp) -> Self {
        Self {
            weight: policy.initial_weight,
            reciprocity: Millionths::ZERO,
            quality: policy.initial_quality,
            tone: Millionths::ZERO,
            status: ConnectionStatus::New,
            last_active: at,
            interactions: 0,
            affirmations: 0,
        }
    }
}

/// The connections of a node by partner. The sums over connections that are not removed are cached.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Map<NodeId, Connection>", into = "Map<NodeId, Connection>"))]
pub struct Connections {
    by_partner: Map<NodeId, Connection>,
    counted: u32,
    reciprocity_sum: i128,
    quality_sum: u64,
}

impl Connections {
    /// Returns the connection to this partner.
    #[must_use]
    pub fn get(&self, partner: &NodeId) -> Option<&Connection> {
        self.by_partner.get(partner)
    }

    /// Iterates over the connections by partner, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&NodeId, &Connection)> {
        self.by_partner.iter()
    }

    /// Returns the number of connections that are not removed.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.counted
    }

    /// Whether every connection is removed, or there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counted == 0
    }

    /// Returns the mean reciprocity over the connections; 0 without any.
    #[must_use]
    pub fn mean_reciprocity(&self) -> Millionths {
        Millionths::new(super::millionths::div_round(self.reciprocity_sum, i128::from(self.counted)))
    }

    /// Returns the mean quality over the connections; 0 without any.
    #[must_use]
    pub fn mean_quality(&self) -> Score {
        let mean = super::millionths::div_round(i128::from(self.quality_sum), i128::from(self.counted));
        Millionths::new(mean).to_score()
    }

    /// Sets the connection to this partner.
    pub fn insert(&mut self, partner: NodeId, connection: Connection) {
        if let Some(old) = self.by_partner.get(&partner).cloned() {
            self.discount(&old);
        }
        self.count(&connection);
        self.by_partner.insert_mut(partner, connection);
    }

    /// Changes the connection to this partner, which is created with `fresh` where there is none. Returns the result.
    pub fn update<T>(
        &mut self,
        partner: &NodeId,
        fresh: impl FnOnce() -> Connection,
        change: impl FnOnce(&mut Connection) -> T,
    ) -> T {
        let Some(connection) = self.by_partner.get_mut(partner) else {
            let mut connection = fresh();
            let result = change(&mut connection);
            self.insert(partner.clone(), connection);
            return result;
        };
        let old = connection.clone();
        let result = change(connection);
        let new = connection.clone();
        self.discount(&old);
        self.count(&new);
        result
    }

    /// Changes each connection. Those that stay the same are not copied.
    pub(super) fn update_all(&mut self, change: impl Fn(&mut Connection)) {
        let changed = self.by_partner.iter().filter_map(|(partner, connection)| {
            let mut new = connection.clone();
            change(&mut new);
            (new != *connection).then(|| (partner.clone(), new))
        });
        let changed: Vec<_> = changed.collect();
        changed.into_iter().for_each(|(partner, connection)| self.insert(partner, connection));
    }

    /// Forgets the numbers of interactions and affirmations.
    pub(crate) fn forget_counts(&mut self) {
        self.update_all(|connection| (connection.interactions, connection.affirmations) = (0, 0));
    }

    fn count(&mut self, connection: &Connection) {
        if connection.status != ConnectionStatus::Removed {
            self.counted = self.counted.saturating_add(1);
            self.reciprocity_sum =
                self.reciprocity_sum.saturating_add(i128::from(connection.reciprocity.get()));
            self.quality_sum = self.quality_sum.saturating_add(u64::from(connection.quality.millionths()));
        }
    }

    fn discount(&mut self, connection: &Connection) {
        if connection.status != ConnectionStatus::Removed {
            self.counted = self.counted.saturating_sub(1);
            self.reciprocity_sum =
                self.reciprocity_sum.saturating_sub(i128::from(connection.reciprocity.get()));
            self.quality_sum = self.quality_sum.saturating_sub(u64::from(connection.quality.millionths()));
        }
    }
}

impl From<Map<NodeId, Connection>> for Connections {
    fn from(by_partner: Map<NodeId, Connection>) -> Self {
        let mut connections = Self::default();
        for connection in by_partner.values() {
            connections.count(connection);
        }
        Self { by_partner, ..connections }
    }
}

impl From<Connections> for Map<NodeId, Connection> {
    fn from(connections: Connections) -> Self {
        connections.by_partner
    }
}

impl FromIterator<(NodeId, Connection)> for Connections {
    fn from_iter<I: IntoIterator<Item = (NodeId, Connection)>>(connections: I) -> Self {
        connections.into_iter().collect::<Map<_, _>>().into()
    }
}
