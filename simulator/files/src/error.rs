//! The errors of writing a file.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a file was not written. The file that has its name is unchanged.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A file, folder or link has the name of a new file.
    #[error("{} exists already and is not overwritten", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The name is that of a folder, pipe, device or dangling link.
    #[error("cannot overwrite {}: not a file: expected a file or no file, found {found}", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
        /// What has the name.
        found: &'static str,
    },
    /// The existing file cannot be read, so it is not known what would be lost.
    #[error("cannot overwrite {}: unreadable file: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// The existing file is something else.
    #[error("{} is not {kind} and is not overwritten", path.display())]
    Unrecognized {
        /// The file.
        path: PathBuf,
        /// The expected kind, with its article.
        kind: &'static str,
    },
    /// The existing file is the journal of an open conversation, or was cut.
    #[error(
        "{} is unfinished and is not overwritten: expected {kind} with its last line, found none; a journal of an open \
         conversation ends without it",
        path.display()
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The expected kind, with its article.
        kind: &'static str,
    },
    /// A program has the existing file open.
    #[error("{} is locked and is not overwritten: a program has it open", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file system reports an error.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
}

impl WriteError {
    /// What to do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Exists { .. } => "choose another name, or remove the file",
            Self::NotAFile { .. } | Self::Unrecognized { .. } => "choose another file, or move this one away",
            Self::Unreadable { .. } => "correct its permissions, or choose another file",
            Self::Unfinished { .. } => "choose another file; if no conversation needs this one, move it away",
            Self::Locked { .. } => "choose another file, or end the program that has it open",
            Self::Io { .. } => "check the folder, its permissions and the space that is left",
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { path: path.to_owned(), error }
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        let kind = match &error {
            WriteError::Exists { .. } => io::ErrorKind::AlreadyExists,
            WriteError::Locked { .. } => io::ErrorKind::WouldBlock,
            WriteError::NotAFile { .. } | WriteError::Unrecognized { .. } | WriteError::Unfinished { .. } => {
                io::ErrorKind::InvalidData
            }
            WriteError::Unreadable { error, .. } | WriteError::Io { error, .. } => error.kind(),
        };
        Self::new(kind, error)
    }
}
