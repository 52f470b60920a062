//! Context selection problems as files: solvers, certificates, explanations and budget curves.
//!
//! The kernel defines the problem (000 §5). This crate reads it from a file or from a trace, states it as a 0-1 program for
//! other solvers, compares the exact solution with simpler rules, and cross-checks the contexts of a trace. Every solution passes
//! [`orchestrion_kernel::selection::check_selection`] before it is returned.

mod baselines;
mod certificate;
mod cross_check;
mod curve;
mod dependencies;
mod error;
mod explain;
mod format;
mod from_trace;
mod id;
mod ilp;
mod problem;
mod searcher;
mod solve;
mod svg;

pub use baselines::Baseline;
pub use certificate::{
    CERTIFICATE_PREFIX, CertificateError, CertificateFile, VerifyResult, verify_bytes, verify_file,
    write_certificate,
};
pub use cross_check::{CheckedContext, CrossCheck, Difference, cross_check};
pub use curve::{Curve, Point, budget_curve};
pub use error::ProblemFileError;
pub use explain::{
    Alternative, ExclusionReason, Explainer, Explanation, NextImprovement, Reason, RequiredBudget,
};
pub use format::{InclusionFile, ItemFile, LayerFile, ProblemFile};
pub use from_trace::{TracePoint, TracePointError};
pub use id::Id;
pub use ilp::{ILP_ENGINE, IlpError};
pub use problem::{NamedProblem, PROBLEM_BYTES_MAX};
pub use solve::{SolveError, Solver, SolverResult, compare, solve};
pub use svg::{SVG_PREFIX, curve_svg};

/// Returns the JSON Schema of problem files.
#[must_use]
pub fn problem_schema() -> serde_json::Value {
    orchestrion_yaml::schema_of::<ProblemFile<'_>>("Orchestrion context problem")
}

/// Returns the JSON Schema of certificates.
#[must_use]
pub fn certificate_schema() -> serde_json::Value {
    orchestrion_yaml::schema_of::<CertificateFile<'_>>("Orchestrion context certificate")
}
