//! Baselines: three simpler selection rules, for comparison with the optimum.
//!
//! The rules do not handle dependencies in their original form. Here an item is selected with its missing dependencies, or not at
//! all, so that the selection is closed. Pinned items come first. Items that are forbidden, or depend on a forbidden item, are
//! skipped.

use super::dependencies::{DependencyWalker, ItemSet, forbidden_by_closure, items_with_inclusion, sum_of};
use super::format::LayerFile;
use super::problem::NamedProblem;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection};
use std::cmp::Reverse;

/// Simpler selection rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// By utility per token of the item with its dependencies; items that do not fit are skipped.
    Greedy,
    /// 003, `build_query_context`: facts by utility, until one does not fit into seven tenths of the budget that the pinned items
    /// leave; then the whole working set or none of it.
    Ranked,
    /// Newest first, until an item does not fit. An older item comes with the newer one that depends on it.
    Recent,
}

impl Baseline {
    /// Returns the selection of the rule.
    #[must_use]
    pub fn select(self, problem: &NamedProblem) -> Selection {
        let mut packer = BaselinePacker::new(&problem.problem);
        match self {
            Self::Greedy => greedy(&mut packer),
            Self::Ranked => ranked(&mut packer, &problem.layers),
            Self::Recent => recent(&mut packer, &problem.by_age),
        }
        packer.selection()
    }
}

fn greedy(packer: &mut BaselinePacker<'_>) {
    let mut items = Vec::new();
    for item in packer.allowed(0..packer.candidates.len()) {
        // A closure without utility has no density to compare.
        let closure = packer.missing(&[item], packer.remaining).filter(|closure| closure.utility > 0);
        if let Some(closure) = closure {
            items.push((item, u128::from(closure.utility), u128::from(closure.cost)));
        }
    }
    // The sort is stable: of items with equal density, the first comes first.
    items.sort_by(|(_, utility, cost), (_, other, other_cost)| (other * cost).cmp(&(utility * other_cost)));
    for (item, ..) in items {
        packer.add_if_fits(&[item], packer.remaining);
    }
}

fn ranked(packer: &mut BaselinePacker<'_>, layers: &[LayerFile]) {
    let of_layer = |layer| (0..layers.len()).filter(move |item| layers[*item] == layer);
    let mut facts = packer.allowed(of_layer(LayerFile::Fact));
    facts.sort_by_key(|fact| Reverse(packer.candidates[*fact].utility));
    // Seven tenths, rounded down.
    let mut fact_budget = packer.remaining / 10 * 7 + packer.remaining % 10 * 7 / 10;
    for fact in facts {
        let before = packer.remaining;
        if !packer.add_if_fits(&[fact], fact_budget) {
            break;
        }
        fact_budget -= before - packer.remaining;
    }
    packer.add_if_fits(&packer.allowed(of_layer(LayerFile::Working)), packer.remaining);
}

fn recent(packer: &mut BaselinePacker<'_>, by_age: &[usize]) {
    for item in packer.allowed(by_age.iter().rev().copied()) {
        if !packer.add_if_fits(&[item], packer.remaining) {
            break;
        }
    }
}

/// A selection under construction.
struct BaselinePacker<'a> {
    candidates: &'a [Candidate],
    walker: DependencyWalker<'a>,
    /// The forbidden item that each item is or depends on.
    forbidden_by: Vec<Option<usize>>,
    is_selected: Vec<bool>,
    /// The unused budget.
    remaining: u64,
}

impl<'a> BaselinePacker<'a> {
    fn new(problem: &'a Problem) -> Self {
        let candidates = problem.candidates();
        let mut packer = Self {
            candidates,
            walker: DependencyWalker::new(candidates),
            forbidden_by: forbidden_by_closure(candidates),
            is_selected: vec![false; candidates.len()],
            remaining: problem.budget(),
        };
        // A problem guarantees that its pinned items fit.
        packer.add_if_fits(&items_with_inclusion(candidates, Inclusion::Pinned), packer.remaining);
        packer
    }

    /// Returns the items that neither are forbidden nor depend on a forbidden one.
    fn allowed(&self, items: impl IntoIterator<Item = usize>) -> Vec<usize> {
        items.into_iter().filter(|item| self.forbidden_by[*item].is_none()).collect()
    }

    /// Returns the unselected part of the items' closure, if it costs at most `cost_max`.
    fn missing(&mut self, items: &[usize], cost_max: u64) -> Option<ItemSet> {
        self.walker.closure(items, |item| self.is_selected[item], cost_max)
    }

    /// Selects the items with their dependencies, if they cost at most `cost_max`. Returns whether they are selected.
    fn add_if_fits(&mut self, items: &[usize], cost_max: u64) -> bool {
        let Some(missing) = self.missing(items, cost_max) else { return false };
        missing.items.iter().for_each(|item| self.is_selected[*item] = true);
        self.remaining -= missing.cost;
        true
    }

    fn selection(&self) -> Selection {
        let selected: Vec<usize> =
            (0..self.candidates.len()).filter(|item| self.is_selected[*item]).collect();
        let utility = sum_of(self.candidates, &selected, |candidate| candidate.utility);
        let cost = sum_of(self.candidates, &selected, |candidate| candidate.cost);
        Selection { selected, utility, cost }
    }
}
