//! Of all best sets the one that counts: node after node, in the order of positions, is put in if some best set
//! still has it.
//!
//! Of two different sets of the same worth, the one that has the smallest position in which they differ comes first,
//! unless the other ends before it: the second case concerns only what neither costs nor brings anything, and is
//! left to the end, where the shortest beginning that is as good is taken.

use super::branch::End;
use super::search::{Fate, Search};
use alloc::vec::Vec;

/// Visits that a guess at several nodes is worth.
const GUESS: u64 = 2;

impl Search<'_> {
    /// The first of all sets that beat the floor, in the order of positions, starting from one of them. `false` if the
    /// effort did not suffice; the set is as good then, and not proven to be the first.
    pub(super) fn first(&mut self, known: &mut Vec<bool>) -> bool {
        self.any = true;
        let mut order = self.open();
        order.sort_unstable_by_key(|&node| self.graph.key[node]);
        let (mut next, mut step) = (0, 1);
        while let Some(&node) = order.get(next) {
            if !self.is_open(node) || known[node] {
                self.decide(node, Fate::In);
                next += 1;
                continue;
            }
            // What the decisions so far decide with them.
            self.visit(false);
            if !self.is_open(node) {
                continue;
            }
            let trail = self.trail.len();
            let (mut guessed, mut ahead) = (0, next);
            while let Some(&node) = order.get(ahead)
                && guessed < step
            {
                if self.is_open(node) {
                    let length = self.trail.len();
                    self.decide(node, Fate::In);
                    if self.room() < 0 {
                        self.undo(length);
                        self.decide(node, Fate::Out);
                    } else {
                        guessed += 1;
                    }
                }
                ahead += 1;
            }
            let effort = self.effort;
            if step > 1 {
                self.effort = effort.min(GUESS);
            }
            let spared = effort - self.effort;
            let (end, _) = self.search();
            self.effort += spared;
            match (end, step) {
                (End::Found, _) => {
                    *known = self.best.take().unwrap_or_default();
                    (next, step) = (ahead, step * 2);
                }
                (End::Exhausted, 1) => {
                    self.undo(trail);
                    self.decide(node, Fate::Out);
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
}
