//! The best closed selection within a budget (000-5.4 to 000-5.10), found by enumeration.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of free candidates whose sets are all enumerated.
pub(super) const ENUMERATED_CANDIDATES_MAX: usize = 14;

/// An item that a context may contain.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The index of its section; `None` for an item without a line of its own.
    pub(super) section: Option<usize>,
    /// The line in the text of the context.
    pub(super) line: String,
    pub(super) cost: u64,
    pub(super) utility: u64,
    pub(super) is_pinned: bool,
    /// The ids of its dependencies, all of them candidates.
    pub(super) deps: Vec<u64>,
}

/// A selection problem: which candidates have most utility within a budget.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) budget: u64,
    /// The cost of what every selection has in addition: the time, the situation and the payload.
    pub(super) base_cost: u64,
    /// The cost of each section's heading, which a selection with an item of that section contains.
    pub(super) heading_costs: Vec<u64>,
    /// The candidates by id.
    pub(super) candidates: BTreeMap<u64, Candidate>,
}

/// The order of two selections: most utility, then least cost, then the lexicographically smallest id list.
type Order = (u64, Reverse<u64>, Reverse<Vec<u64>>);

impl Problem {
    pub(super) fn get(&self, id: u64) -> Option<&Candidate> {
        self.candidates.get(&id)
    }

    /// Returns these ids with all their direct and transitive dependencies (000-5.7).
    pub(super) fn closure(&self, ids: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
        let mut closed = BTreeSet::new();
        let mut open: Vec<u64> = ids.into_iter().collect();
        while let Some(id) = open.pop() {
            if closed.insert(id) {
                open.extend(self.get(id).into_iter().flat_map(|candidate| &candidate.deps));
            }
        }
        closed
    }

    /// Returns the closure of the pinned candidates, which every selection contains.
    pub(super) fn required(&self) -> BTreeSet<u64> {
        let pinned = self.candidates.iter().filter(|(_, candidate)| candidate.is_pinned);
        self.closure(pinned.map(|(id, _)| *id))
    }

    /// Returns the cost of a selection (000-5.6): its lines, and the headings of their sections.
    pub(super) fn cost(&self, selected: &BTreeSet<u64>) -> u64 {
        let selected: Vec<&Candidate> = selected.iter().filter_map(|id| self.get(*id)).collect();
        let sections: BTreeSet<usize> = selected.iter().filter_map(|candidate| candidate.section).collect();
        let lines: u64 = selected.iter().map(|candidate| candidate.cost).sum();
        let headings: u64 = sections.iter().map(|section| self.heading_costs[*section]).sum();
        self.base_cost + headings + lines
    }

    /// Returns the utility of a selection (000-5.8).
    pub(super) fn utility(&self, selected: &BTreeSet<u64>) -> u64 {
        selected.iter().filter_map(|id| self.get(*id)).map(|candidate| candidate.utility).sum()
    }

    fn order(&self, selected: &BTreeSet<u64>) -> Order {
        let ids = selected.iter().copied().collect();
        (self.utility(selected), Reverse(self.cost(selected)), Reverse(ids))
    }

    /// Returns the best selection (000-5.9, 000-5.10). Returns `None` if the pinned candidates exceed the budget, or if
    /// the candidates are too many to enumerate.
    pub(super) fn optimum(&self) -> Option<BTreeSet<u64>> {
        let required = self.required();
        // No selection has more utility than all useful candidates; a larger one costs more.
        let useful = self.candidates.iter().filter(|(_, candidate)| candidate.utility > 0);
        let all = self.closure(required.iter().copied().chain(useful.map(|(id, _)| *id)));
        if self.cost(&all) <= self.budget {
            return Some(all);
        }
        let free: Vec<u64> = self.candidates.keys().copied().filter(|id| !required.contains(id)).collect();
        if free.len() > ENUMERATED_CANDIDATES_MAX {
            return None;
        }
        // A set is a number with one bit for each free candidate.
        let position = |id: &u64| free.iter().position(|other| other == id);
        let bits = |ids: &[u64]| ids.iter().filter_map(position).fold(0_u32, |set, at| set | 1 << at);
        let candidates: Vec<&Candidate> = free.iter().filter_map(|id| self.get(*id)).collect();
        let deps: Vec<u32> = candidates.iter().map(|candidate| bits(&candidate.deps)).collect();
        let (least_utility, least_cost) = (self.utility(&required), self.cost(&required));
        let mut best: Option<(Order, BTreeSet<u64>)> = None;
        for set in 0..1_u32 << free.len() {
            let members = || (0..free.len()).filter(|at| set & 1 << at != 0);
            // Most sets fail one of these tests, which need no list of ids.
            let is_closed = members().all(|at| deps[at] & !set == 0);
            let cost = least_cost + members().map(|at| candidates[at].cost).sum::<u64>();
            let utility = least_utility + members().map(|at| candidates[at].utility).sum::<u64>();
            let is_less = best.as_ref().is_some_and(|((most, ..), _)| utility < *most);
            if !is_closed || cost > self.budget || is_less {
                continue;
            }
            let mut selected = required.clone();
            selected.extend(members().map(|at| free[at]));
            let order = self.order(&selected);
            if self.cost(&selected) <= self.budget && best.as_ref().is_none_or(|(best, _)| order > *best) {
                best = Some((order, selected));
            }
        }
        best.map(|(_, selected)| selected)
    }

    /// Returns a simple selection for comparison: candidates with their dependencies, by utility per token, as long as
    /// they fit.
    pub(super) fn greedy(&self) -> BTreeSet<u64> {
        let mut selected = self.required();
        let ratio = |id: &u64| {
            let with_deps = self.closure([*id]);
            Reverse(self.utility(&with_deps) * 1_000 / self.cost(&with_deps).max(1))
        };
        let mut ids: Vec<u64> = self.candidates.keys().copied().collect();
        ids.sort_by_cached_key(ratio);
        for id in ids {
            let larger = self.closure(selected.iter().copied().chain([id]));
            if self.cost(&larger) <= self.budget {
                selected = larger;
            }
        }
        selected
    }

    /// Returns a better selection that differs by at most one removed candidate and one added candidate, with the
    /// dependents and dependencies of both.
    pub(super) fn improvement(&self, selected: &BTreeSet<u64>) -> Option<BTreeSet<u64>> {
        let required = self.required();
        let without = |removed: u64| -> BTreeSet<u64> {
            let depends = |id: &u64| self.closure([*id]).contains(&removed);
            selected.iter().copied().filter(|id| !depends(id)).collect()
        };
        let removable = selected.iter().filter(|id| !required.contains(id));
        let smaller = removable.map(|id| without(*id)).filter(|smaller| required.is_subset(smaller));
        let mut bases: Vec<BTreeSet<u64>> = vec![selected.clone()];
        bases.extend(smaller);
        let order = self.order(selected);
        bases.iter().find_map(|base| {
            self.candidates.keys().find_map(|added| {
                let other = self.closure(base.iter().copied().chain([*added]));
                (self.cost(&other) <= self.budget && self.order(&other) > order).then_some(other)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Problem};
    use std::collections::BTreeSet;

    /// Candidates of one section without a heading cost: utility, cost, dependencies.
    fn problem(budget: u64, candidates: &[(u64, u64, &[u64])]) -> Problem {
        let candidate = |(utility, cost, deps): &(u64, u64, &[u64])| Candidate {
            section: Some(0),
            line: String::new(),
            cost: *cost,
            utility: *utility,
            is_pinned: false,
            deps: deps.to_vec(),
        };
        let candidates = (1..).zip(candidates.iter().map(candidate)).collect();
        Problem { budget, base_cost: 0, heading_costs: vec![0], candidates }
    }

    fn optimum(budget: u64, candidates: &[(u64, u64, &[u64])]) -> Vec<u64> {
        problem(budget, candidates).optimum().map(Vec::from_iter).unwrap_or_default()
    }

    #[test]
    fn optimum_contains_dependencies() {
        assert_eq!(optimum(5, &[(9, 3, &[2]), (0, 2, &[]), (4, 4, &[])]), [1, 2]);
        assert_eq!(optimum(4, &[(9, 3, &[2]), (0, 2, &[]), (4, 4, &[])]), [3]);
    }

    #[test]
    fn optimum_ties_prefer_cost_then_ids() {
        assert_eq!(optimum(3, &[(5, 3, &[]), (5, 2, &[]), (5, 2, &[])]), [2]);
        assert_eq!(optimum(4, &[(2, 2, &[]), (2, 2, &[]), (2, 2, &[])]), [1, 2]);
        assert_eq!(optimum(4, &[(0, 1, &[]), (5, 4, &[])]), [2]);
    }

    #[test]
    fn optimum_counts_headings() {
        let mut problem = problem(6, &[(2, 3, &[]), (3, 3, &[])]);
        assert_eq!(problem.optimum(), Some(BTreeSet::from([1, 2])));
        problem.heading_costs = vec![1];
        assert_eq!(problem.optimum(), Some(BTreeSet::from([2])));
    }

    #[test]
    fn improvement_finds_better_exchange() {
        let problem = problem(4, &[(2, 4, &[]), (3, 4, &[]), (1, 4, &[])]);
        assert_eq!(problem.improvement(&BTreeSet::from([1])), Some(BTreeSet::from([2])));
        assert_eq!(problem.improvement(&BTreeSet::from([2])), None);
        assert_eq!(problem.greedy(), BTreeSet::from([2]));
    }
}
