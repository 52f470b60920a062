//! Semantic faults of the kernel, written by hand, and who detects each.
//!
//! Data flow: [`list`] reads the faults, [`switch`] writes each behind a switch into a source text, [`workspace`] copies the
//! workspace with them, [`judges`] builds the copy and runs it with one fault at a time, and [`table`] reports what they find.

pub mod judges;
pub mod list;
pub mod mutants;
pub mod program;
pub mod switch;
pub mod table;
pub mod workspace;
