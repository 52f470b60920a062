//! Context problems at the border: read from files, solved by more than one solver, explained, and drawn.
//!
//! The kernel decides which items a module is shown (000 §5); here the same problem is stated for others to solve, and held
//! against what is done elsewhere. Every answer, whoever gave it, passes [`orchestrion_kernel::context::check`] before
//! anybody sees it.

mod baselines;
mod certificate;
mod curve;
mod dependencies;
mod error;
mod explain;
mod format;
mod from_trace;
mod ilp;
mod problem;
mod solve;
mod svg;

pub use baselines::Baseline;
pub use certificate::{
    CERTIFICATE_BEGINS, CertificateError, CertificateFile, VerifyResult, verify_bytes, verify_file,
    write_certificate,
};
pub use curve::{Curve, Point, curve};
pub use error::ProblemFileError;
pub use explain::{
    Alternative, ExclusionReason, Explainer, Explanation, NextImprovement, Reason, RequiredBudget,
};
pub use format::{Id, ItemFile, LayerFile, MarkFile, ProblemFile};
pub use from_trace::{TracePoint, TracePointError};
pub use ilp::{ENGINE, IlpError, SUM_MAX};
pub use problem::{NamedProblem, PROBLEM_BYTES_MAX};
pub use solve::{SolveError, Solved, Solver, compare, exact, solve};
pub use svg::{PICTURE_BEGINS, picture};

/// The JSON Schema of problem files.
#[must_use]
pub fn problem_schema() -> serde_json::Value {
    orchestrion_yaml::schema_of::<ProblemFile<'_>>("Orchestrion context problem")
}

/// The JSON Schema of certificates.
#[must_use]
pub fn certificate_schema() -> serde_json::Value {
    orchestrion_yaml::schema_of::<CertificateFile<'_>>("Orchestrion context certificate")
}
