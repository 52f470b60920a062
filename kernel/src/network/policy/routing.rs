//! The policy of routing.

use super::{score, weight};
use crate::{Score, Weight};

/// The constants and switches of routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct RoutingPolicy {
    /// What candidates are compared by.
    pub order: RoutingOrder,
    /// The factor of the score of a preferred node. At most 100, so that scores are compared exactly.
    pub preference_bonus: Weight,
    /// A capability above this load refuses a task.
    pub overload_above: Score,
    /// Whether a node that can execute a task executes it itself (001 §4.2). Without it, the node competes as any other.
    pub local_preference: bool,
    /// Whether a candidate must hold every required capability. 001 §4.3 reads only the first.
    pub all_capabilities: bool,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        Self {
            order: RoutingOrder::Score,
            preference_bonus: weight(1_200_000),
            overload_above: score(950_000),
            local_preference: true,
            all_capabilities: true,
        }
    }
}

/// A trace leaves out the order of the source, so that older traces keep their bytes. An encoding without names needs every field.
#[cfg(feature = "serde")]
impl serde::Serialize for RoutingPolicy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let Self { order, preference_bonus, overload_above, local_preference, all_capabilities } = self;
        let has_order = !serializer.is_human_readable() || *order != RoutingOrder::Score;
        let mut policy =
            serializer.serialize_struct("RoutingPolicy", usize::from(has_order).saturating_add(4))?;
        if has_order {
            policy.serialize_field("order", order)?;
        }
        policy.serialize_field("preference_bonus", preference_bonus)?;
        policy.serialize_field("overload_above", overload_above)?;
        policy.serialize_field("local_preference", local_preference)?;
        policy.serialize_field("all_capabilities", all_capabilities)?;
        policy.end()
    }
}

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
}
