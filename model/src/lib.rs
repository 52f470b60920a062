//! Model checking: the kernel's own `decide` and `apply`, against everything that an adversary may do.
//!
//! A [`Model`](scopes::Model) says what may happen, a [`Scope`](scopes::Scope) how much of it;
//! [`explore`](check::explore) tries all of it and holds every claim against it. Nothing of the kernel is
//! modelled a second time.

pub mod adversary;
pub mod check;
pub mod contracts;
pub mod export;
pub mod machine;
pub mod product;
pub mod scopes;
