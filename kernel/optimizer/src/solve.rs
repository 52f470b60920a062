//! The solution of a selection problem, and the limits of the search.
//!
//! Deliberately absent: the search itself; `strategy` is its plan.

use super::condense::condense;
use super::objective::Objective;
use super::presolve;
use super::search::{NodeStatus, Search};
use alloc::vec::Vec;
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};

/// The limits of a search. They count nodes, not time, so that the solution is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchLimits {
    /// The maximum number of visited nodes. A node with many open candidates counts once for every 256 of them.
    pub nodes: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { nodes: 250_000 }
    }
}

/// The status of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolveStatus {
    /// The solution is proven optimal, including the tie-break.
    Optimal,
    /// The search hit its node limit; no utility exceeds the bound.
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
}

/// Solves a problem: maximum utility, then minimum cost, then the lexicographically smallest list of positions.
#[must_use]
pub fn solve(problem: &Problem, limits: SearchLimits) -> Solution {
    if let Some(selection) = presolve::solve_unconstrained(problem) {
        return Solution { bound: selection.utility, selection, status: SolveStatus::Optimal, nodes: 0 };
    }
    let (graph, node_of) = condense(problem);
    let budget = i64::try_from(problem.budget()).unwrap_or(i64::MAX);
    let nothing = Objective { utility: -1, cost: 0, count: 0 };
    let mut whole = Search::new(&graph, budget, Objective::default(), nothing, limits.nodes);
    for (candidate, &node) in problem.candidates().iter().zip(&node_of) {
        match candidate.inclusion {
            Inclusion::Free => {}
            Inclusion::Pinned => whole.fix_with_closure(node, NodeStatus::In),
            Inclusion::Forbidden => whole.fix_with_closure(node, NodeStatus::Out),
        }
    }
    whole.drop_unaffordable();
    let marked = whole.trail.len();
    let (bound, parts) = whole.find_best();
    let mut set = whole.incumbent_set.take().unwrap_or_default();
    let utility = whole.incumbent.utility;
    whole.backtrack_to(marked);
    let proven = bound.is_none() && whole.find_first(&parts, &mut set);
    Solution {
        selection: without_worthless_tail(problem, &node_of, &set),
        status: if proven { SolveStatus::Optimal } else { SolveStatus::Bounded },
        bound: bound.unwrap_or(utility).max(utility).cast_unsigned(),
        nodes: limits.nodes - whole.nodes_left,
    }
}

/// Returns the candidates of a set of nodes, without a tail that has no utility, no cost and no dependents.
fn without_worthless_tail(problem: &Problem, node_of: &[usize], set: &[bool]) -> Selection {
    let all = problem.candidates();
    let selected: Vec<usize> = (0..all.len()).filter(|&item| set[node_of[item]]).collect();
    let idle = |item: &&usize| {
        let candidate = &all[**item];
        candidate.utility == 0 && candidate.cost == 0 && candidate.inclusion != Inclusion::Pinned
    };
    let must = selected.len() - selected.iter().rev().take_while(idle).count();
    // One past the farthest dependency of the kept candidates.
    let (mut far, mut keep) = (0, selected.len());
    for (place, &item) in selected.iter().enumerate() {
        if place >= must && far <= item {
            keep = place;
            break;
        }
        far = all[item].deps.iter().fold(far, |far, &dep| far.max(dep + 1));
    }
    let mut selection = Selection { selected, utility: 0, cost: 0 };
    selection.selected.truncate(keep);
    for &item in &selection.selected {
        selection.utility += all[item].utility;
        selection.cost += all[item].cost;
    }
    selection
}
