//! The fuzz targets: one function for the bytes of each fuzzer. `tests/fuzz` calls them, and a normal test runs them on
//! the stored corpora.
//!
//! A target must not panic or grow without bound, and a refused input must leave the state unchanged. A violation
//! panics with a message. Where bytes alone rarely get past the first check of a format, a target edits a valid file.

#![allow(clippy::panic, clippy::indexing_slicing, reason = "a fuzz target fails by panicking")]

mod decide;
mod edit;
mod files;
mod proofs;
mod stdio;
mod traces;

pub use decide::{decide, drive};
pub use files::{claims, debate, machine, network, policy, problem, project, scenario, scope, statebench};
pub use proofs::{certificate, handoff};
pub use stdio::stdio;
pub use traces::{journal, snapshot, trace_reader};

use traces::rechained;

/// A target: its name, its function, and further folders with inputs.
pub type Target = (&'static str, fn(&[u8]), &'static [&'static str]);

/// All targets.
pub const TARGETS: [Target; 17] = [
    ("certificate", certificate, &[]),
    ("claims", claims, &["specs/claims"]),
    ("debate", debate, &["simulator/scenario/src/promote/samples"]),
    ("decide", decide, &[]),
    ("handoff", handoff, &[]),
    ("journal", journal, &[]),
    ("machine", machine, &["specs/machines"]),
    ("network", network, &["specs/networks"]),
    ("policy", policy, &["specs/policies"]),
    ("problem", problem, &["specs/problems"]),
    ("project", project, &[]),
    ("scenario", scenario, &["specs/scenarios"]),
    ("scope", scope, &["specs/scopes"]),
    ("snapshot", snapshot, &[]),
    ("statebench", statebench, &[]),
    ("stdio", stdio, &[]),
    ("trace_reader", trace_reader, &["specs/scenarios"]),
];
