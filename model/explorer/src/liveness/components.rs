//! Strongly connected components, after Tarjan, with a stack of its own: graphs are deeper than the machine's stack.

use super::fairness::SccView;
use super::property::ClassMask;
use super::region::PendingRegion;
use crate::graph::Graph;
use std::ops::Range;

/// The components of the region, in one walk over all calls; no node is looked at twice unless it is reopened.
pub(super) struct Components<'a> {
    graph: &'a Graph,
    /// What no loop takes.
    finitely: ClassMask,
    /// For each node when it was entered, from 1 on; or [`UNSEEN`], or [`DONE`].
    entered: Vec<u32>,
    /// The nodes that were entered and whose component is not known yet.
    open: Vec<u32>,
    /// The way from the root to the node that is being looked at.
    way: Vec<Frame>,
}

/// It is to be looked at.
const UNSEEN: u32 = 0;
/// Its component is known, or it is outside.
const DONE: u32 = u32::MAX;

/// A node on the way.
struct Frame {
    node: u32,
    /// The earliest open node that is reached from it.
    low: u32,
    /// Where those of its edges stand that were not looked at.
    left: Range<usize>,
}

impl<'a> Components<'a> {
    pub(super) fn new(graph: &'a Graph, region: &PendingRegion, finitely: ClassMask) -> Self {
        let entered = region.everywhere().map(|inside| if inside { UNSEEN } else { DONE }).collect();
        Self { graph, finitely, entered, open: Vec::new(), way: Vec::new() }
    }

    /// Lets nodes be looked at once more, apart from all others.
    pub(super) fn reopen(&mut self, nodes: &[u32]) {
        for &node in nodes {
            self.entered[node as usize] = UNSEEN;
        }
    }

    /// Hands over each component that is reached from the roots and was not handed over before.
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
