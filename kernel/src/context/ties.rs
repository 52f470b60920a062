//! Of all best sets the one that counts: node after node, in the order of positions, is put in if some best set
//! still has it.
//!
//! Of two different sets of the same worth, the one that has the smallest position in which they differ comes first,
//! unless the other ends before it: the second case concerns only what neither costs nor brings anything, and is
//! left to the end, where the shortest beginning that is as good is taken.

use super::branch::End;
use super::forest::Table;
use super::search::{Fate, Search};
use alloc::vec::Vec;

/// Visits that a guess at several nodes is worth.
const GUESS: u64 = 2;

impl Search<'_> {
    /// The first of all sets that beat the floor, in the order of positions, starting from one of them, with the
    /// help of a table if there is one. `false` if the effort did not suffice; the set is as good then, and not proven
    /// to be the first.
    pub(super) fn first(&mut self, known: &mut Vec<bool>, mut table: Option<&mut Table>) -> bool {
        let mut order = self.open();
        order.sort_unstable_by_key(|&node| self.graph.key[node]);
        let (mut next, mut step) = (0, 1);
        while let Some(&node) = order.get(next) {
            if !self.is_open(node) || known[node] {
                self.decide(node, Fate::In);
                next += 1;
                continue;
            }
            if table.is_none() {
                if self.effort == 0 {
                    return false;
                }
                // What the decisions so far decide with them.
                self.visit(false);
            }
            if !self.is_open(node) {
                continue;
            }
            let trail = self.trail.len();
            let ahead = self.guess(&order, next, step);
            match (self.ask(table.as_deref_mut(), step > 1), step) {
                (End::Found, _) => {
                    *known = self.best.take().unwrap_or_default();
                    (next, step) = (ahead, step * 2);
                }
                (End::Exhausted, 1) => {
                    self.undo(trail);
                    self.decide(node, Fate::Out);
                    if let Some(table) = table.as_deref_mut() {
                        table.prune(self);
                    }
                }
                (End::Cut, 1) => return false,
                _ => {
                    self.undo(trail);
                    step = (step / 4).max(1);
                }
            }
        }
        true
    }

    /// Puts in the next open nodes, so many of them, as far as the budget goes; how far in the order they reach.
    fn guess(&mut self, order: &[usize], mut next: usize, mut count: usize) -> usize {
        while count > 0
            && let Some(&node) = order.get(next)
        {
            next += 1;
            if !self.is_open(node) {
                continue;
            }
            let trail = self.trail.len();
            self.decide(node, Fate::In);
            if self.room() < 0 {
                self.undo(trail);
                self.decide(node, Fate::Out);
            } else {
                count -= 1;
            }
        }
        next
    }

    /// Whether some set that beats the floor agrees with what is decided; one is in `best` then.
    fn ask(&mut self, table: Option<&mut Table>, hastily: bool) -> End {
        let Some(table) = table else {
            return self.search_within(if hastily { GUESS } else { u64::MAX }).0;
        };
        self.best = table.find(self);
        if self.best.is_some() { End::Found } else { End::Exhausted }
    }
}
