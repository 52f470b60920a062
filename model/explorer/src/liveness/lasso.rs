//! A violating run.

use super::fairness::enabled;
use super::property::Fairness;
use crate::graph::{Edge, Graph};
use std::collections::VecDeque;

/// A run that violates a property: the stem from an initial node, then the cycle forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The steps to the entry of the cycle, or to the end of the run. The property is pending there.
    pub stem: Vec<Step>,
    /// The node there.
    pub entry: u32,
    /// The steps back to it; empty if the run is finite.
    pub cycle: Vec<Step>,
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The source.
    pub node: u32,
    /// The position of its edge, from 0.
    pub position: u16,
}

/// A fair cycle through the entry, in a set of nodes where a cycle through all of them is fair. It is the shorter of
/// two: first the shortest path back and then the missing steps, or the missing steps first.
pub(super) fn cycle(graph: &Graph, fair: &Fairness, nodes: &[u32], entry: u32) -> Vec<Step> {
    let tours = [true, false].map(|back_first| {
        let mut tour = CycleBuilder::new(graph, fair, nodes, entry);
        if back_first {
            tour.return_to_entry();
        }
        tour.finish()
    });
    tours.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

/// A walk in a set of nodes, with its fairness so far.
struct CycleBuilder<'a> {
    graph: &'a Graph,
    fair: &'a Fairness,
    nodes: &'a [u32],
    entry: u32,
    at: u32,
    steps: Vec<Step>,
    /// The classes of its steps.
    taken: u32,
    /// The classes that were enabled everywhere on the walk.
    always: u32,
    /// The classes that were enabled somewhere on the walk.
    ever: u32,
    /// The predecessor of each node in the current path search; or [`UNSEEN`], or [`OUTSIDE`].
    before: Vec<u32>,
}

/// No path to the node is known yet.
const UNSEEN: u32 = u32::MAX - 1;
/// The cycle does not enter the node.
const OUTSIDE: u32 = u32::MAX;

impl<'a> CycleBuilder<'a> {
    fn new(graph: &'a Graph, fair: &'a Fairness, nodes: &'a [u32], entry: u32) -> Self {
        let before = vec![OUTSIDE; nodes.iter().max().map_or(0, |&last| last as usize + 1)];
        let (always, steps) = (u32::MAX, Vec::new());
        let mut tour =
            Self { graph, fair, nodes, entry, at: entry, steps, taken: 0, always, ever: 0, before };
        tour.visit(entry);
        tour
    }

    /// Extends the walk until it is fair and closed.
    fn finish(mut self) -> Vec<Step> {
        loop {
            let weak = self.fair.weak.0 & self.always & !self.taken;
            let strong = self.fair.strong.0 & self.ever & !self.taken;
            if weak | strong != 0 {
                let graph = self.graph;
                let takes = move |edge: Edge| (weak | strong) & 1 << edge.class != 0;
                self.extend_to(|edge| takes(edge) || weak & !enabled(graph, edge.to).0 != 0);
            } else if self.at != self.entry || self.steps.is_empty() {
                self.return_to_entry();
            } else {
                return self.steps;
            }
        }
    }

    /// Extends the walk to the entry.
    fn return_to_entry(&mut self) {
        let entry = self.entry;
        self.extend_to(|edge| edge.to == entry);
    }

    /// Extends the walk by the shortest path that ends with such a step.
    fn extend_to(&mut self, last: impl Fn(Edge) -> bool) {
        for &node in self.nodes {
            self.before[node as usize] = UNSEEN;
        }
        self.before[self.at as usize] = self.at;
        let mut queue = VecDeque::from([self.at]);
        let mut way = Vec::new();
        while way.is_empty() {
            let node =
                queue.pop_front().expect("going round through all nodes is fair, so there is such a step");
            match self.find(node, &last) {
                Some(step) => way.push(step),
                None => {
                    for edge in self.graph.edges(node) {
                        if self.takes(edge) && self.before[edge.to as usize] == UNSEEN {
                            self.before[edge.to as usize] = node;
                            queue.push_back(edge.to);
                        }
                    }
                }
            }
        }
        while let Some(&(Step { node: to, .. }, _)) = way.last()
            && to != self.at
        {
            way.extend(self.find(self.before[to as usize], |edge| edge.to == to));
        }
        for (step, edge) in way.into_iter().rev() {
            self.steps.push(step);
            self.taken |= 1 << edge.class;
            self.visit(edge.to);
        }
    }

    fn visit(&mut self, node: u32) {
        let enabled = enabled(self.graph, node).0;
        (self.at, self.always, self.ever) = (node, self.always & enabled, self.ever | enabled);
    }

    /// The first such step out of a node.
    fn find(&self, node: u32, wanted: impl Fn(Edge) -> bool) -> Option<(Step, Edge)> {
        let steps = (0..).zip(self.graph.edges(node));
        let mut steps = steps.map(|(position, edge)| (Step { node, position }, edge));
        steps.find(|&(_, edge)| self.takes(edge) && wanted(edge))
    }

    fn takes(&self, edge: Edge) -> bool {
        !self.fair.finitely_often.has(edge.class)
            && self.before.get(edge.to as usize).is_some_and(|&at| at != OUTSIDE)
    }
}
