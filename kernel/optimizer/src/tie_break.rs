//! The tie-break among optimal sets: node after node, in the order of positions, is put in if an optimal set still
//! contains it.
//!
//! Of two optimal sets, the one with the smallest position in which they differ comes first, unless the other one is a
//! prefix of it. The second case concerns only candidates without cost and utility; at the end, the shortest prefix
//! with the same value is taken.

use super::branch::SearchEnd;
use super::forest_dp::ForestTable;
use super::search::{NodeStatus, Search};
use alloc::vec::Vec;

/// The number of visited nodes for a guess at several nodes.
const GUESS: u64 = 2;

impl Search<'_> {
    /// Finds the first of all sets that reach the incumbent, in the order of positions, starting from one of them, with
    /// a table if there is one. Returns `false` if the node limit was reached; the set is then optimal, but not proven
    /// to be the first.
    pub(super) fn first_optimal_set(
        &mut self,
        known: &mut Vec<bool>,
        mut table: Option<&mut ForestTable>,
    ) -> bool {
        let mut order = self.open();
        order.sort_unstable_by_key(|&node| self.graph.key[node]);
        let (mut next, mut step) = (0, 1);
        while let Some(&node) = order.get(next) {
            if !self.is_open(node) || known[node] {
                self.fix_with_closure(node, NodeStatus::In);
                next += 1;
                continue;
            }
            if self.has_spent_work() || table.is_none() && self.is_exhausted() {
                return false;
            }
            if table.is_none() {
                // The nodes that the fixings so far imply.
                self.visit(false);
            }
            if !self.is_open(node) {
                continue;
            }
            let trail = self.trail.len();
            let ahead = self.try_prefix(&order, next, step);
            match (self.is_extensible(table.as_deref_mut(), step > 1), step) {
                (SearchEnd::Found, _) => {
                    *known = self.incumbent_set.take().unwrap_or_default();
                    (next, step) = (ahead, step * 2);
                }
                (SearchEnd::Exhausted, 1) => {
                    self.backtrack_to(trail);
                    self.fix_with_closure(node, NodeStatus::Out);
                    if let Some(table) = table.as_deref_mut() {
                        self.flow.work += 2 * table.query_work();
                        table.prune(self);
                    }
                }
                (SearchEnd::NodeLimit, 1) => return false,
                _ => {
                    self.backtrack_to(trail);
                    step = (step / 4).max(1);
                }
            }
        }
        true
    }

    /// Puts in the next open nodes, up to this number, as far as the budget allows. Returns the position that they
    /// reach.
    fn try_prefix(&mut self, order: &[usize], mut next: usize, mut count: usize) -> usize {
        while count > 0
            && let Some(&node) = order.get(next)
        {
            next += 1;
            if !self.is_open(node) {
                continue;
            }
            let trail = self.trail.len();
            self.fix_with_closure(node, NodeStatus::In);
            if self.remaining_budget() < 0 {
                self.backtrack_to(trail);
                self.fix_with_closure(node, NodeStatus::Out);
            } else {
                count -= 1;
            }
        }
        next
    }

    /// Whether a set that reaches the incumbent agrees with the fixings. The set is the incumbent then.
    fn is_extensible(&mut self, table: Option<&mut ForestTable>, hastily: bool) -> SearchEnd {
        let Some(table) = table else {
            return self.search_within(if hastily { GUESS } else { u64::MAX }).0;
        };
        self.flow.work += table.query_work();
        self.incumbent_set = table.find(self);
        if self.incumbent_set.is_some() { SearchEnd::Found } else { SearchEnd::Exhausted }
    }
}
