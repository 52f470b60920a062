//! The limits of what is read, each at one place.
//!
//! A limit holds the memory of a command below 256 MB on any input. What a file contains needs more memory than its bytes, so
//! files that are parsed as a whole also have a limit of their values.

use std::time::Duration;

/// Scenarios, policies, project files, scope files, state machines and recorded debates.
pub const TEXT_FILE_BYTES_MAX: usize = 1 << 20;

/// Values of such a file: mappings, lists and single values, keys included.
pub const TEXT_FILE_VALUES_MAX: usize = 250_000;

/// Nested mappings and lists of a YAML file; each level needs stack. JSON is limited to 128 levels by its parser.
pub const NESTING_MAX: usize = 32;

/// Trust networks: room for 10,000 nodes of 100 values each, such as 12 connections with their trust and status.
pub const NETWORK_FILE_BYTES_MAX: usize = 16 << 20;

/// Values of a trust network, keys included.
pub const NETWORK_FILE_VALUES_MAX: usize = 1_000_000;

/// Nodes, capabilities, or connections of a node. A node needs about 2.5 kB.
pub const NETWORK_ENTRIES_MAX: usize = 50_000;

/// Problems and certificates. One number in a list needs more than ten times the memory of its digit and comma.
pub const PROBLEM_FILE_BYTES_MAX: usize = 16 << 20;

/// The result of an experiment.
pub const RESULT_FILE_BYTES_MAX: u64 = 64 << 20;

/// Values of such a result, keys included. Each value of a metric that occurred takes two.
pub const RESULT_FILE_VALUES_MAX: usize = 2_000_000;

/// A step of a trace or journal, and such a line after its references are expanded. The replies of one request have at most 8 MiB,
/// and the line of its final answer contains all of them.
pub const TRACE_LINE_BYTES_MAX: usize = 16 << 20;

/// Values of such a line, keys included. The comparison of two traces needs 400 bytes for each.
pub const TRACE_LINE_VALUES_MAX: usize = 400_000;

/// The steps of a trace that is converted to a scenario, after their references are expanded. All of them are in memory.
pub const PROMOTED_STEPS_BYTES_MAX: usize = 16 << 20;

/// States and edges of all machines of one run of `lint`. Each needs about a kilobyte with its diagnostics.
pub const LINTED_PARTS_MAX: usize = 100_000;

/// The first line of a trace or journal. It contains a policy, whose file has at most 1 MiB.
pub const TRACE_HEADER_BYTES_MAX: usize = 4 << 20;

/// The state of a conversation: a snapshot, and the first line of a segment after its header.
pub const STATE_BYTES_MAX: usize = 32 << 20;

/// Values of such a state, keys included.
pub const STATE_VALUES_MAX: usize = 2_000_000;

/// A line that a host sends. It exceeds the limit of an input, 1 MiB, so that the error of a larger input names the input.
pub const HOST_LINE_BYTES_MAX: usize = 2 << 20;

/// The rest of a longer line, which is skipped. A host that ends the line after more is disconnected.
pub const HOST_SKIPPED_BYTES_MAX: u64 = 256 << 20;

/// A line of a StateBench file. The longest known one has 12 kB.
pub const TIMELINE_LINE_BYTES_MAX: usize = 4 << 20;

/// The problems of StateBench files that are kept and shown; the others are counted.
pub const DIAGNOSTICS_MAX: usize = 1000;

/// A line that a person types.
pub const TYPED_LINE_BYTES_MAX: u64 = 64 << 10;

/// The paths of the files that a command finds in its folders, with 128 bytes for each. A report repeats each path.
pub const PATHS_BYTES_MAX: usize = 4 << 20;

/// The entries of a folder that a command walks.
pub const FOLDER_ENTRIES_MAX: usize = 200_000;

/// The bytes by which a kind of file is recognized.
pub(crate) const START_BYTES: u64 = 128;

/// The bytes of the last line of a finished trace.
pub(crate) const LAST_LINE_BYTES_MAX: u64 = 4096;

/// How often and after which pause a locked file is tried again: another command may be replacing it.
pub(crate) const LOCK_ATTEMPTS: u32 = 100;
pub(crate) const LOCK_PAUSE: Duration = Duration::from_millis(10);
