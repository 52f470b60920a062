//! Exact context selection.

use crate::encoding::to_python;
use crate::error::{self, CheckError, ProblemError};
use orchestrion_optimizer::{SearchLimits, SolveStatus};
use orchestrion_selection::{Baseline, Id, NamedProblem, SolveError, Solver, SolverResult, solve};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::path::PathBuf;

/// The solvers, the exact one first.
const SOLVERS: [Solver; 5] = [
    Solver::Native,
    Solver::Ilp,
    Solver::Baseline(Baseline::Greedy),
    Solver::Baseline(Baseline::Ranked),
    Solver::Baseline(Baseline::Recent),
];

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Selection>()?;
    module.add_function(wrap_pyfunction!(solve_context, module)?)
}

/// A problem, or the file of one.
#[derive(FromPyObject)]
enum ProblemOrPath<'py> {
    Problem(Bound<'py, PyDict>),
    Path(PathBuf),
}

/// Selects the items of maximum utility within the budget, with all their dependencies.
#[pyfunction]
#[pyo3(name = "_solve_context", signature = (problem, budget=None, solver="native", max_nodes=None, max_work=None))]
fn solve_context(
    py: Python<'_>,
    problem: ProblemOrPath<'_>,
    budget: Option<u64>,
    solver: &str,
    max_nodes: Option<u64>,
    max_work: Option<u64>,
) -> PyResult<Selection> {
    let solver = solver_of(py, solver)?;
    let problem = match problem {
        ProblemOrPath::Path(path) => NamedProblem::read(&path, budget),
        ProblemOrPath::Problem(problem) => {
            let mut problem: Value = crate::encoding::from_python(&problem, "problem")?;
            if let (Some(budget), Some(fields)) = (budget, problem.as_object_mut()) {
                fields.insert("budget".to_owned(), budget.into());
            }
            NamedProblem::from_bytes("the problem", problem.to_string().as_bytes())
        }
    };
    let problem = problem.map_err(|reason| error::from_diagnostic(py, ProblemError::new_err, &reason))?;
    let defaults = SearchLimits::default();
    let limits = SearchLimits {
        nodes: max_nodes.unwrap_or(defaults.nodes),
        work: max_work.unwrap_or(SearchLimits::WORK),
    };
    let result = py.detach(|| solve(&problem, solver, limits));
    let result = result.map_err(|reason| solve_error(py, &reason))?;
    let selected = problem.names(&result.selection.selected).into_iter().cloned().collect();
    Ok(Selection { result, selected })
}

fn solver_of(py: Python<'_>, name: &str) -> PyResult<Solver> {
    SOLVERS.into_iter().find(|solver| solver.name() == name).ok_or_else(|| {
        let message =
            format!("unknown solver: expected {}, found {name}", SOLVERS.map(Solver::name).join(", "));
        error::input_error(py, message, "write one of them")
    })
}

fn solve_error(py: Python<'_>, reason: &SolveError) -> PyErr {
    let help = match reason {
        SolveError::Ilp(_) => "use the solver native",
        SolveError::Unsound { .. } | SolveError::NotFeasible(_) => {
            "this is a bug of orchestrion; please report it with the problem"
        }
    };
    error::with_help(py, CheckError::new_err, reason.to_string(), help)
}

/// A selection of items, with its proven quality.
#[pyclass(frozen, eq, module = "orchestrion")]
#[derive(PartialEq, Eq)]
struct Selection {
    result: SolverResult,
    selected: Vec<Id<'static>>,
}

#[pymethods]
impl Selection {
    /// The ids of the selected items.
    #[getter]
    fn selected<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.selected)
    }

    /// The sum of the utilities.
    #[getter]
    fn utility(&self) -> u64 {
        self.result.selection.utility
    }

    /// The cost in tokens.
    #[getter]
    fn cost(&self) -> u64 {
        self.result.selection.cost
    }

    /// The proven upper bound of the utility of every selection.
    #[getter]
    fn bound(&self) -> u64 {
        self.result.bound
    }

    /// The utility that is lost at most.
    #[getter]
    fn loss(&self) -> u64 {
        self.result.loss()
    }

    /// Whether the selection is proven to be the optimum.
    #[getter]
    fn is_optimal(&self) -> bool {
        self.result.status == SolveStatus::Optimal
    }

    /// The nodes of the search; `None` for a solver that does not count them.
    #[getter]
    fn nodes(&self) -> Option<u64> {
        self.result.nodes
    }

    /// The name of the solver.
    #[getter]
    fn solver(&self) -> &'static str {
        self.result.solver.name()
    }

    fn __repr__(&self) -> String {
        format!("Selection({} items, utility={}, cost={})", self.selected.len(), self.utility(), self.cost())
    }
}
