//! Whether a fair run can stay forever in a set of nodes.

use super::property::{ClassMask, Fairness};
use crate::graph::Graph;

/// A strongly connected set of nodes by steps that a cycle may contain.
pub(super) struct SccView<'a> {
    pub(super) graph: &'a Graph,
    /// The classes that no cycle may contain.
    pub(super) finitely: ClassMask,
    pub(super) nodes: &'a [u32],
    /// Whether a node is in the set.
    pub(super) has: &'a dyn Fn(u32) -> bool,
}

/// The nodes in which no fair run can stay.
pub(super) enum UnfairNodes {
    /// A cycle through the whole set is fair.
    None,
    /// A run that stays must stay in a subset without these nodes.
    At(Vec<u32>),
    /// No fair run can stay in the set.
    All,
}

impl SccView<'_> {
    /// Without a step no run stays. A larger set is fairer to a weak class, and a smaller set to a strong one. A weak
    /// class that is always enabled and never taken here is so in every subset. A strong class that is enabled at a
    /// node and not taken here excludes that node.
    pub(super) fn unfair(&self, fair: &Fairness) -> UnfairNodes {
        let (mut taken, mut always, mut ever) = (0, u32::MAX, 0);
        for &node in self.nodes {
            let enabled = enabled(self.graph, node).0;
            (always, ever) = (always & enabled, ever | enabled);
            for edge in self.graph.edges(node) {
                let inside = !self.finitely.has(edge.class) && (self.has)(edge.to);
                taken |= u32::from(inside) << edge.class;
            }
        }
        if taken == 0 || fair.weak.0 & always & !taken != 0 {
            return UnfairNodes::All;
        }
        match fair.strong.0 & ever & !taken {
            0 => UnfairNodes::None,
            missed => {
                let stays = |node: &u32| enabled(self.graph, *node).0 & missed == 0;
                UnfairNodes::At(self.nodes.iter().copied().filter(stays).collect())
            }
        }
    }
}

/// The classes of the outgoing steps of a node. If not all steps are known, each class may be among them, so that no
/// run is called fair wrongly.
pub(super) fn enabled(graph: &Graph, node: u32) -> ClassMask {
    if !graph.is_complete(node) {
        return ClassMask(u32::MAX);
    }
    ClassMask(graph.edges(node).fold(0, |all, edge| all | 1 << edge.class))
}
