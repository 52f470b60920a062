//! The context optimizer: the most useful set of candidates that fits a budget (000 §5).
//!
//! Every candidate brings utility, costs tokens, and may need others; a set may be sent if nothing it needs is
//! missing. [`solve`] finds the set of most utility, among these one of least cost, among these the one whose
//! sorted list of positions is lexicographically smallest: one answer, the same everywhere. [`check`] knows
//! nothing of how it was found. [`certify`] writes down why there is none better, and [`verify`] believes that only
//! where it follows. Deliberately absent: where utilities and costs come from; that is the border's.

#![no_std]
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "a problem is checked when it is made: its positions are in the list, and no sum exceeds 2^62"
)]

extern crate alloc;

mod arc_flow;
mod branch;
mod cardinality;
mod certify;
mod condense;
mod dominance;
mod fixing;
mod flow;
mod forest_dp;
mod heuristics;
mod presolve;
mod relaxation;
mod rounding;
mod search;
mod selector;
mod solve;
mod strategy;
mod tie_break;

pub use certify::{CertifyError, certify};
pub use selector::ExactSelector;
pub use solve::{SearchLimits, Solution, SolveStatus, solve};
