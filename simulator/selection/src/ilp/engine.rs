//! The solver of linear programs in this build.

use good_lp::variable::UnsolvedProblem;
use good_lp::{ResolutionError, SolverModel, WithTimeLimit};
use std::time::Duration;

/// The name of the solver.
pub const ILP_ENGINE: &str = if cfg!(feature = "highs") { "HiGHS" } else { "microlp" };

/// Configures HiGHS with a gap of 0; its default gap reports suboptimal solutions as optimal.
#[cfg(feature = "highs")]
pub(super) fn engine(
    objective: UnsolvedProblem,
    time_limit: Option<Duration>,
) -> impl SolverModel<Error = ResolutionError> {
    const TOLERANCE: f64 = 1e-9;
    let model = objective.using(good_lp::solvers::highs::highs);
    let model = model.set_option("mip_rel_gap", 0.0).set_option("mip_abs_gap", 0.0);
    let model = model
        .set_option("mip_feasibility_tolerance", TOLERANCE)
        .set_option("primal_feasibility_tolerance", TOLERANCE);
    let model = model.set_threads(1);
    match time_limit {
        Some(limit) => model.with_time_limit(limit.as_secs_f64()),
        None => model,
    }
}

/// Configures microlp, whose default gap is 0.
#[cfg(not(feature = "highs"))]
pub(super) fn engine(
    objective: UnsolvedProblem,
    time_limit: Option<Duration>,
) -> impl SolverModel<Error = ResolutionError> {
    let model = objective.using(good_lp::solvers::microlp::microlp);
    match time_limit {
        Some(limit) => model.with_time_limit(limit.as_secs_f64()),
        None => model,
    }
}
