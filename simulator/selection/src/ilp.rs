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
//! Solvers of linear programs use floating point. All numbers here are integers, so constraints have a slack of half a unit, and
//! sums stay below [`SUM_MAX`], beyond which a difference of one is within the solvers' tolerance.

use good_lp::{Expression, ResolutionError, Solution, SolutionStatus, SolverModel, variable, variables};
use orchestrion_kernel::selection::{
    Candidate, Inclusion, Problem, Selection, SelectionError, check_selection,
};
use thiserror::Error;

/// Solver of linear programs in this build.
pub const ILP_ENGINE: &str = if cfg!(feature = "highs") { "HiGHS" } else { "microlp" };

/// Limit of the sums of utilities and of costs, each divided by its greatest common divisor.
pub const SUM_MAX: u64 = 1_000_000_000;

/// Items that one program orders; its largest coefficient is two to this power.
const BLOCK: usize = 20;

/// Error of the 0-1 program.
#[derive(Debug, Error)]
pub enum IlpError {
    /// The numbers exceed the accuracy of floating point.
    #[error(
        "{what} too large: expected a sum below {SUM_MAX} after division by the common divisor, found {sum}"
    )]
    TooLarge {
        /// `utilities` or `costs`.
        what: &'static str,
        /// Sum of the quotients.
        sum: u64,
    },
    /// The solver found no solution.
    #[error("no solution from {ILP_ENGINE}: {0}")]
    Unsolved(ResolutionError),
    /// The solver does not report its solution as optimal.
    #[error("{ILP_ENGINE} does not report its solution as optimal")]
    Unproven,
    /// A later program has another optimum than an earlier one.
    #[error("inconsistent solutions from {ILP_ENGINE}")]
    Contradictory,
    /// The solution is not valid in integers.
    #[error("invalid solution from {ILP_ENGINE}: {0}")]
    Unsound(SelectionError),
}

/// Returns the optimal selection: maximum utility, then minimum cost, then the smallest list of ids.
///
/// # Errors
/// [`IlpError`] if floating point is not accurate enough.
pub(super) fn solve(problem: &Problem) -> Result<Selection, IlpError> {
    let mut program = Program::new(problem)?;
    let best = program.solve(IlpObjective::Utility)?;
    program.utility_min = Some(best.utility);
    let mut selection = program.solve(IlpObjective::Cost)?;
    program.cost_max = selection.cost;
    for from in (0..program.bounds.len()).step_by(BLOCK) {
        let block = from..program.bounds.len().min(from + BLOCK);
        selection = program.solve(IlpObjective::Order(block.clone()))?;
        if (selection.utility, selection.cost) != (best.utility, program.cost_max) {
            return Err(IlpError::Contradictory);
        }
        for item in block {
            let is_selected = selection.selected.binary_search(&item).is_ok();
            program.bounds[item] = if is_selected { (1, 1) } else { (0, 0) };
        }
    }
    Ok(shortest_prefix(problem, selection))
}

/// Objective of one program.
enum IlpObjective {
    Utility,
    Cost,
    /// Maximum indicator of some items, as a binary number.
    Order(std::ops::Range<usize>),
}

struct Program<'a> {
    problem: &'a Problem,
    /// Minimum and maximum of the variable of each item.
    bounds: Vec<(u8, u8)>,
    utility_unit: u64,
    cost_unit: u64,
    utility_min: Option<u64>,
    cost_max: u64,
}

impl<'a> Program<'a> {
    fn new(problem: &'a Problem) -> Result<Self, IlpError> {
        let candidates = problem.candidates();
        let utility_unit = unit(candidates, "utilities", |candidate| candidate.utility)?;
        let cost_unit = unit(candidates, "costs", |candidate| candidate.cost)?;
        let bounds = candidates.iter().map(|candidate| match candidate.inclusion {
            Inclusion::Free => (0, 1),
            Inclusion::Pinned => (1, 1),
            Inclusion::Forbidden => (0, 0),
        });
        let cost_max = problem.budget();
        Ok(Self { problem, bounds: bounds.collect(), utility_unit, cost_unit, utility_min: None, cost_max })
    }

    fn solve(&self, objective: IlpObjective) -> Result<Selection, IlpError> {
        let candidates = self.problem.candidates();
        let mut variables = variables!();
        let bounded = |(min, max): &(u8, u8)| variables.add(variable().integer().clamp(*min, *max));
        let x: Vec<_> = self.bounds.iter().map(bounded).collect();
        if x.is_empty() {
            return Ok(Selection { selected: Vec::new(), utility: 0, cost: 0 });
        }
        let sum = |of: &dyn Fn(usize, &Candidate) -> u64| {
            let terms = candidates
                .iter()
                .enumerate()
                .map(|(item, candidate)| to_float(of(item, candidate)) * x[item]);
            terms.sum::<Expression>()
        };
        let utility = || sum(&|_, candidate| candidate.utility / self.utility_unit);
        let cost = || sum(&|_, candidate| candidate.cost / self.cost_unit);
        let objective = match objective {
            IlpObjective::Utility => variables.maximise(utility()),
            IlpObjective::Cost => variables.minimise(cost()),
            IlpObjective::Order(block) => variables.maximise(sum(&|item, _| {
                let is_in = block.contains(&item);
                if is_in { 1 << (block.end - 1 - item) } else { 0 }
            })),
        };
        let mut model = engine(objective);
        let dependencies = candidates.iter().enumerate().flat_map(|(item, candidate)| {
            candidate.deps.iter().filter(move |dep| **dep != item).map(move |dep| (item, *dep))
        });
        for (item, dep) in dependencies {
            model.add_constraint((x[item] - x[dep]).leq(0));
        }
        let cost_max = (self.cost_max / self.cost_unit).min(SUM_MAX);
        model.add_constraint(cost().leq(to_float(cost_max) + 0.5));
        if let Some(least) = self.utility_min {
            model.add_constraint(utility().geq(to_float(least / self.utility_unit) - 0.5));
        }
        let solution = model.solve().map_err(IlpError::Unsolved)?;
        if !matches!(solution.status(), SolutionStatus::Optimal) {
            return Err(IlpError::Unproven);
        }
        let selected = (0..x.len()).filter(|item| solution.value(x[*item]) > 0.5).collect();
        let selection = summed(self.problem, selected);
        check_selection(self.problem, &selection).map_err(IlpError::Unsound)?;
        Ok(selection)
    }
}

/// Configures HiGHS with a gap of 0; its default gap reports suboptimal solutions as optimal.
#[cfg(feature = "highs")]
fn engine(objective: good_lp::variable::UnsolvedProblem) -> impl SolverModel<Error = ResolutionError> {
    const TOLERANCE: f64 = 1e-9;
    let model = objective.using(good_lp::solvers::highs::highs);
    let model = model.set_option("mip_rel_gap", 0.0).set_option("mip_abs_gap", 0.0);
    let model = model
        .set_option("mip_feasibility_tolerance", TOLERANCE)
        .set_option("primal_feasibility_tolerance", TOLERANCE);
    model.set_threads(1)
}

/// Configures microlp, whose default gap is 0.
#[cfg(not(feature = "highs"))]
fn engine(objective: good_lp::variable::UnsolvedProblem) -> impl SolverModel<Error = ResolutionError> {
    objective.using(good_lp::solvers::microlp::microlp)
}

/// Converts a number that is exact in floating point.
fn to_float(number: u64) -> f64 {
    debug_assert!(number <= SUM_MAX, "sums are limited");
    number as f64
}

/// Returns the greatest common divisor of a quantity.
///
/// # Errors
/// [`IlpError::TooLarge`] if the sum of the quotients is too large.
fn unit(candidates: &[Candidate], what: &'static str, of: fn(&Candidate) -> u64) -> Result<u64, IlpError> {
    let unit = candidates.iter().map(of).fold(0, gcd).max(1);
    let sum = candidates.iter().map(of).sum::<u64>() / unit;
    if sum < SUM_MAX { Ok(unit) } else { Err(IlpError::TooLarge { what, sum }) }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
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
