//! The state of a search: fixed nodes, open nodes and the incumbent.

use super::cardinality_range::CardinalityRange;
use super::condense::Graph;
use super::flow::{Amount, Flow};
use super::limits::SearchLimits;
use super::objective::Objective;
use super::rounding::{Lattice, candidate_lattices};
use alloc::vec;
use alloc::vec::Vec;

/// The status of a node in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStatus {
    Open,
    In,
    Out,
}

/// A search for closed sets within a budget that improve on an incumbent.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph,
    pub(super) budget: i64,
    pub(super) fate: Vec<NodeStatus>,
    /// The fixed nodes, in order.
    pub(super) trail: Vec<usize>,
    /// The value of the nodes that are fixed in, including those before this search.
    pub(super) fixed: Objective,
    pub(super) flow: Flow,
    /// The value to improve on.
    pub(super) incumbent: Objective,
    /// The incumbent's set, if this search found it.
    pub(super) incumbent_set: Option<Vec<bool>>,
    /// Whether any improvement is enough. The first one then leaves the incumbent unchanged.
    pub(super) stop_at_first: bool,
    /// The range of set sizes under search.
    pub(super) part: CardinalityRange,
    /// The lattices of the utilities.
    pub(super) grids: Vec<Lattice>,
    /// The number of search nodes that may still be visited.
    pub(super) nodes_left: u64,
    /// The work of the flow at which the search ends.
    pub(super) work_max: u64,
    pub(super) seen: Vec<u32>,
    pub(super) visit_mark: u32,
}

impl<'a> Search<'a> {
    /// Starts a search with a new flow, among nodes that are fixed in.
    pub(super) fn new(
        graph: &'a Graph,
        budget: i64,
        held: Objective,
        floor: Objective,
        limits: SearchLimits,
    ) -> Self {
        let total: Amount = graph.utility.iter().map(|&utility| Amount::from(utility)).sum();
        let costs: Amount = graph.cost.iter().map(|&cost| Amount::from(cost)).sum();
        let flow = Flow::new(graph, scale_bits(total, costs, graph.len()));
        let grids = candidate_lattices(&nodes_of(graph), held);
        let mut search = Self::resume(graph, budget, floor, limits, grids, flow);
        search.fixed = held;
        search.set_budget(budget.min(held.cost.saturating_add(graph.cost.iter().sum())));
        search
    }

    /// Starts a search with the flow of an earlier one, in which every node is open.
    pub(super) fn resume(
        graph: &'a Graph,
        budget: i64,
        floor: Objective,
        limits: SearchLimits,
        grids: Vec<Lattice>,
        flow: Flow,
    ) -> Self {
        let nodes = graph.len();
        let budget = budget.min(graph.cost.iter().sum());
        let mut search = Self {
            graph,
            budget,
            fate: vec![NodeStatus::Open; nodes],
            trail: Vec::new(),
            fixed: Objective::default(),
            flow,
            incumbent: floor,
            incumbent_set: None,
            stop_at_first: false,
            part: CardinalityRange::Any,
            grids,
            nodes_left: limits.nodes,
            work_max: limits.work,
            seen: vec![0; nodes],
            visit_mark: 0,
        };
        search.set_budget(budget);
        search
    }

    /// Whether a limit of the search was reached.
    pub(super) fn is_exhausted(&self) -> bool {
        self.nodes_left == 0 || self.has_spent_work()
    }

    /// Whether the work limit was reached.
    pub(super) fn has_spent_work(&self) -> bool {
        self.flow.work >= self.work_max
    }

    /// Sets the budget, rounded down to what costs can use.
    pub(super) fn set_budget(&mut self, budget: i64) {
        self.budget = self.grids.iter().map(|grid| grid.usable(budget)).min().unwrap_or(budget);
    }

    /// The budget that is left.
    pub(super) fn remaining_budget(&self) -> i64 {
        self.budget - self.fixed.cost
    }

    pub(super) fn is_open(&self, node: usize) -> bool {
        self.fate[node] == NodeStatus::Open
    }

    /// The open nodes, ascending.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.graph.len()).filter(|&node| self.is_open(node)).collect()
    }

    /// Fixes a node with its dependencies (in) or its dependents (out).
    pub(super) fn fix_with_closure(&mut self, node: usize, fate: NodeStatus) {
        let mut next = self.trail.len();
        self.fix(node, fate);
        while let Some(&node) = self.trail.get(next) {
            next += 1;
            let graph = self.graph;
            if fate == NodeStatus::In {
                graph.needs(node).for_each(|arc| self.fix(graph.head[arc], fate));
            } else {
                graph.users(node).iter().for_each(|&arc| self.fix(graph.tail[arc], fate));
            }
        }
    }

    fn fix(&mut self, node: usize, fate: NodeStatus) {
        if !self.is_open(node) {
            return;
        }
        self.fate[node] = fate;
        self.trail.push(node);
        self.flow.release(self.graph, node);
        if fate == NodeStatus::In {
            self.fixed.add(self.graph, node);
        }
    }

    /// Reopens the nodes that were fixed after the trail had this length.
    pub(super) fn backtrack_to(&mut self, length: usize) {
        for node in self.trail.split_off(length) {
            if core::mem::replace(&mut self.fate[node], NodeStatus::Open) == NodeStatus::In {
                self.fixed.remove(self.graph, node);
            }
            self.flow.release(self.graph, node);
        }
    }

    /// The set of the nodes that are fixed in, with some open ones.
    pub(super) fn with(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut set: Vec<bool> = self.fate.iter().map(|&fate| fate == NodeStatus::In).collect();
        nodes.into_iter().for_each(|node| set[node] = true);
        set
    }

    /// Makes a better set the incumbent.
    pub(super) fn offer_incumbent(&mut self, worth: Objective, set: impl FnOnce(&Self) -> Vec<bool>) {
        let asked = !self.stop_at_first || self.part.has(worth.count);
        if asked && worth.cost <= self.budget && worth.is_better_than(self.incumbent) {
            self.incumbent_set = Some(set(self));
            if !self.stop_at_first {
                self.incumbent = worth;
            }
        }
    }

    /// Whether the search may stop.
    pub(super) fn is_done(&self) -> bool {
        self.stop_at_first && self.incumbent_set.is_some()
    }

    /// Returns a mark that no node has yet.
    pub(super) fn next_visit_mark(&mut self) -> u32 {
        self.visit_mark += 1;
        self.visit_mark
    }
}

/// The utility and cost of each node.
fn nodes_of(graph: &Graph) -> Vec<(i64, i64)> {
    graph.utility.iter().copied().zip(graph.cost.iter().copied()).collect()
}

/// The number of bits by which a unit of utility is scaled: as many as leave room for sums at any price and count
/// price.
fn scale_bits(utility: Amount, cost: Amount, nodes: usize) -> u32 {
    let taken = 2 * Amount::BITS - utility.leading_zeros() - cost.leading_zeros();
    (Amount::BITS + nodes.leading_zeros()).saturating_sub(6 + usize::BITS + taken).min(40)
}
