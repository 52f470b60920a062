//! Whether a run may stay for ever among some nodes, and be fair.

use super::property::{ClassMask, Fairness};
use crate::graph::Graph;

/// Nodes of which each reaches each by steps that a loop may take, without leaving them.
pub(super) struct SccView<'a> {
    pub(super) graph: &'a Graph,
    /// What no loop takes.
    pub(super) finitely: ClassMask,
    pub(super) nodes: &'a [u32],
    /// Whether a node is one of them.
    pub(super) has: &'a dyn Fn(u32) -> bool,
}

/// Where no fair run can stay.
pub(super) enum UnfairNodes {
    /// Going round through all of it is fair.
    None,
    /// A run that stays must do so among these.
    At(Vec<u32>),
    /// Anywhere.
    All,
}

impl SccView<'_> {
    /// Where no step is taken no run stays. Taking more is fairer to a weak class, and visiting less to a strong one: a weak
    /// class that is always enabled and never taken here is so among fewer nodes, too; and where a strong class is enabled
    /// that is not taken here, no fair run returns.
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

/// The classes of the steps out of a node, wherever they lead. Where not all are known each may be one of them, so that
/// no run is called fair that may not be.
pub(super) fn enabled(graph: &Graph, node: u32) -> ClassMask {
    if !graph.is_complete(node) {
        return ClassMask(u32::MAX);
    }
    ClassMask(graph.edges(node).fold(0, |all, edge| all | 1 << edge.class))
}
