//! Result files: what every reader of one checks.

use crate::summary::{SUMMARY_FORMAT, Summary};
use orchestrion_files::limits::RESULT_FILE_VALUES_MAX;
use orchestrion_trace::json_values;
use thiserror::Error;

/// Why a file is no result of this version. The text may contain characters of the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The file is no JSON, or has other fields.
    #[error("expected the result of an experiment: {0}")]
    NotResult(#[from] serde_json::Error),
    /// Another version wrote the file.
    #[error("expected the format {SUMMARY_FORMAT}, found {found}")]
    OtherFormat {
        /// The format of the file.
        found: String,
    },
    /// The file has more values than a reader accepts.
    #[error("result too large: expected at most {RESULT_FILE_VALUES_MAX} values and keys, found {0}")]
    TooLarge(usize),
    /// The ranges and counts do not fit each other.
    #[error("inconsistent result: ranges or counts do not fit the number of runs")]
    Inconsistent,
}

impl ResultError {
    /// What the reader can do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotResult(_) => "name files that `orchestrion explore run` wrote",
            Self::OtherFormat { .. } => "run the experiment again with this version",
            Self::TooLarge(_) => "run fewer policies at once",
            Self::Inconsistent => "run the experiment again",
        }
    }
}

impl Summary {
    /// Reads a result file, as [`Summary::to_json`] returns it.
    ///
    /// # Errors
    /// [`ResultError`].
    pub fn from_json(json: &[u8]) -> Result<Self, ResultError> {
        let values = json_values(json);
        if values > RESULT_FILE_VALUES_MAX {
            return Err(ResultError::TooLarge(values));
        }
        let summary: Self = serde_json::from_slice(json)?;
        if summary.format != SUMMARY_FORMAT {
            return Err(ResultError::OtherFormat { found: summary.format });
        }
        if !summary.is_consistent() {
            return Err(ResultError::Inconsistent);
        }
        Ok(summary)
    }
}
