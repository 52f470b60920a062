//! Maximum-weight closures: the best set at a given price, without a budget.
//!
//! A maximum-weight closure is a minimum cut (Picard, 1976). Every node whose value exceeds its priced cost pushes its
//! excess to its dependencies, until no excess can reach a deficit: a pseudoflow (Hochbaum, 2008). Excess flows along
//! arcs without a limit and can return. Any flow is a valid start, so a new price or a fixed node costs only what it
//! changes. On a forest, one pass is enough.

use super::condense::Graph;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Wide enough for sums of utilities at every scale and price that occur here.
pub(super) type Amount = i128;

/// Not reached in the last search for deficits.
const UNREACHED: usize = usize::MAX;

/// The value of each open node at a price, after the flow.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Bits by which a unit of utility is scaled.
    pub(super) scale: u32,
    /// The price of one unit of cost, in the same scale.
    pub(super) price: Amount,
    /// The price of one node; a reward if it is negative.
    pub(super) count_price: Amount,
    /// The remaining value of each node: positive is excess, negative is deficit.
    pub(super) excess: Vec<Amount>,
    /// The flow on each arc, from the dependent to its dependency.
    pub(super) arc_flow: Vec<Amount>,
    /// The latest zone of each node.
    zone: Vec<u32>,
    zones: u32,
    /// The work so far: visited nodes and arcs, and steps of similar cost elsewhere in the search.
    pub(super) work: u64,
    level: Vec<usize>,
    queue: Vec<usize>,
}

impl Flow {
    pub(super) fn new(graph: &Graph, scale: u32) -> Self {
        let left = graph.utility.iter().map(|&utility| Amount::from(utility) << scale).collect();
        let (nodes, arcs) = (graph.len(), graph.tail.len());
        let along = vec![0; arcs];
        Self {
            scale,
            price: 0,
            count_price: 0,
            excess: left,
            arc_flow: along,
            zone: vec![0; nodes],
            zones: 0,
            work: 0,
            level: vec![UNREACHED; nodes],
            queue: vec![],
        }
    }

    /// The value of a node by itself.
    fn worth(&self, graph: &Graph, node: usize) -> Amount {
        (Amount::from(graph.utility[node]) << self.scale)
            - self.count_price * Amount::from(graph.bulk(node))
            - self.price * Amount::from(graph.cost[node])
    }

    /// Cancels the flow of a node that is fixed or open again.
    pub(super) fn release(&mut self, graph: &Graph, node: usize) {
        for arc in graph.needs(node) {
            let amount = core::mem::take(&mut self.arc_flow[arc]);
            self.excess[graph.head[arc]] -= amount;
        }
        for &arc in graph.users(node) {
            let amount = core::mem::take(&mut self.arc_flow[arc]);
            self.excess[graph.tail[arc]] += amount;
        }
        self.excess[node] = self.worth(graph, node);
    }

    /// Sets the price of one unit of cost.
    pub(super) fn set_price(&mut self, graph: &Graph, price: Amount) {
        let change = self.price - price;
        for (left, &cost) in self.excess.iter_mut().zip(&graph.cost) {
            *left += change * Amount::from(cost);
        }
        self.price = price;
    }

    /// Sets the price of one node.
    pub(super) fn set_count_price(&mut self, graph: &Graph, toll: Amount) {
        let change = self.count_price - toll;
        for (node, left) in self.excess.iter_mut().enumerate() {
            *left += change * Amount::from(graph.bulk(node));
        }
        self.count_price = toll;
    }

    /// Starts at the price of another flow with at most the same scale.
    pub(super) fn warm_start(&mut self, graph: &Graph, other: &Self) {
        self.set_price(graph, other.price << (self.scale - other.scale));
    }

    /// Computes for each node of the zone, ascending, whether it is in the largest maximum-weight closure.
    pub(super) fn max_weight_closure(&mut self, graph: &Graph, zone: &[usize], inside: &mut Vec<bool>) {
        self.zones += 1;
        for &node in zone {
            self.zone[node] = self.zones;
        }
        for &node in zone.iter().rev() {
            self.work += 1 + graph.needs(node).len() as u64;
            self.rebalance(graph, node);
        }
        while self.reach_deficits(graph, zone) {
            self.push_relabel(graph);
        }
        inside.clear();
        inside.extend(zone.iter().map(|&node| self.level[node] == UNREACHED));
    }

    fn here(&self, node: usize) -> bool {
        self.zone[node] == self.zones
    }

    fn send(&mut self, from: usize, to: usize, amount: Amount) {
        self.excess[from] -= amount;
        self.excess[to] += amount;
    }

    /// Takes back flow that a node can no longer afford, or passes on its new excess.
    fn rebalance(&mut self, graph: &Graph, node: usize) {
        for arc in graph.needs(node) {
            let (amount, head) = ((-self.excess[node]).min(self.arc_flow[arc]), graph.head[arc]);
            if amount > 0 {
                self.arc_flow[arc] -= amount;
                self.send(head, node, amount);
            }
        }
        let mut last = None;
        for arc in graph.needs(node) {
            let head = graph.head[arc];
            if self.excess[node] <= 0 {
                return;
            }
            if self.here(head) {
                let amount = self.excess[node].min(-self.excess[head]).max(0);
                self.arc_flow[arc] += amount;
                self.send(node, head, amount);
                last = Some(arc);
            }
        }
        if let Some(arc) = last {
            let amount = self.excess[node];
            self.arc_flow[arc] += amount;
            self.send(node, graph.head[arc], amount);
        }
    }

    /// Returns excess to its origin. Nodes in ascending order keep what they do not need.
    pub(super) fn return_excess(&mut self, graph: &Graph, nodes: &[usize]) {
        let mut order: Vec<usize> = nodes.to_vec();
        order.sort_unstable();
        for node in order {
            for &arc in graph.users(node) {
                let amount = self.excess[node].min(self.arc_flow[arc]);
                if amount > 0 {
                    self.arc_flow[arc] -= amount;
                    self.send(node, graph.tail[arc], amount);
                }
            }
        }
    }

    /// Computes levels by the distance to a deficit. Returns whether any excess can reach one.
    fn reach_deficits(&mut self, graph: &Graph, zone: &[usize]) -> bool {
        self.queue.clear();
        for &node in zone {
            let deficit = self.excess[node] < 0;
            self.level[node] = if deficit { 0 } else { UNREACHED };
            if deficit {
                self.queue.push(node);
            }
        }
        let (mut next, mut reached) = (0, false);
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            let level = self.level[node] + 1;
            self.work += (1 + graph.needs(node).len() + graph.users(node).len()) as u64;
            let takers = graph.needs(node).filter(|&arc| self.arc_flow[arc] > 0).map(|arc| graph.head[arc]);
            let givers = graph.users(node).iter().map(|&arc| graph.tail[arc]);
            for other in takers.chain(givers) {
                if self.zone[other] == self.zones && self.level[other] == UNREACHED {
                    self.level[other] = level;
                    reached |= self.excess[other] > 0;
                    self.queue.push(other);
                }
            }
        }
        reached
    }

    /// Pushes excess towards deficits and raises the levels of blocked nodes, until no excess can move or the levels
    /// must be recomputed (Goldberg and Tarjan, 1988).
    fn push_relabel(&mut self, graph: &Graph) {
        let arcs_of = |node: usize| graph.needs(node).len() + graph.users(node).len() + 1;
        // About twice the cost of computing the levels: enough for each node to send its excess.
        let mut work = 2 * self.queue.iter().map(|&node| arcs_of(node)).sum::<usize>();
        let mut active: VecDeque<usize> =
            self.queue.iter().copied().filter(|&node| self.excess[node] > 0).collect();
        while let Some(node) = active.pop_front() {
            while self.excess[node] > 0 && self.level[node] != UNREACHED {
                let arcs = arcs_of(node);
                if work < arcs {
                    return;
                }
                work -= arcs;
                self.work += arcs as u64;
                self.push(graph, node, &mut active);
                if self.excess[node] > 0 {
                    self.level[node] = self.relabel(graph, node);
                }
            }
        }
    }

    /// Pushes the excess of a node one level down, as far as possible.
    fn push(&mut self, graph: &Graph, node: usize, active: &mut VecDeque<usize>) {
        let Some(below) = self.level[node].checked_sub(1) else { return };
        let down = graph.needs(node).map(|arc| (arc, graph.head[arc], true));
        let up = graph.users(node).iter().map(|&arc| (arc, graph.tail[arc], false));
        for (arc, other, forward) in down.chain(up) {
            if !self.here(other) || self.level[other] != below {
                continue;
            }
            let amount = if forward { self.excess[node] } else { self.excess[node].min(self.arc_flow[arc]) };
            if amount > 0 {
                self.arc_flow[arc] += if forward { amount } else { -amount };
                if self.excess[other] <= 0 && self.excess[other] + amount > 0 {
                    active.push_back(other);
                }
                self.send(node, other, amount);
            }
        }
    }

    /// One above the lowest level to which a node may push.
    fn relabel(&self, graph: &Graph, node: usize) -> usize {
        let takers = graph.needs(node).map(|arc| graph.head[arc]);
        let givers =
            graph.users(node).iter().filter(|&&arc| self.arc_flow[arc] > 0).map(|&arc| graph.tail[arc]);
        let levels = takers.chain(givers).filter(|&other| self.here(other)).map(|other| self.level[other]);
        levels.min().unwrap_or(UNREACHED).saturating_add(1)
    }
}
