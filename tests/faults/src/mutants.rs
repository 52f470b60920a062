//! Systematic mutants of the kernel's code, and who detects each.
//!
//! `cargo-mutants` compiles its mutants one by one, which takes days for the kernel. Here all mutants are compiled at once, each behind a
//! switch. Data flow: [`list`] asks `cargo-mutants` for the mutants, [`place`] finds where each lies in the syntax tree, [`source`] writes
//! the switches, [`compile`] leaves out what does not compile, [`outcome`] runs tests and checks with one mutant at a time, and [`page`]
//! reports which mutants nothing detects.

pub mod compile;
pub mod list;
pub mod outcome;
pub mod page;
pub mod place;
pub mod source;
