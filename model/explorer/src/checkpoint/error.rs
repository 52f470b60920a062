//! Checkpoints that cannot be used.

use crate::error::ModelError;
use std::io;
use std::path::PathBuf;

/// Why an exploration with checkpoints has no result.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The model cannot be explored.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Why a checkpoint cannot be used or written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("cannot {action} checkpoint {}: {source}", .file.display())]
    Io {
        /// What failed: `read` or `write`.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is no checkpoint, or one of another format.
    #[error("{} is not a checkpoint: expected a file that begins with `{expected}`", .file.display())]
    NotACheckpoint {
        /// The file.
        file: PathBuf,
        /// The first line of a checkpoint.
        expected: &'static str,
    },
    /// The content does not have its digest: the file is torn or was changed.
    #[error("checkpoint {} is damaged: expected digest {expected}, found {found}", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The digest in the file.
        expected: String,
        /// The digest of the content.
        found: String,
    },
    /// The checkpoint belongs to another exploration.
    #[error("checkpoint {} is of another {name}: expected {expected}, found {found}", .file.display())]
    OtherExploration {
        /// The file.
        file: PathBuf,
        /// What differs.
        name: String,
        /// The value of this exploration.
        expected: String,
        /// The value of the checkpoint.
        found: String,
    },
    /// The content is consistent, but this model has other states.
    #[error("checkpoint {} does not fit the model: {problem}", .file.display())]
    OtherModel {
        /// The file.
        file: PathBuf,
        /// What does not fit.
        problem: String,
    },
    /// Whole states of all nodes are not stored in a checkpoint.
    #[error("no checkpoint with exact storage: expected fingerprints, found whole states")]
    ExactStorage,
    /// The model does not pack its states.
    #[error("no checkpoint of this model: expected `pack` to return true, found false")]
    NotPacked,
}
