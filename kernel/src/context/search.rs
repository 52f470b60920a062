//! Where a search stands: what is decided, what is open, what is to be beaten.

use super::condense::Graph;
use super::count::Part;
use super::flow::{Amount, Flow};
use super::grid::{Grid, grids};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// What a set comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Worth {
    pub(super) utility: i64,
    pub(super) cost: i64,
    /// How many nodes it has that bring anything.
    pub(super) count: i64,
}

impl Worth {
    /// More utility, or as much for less.
    pub(super) fn beats(self, other: Self) -> bool {
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
pub(super) enum Fate {
    Open,
    In,
    Out,
}

/// A search for closed sets within a budget that beat a given worth.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph,
    pub(super) budget: i64,
    pub(super) fate: Vec<Fate>,
    /// What was decided, in order.
    pub(super) trail: Vec<usize>,
    /// What is decided to be in, with what was before this search.
    pub(super) held: Worth,
    pub(super) flow: Flow,
    /// What is to be beaten.
    pub(super) floor: Worth,
    /// The set that set the floor, if this search found it.
    pub(super) best: Option<Vec<bool>>,
    /// Whether one set above the floor is as good as another: then the first that is found leaves the floor as it is.
    pub(super) any: bool,
    /// The sets that are asked about, by their number of nodes.
    pub(super) part: Part,
    /// What all worths have in common.
    pub(super) grids: Vec<Grid>,
    /// Nodes of the search tree that may still be visited.
    pub(super) effort: u64,
    pub(super) seen: Vec<u32>,
    pub(super) sight: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph, budget: i64, held: Worth, floor: Worth, effort: u64) -> Self {
        let nodes = graph.len();
        let total: Amount = graph.utility.iter().map(|&utility| Amount::from(utility)).sum();
        let costs: Amount = graph.cost.iter().map(|&cost| Amount::from(cost)).sum();
        let scale = precision(total, costs, nodes);
        let budget = budget.min(held.cost.saturating_add(graph.cost.iter().sum()));
        let mut search = Self {
            graph,
            budget,
            fate: vec![Fate::Open; nodes],
            trail: Vec::new(),
            held,
            flow: Flow::new(graph, scale),
            floor,
            best: None,
            any: false,
            part: Part::Any,
            grids: grids(&nodes_of(graph), held),
            effort,
            seen: vec![0; nodes],
            sight: 0,
        };
        search.rebudget(budget);
        search
    }

    /// Sets the budget, as far as costs can use it up.
    pub(super) fn rebudget(&mut self, budget: i64) {
        self.budget = self.grids.iter().map(|grid| grid.usable(budget)).min().unwrap_or(budget);
    }

    /// What may still be spent.
    pub(super) fn room(&self) -> i64 {
        self.budget - self.held.cost
    }

    pub(super) fn is_open(&self, node: usize) -> bool {
        self.fate[node] == Fate::Open
    }

    /// The nodes about which nothing is decided, ascending.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.graph.len()).filter(|&node| self.is_open(node)).collect()
    }

    /// Decides a node, and with it what it needs or what needs it.
    pub(super) fn decide(&mut self, node: usize, fate: Fate) {
        let mut next = self.trail.len();
        self.settle(node, fate);
        while let Some(&node) = self.trail.get(next) {
            next += 1;
            let graph = self.graph;
            if fate == Fate::In {
                graph.needs(node).for_each(|arc| self.settle(graph.head[arc], fate));
            } else {
                graph.users(node).iter().for_each(|&arc| self.settle(graph.tail[arc], fate));
            }
        }
    }

    fn settle(&mut self, node: usize, fate: Fate) {
        if !self.is_open(node) {
            return;
        }
        self.fate[node] = fate;
        self.trail.push(node);
        self.flow.release(self.graph, node);
        if fate == Fate::In {
            self.held.add(self.graph, node);
        }
    }

    /// Opens again what was decided after the trail had this length.
    pub(super) fn undo(&mut self, length: usize) {
        for node in self.trail.split_off(length) {
            if core::mem::replace(&mut self.fate[node], Fate::Open) == Fate::In {
                self.held.remove(self.graph, node);
            }
            self.flow.release(self.graph, node);
        }
    }

    /// What is decided to be in, with some open nodes.
    pub(super) fn with(&self, nodes: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut set: Vec<bool> = self.fate.iter().map(|&fate| fate == Fate::In).collect();
        nodes.into_iter().for_each(|node| set[node] = true);
        set
    }

    /// Keeps a set that beats all before.
    pub(super) fn offer(&mut self, worth: Worth, set: impl FnOnce(&Self) -> Vec<bool>) {
        let asked = !self.any || self.part.has(worth.count);
        if asked && worth.cost <= self.budget && worth.beats(self.floor) {
            self.best = Some(set(self));
            if !self.any {
                self.floor = worth;
            }
        }
    }

    /// Whether enough was found.
    pub(super) fn is_done(&self) -> bool {
        self.any && self.best.is_some()
    }

    /// A mark that no node bears yet.
    pub(super) fn fresh_mark(&mut self) -> u32 {
        self.sight += 1;
        self.sight
    }
}

/// What each node is worth and costs.
fn nodes_of(graph: &Graph) -> Vec<(i64, i64)> {
    graph.utility.iter().copied().zip(graph.cost.iter().copied()).collect()
}

/// How many bits a unit of utility is divided into: as many as leave room for sums at any price and any toll.
fn precision(utility: Amount, cost: Amount, nodes: usize) -> u32 {
    let taken = 2 * Amount::BITS - utility.leading_zeros() - cost.leading_zeros();
    (Amount::BITS + nodes.leading_zeros()).saturating_sub(6 + usize::BITS + taken).min(40)
}
