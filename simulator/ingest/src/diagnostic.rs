//! Problems of inputs that a session accepts in part or not at all.

use orchestrion_kernel::Timestamp;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::KnowledgeError;
use std::fmt;

/// A problem of an input. Other inputs are unaffected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IngestDiagnostic {
    /// `supersedes` names no earlier fact. The fact is kept without it.
    UnknownSuperseded(String),
    /// `superseded_by` names no fact. The fact is kept as invalid.
    UnknownSuccessor(String),
    /// The fact and this one supersede each other. The fact is kept without the reference.
    SupersessionCycle(String),
    /// `depends_on` names no earlier fact. The fact is kept without it.
    UnknownDependency(String),
    /// `derived_facts` names no fact. The fact is kept without it.
    UnknownDependent(String),
    /// The named dependent is a dependency, or has a wider scope. The fact is kept without it.
    InvalidDependent(String),
    /// The source has no permission for the write. The fact is kept as denied.
    Denied(Rank),
    /// The input is expired. It is omitted.
    Expired {
        /// The time of expiry.
        at: Timestamp,
        /// The current time.
        now: Timestamp,
    },
    /// The input is invalid by its own record, and would replace a valid one. It is omitted.
    Withdrawn,
    /// The kernel refuses the write. It is omitted.
    Refused(KnowledgeError),
}

impl fmt::Display for IngestDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSuperseded(name) => write!(
                f,
                "unknown superseded fact: expected the id or key of an earlier fact, found `{name}`; it supersedes nothing"
            ),
            Self::UnknownSuccessor(name) if name.is_empty() => f.write_str(
                "unknown successor: expected the id or key of a fact, found ``; it is kept unchanged",
            ),
            Self::UnknownSuccessor(name) => write!(
                f,
                "unknown successor: expected the id or key of a fact, found `{name}`; it is kept as invalid"
            ),
            Self::SupersessionCycle(name) => write!(
                f,
                "supersession cycle: it and `{name}` supersede each other; it is kept without this reference"
            ),
            Self::UnknownDependency(name) => write!(
                f,
                "unknown dependency: expected the id or key of an earlier fact, found `{name}`; it is kept without this one"
            ),
            Self::UnknownDependent(name) => write!(
                f,
                "unknown derived fact: expected the id or key of a fact, found `{name}`; it is kept without this one"
            ),
            Self::InvalidDependent(name) => write!(
                f,
                "invalid derived fact: `{name}` is a dependency or has a wider scope; it is kept without this one"
            ),
            Self::Denied(rank) => write!(
                f,
                "permission denied: expected a higher rank, found {rank}; it is kept without readers"
            ),
            Self::Expired { at, now } => {
                write!(f, "expired: expected a time after {now}, found {at}; it is omitted")
            }
            Self::Withdrawn => {
                f.write_str("invalid record: it is invalid or superseded by its own fields; it is omitted")
            }
            Self::Refused(error) => write!(f, "{error}; it is omitted"),
        }
    }
}

impl std::error::Error for IngestDiagnostic {}
