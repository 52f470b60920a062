//! Context problems at the border: read from files, solved by more than one solver, explained, and drawn.
//!
//! The kernel decides which items a module is shown (000 §5); here the same problem is stated for others to solve, and held
//! against what is done elsewhere. Every answer, whoever gave it, passes [`orchestrion_kernel::context::check`] before
//! anybody sees it.

mod certificate;
mod curve;
mod explain;
mod fault;
mod format;
mod ilp;
mod needs;
mod packing;
mod picture;
mod problem;
mod solve;
mod traced;

pub use certificate::{
    CERTIFICATE_BEGINS, CertificateError, CertificateFile, VerifyResult, verify_bytes, verify_file,
    write_certificate,
};
pub use curve::{Curve, Point, curve};
pub use explain::{
    Alternative, ExclusionReason, Explainer, Explanation, NextImprovement, Reason, RequiredBudget,
};
pub use fault::ProblemFileError;
pub use format::{Id, ItemFile, LayerFile, MarkFile, ProblemFile};
pub use ilp::{ENGINE, IlpError, SUM_MAX};
pub use packing::Baseline;
pub use picture::{PICTURE_BEGINS, picture};
pub use problem::{NamedProblem, PROBLEM_BYTES_MAX};
pub use solve::{SolveError, Solved, Solver, compare, exact, solve};
pub use traced::{TracePoint, TracePointError};

/// The JSON Schema of problem files.
#[must_use]
pub fn problem_schema() -> serde_json::Value {
    crate::yaml::schema_of::<ProblemFile<'_>>("Orchestrion context problem")
}

/// The JSON Schema of certificates.
#[must_use]
pub fn certificate_schema() -> serde_json::Value {
    crate::yaml::schema_of::<CertificateFile<'_>>("Orchestrion context certificate")
}
