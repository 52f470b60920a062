//! Several searches on one problem: at other budgets, or with one item in or out.
//!
//! All searches share the condensed graph, its lattices and the flow. Any flow is a valid start, so a search begins at
//! the price and the flow with which the previous one ended, and with the best selection so far that fits. A proven
//! result does not depend on earlier searches.

use super::condense::{Graph, condense};
use super::flow::Flow;
use super::objective::Objective;
use super::rounding::Lattice;
use super::search::{NodeStatus, Search};
use super::solve::{Solution, SolveStatus};
use crate::SearchLimits;
use alloc::vec::Vec;
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};

/// A change of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The budget instead of that of the problem.
    pub budget: u64,
    /// A position, and whether every selection contains or omits it.
    pub item: Option<(usize, bool)>,
}

/// Whether a selection with a required utility exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This one has it.
    Found(Selection),
    /// None has it.
    Impossible,
    /// The search hit a limit.
    Unknown,
}

/// A problem that is prepared for several searches.
#[derive(Clone, Debug)]
pub struct Optimizer<'a> {
    problem: &'a Problem,
    graph: Graph,
    node_of: Vec<usize>,
    grids: Vec<Lattice>,
    flow: Flow,
    /// Sets that were found without an item in or out.
    known: Vec<(Objective, Vec<bool>)>,
    work: u64,
}

/// The maximum number of known sets.
const KNOWN_MAX: usize = 256;

impl<'a> Optimizer<'a> {
    /// Prepares a problem.
    #[must_use]
    pub fn new(problem: &'a Problem) -> Self {
        let (graph, node_of) = condense(problem);
        let search =
            Search::new(&graph, 0, Objective::default(), Objective::default(), SearchLimits::default());
        let (grids, flow) = (search.grids, search.flow);
        Self { problem, graph, node_of, grids, flow, known: Vec::new(), work: 0 }
    }

    /// Returns the work of all searches so far.
    #[must_use]
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// Solves a variation: maximum utility, then minimum cost, then the lexicographically smallest list of positions.
    /// Returns `None` if no selection is valid.
    pub fn solve(&mut self, variation: Variation, limits: SearchLimits) -> Option<Solution> {
        self.with_search(variation, -1, limits, |search, start| {
            let (bound, parts) = search.find_best();
            let mut set = search.incumbent_set.take().unwrap_or_default();
            let utility = search.incumbent.utility;
            search.backtrack_to(start);
            let is_proven = bound.is_none() && search.find_first(&parts, &mut set);
            let status = if is_proven { SolveStatus::Optimal } else { SolveStatus::Bounded };
            (set, status, bound.unwrap_or(utility).max(utility))
        })
        .map(|((set, status, bound), nodes, work)| {
            let selection = self.selection(&set, variation.item);
            Solution { selection, status, bound: bound.cast_unsigned(), nodes, work }
        })
    }

    /// Solves a variation without the tie-break: any selection of maximum utility and minimum cost is optimal. Returns
    /// `None` if no selection is valid.
    pub fn maximize(&mut self, variation: Variation, limits: SearchLimits) -> Option<Solution> {
        self.with_search(variation, -1, limits, |search, _| {
            let (bound, _) = search.find_best();
            let set = search.incumbent_set.take().unwrap_or_default();
            (set, bound, search.incumbent.utility)
        })
        .map(|((set, bound, utility), nodes, work)| Solution {
            selection: self.selection(&set, variation.item),
            status: if bound.is_none() { SolveStatus::Optimal } else { SolveStatus::Bounded },
            bound: bound.unwrap_or(utility).max(utility).cast_unsigned(),
            nodes,
            work,
        })
    }

    /// Searches for a selection with at least this utility. Most searches end at their first node: its bound is below
    /// the utility, or a heuristic reaches it.
    pub fn reach(&mut self, variation: Variation, utility: u64, limits: SearchLimits) -> Reach {
        let Ok(utility) = i64::try_from(utility) else { return Reach::Impossible };
        let found = self.with_search(variation, utility - 1, limits, |search, _| {
            if search.incumbent_set.is_some() {
                return (search.incumbent_set.take(), None);
            }
            search.stop_at_first = true;
            let (bound, _) = search.find_best();
            (search.incumbent_set.take(), bound)
        });
        match found {
            Some(((Some(set), _), ..)) => Reach::Found(self.selection(&set, variation.item)),
            None | Some(((None, None), ..)) => Reach::Impossible,
            Some(((None, Some(_)), ..)) => Reach::Unknown,
        }
    }

    /// Runs a search that improves on a utility. Returns its result, its nodes and its work, or `None` if the fixed
    /// items contradict each other or the budget.
    fn with_search<T>(
        &mut self,
        variation: Variation,
        utility: i64,
        limits: SearchLimits,
        run: impl FnOnce(&mut Search<'_>, usize) -> T,
    ) -> Option<(T, u64, u64)> {
        let Self { problem, graph, node_of, grids, flow, known, .. } = self;
        let budget = i64::try_from(variation.budget).unwrap_or(i64::MAX);
        let floor = Objective { utility, cost: 0, count: 0 };
        let mut search = Search::resume(graph, budget, floor, limits, grids.clone(), flow.clone());
        for (candidate, &node) in problem.candidates().iter().zip(node_of.iter()) {
            match candidate.inclusion {
                Inclusion::Free => {}
                Inclusion::Pinned => search.fix_with_closure(node, NodeStatus::In),
                Inclusion::Forbidden => search.fix_with_closure(node, NodeStatus::Out),
            }
        }
        if let Some((item, is_in)) = variation.item {
            let (node, wanted) = (node_of[item], if is_in { NodeStatus::In } else { NodeStatus::Out });
            search.fix_with_closure(node, wanted);
            if search.fate[node] != wanted {
                return None;
            }
        }
        if search.remaining_budget() < 0 {
            return None;
        }
        let mut known: Vec<_> = if variation.item.is_none() { known.iter().collect() } else { Vec::new() };
        known.retain(|(worth, _)| worth.cost <= budget && worth.is_better_than(search.incumbent));
        if let Some((worth, set)) = known.into_iter().max_by_key(|(worth, _)| (worth.utility, -worth.cost)) {
            (search.incumbent, search.incumbent_set) = (*worth, Some(set.clone()));
        }
        search.drop_unaffordable();
        let start = search.trail.len();
        let result = run(&mut search, start);
        let (nodes, work) = (limits.nodes - search.nodes_left, search.flow.work);
        search.backtrack_to(0);
        search.restrict_cardinality(super::cardinality_range::CardinalityRange::Any);
        *flow = search.flow;
        flow.work = 0;
        self.work += work;
        Some((result, nodes, work))
    }

    /// Keeps a set for later searches.
    fn keep(&mut self, set: &[bool], item: Option<(usize, bool)>) {
        if item.is_none() && self.known.len() < KNOWN_MAX {
            let mut worth = Objective::default();
            (0..set.len()).filter(|&node| set[node]).for_each(|node| worth.add(&self.graph, node));
            self.known.push((worth, set.to_vec()));
        }
    }

    /// Returns the candidates of a set of nodes, without a tail that has no utility, no cost and no dependents.
    fn selection(&mut self, set: &[bool], item: Option<(usize, bool)>) -> Selection {
        self.keep(set, item);
        let all = self.problem.candidates();
        let selected: Vec<usize> = (0..all.len()).filter(|&item| set[self.node_of[item]]).collect();
        let is_idle = |other: &&usize| {
            let candidate = &all[**other];
            candidate.utility == 0
                && candidate.cost == 0
                && candidate.inclusion != Inclusion::Pinned
                && item != Some((**other, true))
        };
        let must = selected.len() - selected.iter().rev().take_while(is_idle).count();
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
}
