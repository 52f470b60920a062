//! Limits of files and excerpts.

/// The maximum size of a file: 1 MiB.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// The largest number of nested mappings and lists; each level needs stack.
pub(super) const DEPTH_MAX: usize = 32;

/// The maximum length of a line in an excerpt.
pub(super) const EXCERPT_LINE_BYTES_MAX: usize = 1000;
