//! What routing compares candidates by, in a network file.

use orchestrion_kernel::network::policy::RoutingOrder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What routing compares candidates by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingOrderFile {
    /// The product of all factors (001 §4.1).
    Score,
    /// The quality for the first required capability.
    Quality,
    /// The fewest interactions with the routing node, so that nodes take turns.
    RoundRobin,
}

impl From<RoutingOrderFile> for RoutingOrder {
    fn from(file: RoutingOrderFile) -> Self {
        match file {
            RoutingOrderFile::Score => Self::Score,
            RoutingOrderFile::Quality => Self::Quality,
            RoutingOrderFile::RoundRobin => Self::RoundRobin,
        }
    }
}

impl From<RoutingOrder> for RoutingOrderFile {
    fn from(order: RoutingOrder) -> Self {
        match order {
            RoutingOrder::Score => Self::Score,
            RoutingOrder::Quality => Self::Quality,
            RoutingOrder::RoundRobin => Self::RoundRobin,
        }
    }
}
