//! The problem as a 0-1 program, for any solver of linear programs.
//!
//! ```text
//! maximise  Σ utilityᵢ xᵢ
//! where     Σ costᵢ xᵢ ≤ budget
//!           xᵢ ≤ xⱼ              for each item i and each j that it depends on
//!           xᵢ ∈ {0, 1}, and 1 where pinned, 0 where forbidden
//! ```
//!
//! Tie-breaking takes further programs, each with the previous results as constraints: minimum cost at that utility; then, for
//! [`BLOCK`] items at a time in order of their ids, the selection whose indicator is the largest binary number. Of the resulting
//! list, the shortest prefix with the same utility and cost is the smallest list: a smaller one would be such a prefix, or contain
//! an item where this one has none.
//!
//! Solvers of linear programs use floating point. So no program has a large number: [`digits`] splits sums into digits, and each
//! program optimizes one digit. All numbers are integers, so constraints have a slack of half a unit. Each solution is summed
//! again in integers, and must be valid and have the digit that the solver states.

mod digits;
mod engine;
#[cfg(test)]
mod tests;

pub use engine::ILP_ENGINE;

use digits::{Digits, Rows};
use engine::engine;
use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution, SolutionStatus, SolverModel, variable,
};
use orchestrion_kernel::selection::{
    Candidate, Inclusion, Problem, Selection, SelectionError, check_selection,
};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Items that one program orders; its largest coefficient is two to this power.
const BLOCK: usize = 20;

/// Limits of the base, in the order in which they are tried. Some programs have a basis that the solver cannot factorize; in
/// another base, an equivalent program has another one. The largest keeps an error in a carry below half a unit.
const BASE_BITS_MAX: [u32; 10] = [26, 20, 16, 23, 13, 11, 18, 9, 8, 7];

/// Error of the 0-1 program.
#[derive(Debug, Error)]
pub enum IlpError {
    /// The solver found no solution.
    #[error("no solution from {ILP_ENGINE}: {0}")]
    Unsolved(ResolutionError),
    /// The time limit passed.
    #[error("{ILP_ENGINE} reached the time limit")]
    TimeLimit,
    /// The solver does not report its solution as optimal.
    #[error("{ILP_ENGINE} does not report its solution as optimal")]
    Unproven,
    /// A variable of the solution is not an integer.
    #[error("invalid solution from {ILP_ENGINE}: expected 0 or 1 for each item, found {0}")]
    Fractional(f64),
    /// The solution has another sum than the solver states, or than an earlier program.
    #[error("inconsistent solutions from {ILP_ENGINE}: expected {expected}, found {found}")]
    Contradictory {
        /// The value of the objective, or of the earlier program.
        expected: i64,
        /// The value of the solution in integers.
        found: i64,
    },
    /// The solution is not valid in integers.
    #[error("invalid solution from {ILP_ENGINE}: {0}")]
    Unsound(SelectionError),
}

/// Returns the optimal selection: maximum utility, then minimum cost, then the smallest list of ids.
///
/// # Errors
/// [`IlpError`] if the solver fails, reaches the time limit, or contradicts the integers.
pub(super) fn solve(problem: &Problem, time_limit: Option<Duration>) -> Result<Selection, IlpError> {
    let deadline = time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut last = IlpError::Unproven;
    for base_bits_max in BASE_BITS_MAX {
        match solve_in_base(problem, base_bits_max, deadline) {
            Err(error @ (IlpError::TimeLimit | IlpError::Unproven)) => return Err(error),
            Err(
                error @ (IlpError::Unsolved(_)
                | IlpError::Fractional(_)
                | IlpError::Contradictory { .. }
                | IlpError::Unsound(_)),
            ) => last = error,
            Ok(selection) => return Ok(selection),
        }
    }
    Err(last)
}

fn solve_in_base(
    problem: &Problem,
    base_bits_max: u32,
    deadline: Option<Instant>,
) -> Result<Selection, IlpError> {
    let mut program = Program::new(problem, base_bits_max, deadline);
    program.optimize(Quantity::Utility)?;
    let mut selection = program.optimize(Quantity::Cost)?;
    let (utility, cost) = (selection.utility, selection.cost);
    for from in (0..program.bounds.len()).step_by(BLOCK) {
        let block = from..program.bounds.len().min(from + BLOCK);
        selection = program.order(block.clone())?;
        if (selection.utility, selection.cost) != (utility, cost) {
            return Err(contradiction(utility, selection.utility));
        }
        for item in block {
            let is_selected = selection.selected.binary_search(&item).is_ok();
            program.bounds[item] = if is_selected { (1, 1) } else { (0, 0) };
        }
    }
    Ok(shortest_prefix(problem, selection))
}

/// A sum that a program optimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// Maximum utility.
    Utility,
    /// Minimum cost.
    Cost,
}

/// The constraints that all programs of a problem share, and those from earlier programs.
struct Program<'a> {
    problem: &'a Problem,
    /// Minimum and maximum of the variable of each item.
    bounds: Vec<(u8, u8)>,
    utilities: Digits,
    costs: Digits,
    utility_min: u64,
    cost_max: u64,
    /// When to give up.
    deadline: Option<Instant>,
}

impl<'a> Program<'a> {
    fn new(problem: &'a Problem, base_bits_max: u32, deadline: Option<Instant>) -> Self {
        let candidates = problem.candidates();
        let bounds = candidates.iter().map(|candidate| match candidate.inclusion {
            Inclusion::Free => (0, 1),
            Inclusion::Pinned => (1, 1),
            Inclusion::Forbidden => (0, 0),
        });
        let digits =
            |of: fn(&Candidate) -> u64| Digits::new(candidates.iter().map(of).collect(), base_bits_max);
        let (utilities, costs) = (digits(|candidate| candidate.utility), digits(|candidate| candidate.cost));
        let cost_max = problem.budget().min(candidates.iter().map(|candidate| candidate.cost).sum());
        Self { problem, bounds: bounds.collect(), utilities, costs, utility_min: 0, cost_max, deadline }
    }

    /// Optimizes a quantity, digit by digit from the highest, and constrains later programs to the optimum.
    fn optimize(&mut self, quantity: Quantity) -> Result<Selection, IlpError> {
        let mut fixed: Vec<i64> = Vec::new();
        loop {
            let (selection, stated) = self.solve(&Objective::Digit(quantity, &fixed))?;
            let (digits, sum) = match quantity {
                Quantity::Utility => (&self.utilities, selection.utility),
                Quantity::Cost => (&self.costs, selection.cost),
            };
            let digit = match quantity {
                Quantity::Utility => digits.floor_digit(sum, &fixed),
                Quantity::Cost => digits.ceil_digit(sum, &fixed),
            };
            // A difference shows that the solver lost accuracy; then its optimum proves nothing.
            if stated != digit {
                return Err(IlpError::Contradictory { expected: stated, found: digit });
            }
            fixed.push(digit);
            if fixed.len() == digits.len() {
                match quantity {
                    Quantity::Utility => self.utility_min = sum,
                    Quantity::Cost => self.cost_max = sum,
                }
                return Ok(selection);
            }
        }
    }

    /// Returns the optimal selection whose indicator of these items is the largest binary number.
    fn order(&self, block: std::ops::Range<usize>) -> Result<Selection, IlpError> {
        let end = block.end;
        let (selection, stated) = self.solve(&Objective::Order(block.clone()))?;
        let items = selection.selected.iter().filter(|item| block.contains(item));
        let found = items.map(|item| 1_i64 << (end - 1 - item)).sum();
        if stated == found { Ok(selection) } else { Err(IlpError::Contradictory { expected: stated, found }) }
    }

    /// Solves one program. Returns the checked selection, and the value of the objective that the solver states.
    fn solve(&self, objective: &Objective<'_>) -> Result<(Selection, i64), IlpError> {
        if self.bounds.is_empty() {
            return Ok((Selection::default(), 0));
        }
        let mut variables = ProblemVariables::new();
        // A fixed item is a constant.
        let indicator = |(min, max): &(u8, u8)| match min == max {
            true => Expression::from(f64::from(*min)),
            false => Expression::from(variables.add(variable().binary())),
        };
        let x: Vec<Expression> = self.bounds.iter().map(indicator).collect();
        let mut rows = Rows { variables, constraints: Vec::new() };
        self.costs.at_most(self.cost_max, &x, &mut rows);
        self.utilities.at_least(self.utility_min, &x, &mut rows);
        let (value, is_maximum) = match objective {
            Objective::Digit(Quantity::Utility, fixed) => {
                (self.utilities.maximum(fixed, &x, &mut rows), true)
            }
            Objective::Digit(Quantity::Cost, fixed) => (self.costs.minimum(fixed, &x, &mut rows), false),
            Objective::Order(block) => {
                let bit = |item: usize| f64::from(1_u32 << (block.end - 1 - item)) * x[item].clone();
                (block.clone().map(bit).sum(), true)
            }
        };
        let Rows { variables, mut constraints } = rows;
        for (item, candidate) in self.problem.candidates().iter().enumerate() {
            let is_open =
                |dep: &&usize| **dep != item && self.bounds[item].1 > 0 && self.bounds[**dep].0 == 0;
            let others = candidate.deps.iter().filter(is_open);
            constraints.extend(others.map(|dep| (x[item].clone() - x[*dep].clone()).leq(0)));
        }
        let unsolved =
            if is_maximum { variables.maximise(value.clone()) } else { variables.minimise(value.clone()) };
        let time_left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if time_left == Some(Duration::ZERO) {
            return Err(IlpError::TimeLimit);
        }
        let mut model = engine(unsolved, time_left);
        for constraint in constraints {
            model.add_constraint(constraint);
        }
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let solution = model.solve().map_err(|error| match error {
            // Without a solution at the limit, the solvers report an error of their own.
            _ if is_late() => IlpError::TimeLimit,
            error => IlpError::Unsolved(error),
        })?;
        match solution.status() {
            SolutionStatus::Optimal => {}
            SolutionStatus::TimeLimit => return Err(IlpError::TimeLimit),
            SolutionStatus::GapLimit => return Err(IlpError::Unproven),
        }
        let selected = selected_items(x.iter().map(|indicator| solution.eval(indicator)))?;
        let selection = summed(self.problem, selected);
        check_selection(self.problem, &selection).map_err(IlpError::Unsound)?;
        if selection.utility < self.utility_min {
            return Err(contradiction(self.utility_min, selection.utility));
        }
        if selection.cost > self.cost_max {
            return Err(contradiction(self.cost_max, selection.cost));
        }
        Ok((selection, round(solution.eval(&value))))
    }
}

/// Objective of one program.
enum Objective<'a> {
    /// The next digit of a sum, below these digits.
    Digit(Quantity, &'a [i64]),
    /// Maximum indicator of some items, as a binary number.
    Order(std::ops::Range<usize>),
}

fn contradiction(expected: u64, found: u64) -> IlpError {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    IlpError::Contradictory { expected: signed(expected), found: signed(found) }
}

/// Rounds the value of an objective. It is exact below 2^53, and objectives are far smaller.
fn round(value: f64) -> i64 {
    value.round() as i64
}

/// Returns the items whose variables are 1.
fn selected_items(values: impl Iterator<Item = f64>) -> Result<Vec<usize>, IlpError> {
    /// The accuracy of an integer in a solution.
    const TOLERANCE: f64 = 1e-4;
    let mut selected = Vec::new();
    for (item, value) in values.enumerate() {
        if (value - value.round()).abs() > TOLERANCE {
            return Err(IlpError::Fractional(value));
        }
        if value > 0.5 {
            selected.push(item);
        }
    }
    Ok(selected)
}

/// Returns the shortest valid prefix with the same utility and cost.
fn shortest_prefix(problem: &Problem, selection: Selection) -> Selection {
    let adds =
        |item: &usize| problem.candidates().get(*item).is_some_and(|one| one.utility > 0 || one.cost > 0);
    let least = selection.selected.iter().rposition(adds).map_or(0, |last| last + 1);
    let prefixes =
        (least..selection.selected.len()).map(|end| summed(problem, selection.selected[..end].to_vec()));
    let mut valid = prefixes.filter(|prefix| check_selection(problem, prefix).is_ok());
    valid.next().unwrap_or(selection)
}

fn summed(problem: &Problem, selected: Vec<usize>) -> Selection {
    let sum = |of: fn(&Candidate) -> u64| selected.iter().map(|item| of(&problem.candidates()[*item])).sum();
    let (utility, cost) = (sum(|candidate| candidate.utility), sum(|candidate| candidate.cost));
    Selection { selected, utility, cost }
}
