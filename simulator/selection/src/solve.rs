//! Solvers by name, with the proven quality of their solutions.

use super::baselines::Baseline;
use super::ilp::{self, IlpError};
use super::problem::NamedProblem;
use orchestrion_kernel::selection::{Problem, ProblemError, Selection, SelectionError, check_selection};
use orchestrion_optimizer as optimizer;
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus};
use std::time::Duration;
use thiserror::Error;

/// Solver of a context selection problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// The optimizer: exact.
    Native,
    /// The 0-1 program: exact.
    Ilp,
    /// A simpler rule, without a guarantee.
    Baseline(Baseline),
}

impl Solver {
    /// Returns the name of the solver on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ilp => "ilp",
            Self::Baseline(Baseline::Greedy) => "greedy",
            Self::Baseline(Baseline::Ranked) => "ranked",
            Self::Baseline(Baseline::Recent) => "recent",
        }
    }
}

/// Checked selection of a solver, with its proven quality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverResult {
    /// The solver.
    pub solver: Solver,
    /// The selection.
    pub selection: Selection,
    /// Whether the selection is proven to be the optimum after tie-breaking.
    pub status: SolveStatus,
    /// Upper bound of the utility of every selection.
    pub bound: u64,
    /// Nodes of the search; `None` for solvers that do not count them.
    pub nodes: Option<u64>,
    /// Whether the exact search hit a limit, so that `bound` may exceed the optimum.
    pub hit_limit: bool,
}

impl SolverResult {
    /// Returns the lost utility, or an upper bound of it if the search hit a limit.
    #[must_use]
    pub const fn loss(&self) -> u64 {
        self.bound.saturating_sub(self.selection.utility)
    }
}

/// The most time after which [`Solver::Ilp`] gives up.
const ILP_TIME_MAX: Duration = Duration::from_secs(5);

/// The time of a problem with one item, if there were no such limit. The engine counts neither nodes nor memory, and takes up to 600 MB in
/// a second for hundreds of items: 60 to 2,000 items with close utilities took less than 256 MB so.
const ILP_TIME_OF_ITEM: Duration = Duration::from_secs(100);

/// Returns the time after which [`Solver::Ilp`] gives up: the more items, the sooner.
fn ilp_time_max(items: usize) -> Duration {
    let items = u32::try_from(items).unwrap_or(u32::MAX);
    ILP_TIME_MAX.min(ILP_TIME_OF_ITEM / items.max(1))
}

/// Error of a solver.
#[derive(Debug, Error)]
pub enum SolveError {
    /// The 0-1 program was not solved.
    #[error(transparent)]
    Ilp(#[from] IlpError),
    /// The selection does not pass the check: a bug of the solver.
    #[error("invalid selection from the solver `{solver}`: {error}")]
    Unsound {
        /// The solver.
        solver: &'static str,
        /// The failed check.
        error: SelectionError,
    },
    /// The native solver returned a selection where none is valid: a bug.
    #[error("invalid selection from the solver `native`: no selection is valid: {0}")]
    NotFeasible(ProblemError),
}

/// Solves a problem.
///
/// # Errors
/// [`SolveError`] if the solver returns no valid selection.
pub fn solve(
    problem: &NamedProblem,
    solver: Solver,
    limits: SearchLimits,
) -> Result<SolverResult, SolveError> {
    match solver {
        Solver::Native => solve_exact(&problem.problem, limits).map(native_result),
        Solver::Ilp => {
            let time_max = ilp_time_max(problem.problem.candidates().len());
            let selection = ilp::solve(&problem.problem, Some(time_max))?;
            check(&problem.problem, solver, &selection)?;
            let bound = selection.utility;
            let status = SolveStatus::Optimal;
            Ok(SolverResult { solver, selection, status, bound, nodes: None, hit_limit: false })
        }
        Solver::Baseline(baseline) => {
            baseline_result(problem, baseline, &solve_exact(&problem.problem, limits)?)
        }
    }
}

/// Returns the exact solution and that of each baseline.
///
/// # Errors
/// As [`solve`].
pub fn compare(problem: &NamedProblem, limits: SearchLimits) -> Result<Vec<SolverResult>, SolveError> {
    let solution = solve_exact(&problem.problem, limits)?;
    let baselines = [Baseline::Greedy, Baseline::Ranked, Baseline::Recent];
    let results = baselines.map(|baseline| baseline_result(problem, baseline, &solution));
    std::iter::once(Ok(native_result(solution))).chain(results).collect()
}

/// Returns the checked solution of the optimizer.
pub(super) fn solve_exact(problem: &Problem, limits: SearchLimits) -> Result<Solution, SolveError> {
    let solution = optimizer::solve(problem, limits);
    check(problem, Solver::Native, &solution.selection)?;
    Ok(solution)
}

fn native_result(solution: Solution) -> SolverResult {
    let Solution { selection, status, bound, nodes, .. } = solution;
    let hit_limit = status == SolveStatus::Bounded;
    SolverResult { solver: Solver::Native, selection, status, bound, nodes: Some(nodes), hit_limit }
}

fn baseline_result(
    problem: &NamedProblem,
    baseline: Baseline,
    exact: &Solution,
) -> Result<SolverResult, SolveError> {
    let (solver, selection) = (Solver::Baseline(baseline), baseline.select(problem));
    check(&problem.problem, solver, &selection)?;
    let hit_limit = exact.status == SolveStatus::Bounded;
    let is_optimal = !hit_limit && selection == exact.selection;
    let status = if is_optimal { SolveStatus::Optimal } else { SolveStatus::Bounded };
    Ok(SolverResult { solver, selection, status, bound: exact.bound, nodes: None, hit_limit })
}

pub(super) fn check(problem: &Problem, solver: Solver, selection: &Selection) -> Result<(), SolveError> {
    check_selection(problem, selection).map_err(|error| SolveError::Unsound { solver: solver.name(), error })
}
