//! The budget curve: the most utility that each budget can buy.
//!
//! The curve is a staircase. An answer of utility *u* and least cost *c* at budget *b* is the answer at every budget from *c* to *b*:
//! so one search gives a whole step, and two steps that meet leave nothing open between them. What lies between others is looked at
//! where most is open, by utility times tokens, until all steps are known or enough points are: in the middle, or at its end if the
//! step below is as long as what is open, and may well reach that far.

use super::problem::NamedProblem;
use super::solve::{SolveError, exact};
use orchestrion_kernel::selection::{Problem, ProblemError};
use orchestrion_optimizer::{SearchLimits, SolveStatus};
use std::cmp::Reverse;

/// What the same choice buys at every budget from its cost on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// What the choice costs: the smallest budget that has it.
    pub cost: u64,
    /// The largest budget at which it is known to be the choice.
    pub budget: u64,
    /// Its utility.
    pub utility: u64,
    /// The items in it.
    pub items: usize,
    /// No choice at that largest budget has more utility.
    pub bound: u64,
    /// Whether it is proven to be the choice there.
    pub status: SolveStatus,
}

/// The points of a curve that are known, by budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// The points.
    pub points: Vec<Point>,
    /// Whether these are all the steps that there are.
    pub is_complete: bool,
    /// Whether a search was cut short, so that there may be more utility than a point tells.
    pub hit_node_limit: bool,
}

/// The curve of a problem from the cost of what is pinned to where everything fits, by at most so many searches.
///
/// # Errors
/// [`SolveError`] if an answer does not pass the check.
pub fn curve(named: &NamedProblem, points_max: usize, limits: SearchLimits) -> Result<Curve, SolveError> {
    let problem = &named.problem;
    let all = problem.candidates().iter().map(|candidate| candidate.cost).sum::<u64>();
    let mut curve = Curve { points: Vec::new(), is_complete: false, hit_node_limit: false };
    curve.look(named, problem.budget(), limits)?;
    curve.look(named, all.max(problem.budget()), limits)?;
    curve.look(named, least(problem), limits)?;
    for _ in 3..points_max.max(3) {
        let Some(budget) = curve.most_open() else { break };
        curve.look(named, budget, limits)?;
    }
    curve.is_complete = !curve.hit_node_limit && curve.most_open().is_none();
    Ok(curve)
}

/// The smallest budget that there is a choice for: what is pinned costs, with all it needs.
fn least(problem: &Problem) -> u64 {
    match Problem::new(0, problem.candidates().to_vec()) {
        Err(ProblemError::PinnedOverBudget { needs, .. }) => needs,
        _ => 0,
    }
}

/// The same problem at another budget, if what is pinned fits into it.
pub(super) fn with_budget(problem: &Problem, budget: u64) -> Option<Problem> {
    Problem::new(budget, problem.candidates().to_vec()).ok()
}

impl Curve {
    /// Adds what a budget buys.
    fn look(&mut self, named: &NamedProblem, budget: u64, limits: SearchLimits) -> Result<(), SolveError> {
        let Some(problem) = with_budget(&named.problem, budget) else { return Ok(()) };
        let answer = exact(&problem, limits)?;
        self.hit_node_limit |= answer.status == SolveStatus::Bounded;
        let (cost, utility) = (answer.selection.cost, answer.selection.utility);
        let items = named.names(&answer.selection.selected).len();
        match self.points.binary_search_by_key(&cost, |point| point.cost) {
            Ok(known) => {
                let known = &mut self.points[known];
                if budget > known.budget {
                    (known.budget, known.bound, known.status) = (budget, answer.bound, answer.status);
                }
            }
            Err(place) => {
                let (bound, status) = (answer.bound, answer.status);
                self.points.insert(place, Point { cost, budget, utility, items, bound, status });
            }
        }
        Ok(())
    }

    /// The budget to look at next, where most is open.
    fn most_open(&self) -> Option<u64> {
        let gaps = self.points.iter().zip(self.points.iter().skip(1)).filter_map(|(below, above)| {
            let open = above.cost.checked_sub(below.budget + 1).filter(|tokens| *tokens > 0)?;
            let utility = above.utility.saturating_sub(below.utility);
            let is_long = below.budget - below.cost >= open;
            let ahead = if is_long { open } else { 1 + (open - 1) / 2 };
            Some((u128::from(open) * u128::from(utility), below.budget + ahead))
        });
        // Of gaps that are as open, the lowest.
        gaps.filter(|(area, _)| *area > 0)
            .max_by_key(|(area, budget)| (*area, Reverse(*budget)))
            .map(|(_, budget)| budget)
    }
}
