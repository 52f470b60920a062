//! The selection problem of a context (000 §5.2): problem, valid selection, and certificate of optimality.
//!
//! Deliberately absent: any search. A selector may use any method. [`check_selection`] accepts its result only if it is closed,
//! within the budget and correctly summed, and [`verify`] accepts a certificate only if it proves optimality.

mod certificate;
mod check;
mod problem;
mod verify;

pub use certificate::{Certificate, DualSolution, Step};
pub use check::{SelectionError, check_selection};
pub use problem::{Candidate, Inclusion, Problem, ProblemError, Selection};
pub use verify::{CELLS_MAX, ROW_MAX, SLOPES_MAX, VerifyError, VerifyErrorKind, verify};
