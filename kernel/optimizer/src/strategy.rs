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
use super::limits::SearchLimits;
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
        if bound.is_some() && visits(&part).is_some() {
            let table = ForestTable::new(&mut part);
            part.offer_incumbent(part.plus(table.best), |_| table.any_optimal_set(&core));
            bound = None;
        }
        if let Some(best) = part.incumbent_set {
            self.incumbent_set = Some(self.with(chosen(&nodes, &best)));
        }
        (self.nodes_left, self.flow.work, self.incumbent) = (part.nodes_left, part.flow.work, part.incumbent);
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
            if self.is_exhausted() {
                let bound = bound.unwrap_or(i64::MAX).min(self.utility_bound(left));
                return (Some(bound), Vec::from([CardinalityRange::Any]));
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
                match self.search_within(effort) {
                    (SearchEnd::NodeLimit, left_there) => {
                        cut = cut.max(Some(self.utility_bound(left_there.min(left))));
                        later.push(one);
                    }
                    (SearchEnd::Found, _) => {
                        self.restrict_cardinality(CardinalityRange::Any);
                        return (None, parts);
                    }
                    (SearchEnd::Exhausted, _) => {}
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
        if end == SearchEnd::NodeLimit && visits(&part).is_some() {
            part.restrict_cardinality(CardinalityRange::Any);
            let mut table = ForestTable::new(&mut part);
            let mut first = known;
            if part.first_optimal_set(&mut first, Some(&mut table)) {
                end = SearchEnd::Found;
            }
            firsts = Vec::from([first]);
        }
        let mut order: Vec<usize> = (0..core.len()).collect();
        order.sort_unstable_by_key(|&node| core.key[node]);
        let in_order = |set: &Vec<bool>| -> Vec<bool> { order.iter().map(|&node| set[node]).collect() };
        if let Some(first) = firsts.iter().max_by_key(|set| in_order(set)) {
            *set = self.with(chosen(&nodes, first));
        }
        (self.nodes_left, self.flow.work) = (part.nodes_left, part.flow.work);
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
        let limits = SearchLimits { nodes: self.nodes_left, work: self.work_max };
        let mut part = Search::new(core, self.budget, self.fixed, self.incumbent, limits);
        part.stop_at_first = self.stop_at_first;
        part.flow.warm_start(core, &self.flow);
        part.flow.work = self.flow.work;
        part
    }
}

/// The nodes of a set of the reduced graph.
fn chosen(nodes: &[usize], set: &[bool]) -> impl Iterator<Item = usize> {
    nodes.iter().zip(set).filter(|(_, inside)| **inside).map(|(&node, _)| node)
}
