//! Exploring whatever may happen.

pub mod graph;
