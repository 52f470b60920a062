//! The context optimizer: the most useful set of candidates that fits a budget (000 §5).
//!
//! Every candidate brings utility, costs tokens, and may need others; a set may be sent if nothing it needs is
//! missing. [`solve`] finds the set of most utility, among these one of least cost, among these the one whose
//! sorted list of positions is lexicographically smallest: one answer, the same everywhere. [`check`] knows
//! nothing of how it was found. Deliberately absent: where utilities and costs come from; that is the border's.

mod check;
mod problem;

macro_rules! solver {
    ($($module:ident),*) => {
        $(#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]
        mod $module;)*
    };
}
solver!(bound, branch, condense, count, fill, flow, forest, grid, reduce, search, solve, stages, ties);

pub use check::{Fault, check};
pub use problem::{Candidate, Flaw, Mark, Problem, Selection};
pub use solve::{Answer, Limits, Status, solve};
