//! The trust network and its workflows, by example (001).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod builders;
mod collections;
mod convergence;
mod defense;
mod routing;
mod status;
mod trust;
mod workflows;
