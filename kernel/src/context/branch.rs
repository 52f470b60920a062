//! Branch and bound: what the relaxation leaves open is decided both ways.
//!
//! What is asked about is a node of the fractional macro-item: the relaxation is undecided there and nowhere else.

use super::bound::Relaxed;
use super::flow::Amount;
use super::search::{Fate, Search};
use alloc::vec::Vec;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing is left that beats the floor.
    Exhausted,
    /// Something was found, and nothing better was asked for.
    Found,
    /// No effort was left.
    Cut,
}

/// A decision to be tried: on a trail of this length, under this bound.
struct Branch {
    trail: usize,
    node: usize,
    fate: Fate,
    bound: Amount,
}

impl Search<'_> {
    /// Bounds and reduces, after looking for better sets if that is wanted, until that decides little more; a node to
    /// branch on and the bound there, or `None` if nothing that beats the floor is open.
    pub(super) fn visit(&mut self, look: bool) -> Option<(usize, Amount)> {
        while self.room() >= 0 {
            self.spend();
            let Relaxed::Bound { bound, within, macro_item } = self.relax() else { return None };
            if bound < self.need()? || look && self.is_done() {
                return None;
            }
            if look {
                self.fill(&within);
            }
            let need = self.need()?;
            if bound < need || look && self.is_done() {
                return None;
            }
            let open = self.graph.len() - self.trail.len();
            let pegged = self.peg(bound, need, &within);
            if pegged * 8 < open
                && let Some(node) = self.choose(&macro_item)
            {
                return Some((node, bound));
            }
        }
        None
    }

    /// Counts a visit, a large one for several.
    pub(super) fn spend(&mut self) {
        let open = self.graph.len() - self.trail.len();
        self.effort = self.effort.saturating_sub(1 + open as u64 / 256);
    }

    pub(super) fn choose(&self, macro_item: &[usize]) -> Option<usize> {
        macro_item
            .iter()
            .copied()
            .filter(|&node| self.is_open(node))
            .max_by_key(|&node| self.graph.cost[node])
    }

    /// Searches what is open with a part of the effort.
    pub(super) fn search_within(&mut self, effort: u64) -> (End, Amount) {
        let spared = self.effort.saturating_sub(effort);
        self.effort -= spared;
        let end = self.search();
        self.effort += spared;
        end
    }

    /// Searches what is open.
    pub(super) fn search(&mut self) -> (End, Amount) {
        if self.any {
            self.best = None;
        }
        let start = self.trail.len();
        let mut branches: Vec<Branch> = Vec::new();
        loop {
            if let Some((node, bound)) = self.visit(true) {
                let trail = self.trail.len();
                branches.push(Branch { trail, node, fate: Fate::In, bound });
                branches.push(Branch { trail, node, fate: Fate::Out, bound });
            }
            if self.is_done() {
                self.undo(start);
                return (End::Found, 0);
            }
            let Some(branch) = branches.pop() else {
                self.undo(start);
                return (End::Exhausted, 0);
            };
            if self.effort == 0 {
                self.undo(start);
                let bound = branches.iter().map(|branch| branch.bound).fold(branch.bound, Amount::max);
                return (End::Cut, bound);
            }
            self.undo(branch.trail);
            self.decide(branch.node, branch.fate);
        }
    }
}
