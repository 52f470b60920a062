//! Snapshots: a conversation at one step, so that its journal opens without the lines before it.
//!
//! A snapshot is a cache. It contains the state that the events up to its step give, and the position in the journal; the
//! journal alone is the record. The first line is a digest of the rest, so that a torn snapshot is detected. The chain at its
//! step binds it to the lines of one journal, and the header to one kernel, transition table and policy.

use crate::digest::{HEX_LEN, digest};
use crate::facts::ConversationFold;
use crate::format::{Header, bounded_number};
use crate::line_limits::LineLimits;
use crate::write::ResumePoint;
use orchestrion_files::FileKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

/// The format that this version writes and reads.
const FORMAT: &str = "orchestrion-snapshot/2";

/// The file of a snapshot. A crash of the machine may leave zero bytes instead of its content.
pub const SNAPSHOT_FILE: FileKind = FileKind {
    name: "a snapshot",
    is_start: |start| match start.split_first_chunk::<HEX_LEN>() {
        Some((digest, [b'\n', ..])) => digest.iter().all(u8::is_ascii_hexdigit),
        Some(_) | None => start.iter().all(|byte| *byte == 0),
    },
    last_line: None,
};

/// A conversation at one step of its journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    format: String,
    pub(crate) header: Header,
    /// The bytes of the journal up to the end of the step.
    #[serde(deserialize_with = "bounded_number")]
    pub journal_bytes: u64,
    pub(crate) point: ResumePoint,
    pub(crate) fold: ConversationFold,
}

/// Why a snapshot cannot be used. The journal must then be read from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The snapshot cannot be read from its storage.
    Unreadable(String),
    /// The snapshot is incomplete or was edited.
    Torn,
    /// The snapshot has another format.
    Malformed(String),
    /// The snapshot was taken with another kernel, policy, conversation or scenario.
    HeaderMismatch,
    /// The snapshot was taken of another journal, or the journal was shortened.
    JournalMismatch,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(
                f,
                "unreadable snapshot: expected a readable file, found an error: {error}; correct its permissions, or remove it"
            ),
            Self::Torn => f.write_str("torn snapshot: expected the digest of its content, found another"),
            Self::Malformed(reason) => {
                write!(f, "malformed snapshot: expected {FORMAT}, found an error: {reason}")
            }
            Self::HeaderMismatch => f.write_str(
                "snapshot mismatch: expected the kernel, the policy and the conversation of the journal, found others",
            ),
            Self::JournalMismatch => {
                f.write_str("snapshot mismatch: expected its chain in the journal, found another")
            }
        }
    }
}

impl std::error::Error for SnapshotError {}

impl Snapshot {
    pub(crate) fn new(
        header: Header,
        journal_bytes: u64,
        point: ResumePoint,
        fold: ConversationFold,
    ) -> Self {
        Self { format: FORMAT.to_owned(), header, journal_bytes, point, fold }
    }

    /// Encodes the snapshot.
    ///
    /// # Errors
    /// A value cannot be serialized.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        let mut bytes = digest(&body).into_bytes();
        bytes.push(b'\n');
        bytes.extend(body);
        Ok(bytes)
    }

    /// Decodes a snapshot of a conversation with this header.
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn decode(bytes: &[u8], header: &Header) -> Result<Self, SnapshotError> {
        let line_end = bytes.iter().position(|byte| *byte == b'\n').ok_or(SnapshotError::Torn)?;
        let (found, body) = (&bytes[..line_end], &bytes[line_end + 1..]);
        if found != digest(body).as_bytes() {
            return Err(SnapshotError::Torn);
        }
        LineLimits::STATE
            .check_values(body, 0)
            .map_err(|error| SnapshotError::Malformed(error.to_string()))?;
        let snapshot: Self =
            serde_json::from_slice(body).map_err(|error| SnapshotError::Malformed(error.to_string()))?;
        if snapshot.format != FORMAT {
            return Err(SnapshotError::Malformed(format!("format {}", snapshot.format)));
        }
        if snapshot.header != *header {
            return Err(SnapshotError::HeaderMismatch);
        }
        Ok(snapshot)
    }

    /// The last bytes of the journal before [`journal_bytes`](Self::journal_bytes).
    #[must_use]
    pub fn journal_end(&self) -> String {
        crate::chain::line_end(&self.point.chain)
    }

    /// Returns the state and facts at the step.
    #[must_use]
    pub fn into_fold(self) -> ConversationFold {
        self.fold
    }
}
