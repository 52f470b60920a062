//! The answer, and how much may be spent on it.
//!
//! Reduce the whole graph, search what is left, then reduce it once more by what was found and search for ties.

use super::branch::End;
use super::condense::{Graph, condense};
use super::count::Part;
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
    let nothing = Worth { utility: -1, cost: 0, count: 0 };
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

    let (mut bound, mut parts) = (None, [Part::Any; 2]);
    if whole.visit(true).is_some() {
        let (core, nodes) = whole.core();
        let mut part = whole.part(&core);
        part.effort = whole.effort.min(BEFORE_PARTS);
        let spared = whole.effort - part.effort;
        let (end, open) = part.search();
        part.effort += spared;
        if end == End::Cut {
            parts = part.parts();
            let mut cut = None;
            for one in parts {
                let mut confined = whole.part(&core);
                (confined.floor, confined.effort, confined.best) = (part.floor, part.effort, part.best.take());
                confined.confine(one);
                let (end, open) = confined.search();
                if end == End::Cut {
                    cut = cut.max(Some(confined.flow_floor(open)));
                }
                (part.floor, part.effort, part.best) = (confined.floor, confined.effort, confined.best);
            }
            bound = cut.map(|cut| cut.min(part.flow_floor(open)));
        }
        (whole.effort, whole.floor) = (part.effort, part.floor);
        if let Some(best) = part.best {
            whole.best = Some(whole.with(chosen(&nodes, &best)));
        }
    }
    let mut set = whole.best.take().unwrap_or_default();
    let worth = whole.floor;

    let mut proven = bound.is_none();
    if proven {
        whole.undo(marked);
        whole.rebudget(worth.cost);
        whole.floor = Worth { cost: worth.cost + 1, ..worth };
        whole.any = true;
        whole.visit(false);
        let (core, nodes) = whole.core();
        let mut firsts: Vec<Vec<bool>> = Vec::new();
        for one in if parts[0] == parts[1] { &parts[..1] } else { &parts[..] } {
            let mut part = whole.part(&core);
            part.any = true;
            part.confine(*one);
            let mut known: Vec<bool> = nodes.iter().map(|&node| set[node]).collect();
            if *one != Part::Any {
                part.best = None;
                match part.search().0 {
                    End::Found => known = part.best.take().unwrap_or(known),
                    End::Exhausted => {
                        whole.effort = part.effort;
                        continue;
                    }
                    End::Cut => {
                        whole.effort = part.effort;
                        proven = false;
                        break;
                    }
                }
            }
            proven &= part.first(&mut known);
            whole.effort = part.effort;
            firsts.push(known);
        }
        let mut order: Vec<usize> = (0..core.len()).collect();
        order.sort_unstable_by_key(|&node| core.key[node]);
        if let Some(first) = firsts.into_iter().max_by(|a, b| order.iter().map(|&n| a[n]).cmp(order.iter().map(|&n| b[n]))) {
            set = whole.with(chosen(&nodes, &first));
        }
    }
    let bound = bound.unwrap_or(worth.utility);
    Answer {
        selection: shortest(problem, &node_of, &set),
        status: if proven { Status::Optimal } else { Status::Bounded },
        bound: bound.cast_unsigned(),
        nodes: limits.nodes - whole.effort,
    }
}

/// Visits after which what is left is parted.
const BEFORE_PARTS: u64 = 300;

/// The nodes that a set on the core has.
fn chosen(nodes: &[usize], set: &[bool]) -> impl Iterator<Item = usize> {
    nodes.iter().zip(set).filter(|(_, inside)| **inside).map(|(&node, _)| node)
}

impl Search<'_> {
    /// A search on the graph of what is open.
    fn part<'a>(&self, core: &'a Graph) -> Search<'a> {
        let mut part = Search::new(core, self.budget, self.held, self.floor, self.effort);
        part.flow.begin_at(core, &self.flow);
        part
    }

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
