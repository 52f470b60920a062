//! Tests of the benchmark through its public interface: the program, the figures on the recorded splits, and invented timelines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_input;
mod command;
mod context;
mod detection;
mod other_layers;
mod presentation;
mod reading;
mod recorded;
mod state;
mod support;
