//! What liveness reads of an exploration.

use crate::graph::Graph;

/// The explored graph, as far as liveness needs it. Nodes are numbered from 0 in breadth-first order.
pub trait StateGraph {
    /// The number of nodes, including those without kept edges.
    fn nodes(&self) -> u32;
    /// The edges. A node without kept edges counts as not explored further.
    fn graph(&self) -> &Graph;
    /// The node, and the position of its step, from which a node was first reached; `None` for initial nodes.
    fn parent(&self, node: u32) -> Option<(u32, u16)>;
    /// Whether a node triggers a property. Read only for [`LivenessKind::LeadsTo`](super::LivenessKind::LeadsTo).
    fn is_triggered(&self, property: usize, node: u32) -> bool;
    /// Whether a node satisfies a property.
    fn is_satisfied(&self, property: usize, node: u32) -> bool;
}
