//! Presolve: the budget does not bind.
//!
//! All candidates with utility, all pinned ones and their closures fit together. Every optimal selection then contains
//! all of them, and one of minimum cost contains nothing else with a cost. Candidates without cost and utility may
//! still matter for the tie-break; if there are any, the search decides.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

use alloc::vec;
use alloc::vec::Vec;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection};

/// Returns the optimal selection if everything fits and nothing is forbidden.
pub(super) fn solve_unconstrained(problem: &Problem) -> Option<Selection> {
    let candidates = problem.candidates();
    if candidates.iter().any(|candidate| candidate.inclusion == Inclusion::Forbidden) {
        return None;
    }
    let wanted = |candidate: &Candidate| candidate.inclusion == Inclusion::Pinned || candidate.utility > 0;
    let wanted = (0..).zip(candidates).filter(|(_, candidate)| wanted(candidate)).map(|(at, _)| at);
    let (mut waiting, mut selected): (Vec<usize>, Vec<usize>) = (wanted.collect(), Vec::new());
    let mut is_in = vec![false; candidates.len()];
    while let Some(at) = waiting.pop() {
        if let Some(is_in) = is_in.get_mut(at)
            && !*is_in
        {
            *is_in = true;
            waiting.extend(candidates.get(at).iter().flat_map(|candidate| &candidate.deps));
        }
    }
    let (mut utility, mut cost) = (0_u64, 0_u64);
    for ((at, candidate), is_in) in (0..).zip(candidates).zip(&is_in) {
        if *is_in {
            selected.push(at);
            utility = utility.saturating_add(candidate.utility);
            cost = cost.saturating_add(candidate.cost);
        } else if candidate.cost == 0 && candidate.utility == 0 {
            return None;
        }
    }
    (cost <= problem.budget()).then_some(Selection { selected, utility, cost })
}
