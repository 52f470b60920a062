//! Orchestrion's simulator: scenarios, traces, replay, and the command.
//!
//! A [`scenario`] scripts a user and the modules; [`play`](play::play) drives a conversation with them and
//! records a [`trace`]; [`replay`](replay::replay) decides a recorded trace again;
//! [`promote`] keeps what happened as a scenario.
//!
//! A program that uses the library alone takes it without the command, and so without a command-line parser, the
//! model checker, or any async runtime:
//!
//! ```toml
//! orchestrion = { path = "…/simulator", default-features = false }
//! ```

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod context;
pub mod evidence;
#[cfg(feature = "cli")]
pub mod itf;
#[cfg(feature = "cli")]
pub mod machine;
pub mod measure;
pub mod pages;
pub mod policy_file;
#[cfg(feature = "cli")]
pub mod project;
pub mod promote;
pub mod recorder;
pub mod redact;
pub mod replay;
pub mod runtime;
pub mod scenario;
pub mod scenario_run;
pub mod script;
pub mod show;
#[cfg(feature = "cli")]
pub mod statebench;
pub mod stdio;
pub mod trace;
mod yaml;

pub use yaml::{Decimal, FILE_BYTES_MAX, ReadError, Spanned, StrictText};
