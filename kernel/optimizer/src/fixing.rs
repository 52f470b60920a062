//! Reduced-cost fixing: nodes that cannot be in, or cannot be out of, any set that improves on the incumbent.
//!
//! What the flow leaves of a node's value is its reduced cost. Adding a node from outside of the optimal closure loses
//! the deficits of its dependencies; removing a node from it loses the excess of its dependents. A node is fixed if the
//! loss exceeds the gap between the bound and the required value (Dembo and Hammer, 1980, for the knapsack problem;
//! here over whole closures).

use super::flow::Amount;
use super::search::{NodeStatus, Search};
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of nodes that one probe of a closure visits. Fewer nodes fix less, but never wrongly.
const PROBE_NODES_MAX: usize = 64;

impl Search<'_> {
    /// Fixes nodes out whose closure exceeds the remaining budget.
    pub(super) fn drop_unaffordable(&mut self) {
        let (graph, room) = (self.graph, self.remaining_budget());
        let mut least = vec![0_i64; graph.len()];
        for node in self.open() {
            let below = graph.needs(node).map(|arc| least[graph.head[arc]]).max().unwrap_or(0);
            least[node] = below + graph.cost[node];
        }
        for node in self.open() {
            if least[node] > room {
                self.fix_with_closure(node, NodeStatus::Out);
            }
        }
    }

    /// Fixes nodes by reduced cost, and returns their number.
    pub(super) fn fix_by_reduced_cost(&mut self, bound: Amount, need: Amount, within: &[usize]) -> usize {
        let (before, graph, slack) = (self.trail.len(), self.graph, bound - need);
        self.flow.return_excess(graph, within);
        let is_within = self.with(within.iter().copied());
        let open = self.open();
        let (outs, ins): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&node| !is_within[node]);
        let room = self.remaining_budget();
        let mut out = vec![false; graph.len()];
        for &node in &outs {
            out[node] = -self.flow.excess[node] > slack
                || graph.cost[node] > room
                || graph.needs(node).any(|arc| out[graph.head[arc]])
                || self.must_be_out(node, slack, room);
        }
        let mut kept = vec![false; graph.len()];
        for &node in ins.iter().rev() {
            kept[node] = self.flow.excess[node] > slack
                || graph.users(node).iter().any(|&arc| kept[graph.tail[arc]])
                || self.must_be_in(node, slack);
        }
        for &node in &open {
            if out[node] {
                self.fix_with_closure(node, NodeStatus::Out);
            } else if kept[node] {
                self.fix_with_closure(node, NodeStatus::In);
            }
        }
        self.trail.len() - before
    }

    /// Whether the closure of a node has deficits above the slack, or costs above the remaining budget.
    fn must_be_out(&mut self, node: usize, slack: Amount, room: i64) -> bool {
        let (graph, mark) = (self.graph, self.next_visit_mark());
        let (mut loss, mut cost, mut walk, mut looks) = (0, 0, vec![node], 0);
        self.seen[node] = mark;
        while let Some(node) = walk.pop() {
            loss += (-self.flow.excess[node]).max(0);
            cost += graph.cost[node];
            looks += 1;
            if loss > slack || cost > room {
                return true;
            }
            if looks == PROBE_NODES_MAX {
                return false;
            }
            for arc in graph.needs(node) {
                let head = graph.head[arc];
                if self.fate[head] == NodeStatus::Open && self.seen[head] != mark {
                    self.seen[head] = mark;
                    walk.push(head);
                }
            }
        }
        false
    }

    /// Whether removing a node loses excess above the slack.
    fn must_be_in(&mut self, node: usize, slack: Amount) -> bool {
        let (graph, mark) = (self.graph, self.next_visit_mark());
        let (mut loss, mut walk, mut looks) = (0, vec![node], 0);
        self.seen[node] = mark;
        while let Some(node) = walk.pop() {
            loss += self.flow.excess[node].max(0);
            looks += 1;
            if loss > slack {
                return true;
            }
            if looks == PROBE_NODES_MAX {
                return false;
            }
            for &arc in graph.users(node) {
                let tail = graph.tail[arc];
                if self.fate[tail] == NodeStatus::Open && self.seen[tail] != mark {
                    self.seen[tail] = mark;
                    walk.push(tail);
                }
            }
        }
        false
    }
}
