//! The budget curve: maximum utility as a function of the budget.
//!
//! The curve is a step function. A solution of utility *u* and minimum cost *c* at budget *b* is optimal at every budget from *c*
//! to *b*, so one search finds a whole step, and adjacent steps leave no gap. The gap with the largest area (utility times tokens)
//! is searched next, until there is none or the limit of points is reached: in its middle, or at its end if the step below is as
//! long as the gap and may cover it.

use super::problem::NamedProblem;
use super::solve::{SolveError, solve_exact};
use orchestrion_kernel::selection::{Problem, ProblemError};
use orchestrion_optimizer::{SearchLimits, SolveStatus};
use std::cmp::Reverse;

/// Step of the curve: one selection with the range of its budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Cost of the selection, which is the smallest budget of the step.
    pub cost: u64,
    /// Largest budget at which the selection is known to be optimal.
    pub budget: u64,
    /// Utility of the selection.
    pub utility: u64,
    /// Number of selected items.
    pub items: usize,
    /// Upper bound of the utility at the largest budget.
    pub bound: u64,
    /// Whether the selection is proven to be optimal there.
    pub status: SolveStatus,
}

/// Budget curve, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Points by ascending cost.
    pub points: Vec<Point>,
    /// Whether the points are all steps.
    pub is_complete: bool,
    /// Whether a search hit its node limit, so that a point may be below the optimum.
    pub hit_node_limit: bool,
}

/// Computes the curve of a problem, from the cost of the pinned items to the cost of all items, by at most `points_max` searches
/// (at least 3).
///
/// # Errors
/// [`SolveError`] if a solution is not valid.
pub fn budget_curve(
    named: &NamedProblem,
    points_max: usize,
    limits: SearchLimits,
) -> Result<Curve, SolveError> {
    let problem = &named.problem;
    let all = problem.candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
    let mut curve = Curve { points: Vec::new(), is_complete: false, hit_node_limit: false };
    curve.add_point(named, problem.budget(), limits)?;
    curve.add_point(named, all.max(problem.budget()), limits)?;
    curve.add_point(named, budget_min(problem), limits)?;
    for _ in 3..points_max.max(3) {
        let Some(budget) = curve.largest_gap() else { break };
        curve.add_point(named, budget, limits)?;
    }
    curve.is_complete = !curve.hit_node_limit && curve.largest_gap().is_none();
    Ok(curve)
}

/// Returns the smallest feasible budget: the cost of the pinned items with their dependencies.
fn budget_min(problem: &Problem) -> u64 {
    match Problem::new(0, problem.candidates().to_vec()) {
        Err(ProblemError::PinnedOverBudget { required, .. }) => required,
        _ => 0,
    }
}

/// Returns the problem with another budget, if the pinned items fit.
pub(super) fn with_budget(problem: &Problem, budget: u64) -> Option<Problem> {
    Problem::new(budget, problem.candidates().to_vec()).ok()
}

impl Curve {
    /// Solves the problem at a budget and adds its point.
    fn add_point(
        &mut self,
        named: &NamedProblem,
        budget: u64,
        limits: SearchLimits,
    ) -> Result<(), SolveError> {
        let Some(problem) = with_budget(&named.problem, budget) else { return Ok(()) };
        let solution = solve_exact(&problem, limits)?;
        self.hit_node_limit |= solution.status == SolveStatus::Bounded;
        let (cost, utility) = (solution.selection.cost, solution.selection.utility);
        let items = named.names(&solution.selection.selected).len();
        match self.points.binary_search_by_key(&cost, |point| point.cost) {
            Ok(index) => {
                let point = &mut self.points[index];
                if budget > point.budget {
                    (point.budget, point.bound, point.status) = (budget, solution.bound, solution.status);
                }
            }
            Err(index) => {
                let (bound, status) = (solution.bound, solution.status);
                self.points.insert(index, Point { cost, budget, utility, items, bound, status });
            }
        }
        Ok(())
    }

    /// Returns the next budget to search, in the largest gap.
    fn largest_gap(&self) -> Option<u64> {
        let gaps = self.points.iter().zip(self.points.iter().skip(1)).filter_map(|(below, above)| {
            let gap = above.cost.checked_sub(below.budget + 1).filter(|tokens| *tokens > 0)?;
            let utility = above.utility.saturating_sub(below.utility);
            let is_long = below.budget - below.cost >= gap;
            let offset = if is_long { gap } else { 1 + (gap - 1) / 2 };
            Some((u128::from(gap) * u128::from(utility), below.budget + offset))
        });
        // Of gaps with equal area, the lowest budget.
        gaps.filter(|(area, _)| *area > 0)
            .max_by_key(|(area, budget)| (*area, Reverse(*budget)))
            .map(|(_, budget)| budget)
    }
}
