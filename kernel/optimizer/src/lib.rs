//! Exact context selection: the closed set of candidates with the highest utility within a token budget (000 §5.2).
//!
//! A candidate has a utility, a cost and dependencies. [`solve`] returns the set of maximum utility, then of minimum
//! cost, then with the lexicographically smallest list of positions: one solution, the same on every machine.
//! [`certify`] writes a certificate of optimality.
//!
//! This crate is not trusted. The kernel checks every selection (`orchestrion_kernel::selection::check_selection`) and
//! verifies every certificate (`verify`). Deliberately absent: the origin of utilities and costs.

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
mod cardinality_range;
mod certify;
mod condense;
mod dominance;
mod fixing;
mod flow;
mod forest_dp;
mod heuristics;
mod limits;
mod objective;
mod optimizer;
mod presolve;
mod relaxation;
mod rounding;
mod search;
mod selector;
mod solve;
mod strategy;
#[cfg(test)]
mod tests;
mod tie_break;

pub use certify::{CertifyError, certify};
pub use limits::SearchLimits;
pub use optimizer::{Optimizer, Reach, Variation};
pub use selector::ExactSelector;
pub use solve::{Solution, SolveStatus, solve};
