//! The error of key files. No message contains a secret.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a key cannot be created, loaded or replaced.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The path of the folder is that of something else.
    #[error("{}: not a folder: expected a folder of keys, found a file; choose another path", .path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// Others than its owner can use the folder. Its key files may be private.
    #[error("{}: key folder open to others: expected permissions 700, found {found:o}; run `chmod 700` on it", .path.display())]
    OpenFolder {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        found: u32,
    },
    /// Others than its owner could read or change the file.
    #[error(
        "{}: key file open to others: expected permissions 600, found {found:o}; run `chmod 600` on it, and replace the key, which \
         others could read, with `orchestrion keys rotate NETWORK NODE` when no open conversation uses it",
        .path.display()
    )]
    OpenFile {
        /// The key file.
        path: PathBuf,
        /// Its permissions.
        found: u32,
    },
    /// The id of the node is no safe file name.
    #[error(
        "unsafe file name: expected a node id other than `.` and `..`, without `/`, `\\`, `:` and control characters, found \
         {node:?}; rename the node"
    )]
    UnsafeName {
        /// The id.
        node: String,
    },
    /// The node has a key.
    #[error("{}: existing key: expected no file, found one; keep it, or replace the key by rotation", .path.display())]
    Exists {
        /// The key file.
        path: PathBuf,
    },
    /// The node has no key.
    #[error("{}: missing key: expected a key file, found none; create it with `orchestrion keys create \
             NETWORK --all`, or choose another folder", .path.display())]
    Missing {
        /// The key file.
        path: PathBuf,
    },
    /// The file is no key file.
    #[error(
        "{}: malformed key file: expected 64 lower-case hexadecimal digits and a newline, found {found}; restore the file, or \
         remove it and create a key with `orchestrion keys create NETWORK --all`",
        .path.display()
    )]
    Malformed {
        /// The key file.
        path: PathBuf,
        /// What is found instead, without a character of the file.
        found: String,
    },
    /// The file system reports an error.
    #[error("{}: {problem}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The problem, as a noun phrase.
        problem: &'static str,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// The system's source of randomness fails.
    #[error("unavailable randomness: {0}")]
    Random(#[source] io::Error),
}
