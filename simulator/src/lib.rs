//! Orchestrion: scenarios, their scripts and the policies that they run under.

pub mod policy_file;
pub mod scenario;
pub mod script;
mod yaml;

pub use yaml::{At, Decimal, FILE_BYTES_MAX, ReadError, Words};
