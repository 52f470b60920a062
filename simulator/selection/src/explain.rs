//! Explanations: why each item is selected or not, and which budget would change that.
//!
//! Nothing is estimated. To find the effect of an item, the problem is solved again with the item pinned or forbidden. To find the
//! required budget, ranges of budgets are excluded: utility never decreases with the budget, so if the larger of two budgets *with*
//! the item has less utility than the smaller one without it, no budget between them has an optimal selection with the item.

use super::curve::with_budget;
use super::dependencies::{DependencyWalker, ItemSet, forbidden_by_closure, items_with_inclusion};
use super::problem::NamedProblem;
use super::solve::{SolveError, solve_exact};
use orchestrion_kernel::selection::{Inclusion, Problem};
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus};

/// Searches for the required budget of one item; beyond it, only a lower bound is returned.
const SEARCHES_MAX: usize = 400;

/// Explains the solution of a problem.
#[derive(Clone, Debug)]
pub struct Explainer<'a> {
    named: &'a NamedProblem,
    limits: SearchLimits,
    /// Solution of the problem.
    pub solution: Solution,
    /// Whether a search hit its node limit, so that explanations are not proven.
    pub hit_node_limit: bool,
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
    /// Smallest budget with more utility.
    pub budget: u64,
    /// Utility at that budget.
    pub utility: u64,
}

/// Solution with the opposite choice for an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Utility of the solution.
    pub utility: u64,
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
    /// Solves a problem.
    ///
    /// # Errors
    /// [`SolveError`] if a solution is not valid.
    pub fn new(named: &'a NamedProblem, limits: SearchLimits) -> Result<Self, SolveError> {
        let solution = solve_exact(&named.problem, limits)?;
        let hit_node_limit = solution.status == SolveStatus::Bounded;
        Ok(Self { named, limits, solution, hit_node_limit })
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

    /// Finds the smallest budget with more utility than the present one.
    ///
    /// # Errors
    /// As [`Explainer::new`].
    pub fn next_improvement(&mut self) -> Result<Option<NextImprovement>, SolveError> {
        let target = self.solution.selection.utility + 1;
        let Some(budget) = self.budget_for_utility(target)? else { return Ok(None) };
        let utility = self.utility_at(self.problem(), budget)?.unwrap_or(target);
        Ok(Some(NextImprovement { budget, utility }))
    }

    /// Returns the utility gained by one more token.
    ///
    /// # Errors
    /// As [`Explainer::new`].
    pub fn next_token_utility(&mut self) -> Result<u64, SolveError> {
        let utility = self.utility_at(self.problem(), self.problem().budget() + 1)?;
        Ok(utility.unwrap_or_default().saturating_sub(self.solution.selection.utility))
    }

    /// Explains one item in full.
    ///
    /// # Errors
    /// As [`Explainer::new`].
    pub fn explain(&mut self, item: usize, reason: Reason) -> Result<Explanation, SolveError> {
        let opposite = match &reason {
            Reason::Selected { is_pinned: true, .. }
            | Reason::Excluded(ExclusionReason::Forbidden | ExclusionReason::DependsOnForbidden(_)) => None,
            Reason::Selected { is_pinned: false, .. } => self.with_inclusion(item, Inclusion::Forbidden),
            Reason::Excluded(ExclusionReason::OverBudget { .. } | ExclusionReason::Outweighed { .. }) => {
                self.with_inclusion(item, Inclusion::Pinned)
            }
        };
        let Some(opposite) = opposite else {
            return Ok(Explanation { item, reason, alternative: None, required_budget: None });
        };
        let alternative = match with_budget(&opposite, self.problem().budget()) {
            Some(problem) => Some(self.alternative(&problem)?),
            None => None,
        };
        let required_budget = match reason {
            Reason::Selected { .. } => None,
            Reason::Excluded(_) => Some(self.required_budget(item, &opposite)?),
        };
        Ok(Explanation { item, reason, alternative, required_budget })
    }

    /// Returns the problem with another inclusion of one item, at a budget for all items; `None` if that is infeasible.
    fn with_inclusion(&self, item: usize, inclusion: Inclusion) -> Option<Problem> {
        let mut candidates = self.problem().candidates().to_vec();
        candidates[item].inclusion = inclusion;
        Problem::new(self.budget_max(), candidates).ok()
    }

    fn alternative(&mut self, other: &Problem) -> Result<Alternative, SolveError> {
        let other = self.solve(other)?.selection;
        let current = &self.solution.selection.selected;
        let difference = |a: &[usize], b: &[usize]| {
            a.iter().copied().filter(|item| b.binary_search(item).is_err()).collect()
        };
        let removed = difference(current, &other.selected);
        let added = difference(&other.selected, current);
        Ok(Alternative { utility: other.utility, removed, added })
    }

    /// Finds the smallest budget with the item. Excludes ranges of budgets, doubled after each success and halved after each
    /// failure, until a single budget cannot be excluded.
    fn required_budget(&mut self, item: usize, with: &Problem) -> Result<RequiredBudget, SolveError> {
        let (mut budget, mut range) = (self.problem().budget(), 1);
        let mut searches = 0;
        while searches < SEARCHES_MAX {
            let Some(problem) = with_budget(self.problem(), budget) else { break };
            let best = self.solve(&problem)?.selection;
            searches += 1;
            // Beyond the cost of all items, the budget does not change the solution.
            loop {
                let utility = self.utility_at(with, self.budget_max().min(budget + (range - 1)))?;
                searches += 1;
                if utility.is_none_or(|utility| utility < best.utility) {
                    break;
                }
                if range == 1 {
                    let is_selected = best.selected.binary_search(&item).is_ok();
                    return Ok(if is_selected {
                        RequiredBudget::Selected(budget)
                    } else {
                        RequiredBudget::Tied(budget)
                    });
                }
                range /= 2;
            }
            budget += range;
            range *= 2;
        }
        Ok(RequiredBudget::AtLeast(budget))
    }

    /// Returns a budget for all items.
    fn budget_max(&self) -> u64 {
        let sum = self.problem().candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
        sum.max(self.problem().budget())
    }

    /// Finds the smallest budget above the present one with this utility, by doubling steps and bisection.
    fn budget_for_utility(&mut self, utility: u64) -> Result<Option<u64>, SolveError> {
        let problem = self.problem();
        let budget_max = self.budget_max();
        let (mut below, mut step) = (problem.budget(), 1);
        let mut sufficient = loop {
            let budget = budget_max.min(below.saturating_add(step));
            if self.utility_at(problem, budget)?.is_some_and(|found| found >= utility) {
                break budget;
            }
            if budget >= budget_max {
                return Ok(None);
            }
            (below, step) = (budget, step * 2);
        };
        while sufficient - below > 1 {
            let middle = below + (sufficient - below) / 2;
            if self.utility_at(problem, middle)?.is_some_and(|found| found >= utility) {
                sufficient = middle;
            } else {
                below = middle;
            }
        }
        Ok(Some(sufficient))
    }

    /// Returns the maximum utility at a budget; `None` if the pinned items do not fit.
    fn utility_at(&mut self, problem: &Problem, budget: u64) -> Result<Option<u64>, SolveError> {
        match with_budget(problem, budget) {
            Some(problem) => Ok(Some(self.solve(&problem)?.selection.utility)),
            None => Ok(None),
        }
    }

    fn solve(&mut self, problem: &Problem) -> Result<Solution, SolveError> {
        let solution = solve_exact(problem, self.limits)?;
        self.hit_node_limit |= solution.status == SolveStatus::Bounded;
        Ok(solution)
    }
}
