//! The budget curve: maximum utility as a function of the budget.
//!
//! The curve is a step function. A solution of utility *u* and minimum cost *c* at budget *b* is optimal at every budget from *c*
//! to *b*, so one search finds a whole step, and adjacent steps leave no gap. The gap with the largest area (utility times tokens)
//! is searched next, until there is none or the limit of points is reached: in its middle, or at its end if the step below is as
//! long as the gap and may cover it. All searches share one prepared problem and one work limit.

use super::problem::NamedProblem;
use super::searcher::{Searcher, last_start};
use super::solve::SolveError;
use orchestrion_kernel::selection::{Problem, ProblemError};
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus, Variation};
use std::cmp::Reverse;

/// Step of the curve: one selection with the range of its budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Cost of the selection, which is the smallest budget of the step.
    pub cost: u64,
    /// Largest budget at which the selection is the best one known; if `status` is optimal, the best one.
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
    /// Whether a search hit a limit, so that a point may be below the optimum.
    pub hit_limit: bool,
}

/// A search gets at least this part of the work that is left.
const SHARES: usize = 25;

/// Computes the curve of a problem, from the cost of the pinned items to the cost of all items, by at most `points_max` searches
/// (at least 3). The work limit is for all searches together. `progress` receives the number of searches so far.
///
/// # Errors
/// [`SolveError`] if a solution is not valid.
pub fn budget_curve(
    named: &NamedProblem,
    points_max: usize,
    limits: SearchLimits,
    progress: &mut dyn FnMut(usize),
) -> Result<Curve, SolveError> {
    let problem = &named.problem;
    let all = problem.candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
    let mut curve = Curve { points: Vec::new(), is_complete: false, hit_limit: false };
    let mut searcher = Searcher::new(problem, limits.nodes);
    let points_max = points_max.max(3);
    let ends = [problem.budget(), all.max(problem.budget()), budget_min(problem)];
    for search in 0..points_max {
        let Some(budget) = ends.get(search).copied().or_else(|| curve.largest_gap()) else { break };
        let left = limits.work.saturating_sub(searcher.work());
        if search >= ends.len() && searcher.work() >= last_start(limits.work) {
            curve.hit_limit = true;
            break;
        }
        // The point of the present budget matters most. What easy points save, hard ones may use.
        let share =
            if search == 0 { left / 4 } else { left / SHARES.min((points_max - search).div_ceil(4)) as u64 };
        searcher.allow(share);
        curve.add_point(named, budget, &mut searcher)?;
        progress(search + 1);
    }
    curve.tighten();
    curve.is_complete = !curve.hit_limit && curve.largest_gap().is_none();
    Ok(curve)
}

/// Returns the smallest feasible budget: the cost of the pinned items with their dependencies.
fn budget_min(problem: &Problem) -> u64 {
    match Problem::new(0, problem.candidates().to_vec()) {
        Err(ProblemError::PinnedOverBudget { required, .. }) => required,
        _ => 0,
    }
}

impl Point {
    /// Extends the step to the budget of a point that is not better.
    fn extend(&mut self, other: Self) {
        let is_same = (other.cost, other.utility) == (self.cost, self.utility);
        if self.budget >= other.budget {
            return;
        }
        if is_same && other.status == SolveStatus::Optimal {
            *self = other;
            return;
        }
        self.budget = other.budget;
        self.bound = other.bound.max(self.utility);
        // A selection that is optimal at its cost remains so while the maximum utility is the same.
        if self.bound > self.utility {
            self.status = SolveStatus::Bounded;
        }
    }
}

impl Curve {
    /// Solves the problem at a budget and adds its point.
    fn add_point(
        &mut self,
        named: &NamedProblem,
        budget: u64,
        searcher: &mut Searcher<'_>,
    ) -> Result<(), SolveError> {
        let Some(solution) = searcher.solve(Variation { budget, item: None }, 1)? else { return Ok(()) };
        self.hit_limit |= solution.status == SolveStatus::Bounded;
        let Solution { selection, bound, status, .. } = solution;
        let (cost, utility) = (selection.cost, selection.utility);
        let items = named.names(&selection.selected).len();
        self.insert(Point { cost, budget, utility, items, bound, status });
        Ok(())
    }

    /// Inserts a point. A search that hit a limit may have found less than another point has at no more cost; that point
    /// then extends to the budget of the search.
    fn insert(&mut self, point: Point) {
        self.points.push(point);
        self.points.sort_by_key(|point| (point.cost, Reverse(point.utility)));
        let points = std::mem::take(&mut self.points);
        for point in points {
            match self.points.last_mut().filter(|last| last.utility >= point.utility) {
                Some(last) => last.extend(point),
                None => self.points.push(point),
            }
        }
    }

    /// Lowers each bound to the lowest bound of a larger budget: utility never decreases with the budget.
    fn tighten(&mut self) {
        let mut lowest = u64::MAX;
        for point in self.points.iter_mut().rev() {
            lowest = lowest.min(point.bound);
            point.bound = lowest;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The first node of a search costs more than the limit, whatever the limit.
    #[test]
    fn spent_work_ends_the_curve() {
        let items: Vec<String> = (0..2_000)
            .map(|item| {
                let deps = if item < 3 { String::new() } else { format!("{},{}", item / 2, item / 3) };
                format!(
                    r#"{{"id":{item},"utility":{},"cost":{},"deps":[{deps}]}}"#,
                    900 + item * 7919 % 1000,
                    10 + item * 104_729 % 90
                )
            })
            .collect();
        let text = format!(r#"{{"budget":40000,"items":[{}]}}"#, items.join(","));
        let named = NamedProblem::from_bytes("problem.json", text.as_bytes()).unwrap();
        let searches = |work| {
            let mut count = 0;
            let limits = SearchLimits::default().with_work(work);
            let curve = budget_curve(&named, 100, limits, &mut |done| count = done).unwrap();
            (count, curve.hit_limit, curve.is_complete)
        };
        assert_eq!(searches(100), (3, true, false));
        let (count, ..) = searches(SearchLimits::WORK);
        assert!(count > 50, "{count}");
    }
}
