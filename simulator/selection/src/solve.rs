//! Solvers by their names, and what each answer is worth.

use super::baselines::Baseline;
use super::ilp::{self, IlpError};
use super::problem::NamedProblem;
use orchestrion_kernel::selection::{Problem, Selection, SelectionError, check_selection};
use orchestrion_optimizer as optimizer;
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus};
use thiserror::Error;

/// Who chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// The kernel's own: exact.
    Native,
    /// The 0-1 program, by a solver of linear programs: exact.
    Ilp,
    /// A rule that is in use elsewhere: as good as it happens to be.
    Rule(Baseline),
}

impl Solver {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Ilp => "ilp",
            Self::Rule(Baseline::Greedy) => "greedy",
            Self::Rule(Baseline::Ranked) => "ranked",
            Self::Rule(Baseline::Recent) => "recent",
        }
    }
}

/// A choice that passed the check, and what is known of better ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Who chose.
    pub solver: Solver,
    /// The choice.
    pub selection: Selection,
    /// Whether it is proven to be the canonical one.
    pub status: SolveStatus,
    /// No choice has more utility.
    pub bound: u64,
    /// The nodes of its search; none where nothing is searched, or nobody tells.
    pub nodes: Option<u64>,
    /// Whether the exact search was cut short, so that the bound may be more than can be had.
    pub is_cut: bool,
}

impl Solved {
    /// The utility that is lost, or, if the search was cut short, that may be.
    #[must_use]
    pub const fn loss(&self) -> u64 {
        self.bound.saturating_sub(self.selection.utility)
    }
}

/// Why nothing was chosen.
#[derive(Debug, Error)]
pub enum SolveError {
    /// The 0-1 program was not solved.
    #[error(transparent)]
    Ilp(#[from] IlpError),
    /// A fault in our own code.
    #[error("the answer of `{solver}` does not pass the check, and is not used: {fault}")]
    Unsound {
        /// Who answered.
        solver: &'static str,
        /// What is wrong.
        fault: SelectionError,
    },
}

/// Solves a problem.
///
/// # Errors
/// [`SolveError`] if there is no answer that could be used.
pub fn solve(named: &NamedProblem, solver: Solver, limits: SearchLimits) -> Result<Solved, SolveError> {
    match solver {
        Solver::Native => exact(&named.problem, limits).map(natively),
        Solver::Ilp => {
            let selection = ilp::solve(&named.problem)?;
            let bound = selection.utility;
            checked(&named.problem, solver, &selection)?;
            Ok(Solved { solver, selection, status: SolveStatus::Optimal, bound, nodes: None, is_cut: false })
        }
        Solver::Rule(rule) => packed(named, rule, &exact(&named.problem, limits)?),
    }
}

/// The exact choice, and beside it what each rule chooses.
///
/// # Errors
/// As [`solve`].
pub fn compare(named: &NamedProblem, limits: SearchLimits) -> Result<Vec<Solved>, SolveError> {
    let answer = exact(&named.problem, limits)?;
    let rules = [Baseline::Greedy, Baseline::Ranked, Baseline::Recent];
    let packed = rules.map(|rule| packed(named, rule, &answer));
    std::iter::once(Ok(natively(answer))).chain(packed).collect()
}

/// The kernel's answer, checked.
///
/// # Errors
/// [`SolveError`] if it does not pass.
pub fn exact(problem: &Problem, limits: SearchLimits) -> Result<Solution, SolveError> {
    let answer = optimizer::solve(problem, limits);
    checked(problem, Solver::Native, &answer.selection)?;
    Ok(answer)
}

fn natively(answer: Solution) -> Solved {
    let Solution { selection, status, bound, nodes } = answer;
    let is_cut = status == SolveStatus::Bounded;
    Solved { solver: Solver::Native, selection, status, bound, nodes: Some(nodes), is_cut }
}

fn packed(named: &NamedProblem, rule: Baseline, exact: &Solution) -> Result<Solved, SolveError> {
    let (solver, selection) = (Solver::Rule(rule), rule.pack(named));
    checked(&named.problem, solver, &selection)?;
    let is_cut = exact.status == SolveStatus::Bounded;
    let is_canonical = !is_cut && selection == exact.selection;
    let status = if is_canonical { SolveStatus::Optimal } else { SolveStatus::Bounded };
    Ok(Solved { solver, selection, status, bound: exact.bound, nodes: None, is_cut })
}

fn checked(problem: &Problem, solver: Solver, selection: &Selection) -> Result<(), SolveError> {
    check_selection(problem, selection).map_err(|fault| SolveError::Unsound { solver: solver.name(), fault })
}
