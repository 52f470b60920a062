//! The answer, and how much may be spent on it.

use super::check::check;
use super::problem::{Problem, Selection};
use alloc::vec::Vec;

/// How far a search may go: counted, never timed, so that the answer is the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Partial answers to look at.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 1_000_000 }
    }
}

/// What is known of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No selection is better, and of those as good this is the one that counts.
    Optimal,
    /// The search was cut short; no utility is greater than the bound.
    Bounded,
}

/// A selection and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The best that was found.
    pub selection: Selection,
    /// Whether it is proven to be the best.
    pub status: Status,
    /// No selection has more utility.
    pub bound: u64,
    /// Partial answers that were looked at.
    pub nodes: u64,
}

/// The best selection: most utility, then least cost, then lexicographically smallest.
#[must_use]
pub fn solve(problem: &Problem, limits: Limits) -> Answer {
    let all = problem.candidates();
    let bound = all.iter().fold(0_u64, |sum, candidate| sum.saturating_add(candidate.utility));
    let mut best: Option<Selection> = None;
    let mut nodes = 0_u64;
    let mut open: Vec<(usize, Selection)> = Vec::from([(0, Selection::default())]);
    while let Some((next, held)) = open.pop() {
        if nodes >= limits.nodes {
            break;
        }
        nodes = nodes.saturating_add(1);
        if let Some(candidate) = all.get(next) {
            let mut with = held.clone();
            with.selected.push(next);
            with.utility = with.utility.saturating_add(candidate.utility);
            with.cost = with.cost.saturating_add(candidate.cost);
            open.push((next.saturating_add(1), held));
            open.push((next.saturating_add(1), with));
        } else if check(problem, &held).is_ok() && best.as_ref().is_none_or(|best| is_better(&held, best)) {
            best = Some(held);
        }
    }
    let status = if open.is_empty() { Status::Optimal } else { Status::Bounded };
    let selection = best.unwrap_or_default();
    let bound = if status == Status::Optimal { selection.utility } else { bound };
    Answer { selection, status, bound, nodes }
}

fn is_better(one: &Selection, other: &Selection) -> bool {
    let key = |selection: &Selection| (core::cmp::Reverse(selection.utility), selection.cost);
    (key(one), &one.selected) < (key(other), &other.selected)
}
