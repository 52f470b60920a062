//! Limits of files and excerpts.

/// The maximum size of a file: 1 MiB.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// The limits of a file. The values of a file need more memory than its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// The maximum size in bytes.
    pub bytes_max: usize,
    /// The maximum number of mappings, lists and single values, keys included.
    pub values_max: usize,
    /// The help for a larger file.
    pub help: &'static str,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { bytes_max: FILE_BYTES_MAX, values_max: 250_000, help: "split it into several files" }
    }
}

/// The largest number of nested mappings and lists; each level needs stack.
pub(super) const DEPTH_MAX: usize = 32;

/// The maximum length of a line in an excerpt.
pub(super) const EXCERPT_LINE_BYTES_MAX: usize = 1000;
