//! Explanations: why each item is selected or not, and which budget would change that.
//!
//! Nothing is estimated. To find the effect of an item, the problem is solved again with the item in or out. To find the required
//! budget, ranges of budgets are excluded: utility never decreases with the budget, so if no selection *with* the item reaches, at
//! the larger of two budgets, the utility that some selection has at the smaller one, no budget between them has an optimal
//! selection with the item. That is mostly decided at the root of a search, by its bound.
//!
//! A limit leaves bounds: of a utility, or of a budget. What is stated without one is proven.

use super::dependencies::{DependencyWalker, ItemSet, forbidden_by_closure, items_with_inclusion};
use super::problem::NamedProblem;
use super::searcher::Searcher;
use super::solve::{SolveError, solve_exact};
use orchestrion_kernel::selection::{Inclusion, Problem};
use orchestrion_optimizer::{Reach, SearchLimits, Solution, SolveStatus, Variation};

/// Searches for the required budget of one item; beyond it, only a lower bound is returned.
const SEARCHES_MAX: usize = 400;

/// Explains the solution of a problem.
#[derive(Clone, Debug)]
pub struct Explainer<'a> {
    named: &'a NamedProblem,
    searcher: Searcher<'a>,
    work: u64,
    /// Solution of the problem.
    pub solution: Solution,
    /// Whether a limit left an answer with a bound instead of a proof.
    pub hit_limit: bool,
}

/// Reason why an item is selected or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Selected: pinned, required by dependents, in a group, or for its own utility.
    Selected {
        /// Whether it is pinned.
        is_pinned: bool,
        /// Selected items that depend on it, except those of its group.
        dependents: Vec<usize>,
    },
    /// Not selected.
    Excluded(ExclusionReason),
}

/// Reason why an item is not selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// Forbidden.
    Forbidden,
    /// Depends on this forbidden item.
    DependsOnForbidden(usize),
    /// Exceeds the budget, together with its dependencies and the pinned items.
    OverBudget {
        /// Cost of these items.
        cost: u64,
    },
    /// The selection with it is worse: the items that it would displace have more utility, or equal utility and precedence.
    Outweighed {
        /// Cost of the item with its unselected dependencies.
        cost: u64,
        /// Utility of the item with its unselected dependencies.
        utility: u64,
    },
}

/// Next step of the budget curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextImprovement {
    /// No smaller budget has more utility. Equal to `budget`, except where a limit was hit.
    pub budget_min: u64,
    /// Smallest known budget with more utility.
    pub budget: u64,
    /// Utility at `budget`.
    pub utility: u64,
    /// Upper bound of the utility at `budget`.
    pub bound: u64,
}

/// Solution with the opposite choice for an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Utility of the solution.
    pub utility: u64,
    /// Upper bound of that utility.
    pub bound: u64,
    /// Items that the alternative removes.
    pub removed: Vec<usize>,
    /// Items that the alternative adds.
    pub added: Vec<usize>,
}

/// Smallest budget, from the present one, at which an optimal selection contains an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredBudget {
    /// The solution at this budget contains it.
    Selected(u64),
    /// A selection of maximum utility at this budget contains it, but the tie-break prefers another one.
    Tied(u64),
    /// No smaller budget; the search limit was reached.
    AtLeast(u64),
}

/// Explanation of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Position of the item.
    pub item: usize,
    /// Reason why it is selected or not.
    pub reason: Reason,
    /// Solution without it if it is selected, with it if it is not; `None` if that is infeasible.
    pub alternative: Option<Alternative>,
    /// Budget that it requires, if it is not selected and not forbidden.
    pub required_budget: Option<RequiredBudget>,
}

impl<'a> Explainer<'a> {
    /// Solves a problem. The nodes limit each search. The work limits all searches for the solution, one item and the next
    /// improvement together; each further item has a third of it more.
    ///
    /// # Errors
    /// [`SolveError`] if a solution is not valid.
    pub fn new(named: &'a NamedProblem, limits: SearchLimits) -> Result<Self, SolveError> {
        let solution = solve_exact(&named.problem, limits.with_work(limits.work / 3))?;
        let hit_limit = solution.status == SolveStatus::Bounded;
        let searcher = Searcher::new(&named.problem, limits.nodes);
        Ok(Self { named, searcher, work: limits.work, solution, hit_limit })
    }

    fn problem(&self) -> &'a Problem {
        &self.named.problem
    }

    fn is_selected(&self, item: usize) -> bool {
        self.solution.selection.selected.binary_search(&item).is_ok()
    }

    fn are_grouped(&self, one: usize, other: usize) -> bool {
        let groups = &self.named.groups;
        groups[one].is_some() && groups[one] == groups[other]
    }

    /// Returns the reason for each item, by position.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let candidates = self.problem().candidates();
        let mut dependents = vec![Vec::new(); candidates.len()];
        for item in &self.solution.selection.selected {
            for dep in candidates[*item].deps.iter().filter(|dep| *dep != item) {
                // An item may list a dependency twice. Items of its group are reported as a group.
                if dependents[*dep].last() != Some(item) && !self.are_grouped(*item, *dep) {
                    dependents[*dep].push(*item);
                }
            }
        }
        let mut walker = DependencyWalker::new(candidates);
        let mut pinned = walker
            .closure(&items_with_inclusion(candidates, Inclusion::Pinned), |_| false, u64::MAX)
            .unwrap_or_default();
        pinned.items.sort_unstable();
        let forbidden_by = forbidden_by_closure(candidates);
        let reason = |(item, dependents): (usize, Vec<usize>)| match forbidden_by[item] {
            _ if self.is_selected(item) => {
                Reason::Selected { is_pinned: candidates[item].inclusion == Inclusion::Pinned, dependents }
            }
            Some(forbidden) if forbidden == item => Reason::Excluded(ExclusionReason::Forbidden),
            Some(forbidden) => Reason::Excluded(ExclusionReason::DependsOnForbidden(forbidden)),
            None => Reason::Excluded(self.budget_reason(item, &pinned, &mut walker)),
        };
        dependents.into_iter().enumerate().map(reason).collect()
    }

    /// Returns the reason for an item that a larger budget would allow.
    fn budget_reason(
        &self,
        item: usize,
        pinned: &ItemSet,
        walker: &mut DependencyWalker<'_>,
    ) -> ExclusionReason {
        let is_pinned = |other| pinned.items.binary_search(&other).is_ok();
        let closure = walker.closure(&[item], is_pinned, u64::MAX).unwrap_or_default();
        if pinned.cost + closure.cost > self.problem().budget() {
            return ExclusionReason::OverBudget { cost: pinned.cost + closure.cost };
        }
        let missing = walker.closure(&[item], |other| self.is_selected(other), u64::MAX).unwrap_or_default();
        ExclusionReason::Outweighed { cost: missing.cost, utility: missing.utility }
    }

    /// Finds the smallest budget with more utility than the present one, by doubling steps and bisection.
    ///
    /// # Errors
    /// As [`Explainer::new`].
    pub fn next_improvement(&mut self) -> Result<Option<NextImprovement>, SolveError> {
        self.searcher.allow(self.work / 3);
        let target = self.solution.selection.utility + 1;
        let budget_max = self.budget_max();
        let (mut below, mut budget, mut step) = (self.problem().budget(), self.problem().budget(), 1_u64);
        let mut is_known = true;
        let mut found = loop {
            budget = budget_max.min(budget.saturating_add(step));
            match self.searcher.reach(Variation { budget, item: None }, target, 8)? {
                Reach::Found(selection) => break selection,
                Reach::Impossible if budget >= budget_max => return Ok(None),
                Reach::Impossible => below = if is_known { budget } else { below },
                Reach::Unknown => is_known = false,
            }
            if budget >= budget_max {
                self.hit_limit = true;
                return Ok(None);
            }
            step = if self.searcher.has_overspent() { u64::MAX } else { step.saturating_mul(2) };
        };
        while found.cost.saturating_sub(below) > 1 && !self.searcher.has_overspent() {
            let budget = below + (found.cost - below) / 2;
            match self.searcher.reach(Variation { budget, item: None }, target, 8)? {
                Reach::Found(selection) => found = selection,
                Reach::Impossible => below = budget,
                Reach::Unknown => break,
            }
        }
        // After a limit, the present budget may have more utility too.
        let budget = found.cost.max(below + 1);
        let best = self.searcher.maximize(Variation { budget, item: None }, 1)?;
        let (utility, bound) = best.map_or((0, u64::MAX), |best| (best.selection.utility, best.bound));
        let utility = utility.max(found.utility);
        self.hit_limit |= below + 1 < budget || utility < bound;
        Ok(Some(NextImprovement { budget_min: below + 1, budget, utility, bound: bound.max(utility) }))
    }

    /// Explains one item in full.
    ///
    /// # Errors
    /// As [`Explainer::new`].
    pub fn explain(&mut self, item: usize, reason: Reason) -> Result<Explanation, SolveError> {
        self.searcher.allow(self.work / 3);
        let (alternative, required_budget) = match &reason {
            Reason::Selected { is_pinned: true, .. }
            | Reason::Excluded(ExclusionReason::Forbidden | ExclusionReason::DependsOnForbidden(_)) => {
                (None, None)
            }
            Reason::Selected { is_pinned: false, .. } => (self.alternative(item, false)?, None),
            Reason::Excluded(ExclusionReason::OverBudget { .. } | ExclusionReason::Outweighed { .. }) => {
                (self.alternative(item, true)?, Some(self.required_budget(item)?))
            }
        };
        Ok(Explanation { item, reason, alternative, required_budget })
    }

    /// Solves the problem with an item in or out; `None` if that is infeasible.
    fn alternative(&mut self, item: usize, is_in: bool) -> Result<Option<Alternative>, SolveError> {
        let variation = Variation { budget: self.problem().budget(), item: Some((item, is_in)) };
        let Some(other) = self.searcher.solve(variation, 3)? else { return Ok(None) };
        self.hit_limit |= other.status == SolveStatus::Bounded;
        let current = &self.solution.selection.selected;
        let difference = |a: &[usize], b: &[usize]| {
            a.iter().copied().filter(|item| b.binary_search(item).is_err()).collect()
        };
        let removed = difference(current, &other.selection.selected);
        let added = difference(&other.selection.selected, current);
        Ok(Some(Alternative { utility: other.selection.utility, bound: other.bound, removed, added }))
    }

    /// Finds the smallest budget with the item. Excludes ranges of budgets, doubled after each success and halved after each
    /// failure, until a single budget cannot be excluded.
    fn required_budget(&mut self, item: usize) -> Result<RequiredBudget, SolveError> {
        let (mut budget, mut range) = (self.problem().budget(), 1);
        // A utility that some selection has at `budget`.
        let mut floor = self.solution.selection.utility;
        for _ in 0..SEARCHES_MAX {
            // Beyond the cost of all items, the budget does not change the solution.
            let end = self.budget_max().min(budget.saturating_add(range - 1));
            let variation = Variation { budget: end, item: Some((item, true)) };
            match self.searcher.reach(variation, floor, 8)? {
                Reach::Impossible => {
                    budget = budget.saturating_add(range);
                    range = range.saturating_mul(2);
                    let approximate = self.searcher.approximate(Variation { budget, item: None })?;
                    floor = approximate.map_or(floor, |found| floor.max(found.selection.utility));
                }
                Reach::Found(_) | Reach::Unknown if range > 1 => range /= 2,
                Reach::Unknown => return Ok(self.at_least(budget)),
                Reach::Found(with) => {
                    let best = self.searcher.maximize(Variation { budget, item: None }, 2)?;
                    let Some(best) = best else { return Ok(self.at_least(budget)) };
                    if with.utility >= best.bound {
                        return self.selected_or_tied(item, budget);
                    }
                    if best.selection.utility <= floor {
                        return Ok(self.at_least(budget));
                    }
                    floor = best.selection.utility;
                }
            }
            if self.searcher.has_spent_work() {
                return Ok(self.at_least(budget));
            }
        }
        Ok(RequiredBudget::AtLeast(budget))
    }

    /// States what is known where a limit was hit.
    const fn at_least(&mut self, budget: u64) -> RequiredBudget {
        self.hit_limit = true;
        RequiredBudget::AtLeast(budget)
    }

    /// Decides whether the solution at a budget contains an item that some selection of maximum utility contains.
    fn selected_or_tied(&mut self, item: usize, budget: u64) -> Result<RequiredBudget, SolveError> {
        let solution = self.searcher.solve(Variation { budget, item: None }, 1)?;
        let Some(solution) = solution.filter(|solution| solution.status == SolveStatus::Optimal) else {
            return Ok(self.at_least(budget));
        };
        let is_selected = solution.selection.selected.binary_search(&item).is_ok();
        Ok(if is_selected { RequiredBudget::Selected(budget) } else { RequiredBudget::Tied(budget) })
    }

    /// Returns a budget for all items.
    fn budget_max(&self) -> u64 {
        let sum = self.problem().candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
        sum.max(self.problem().budget())
    }
}
