//! Model checking of the kernel's own `decide` and `apply`.
//!
//! A [`Model`](scopes::Model) names the inputs that may occur, and a [`Scope`](scopes::Scope) bounds its size.
//! [`check::explore`] explores it and checks every claim. Nothing of the kernel is modelled a second time, except what
//! [`export`] writes for other checkers. The crate `orchestrion_explorer` does the exploration; it knows nothing of the
//! kernel.

pub mod actors;
pub mod adversary;
pub mod check;
pub mod claim_lint;
pub mod common_runs;
pub mod compare;
mod context_verdict;
pub mod contracts;
pub mod coverage;
pub mod estimate;
pub mod export;
pub mod induction;
pub mod kernel_under_test;
pub mod mutants;
pub mod product;
pub mod reference;
mod responses;
pub mod scopes;
pub mod simulate;
pub mod statistics;
pub mod transition_counts;
pub mod user_claims;
mod verdict_cache;
