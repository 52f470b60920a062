//! The answer, and how much may be spent on it.
//!
//! Reduce the whole graph, search what is left, then reduce it once more by what was found and search for ties.

use super::branch::End;
use super::condense::{Graph, condense};
use super::problem::{Mark, Problem, Selection};
use super::search::{Fate, Search, Worth};
use alloc::vec::Vec;

/// How far a search may go: counted, never timed, so that the answer is the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Nodes of the search tree to visit.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 20_000 }
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
    /// Nodes of the search tree that were visited.
    pub nodes: u64,
}

/// The best selection: most utility, then least cost, then lexicographically smallest.
#[must_use]
pub fn solve(problem: &Problem, limits: Limits) -> Answer {
    let (graph, node_of) = condense(problem);
    let budget = i64::try_from(problem.budget()).unwrap_or(i64::MAX);
    let nothing = Worth { utility: -1, cost: 0 };
    let mut whole = Search::new(&graph, budget, Worth::default(), nothing, limits.nodes);
    for (candidate, &node) in problem.candidates().iter().zip(&node_of) {
        match candidate.mark {
            Mark::Free => {}
            Mark::Pinned => whole.decide(node, Fate::In),
            Mark::Forbidden => whole.decide(node, Fate::Out),
        }
    }
    whole.drop_unaffordable();
    let marked = whole.trail.len();

    let mut bound = None;
    if whole.visit(true).is_some() {
        let (core, nodes) = whole.core();
        let mut part = Search::new(&core, whole.budget, whole.held, whole.floor, whole.effort);
        part.flow.begin_at(&core, &whole.flow);
        let (end, open) = part.search();
        if end == End::Cut {
            bound = Some(part.flow_floor(open));
        }
        let (effort, floor, best) = (part.effort, part.floor, part.best);
        (whole.effort, whole.floor) = (effort, floor);
        if let Some(best) = best {
            whole.best = Some(whole.with(nodes.into_iter().zip(best).filter(|(_, inside)| *inside).map(|(node, _)| node)));
        }
    }
    let mut set = whole.best.take().unwrap_or_default();
    let worth = whole.floor;

    let mut proven = bound.is_none();
    if proven {
        whole.undo(marked);
        whole.rebudget(worth.cost);
        whole.floor = Worth { cost: worth.cost + 1, ..worth };
        let floor = whole.floor;
        whole.any = true;
        whole.visit(false);
        let (core, nodes) = whole.core();
        let mut part = Search::new(&core, whole.budget, whole.held, floor, whole.effort);
        part.flow.begin_at(&core, &whole.flow);
        let mut known: Vec<bool> = nodes.iter().map(|&node| set[node]).collect();
        proven = part.first(&mut known);
        whole.effort = part.effort;
        set = whole.with(nodes.into_iter().zip(known).filter(|(_, inside)| *inside).map(|(node, _)| node));
    }
    let bound = bound.unwrap_or(worth.utility);
    Answer {
        selection: shortest(problem, &node_of, &set),
        status: if proven { Status::Optimal } else { Status::Bounded },
        bound: bound.cast_unsigned(),
        nodes: limits.nodes - whole.effort,
    }
}

impl Search<'_> {
    /// The graph of what is open, and its nodes.
    fn core(&self) -> (Graph, Vec<usize>) {
        let open = self.open();
        (self.graph.restrict(&open), open)
    }
}

/// The candidates of a set of nodes, without an end that brings nothing, costs nothing and is not needed.
fn shortest(problem: &Problem, node_of: &[usize], set: &[bool]) -> Selection {
    let all = problem.candidates();
    let selected: Vec<usize> = (0..all.len()).filter(|&item| set[node_of[item]]).collect();
    let idle = |item: &&usize| {
        let candidate = &all[**item];
        candidate.utility == 0 && candidate.cost == 0 && candidate.mark != Mark::Pinned
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
