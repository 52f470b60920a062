//! Where a search stands: what is decided, what is open, what is to be beaten.

use super::cardinality::CardinalityRange;
use super::condense::Graph;
use super::flow::{Amount, Flow};
use super::rounding::{Lattice, candidate_lattices};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// What a set comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Objective {
    pub(super) utility: i64,
    pub(super) cost: i64,
    /// How many nodes it has that bring anything.
    pub(super) count: i64,
}

impl Objective {
    /// More utility, or as much for less.
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

/// What was decided about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStatus {
    Open,
    In,
    Out,
}

/// A search for closed sets within a budget that beat a given worth.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph,
    pub(super) budget: i64,
    pub(super) fate: Vec<NodeStatus>,
    /// What was decided, in order.
    pub(super) trail: Vec<usize>,
    /// What is decided to be in, with what was before this search.
    pub(super) fixed: Objective,
    pub(super) flow: Flow,
    /// What is to be beaten.
    pub(super) incumbent: Objective,
    /// The set that set the floor, if this search found it.
    pub(super) incumbent_set: Option<Vec<bool>>,
    /// Whether one set above the floor is as good as another: then the first that is found leaves the floor as it is.
    pub(super) stop_at_first: bool,
    /// The sets that are asked about, by their number of nodes.
    pub(super) part: CardinalityRange,
    /// What all worths have in common.
    pub(super) grids: Vec<Lattice>,
    /// Nodes of the search tree that may still be visited.
    pub(super) nodes_left: u64,
    pub(super) seen: Vec<u32>,
    pub(super) visit_mark: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph, budget: i64, held: Objective, floor: Objective, effort: u64) -> Self {
        let nodes = graph.len();
        let total: Amount = graph.utility.iter().map(|&utility| Amount::from(utility)).sum();
        let costs: Amount = graph.cost.iter().map(|&cost| Amount::from(cost)).sum();
        let scale = scale_bits(total, costs, nodes);
        let budget = budget.min(held.cost.saturating_add(graph.cost.iter().sum()));
        let mut search = Self {
            graph,
            budget,
            fate: vec![NodeStatus::Open; nodes],
            trail: Vec::new(),
            fixed: held,
            flow: Flow::new(graph, scale),
            incumbent: floor,
            incumbent_set: None,
            stop_at_first: false,
            part: CardinalityRange::Any,
            grids: candidate_lattices(&nodes_of(graph), held),
            nodes_left: effort,
            seen: vec![0; nodes],
            visit_mark: 0,
        };
        search.set_budget(budget);
        search
    }

    /// Sets the budget, as far as costs can use it up.
    pub(super) fn set_budget(&mut self, budget: i64) {
        self.budget = self.grids.iter().map(|grid| grid.usable(budget)).min().unwrap_or(budget);
    }

    /// What may still be spent.
    pub(super) fn remaining_budget(&self) -> i64 {
        self.budget - self.fixed.cost
    }

    pub(super) fn is_open(&self, node: usize) -> bool {
        self.fate[node] == NodeStatus::Open
    }

    /// The nodes about which nothing is decided, ascending.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.graph.len()).filter(|&node| self.is_open(node)).collect()
    }

    /// Decides a node, and with it what it needs or what needs it.
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

    /// Opens again what was decided after the trail had this length.
    pub(super) fn backtrack_to(&mut self, length: usize) {
        for node in self.trail.split_off(length) {
            if core::mem::replace(&mut self.fate[node], NodeStatus::Open) == NodeStatus::In {
                self.fixed.remove(self.graph, node);
            }
            self.flow.release(self.graph, node);
        }
    }

    /// What is decided to be in, with some open nodes.
    pub(super) fn with(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut set: Vec<bool> = self.fate.iter().map(|&fate| fate == NodeStatus::In).collect();
        nodes.into_iter().for_each(|node| set[node] = true);
        set
    }

    /// Keeps a set that beats all before.
    pub(super) fn offer_incumbent(&mut self, worth: Objective, set: impl FnOnce(&Self) -> Vec<bool>) {
        let asked = !self.stop_at_first || self.part.has(worth.count);
        if asked && worth.cost <= self.budget && worth.is_better_than(self.incumbent) {
            self.incumbent_set = Some(set(self));
            if !self.stop_at_first {
                self.incumbent = worth;
            }
        }
    }

    /// Whether enough was found.
    pub(super) fn is_done(&self) -> bool {
        self.stop_at_first && self.incumbent_set.is_some()
    }

    /// A mark that no node bears yet.
    pub(super) fn next_visit_mark(&mut self) -> u32 {
        self.visit_mark += 1;
        self.visit_mark
    }
}

/// What each node is worth and costs.
fn nodes_of(graph: &Graph) -> Vec<(i64, i64)> {
    graph.utility.iter().copied().zip(graph.cost.iter().copied()).collect()
}

/// How many bits a unit of utility is divided into: as many as leave room for sums at any price and any toll.
fn scale_bits(utility: Amount, cost: Amount, nodes: usize) -> u32 {
    let taken = 2 * Amount::BITS - utility.leading_zeros() - cost.leading_zeros();
    (Amount::BITS + nodes.leading_zeros()).saturating_sub(6 + usize::BITS + taken).min(40)
}
