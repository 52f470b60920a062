//! Closures of greatest weight: what is worth having at a given price, whatever the budget.
//!
//! A closed set of greatest weight is a minimum cut (Picard, 1976). Here every node that is worth more than it
//! weighs hands its excess to what it needs, until no excess can reach a deficit: a pseudoflow (Hochbaum, 2008).
//! Excess goes along arcs without limit and may be taken back. Any flow is a valid beginning, so a new price or a
//! decided node costs only what it changes. On a forest one pass suffices.

use super::condense::Graph;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Wide enough for what a sum of utilities comes to at any precision and price that occurs here.
pub(super) type Amount = i128;

/// Not reached in the last search for deficits.
const UNREACHED: usize = usize::MAX;

/// What each open node is worth at a price, after what flows.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Of one unit of utility, in units of what is left.
    pub(super) scale: u32,
    /// Of one unit of cost, in the same.
    pub(super) price: Amount,
    /// Of one node, whatever it costs; below zero, what it is rewarded with.
    pub(super) count_price: Amount,
    /// What is left of each node's worth: excess above zero, deficit below.
    pub(super) excess: Vec<Amount>,
    /// What flows along each arc, from what needs to what is needed.
    pub(super) arc_flow: Vec<Amount>,
    /// Which zone each node was last in.
    zone: Vec<u32>,
    zones: u32,
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
            level: vec![UNREACHED; nodes],
            queue: vec![],
        }
    }

    /// What a node is worth by itself.
    fn worth(&self, graph: &Graph, node: usize) -> Amount {
        (Amount::from(graph.utility[node]) << self.scale)
            - self.count_price * Amount::from(graph.bulk(node))
            - self.price * Amount::from(graph.cost[node])
    }

    /// Takes back what flows to and from a node, which is decided or open again.
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

    /// Changes the price of one unit of cost.
    pub(super) fn set_price(&mut self, graph: &Graph, price: Amount) {
        let change = self.price - price;
        for (left, &cost) in self.excess.iter_mut().zip(&graph.cost) {
            *left += change * Amount::from(cost);
        }
        self.price = price;
    }

    /// Changes the toll of one node.
    pub(super) fn set_count_price(&mut self, graph: &Graph, toll: Amount) {
        let change = self.count_price - toll;
        for (node, left) in self.excess.iter_mut().enumerate() {
            *left += change * Amount::from(graph.bulk(node));
        }
        self.count_price = toll;
    }

    /// Begins at the price of a flow that is no finer.
    pub(super) fn warm_start(&mut self, graph: &Graph, other: &Self) {
        self.set_price(graph, other.price << (self.scale - other.scale));
    }

    /// Whether each node of the zone, ascending, is in its largest closure of greatest weight.
    pub(super) fn max_weight_closure(&mut self, graph: &Graph, zone: &[usize], inside: &mut Vec<bool>) {
        self.zones += 1;
        for &node in zone {
            self.zone[node] = self.zones;
        }
        for &node in zone.iter().rev() {
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

    /// Takes back what a node can no longer afford to give, or hands on what it has too much.
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

    /// Gives excess back to where it came from: nodes that are given ascending keep what they can do without.
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

    /// Levels by distance to a deficit; whether excess can reach one.
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

    /// Pushes excess towards deficits and raises the levels of nodes that cannot, until none is left that could or it is
    /// time to measure anew (Goldberg and Tarjan, 1988).
    fn push_relabel(&mut self, graph: &Graph) {
        let arcs_of = |node: usize| graph.needs(node).len() + graph.users(node).len() + 1;
        // About twice as much as measuring took: enough for any one node to send what it has.
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
                self.push(graph, node, &mut active);
                if self.excess[node] > 0 {
                    self.level[node] = self.relabel(graph, node);
                }
            }
        }
    }

    /// Sends a node's excess one level down, as far as it goes.
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

    /// One level above the lowest to which a node may send.
    fn relabel(&self, graph: &Graph, node: usize) -> usize {
        let takers = graph.needs(node).map(|arc| graph.head[arc]);
        let givers =
            graph.users(node).iter().filter(|&&arc| self.arc_flow[arc] > 0).map(|&arc| graph.tail[arc]);
        let levels = takers.chain(givers).filter(|&other| self.here(other)).map(|other| self.level[other]);
        levels.min().unwrap_or(UNREACHED).saturating_add(1)
    }
}
