//! A run that breaks a promise, as it is told.

use super::fairness::enabled;
use super::property::Fairness;
use crate::graph::{Edge, Graph};
use std::collections::VecDeque;

/// A run that breaks a promise: the stem from an initial node, then the loop for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// To where the loop begins, or to where the run ends. The promise is open there.
    pub stem: Vec<Step>,
    /// The node there.
    pub entry: u32,
    /// Back to it; nothing if no step leads on from it.
    pub cycle: Vec<Step>,
}

/// A step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node that is left.
    pub node: u32,
    /// By its how-manieth edge, from 0 on.
    pub position: u16,
}

/// A loop through the entry that is fair, among nodes where going round through all is. It is no longer than the shorter
/// of two: back by the shortest way and then what is missing, or what is missing first.
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

/// A walk among some nodes, and what it was fair to.
struct CycleBuilder<'a> {
    graph: &'a Graph,
    fair: &'a Fairness,
    nodes: &'a [u32],
    entry: u32,
    at: u32,
    steps: Vec<Step>,
    /// The classes of its steps.
    taken: u32,
    /// Enabled wherever it was.
    always: u32,
    /// Enabled somewhere where it was.
    ever: u32,
    /// For each node, while a way is looked for, the one before it; or [`UNSEEN`], or [`OUTSIDE`].
    before: Vec<u32>,
}

/// No way to the node is known yet.
const UNSEEN: u32 = u32::MAX - 1;
/// The loop does not come there.
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

    /// Goes on until it is fair and back.
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

    /// Goes to the entry.
    fn return_to_entry(&mut self) {
        let entry = self.entry;
        self.extend_to(|edge| edge.to == entry);
    }

    /// Goes the shortest way that ends with such a step.
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
