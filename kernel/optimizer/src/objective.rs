//! The objective value of a set.

use super::condense::Graph;
use core::cmp::Reverse;

/// The objective value of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Objective {
    pub(super) utility: i64,
    pub(super) cost: i64,
    /// The number of nodes with utility.
    pub(super) count: i64,
}

impl Objective {
    /// Whether this has a higher utility, or the same at a lower cost.
    pub(super) fn is_better_than(self, other: Self) -> bool {
        (self.utility, Reverse(self.cost)) > (other.utility, Reverse(other.cost))
    }

    pub(super) fn add(&mut self, graph: &Graph, node: usize) {
        self.utility += graph.utility[node];
        self.cost += graph.cost[node];
        self.count += graph.bulk(node);
    }

    pub(super) fn remove(&mut self, graph: &Graph, node: usize) {
        self.utility -= graph.utility[node];
        self.cost -= graph.cost[node];
        self.count -= graph.bulk(node);
    }
}
