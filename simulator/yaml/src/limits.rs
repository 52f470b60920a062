//! Limits of files and excerpts.

use super::error::ReadError;
use orchestrion_files::limits::{TEXT_FILE_BYTES_MAX, TEXT_FILE_VALUES_MAX};

/// The maximum size of a file.
pub const FILE_BYTES_MAX: usize = TEXT_FILE_BYTES_MAX;

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
        Self {
            bytes_max: FILE_BYTES_MAX,
            values_max: TEXT_FILE_VALUES_MAX,
            help: "split it into several files",
        }
    }
}

impl FileLimits {
    /// The error of a larger file.
    pub(super) fn too_large(&self, name: &str) -> ReadError {
        let Self { bytes_max, help, .. } = self;
        let mebibytes = bytes_max >> 20;
        ReadError::for_file(
            format!(
                "{name}: file too large: expected at most {bytes_max} bytes ({mebibytes} MiB), found more"
            ),
            *help,
        )
    }
}

/// The maximum length of a line in an excerpt.
pub(super) const EXCERPT_LINE_BYTES_MAX: usize = 1000;
