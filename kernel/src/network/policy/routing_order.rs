//! What candidates are compared by: the score of the source, or a simpler rule to compare it with.

/// What routing compares candidates by. The filters and the refusal of overloaded nodes are the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum RoutingOrder {
    /// The product of all factors (001 §4.1).
    #[default]
    Score,
    /// The quality for the first required capability. A departure, for comparison.
    Quality,
    /// The fewest interactions with the routing node, so that nodes take turns. A departure, for comparison.
    RoundRobin,
}

impl RoutingOrder {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::Score, Self::Quality, Self::RoundRobin];

    /// Returns whether this is the order of the source. Traces do not repeat it, so that older ones keep their bytes.
    #[cfg(feature = "serde")]
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::Score
    }
}
