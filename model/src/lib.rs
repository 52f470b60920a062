//! Model checking: the kernel's own `decide` and `apply`, against everything that an adversary may do.
//!
//! A [`Model`](scopes::Model) says what may happen, a [`Scope`](scopes::Scope) how much of it;
//! [`check::explore`] tries all of it and holds every claim against it. Nothing of the kernel is modelled a second time,
//! but for what [`export`] tells other checkers.
//! The explorer itself ([`explore`](mod@explore), [`liveness`]) knows nothing of the kernel: it takes any model of stateright.

pub mod actors;
pub mod adversary;
pub mod check;
pub mod contracts;
pub mod coverage;
pub mod export;
pub mod kernel_under_test;
pub mod mutants;
pub mod product;
pub mod reference;
pub mod scopes;
pub mod transition_counts;
