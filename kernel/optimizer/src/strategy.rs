//! The plan of a search: reduce the whole graph, find an optimal set in the rest, reduce the whole graph again with
//! this incumbent, and find the first of all optimal sets.
//!
//! The rest is searched as a whole. If that takes long, it is searched in two ranges of set size, then again as a whole
//! with a higher limit, and so on. A forest for which a table is cheaper is solved by the table.

use super::branch::SearchEnd;
use super::cardinality_range::CardinalityRange;
use super::condense::Graph;
use super::dominance::{dominated, forward};
use super::forest_dp::{ForestTable, visits};
use super::search::Search;
use alloc::vec::Vec;

/// The number of visited nodes after which the search splits into ranges. Unit tests split at once, so that small
/// problems reach it.
const CARDINALITY_NODES_MIN: u64 = if cfg!(test) { 1 } else { 3_000 };

impl Search<'_> {
    /// Finds an optimal set. Returns the remaining bound if the node limit was reached, and the ranges that suit the
    /// tie-break.
    pub(super) fn find_best(&mut self) -> (Option<i64>, Vec<CardinalityRange>) {
        if self.visit(true).is_none() {
            return (None, Vec::from([CardinalityRange::Any]));
        }
        let (core, nodes) = self.reduced_graph();
        let mut part = self.part(&core);
        let share = visits(&part);
        let (mut bound, parts) = part.search_with_restarts(share);
        if bound.is_some() && share.is_some() {
            let table = ForestTable::new(&part);
            part.offer_incumbent(part.plus(table.best), |_| table.any_optimal_set(&core));
            bound = None;
        }
        if let Some(best) = part.incumbent_set {
            self.incumbent_set = Some(self.with(chosen(&nodes, &best)));
        }
        (self.nodes_left, self.incumbent) = (part.nodes_left, part.incumbent);
        (bound, parts)
    }

    /// Searches the whole and its ranges alternately with growing limits; once only, if a table follows after a share
    /// of the nodes. Returns the remaining bound, if any, and the ranges of the last search.
    fn search_with_restarts(&mut self, share: Option<u64>) -> (Option<i64>, Vec<CardinalityRange>) {
        let (mut parts, mut open) = (Vec::new(), Vec::new());
        let (mut bound, mut effort) = (None, CARDINALITY_NODES_MIN);
        loop {
            let is_last = share.is_some() || effort >= self.nodes_left / 2;
            let (end, left) = self.search_within(effort.min(self.nodes_left / 2));
            if end != SearchEnd::NodeLimit {
                return (None, Vec::from([CardinalityRange::Any]));
            }
            if parts.is_empty() {
                parts = self.cardinality_ranges();
                open.clone_from(&parts);
            }
            let (mut later, mut cut) = (Vec::new(), None);
            for (done, &one) in open.iter().enumerate() {
                let rest = self.nodes_left / (open.len() - done) as u64;
                self.restrict_cardinality(one);
                let effort = if is_last { share.unwrap_or(rest) } else { effort / 2 };
                if let (SearchEnd::NodeLimit, left_there) = self.search_within(effort) {
                    cut = cut.max(Some(self.utility_bound(left_there.min(left))));
                    later.push(one);
                }
            }
            self.restrict_cardinality(CardinalityRange::Any);
            // No bound compares lowest: nothing is open.
            bound = bound.map_or(cut, |bound: i64| cut.min(Some(bound)));
            if bound.is_none() || is_last {
                return (bound, parts);
            }
            (open, effort) = (later, effort * 10);
        }
    }

    /// Replaces an optimal set by the first one. Returns `false` if this could not be proven.
    pub(super) fn find_first(&mut self, parts: &[CardinalityRange], set: &mut Vec<bool>) -> bool {
        self.set_budget(self.incumbent.cost);
        self.incumbent.cost += 1;
        self.stop_at_first = true;
        self.visit(false);
        let (core, nodes) = self.reduced_graph();
        let mut part = self.part(&core);
        part.stop_at_first = true;
        let mut known: Vec<bool> = nodes.iter().map(|&node| set[node]).collect();
        forward(&core, &mut known);
        let share = visits(&part);
        let (mut firsts, mut end) = (Vec::new(), SearchEnd::Found);
        for &one in parts {
            part.restrict_cardinality(one);
            end = part.first_within(share.unwrap_or(u64::MAX), one, &known, &mut firsts);
            part.backtrack_to(0);
            if end == SearchEnd::NodeLimit {
                break;
            }
        }
        if end == SearchEnd::NodeLimit && share.is_some() {
            part.restrict_cardinality(CardinalityRange::Any);
            let mut table = ForestTable::new(&part);
            let mut first = known;
            part.first_optimal_set(&mut first, Some(&mut table));
            (firsts, end) = (Vec::from([first]), SearchEnd::Found);
        }
        let mut order: Vec<usize> = (0..core.len()).collect();
        order.sort_unstable_by_key(|&node| core.key[node]);
        let in_order = |set: &Vec<bool>| -> Vec<bool> { order.iter().map(|&node| set[node]).collect() };
        if let Some(first) = firsts.iter().max_by_key(|set| in_order(set)) {
            *set = self.with(chosen(&nodes, first));
        }
        self.nodes_left = part.nodes_left;
        end != SearchEnd::NodeLimit
    }

    /// Adds the first of the optimal sets of a range, if there is one.
    fn first_within(
        &mut self,
        effort: u64,
        part: CardinalityRange,
        known: &[bool],
        firsts: &mut Vec<Vec<bool>>,
    ) -> SearchEnd {
        let spared = self.nodes_left.saturating_sub(effort);
        self.nodes_left -= spared;
        let mut first = known.to_vec();
        let mut end = if part == CardinalityRange::Any { SearchEnd::Found } else { self.search().0 };
        if end == SearchEnd::Found {
            if part != CardinalityRange::Any {
                first = self.incumbent_set.take().unwrap_or(first);
            }
            if !self.first_optimal_set(&mut first, None) {
                end = SearchEnd::NodeLimit;
            }
            firsts.push(first);
        }
        self.nodes_left += spared;
        end
    }

    /// Builds a graph that contains the first optimal set of the open nodes, and returns its nodes.
    fn reduced_graph(&self) -> (Graph, Vec<usize>) {
        dominated(self.graph, &self.open())
    }

    /// Starts a search of the reduced graph.
    fn part<'a>(&self, core: &'a Graph) -> Search<'a> {
        let mut part = Search::new(core, self.budget, self.fixed, self.incumbent, self.nodes_left);
        part.flow.warm_start(core, &self.flow);
        part
    }
}

/// The nodes of a set of the reduced graph.
fn chosen(nodes: &[usize], set: &[bool]) -> impl Iterator<Item = usize> {
    nodes.iter().zip(set).filter(|(_, inside)| **inside).map(|(&node, _)| node)
}

#[cfg(test)]
mod tests {
    use crate::{SearchLimits, SolveStatus, solve};
    use alloc::vec::Vec;
    use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection, check_selection};

    /// Returns the optimal selection by enumeration.
    fn brute(problem: &Problem) -> Selection {
        let count = problem.candidates().len();
        let sets = (0..1_u32 << count).map(|set| (0..count).filter(|item| set >> item & 1 == 1).collect());
        let sums = sets.map(|selected: Vec<usize>| {
            let of = |number: fn(&Candidate) -> u64| {
                selected.iter().map(|&one| number(&problem.candidates()[one])).sum()
            };
            Selection { utility: of(|one| one.utility), cost: of(|one| one.cost), selected }
        });
        let answers = sums.filter(|set| check_selection(problem, set).is_ok());
        answers.min_by_key(|set| (u64::MAX - set.utility, set.cost, set.selected.clone())).unwrap()
    }

    /// Ranges and tables come last, and small problems seldom reach them. Here they start at once, on forests and other
    /// graphs.
    #[test]
    fn ranges_and_tables_agree_with_enumeration() {
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut visited = 0;
        for round in 0..4_000 {
            let (needs, excess, noise) = (1 + round % 2, draw(9), 1 + draw(3));
            let candidates: Vec<Candidate> = (0..8)
                .map(|item| {
                    let cost = draw(20);
                    let count = if item > 0 { draw(needs + 1) } else { 0 };
                    let deps: Vec<usize> = (0..count).map(|_| draw(item) as usize).collect();
                    let utility = if cost == 0 { 0 } else { cost + excess + draw(noise) };
                    Candidate { utility, cost, deps, inclusion: Inclusion::Free }
                })
                .collect();
            let budget = draw(1 + candidates.iter().map(|one| one.cost).sum::<u64>());
            let problem = Problem::new(budget, candidates).unwrap();
            let answer = solve(&problem, SearchLimits::default());
            assert_eq!(
                (answer.selection, answer.status),
                (brute(&problem), SolveStatus::Optimal),
                "{problem:?}"
            );
            visited = answer.nodes.max(visited);
        }
        assert!(visited > 100, "at most {visited} visits");
    }
}
