//! Why each item is chosen or not, and what it would take.
//!
//! What an item costs the choice is not estimated: the problem is solved again with the item pinned, or forbidden. Nor is the
//! budget that it needs: more budget never has less utility, so if even the larger of two budgets has less *with* the item than
//! the smaller one has without it, no budget between them has the item in a best choice.

use super::curve::with_budget;
use super::dependencies::{DependencyWalker, Missing, forbidden_by_closure, marked};
use super::problem::NamedProblem;
use super::solve::{SolveError, exact};
use orchestrion_kernel::selection::{Inclusion, Problem};
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus};

/// So many searches for the budget of one item, before only a lower end is given.
const SEARCHES_MAX: usize = 400;

/// A problem, its best choice, and what was asked about it.
#[derive(Clone, Debug)]
pub struct Explainer<'a> {
    named: &'a NamedProblem,
    limits: SearchLimits,
    /// The best choice.
    pub answer: Solution,
    /// Whether a search was cut short, so that not everything here is proven.
    pub is_cut: bool,
}

/// Why an item is chosen, or is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is chosen: because it is pinned, for what needs it, for its group, or for its own utility.
    In {
        /// Whether it is pinned.
        is_pinned: bool,
        /// The chosen ones that depend on it, but for those of its group.
        needed_by: Vec<usize>,
    },
    /// It is not chosen.
    Out(ExclusionReason),
}

/// Why an item is not chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// It is forbidden.
    Forbidden,
    /// It needs one that is forbidden.
    NeedsForbidden(usize),
    /// With all it needs, and with what is pinned, it costs more than there is.
    OverBudget {
        /// What that costs.
        needs: u64,
    },
    /// With all that is missing for it, it would cost and bring this, and what would have to go for it is worth more, or as much
    /// and is preferred.
    Outweighed {
        /// The tokens of what is missing.
        cost: u64,
        /// The utility of what is missing.
        utility: u64,
    },
}

/// The next step of the budget curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextImprovement {
    /// The smallest budget that has more utility.
    pub budget: u64,
    /// The utility there.
    pub utility: u64,
}

/// What would be different if it were settled that an item is in, or out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The most utility then.
    pub utility: u64,
    /// What is chosen now, and would not be.
    pub loses: Vec<usize>,
    /// What is not chosen now, and would be; the item itself and what it needs are among it.
    pub gains: Vec<usize>,
}

/// The smallest budget from the present one on at which a best choice has an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredBudget {
    /// Here it is chosen.
    Chosen(u64),
    /// Here a best choice may have it, but one that costs less, or comes first, does not.
    Tied(u64),
    /// Not below this, and it was not looked for further.
    NotBelow(u64),
}

/// Everything about one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The item.
    pub item: usize,
    /// Why it is chosen or not.
    pub reason: Reason,
    /// What would be different if it were not as it is; nothing if it cannot be.
    pub otherwise: Option<Alternative>,
    /// What the budget would have to be for it, if it is not chosen and could be.
    pub budget: Option<RequiredBudget>,
}

impl<'a> Explainer<'a> {
    /// Solves a problem.
    ///
    /// # Errors
    /// [`SolveError`] if an answer does not pass the check.
    pub fn new(named: &'a NamedProblem, limits: SearchLimits) -> Result<Self, SolveError> {
        let answer = exact(&named.problem, limits)?;
        let is_cut = answer.status == SolveStatus::Bounded;
        Ok(Self { named, limits, answer, is_cut })
    }

    fn problem(&self) -> &'a Problem {
        &self.named.problem
    }

    fn is_chosen(&self, item: usize) -> bool {
        self.answer.selection.selected.binary_search(&item).is_ok()
    }

    fn are_grouped(&self, one: usize, other: usize) -> bool {
        let groups = &self.named.groups;
        groups[one].is_some() && groups[one] == groups[other]
    }

    /// Why each item is chosen or not, by position.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let candidates = self.problem().candidates();
        let mut needed_by = vec![Vec::new(); candidates.len()];
        for item in &self.answer.selection.selected {
            for dep in candidates[*item].deps.iter().filter(|dep| *dep != item) {
                // An item may name a dependency twice. Those of its group are told as such.
                if needed_by[*dep].last() != Some(item) && !self.are_grouped(*item, *dep) {
                    needed_by[*dep].push(*item);
                }
            }
        }
        let mut needs = DependencyWalker::new(candidates);
        let mut pinned =
            needs.of(&marked(candidates, Inclusion::Pinned), |_| false, u64::MAX).unwrap_or_default();
        pinned.items.sort_unstable();
        let barred = forbidden_by_closure(candidates);
        let reason = |(item, needed_by): (usize, Vec<usize>)| match barred[item] {
            _ if self.is_chosen(item) => {
                Reason::In { is_pinned: candidates[item].inclusion == Inclusion::Pinned, needed_by }
            }
            Some(forbidden) if forbidden == item => Reason::Out(ExclusionReason::Forbidden),
            Some(forbidden) => Reason::Out(ExclusionReason::NeedsForbidden(forbidden)),
            None => Reason::Out(self.outweighed(item, &pinned, &mut needs)),
        };
        needed_by.into_iter().enumerate().map(reason).collect()
    }

    /// Why an item is not chosen that could be, if the budget were large enough.
    fn outweighed(&self, item: usize, pinned: &Missing, needs: &mut DependencyWalker<'_>) -> ExclusionReason {
        let is_pinned = |other| pinned.items.binary_search(&other).is_ok();
        let alone = needs.of(&[item], is_pinned, u64::MAX).unwrap_or_default();
        if pinned.cost + alone.cost > self.problem().budget() {
            return ExclusionReason::OverBudget { needs: pinned.cost + alone.cost };
        }
        let missing = needs.of(&[item], |other| self.is_chosen(other), u64::MAX).unwrap_or_default();
        ExclusionReason::Outweighed { cost: missing.cost, utility: missing.utility }
    }

    /// The smallest budget that has more utility than the present one, if any has.
    ///
    /// # Errors
    /// As [`Account::new`].
    pub fn raise(&mut self) -> Result<Option<NextImprovement>, SolveError> {
        let more = self.answer.selection.utility + 1;
        let Some(budget) = self.least_with(more)? else { return Ok(None) };
        let utility = self.utility_at(self.problem(), budget)?.unwrap_or(more);
        Ok(Some(NextImprovement { budget, utility }))
    }

    /// What one more token would bring.
    ///
    /// # Errors
    /// As [`Account::new`].
    pub fn next_token(&mut self) -> Result<u64, SolveError> {
        let utility = self.utility_at(self.problem(), self.problem().budget() + 1)?;
        Ok(utility.unwrap_or_default().saturating_sub(self.answer.selection.utility))
    }

    /// Everything about one item.
    ///
    /// # Errors
    /// As [`Account::new`].
    pub fn explain(&mut self, item: usize, reason: Reason) -> Result<Explanation, SolveError> {
        let mark = if matches!(reason, Reason::In { .. }) { Inclusion::Forbidden } else { Inclusion::Pinned };
        let is_settled = match &reason {
            Reason::In { is_pinned, .. } => *is_pinned,
            Reason::Out(because) => {
                matches!(because, ExclusionReason::Forbidden | ExclusionReason::NeedsForbidden(_))
            }
        };
        if is_settled {
            return Ok(Explanation { item, reason, otherwise: None, budget: None });
        }
        // The budget does not matter to what is made here: it fits all.
        let Some(marked) = self.marked(item, mark) else {
            return Ok(Explanation { item, reason, otherwise: None, budget: None });
        };
        let otherwise = match with_budget(&marked, self.problem().budget()) {
            Some(marked) => Some(self.change(&marked)?),
            None => None,
        };
        let budget = match reason {
            Reason::In { .. } => None,
            Reason::Out(_) => Some(self.budget_for(item, &marked)?),
        };
        Ok(Explanation { item, reason, otherwise, budget })
    }

    /// The problem with another mark on one item, at a budget for everything; nothing if another mark contradicts it.
    fn marked(&self, item: usize, mark: Inclusion) -> Option<Problem> {
        let mut candidates = self.problem().candidates().to_vec();
        candidates[item].inclusion = mark;
        Problem::new(self.all(), candidates).ok()
    }

    fn change(&mut self, other: &Problem) -> Result<Alternative, SolveError> {
        let there = self.solve(other)?.selection;
        let here = &self.answer.selection.selected;
        let without = |these: &[usize], those: &[usize]| {
            these.iter().copied().filter(|item| those.binary_search(item).is_err()).collect()
        };
        let (loses, gains) = (without(here, &there.selected), without(&there.selected, here));
        Ok(Alternative { utility: there.utility, loses, gains })
    }

    /// Goes up in strides within which the item is in no best choice, longer ones after one that succeeds, until a stride of a
    /// single budget does not: there a best choice has it.
    fn budget_for(&mut self, item: usize, with: &Problem) -> Result<RequiredBudget, SolveError> {
        let (mut budget, mut stride) = (self.problem().budget(), 1);
        let mut searches = 0;
        while searches < SEARCHES_MAX {
            let Some(problem) = with_budget(self.problem(), budget) else { break };
            let best = self.solve(&problem)?.selection;
            searches += 1;
            // Where everything fits, nothing is better than all of it: no stride goes beyond that.
            loop {
                let far = self.utility_at(with, self.all().min(budget + (stride - 1)))?;
                searches += 1;
                if far.is_none_or(|far| far < best.utility) {
                    break;
                }
                if stride == 1 {
                    let is_chosen = best.selected.binary_search(&item).is_ok();
                    return Ok(if is_chosen {
                        RequiredBudget::Chosen(budget)
                    } else {
                        RequiredBudget::Tied(budget)
                    });
                }
                stride /= 2;
            }
            budget += stride;
            stride *= 2;
        }
        Ok(RequiredBudget::NotBelow(budget))
    }

    /// A budget that everything fits into.
    fn all(&self) -> u64 {
        let sum = self.problem().candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
        sum.max(self.problem().budget())
    }

    /// The smallest budget above the present one that has so much utility: found by steps that double, then by halves.
    fn least_with(&mut self, utility: u64) -> Result<Option<u64>, SolveError> {
        let (problem, budget) = (self.problem(), self.problem().budget());
        let all = self.all();
        let (mut below, mut step) = (budget, 1);
        let mut enough = loop {
            let tried = all.min(below.saturating_add(step));
            if self.utility_at(problem, tried)?.is_some_and(|found| found >= utility) {
                break tried;
            }
            if tried >= all {
                return Ok(None);
            }
            (below, step) = (tried, step * 2);
        };
        while enough - below > 1 {
            let middle = below + (enough - below) / 2;
            if self.utility_at(problem, middle)?.is_some_and(|found| found >= utility) {
                enough = middle;
            } else {
                below = middle;
            }
        }
        Ok(Some(enough))
    }

    /// The most utility at a budget; nothing where what is pinned does not fit.
    fn utility_at(&mut self, problem: &Problem, budget: u64) -> Result<Option<u64>, SolveError> {
        match with_budget(problem, budget) {
            Some(problem) => Ok(Some(self.solve(&problem)?.selection.utility)),
            None => Ok(None),
        }
    }

    fn solve(&mut self, problem: &Problem) -> Result<Solution, SolveError> {
        let answer = exact(problem, self.limits)?;
        self.is_cut |= answer.status == SolveStatus::Bounded;
        Ok(answer)
    }
}
