//! The answer, and how much may be spent on it.
//!
//! Deliberately absent: how it is found, of which `stages` is the plan.

use super::condense::condense;
use super::presolve;
use super::search::{NodeStatus, Objective, Search};
use alloc::vec::Vec;
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};

/// How far a search may go: counted, never timed, so that the answer is the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchLimits {
    /// Nodes of the search tree to visit; one with many open candidates counts once for every 256 of them.
    pub nodes: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { nodes: 250_000 }
    }
}

/// What is known of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolveStatus {
    /// No selection is better, and of those as good this is the one that counts.
    Optimal,
    /// The search was cut short; no utility is greater than the bound.
    Bounded,
}

/// A selection and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// The best that was found.
    pub selection: Selection,
    /// Whether it is proven to be the best.
    pub status: SolveStatus,
    /// No selection has more utility.
    pub bound: u64,
    /// Nodes of the search tree that were visited.
    pub nodes: u64,
}

/// The best selection: most utility, then least cost, then lexicographically smallest.
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

/// The candidates of a set of nodes, without an end that brings nothing, costs nothing and is not needed.
fn without_worthless_tail(problem: &Problem, node_of: &[usize], set: &[bool]) -> Selection {
    let all = problem.candidates();
    let selected: Vec<usize> = (0..all.len()).filter(|&item| set[node_of[item]]).collect();
    let idle = |item: &&usize| {
        let candidate = &all[**item];
        candidate.utility == 0 && candidate.cost == 0 && candidate.inclusion != Inclusion::Pinned
    };
    let must = selected.len() - selected.iter().rev().take_while(idle).count();
    // One past the furthest that what is kept so far needs.
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
