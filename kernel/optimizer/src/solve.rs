//! The solution of a selection problem.
//!
//! Deliberately absent: the search itself; `strategy` is its plan.

use super::optimizer::{Optimizer, Variation};
use super::presolve;
use crate::SearchLimits;
use orchestrion_kernel::selection::{Problem, Selection};

/// The status of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolveStatus {
    /// The solution is proven optimal, including the tie-break.
    Optimal,
    /// The search hit a limit; no utility exceeds the bound.
    Bounded,
}

/// A selection with its proven bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// The best selection found.
    pub selection: Selection,
    /// Whether the selection is proven optimal.
    pub status: SolveStatus,
    /// An upper bound on the utility of every selection.
    pub bound: u64,
    /// The number of visited nodes.
    pub nodes: u64,
    /// The work of the search.
    pub work: u64,
}

/// Solves a problem: maximum utility, then minimum cost, then the lexicographically smallest list of positions.
#[must_use]
pub fn solve(problem: &Problem, limits: SearchLimits) -> Solution {
    if let Some(selection) = presolve::solve_unconstrained(problem) {
        let bound = selection.utility;
        return Solution { bound, selection, status: SolveStatus::Optimal, nodes: 0, work: 0 };
    }
    let variation = Variation { budget: problem.budget(), item: None };
    Optimizer::new(problem).solve(variation, limits).unwrap_or_else(|| {
        // `Problem::new` refuses pinned candidates that do not fit, so this is no selection of a valid problem.
        let selection = Selection { selected: Default::default(), utility: 0, cost: 0 };
        Solution { selection, status: SolveStatus::Bounded, bound: u64::MAX, nodes: 0, work: 0 }
    })
}
