//! Strongly connected components by Tarjan's algorithm, with an explicit stack: graphs are deeper than the call stack.

use super::fairness::SccView;
use super::property::ClassMask;
use super::region::PendingRegion;
use crate::graph::Graph;
use std::ops::Range;

/// The components of a region, in one search over all calls. No node is visited twice unless it is reopened.
pub(super) struct Components<'a> {
    graph: &'a Graph,
    /// The classes that no cycle may contain.
    finitely: ClassMask,
    /// The discovery index of each node, from 1; or [`UNSEEN`], or [`DONE`].
    entered: Vec<u32>,
    /// The nodes that were entered and whose component is not complete.
    open: Vec<u32>,
    /// The path from the root to the current node.
    way: Vec<Frame>,
}

/// Not visited yet.
const UNSEEN: u32 = 0;
/// Its component is complete, or it is outside of the region.
const DONE: u32 = u32::MAX;

/// A node on the path.
struct Frame {
    node: u32,
    /// The earliest open node that it reaches.
    low: u32,
    /// The positions of its edges that were not visited.
    left: Range<usize>,
}

impl<'a> Components<'a> {
    pub(super) fn new(graph: &'a Graph, region: &PendingRegion, finitely: ClassMask) -> Self {
        let entered = region.everywhere().map(|inside| if inside { UNSEEN } else { DONE }).collect();
        Self { graph, finitely, entered, open: Vec::new(), way: Vec::new() }
    }

    /// Visits nodes again, apart from all others.
    pub(super) fn reopen(&mut self, nodes: &[u32]) {
        for &node in nodes {
            self.entered[node as usize] = UNSEEN;
        }
    }

    /// Passes on each component that the roots reach and that was not passed on before.
    pub(super) fn of(&mut self, roots: &[u32], mut found: impl FnMut(&SccView<'_>)) {
        for &root in roots {
            if self.entered[root as usize] == UNSEEN {
                self.enter(root);
            }
            while let Some(frame) = self.way.last_mut() {
                if let Some(place) = frame.left.next() {
                    let edge = self.graph.edge(place);
                    match self.entered[edge.to as usize] {
                        _ if self.finitely.has(edge.class) => {}
                        UNSEEN => self.enter(edge.to),
                        DONE => {}
                        entered => frame.low = frame.low.min(entered),
                    }
                } else {
                    self.leave(&mut found);
                }
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.open.push(node);
        let number = self.open.len() as u32;
        self.entered[node as usize] = number;
        self.way.push(Frame { node, low: number, left: self.graph.places(node) });
    }

    fn leave(&mut self, found: &mut impl FnMut(&SccView<'_>)) {
        let Some(Frame { node, low, .. }) = self.way.pop() else { return };
        if let Some(before) = self.way.last_mut() {
            before.low = before.low.min(low);
        }
        let number = self.entered[node as usize];
        if low < number {
            return;
        }
        let entered = &self.entered;
        let has = |node: u32| (number..DONE).contains(&entered[node as usize]);
        let nodes = &self.open[number as usize - 1..];
        found(&SccView { graph: self.graph, finitely: self.finitely, nodes, has: &has });
        for &node in nodes {
            self.entered[node as usize] = DONE;
        }
        self.open.truncate(number as usize - 1);
    }
}
