//! Problems in a file of timelines. The rest of the file is read and scored.

use crate::time;
use orchestrion_ingest::IngestDiagnostic;
use std::fmt;

/// A problem with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u64,
    /// The problem.
    pub kind: DiagnosticKind,
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// The file, or its rest, is unreadable.
    Io(String),
    /// The line is too long.
    TooLong {
        /// The maximum length in bytes.
        bytes_max: usize,
    },
    /// The line is not UTF-8.
    NotUtf8 {
        /// The first invalid byte, from 1.
        byte: usize,
    },
    /// The line is no timeline.
    InvalidTimeline(String),
    /// A part of the timeline is invalid.
    InvalidPart {
        /// The part, with its number from 1.
        part: String,
        /// The problem.
        problem: String,
    },
    /// The file has no line.
    Empty,
    /// A write is accepted in part or not at all.
    Write {
        /// The key.
        key: String,
        /// The problem.
        problem: WriteDiagnostic,
    },
}

/// A problem of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteDiagnostic {
    /// The layer is unknown.
    UnknownLayer(String),
    /// The identity is set once, by the initial state.
    ReadOnlyLayer,
    /// The scope is unknown.
    UnknownScope(String),
    /// The kind of constraint is unknown.
    UnknownConstraint(String),
    /// The field is unknown.
    UnknownField(String),
    /// The memory type is unknown.
    UnknownMemoryType(String),
    /// The clock has no valid time.
    InvalidTime(String),
    /// An unknown field suggests a restriction.
    UnreadableRestriction(String),
    /// Only facts have the field.
    FactField(&'static str),
    /// A problem that ingestion reports.
    Ingest(IngestDiagnostic),
}

impl From<IngestDiagnostic> for WriteDiagnostic {
    fn from(diagnostic: IngestDiagnostic) -> Self {
        Self::Ingest(diagnostic)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.kind)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.kind)
        }
    }
}

impl fmt::Display for DiagnosticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(problem) => write!(f, "cannot read file: {problem}"),
            Self::TooLong { bytes_max } => {
                write!(f, "line too long: expected at most {bytes_max} bytes; it is omitted")
            }
            Self::NotUtf8 { byte } => {
                write!(
                    f,
                    "invalid encoding: expected UTF-8, found another byte at {byte}; the line is omitted"
                )
            }
            Self::InvalidTimeline(problem) => write!(f, "invalid timeline: {problem}; the line is omitted"),
            Self::InvalidPart { part, problem } => {
                write!(f, "invalid {part}: {problem}; only this part is omitted")
            }
            Self::Empty => f.write_str("empty file: expected one timeline per line"),
            Self::Write { key, problem } => write!(f, "write of `{key}`: {problem}"),
        }
    }
}

impl fmt::Display for WriteDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLayer(layer) => write!(
                f,
                "unknown layer: expected persistent_facts, working_set or environment, found `{layer}`; it is omitted"
            ),
            Self::ReadOnlyLayer => {
                f.write_str("read-only layer: only the initial state sets the identity; it is omitted")
            }
            Self::UnknownScope(scope) => write!(
                f,
                "unknown scope: expected global, session, task, hypothetical or draft, found `{scope}`; it is omitted"
            ),
            Self::UnknownConstraint(kind) => write!(
                f,
                "unknown constraint: expected budget, deadline, capacity or policy, found `{kind}`; it is kept without a kind"
            ),
            Self::UnknownField(field) => {
                write!(f, "unknown field: expected a field of its layer (003), found `{field}`; it is kept")
            }
            Self::UnknownMemoryType(memory) => write!(
                f,
                "unknown memory_type: expected user, capability or organizational, found `{memory}`; it has that of its source"
            ),
            Self::InvalidTime(text) => write!(
                f,
                "invalid time: expected one from 1970 on, such as 2025-11-25T12:00:00, found `{text}`; the clock is unchanged"
            ),
            Self::UnreadableRestriction(field) => write!(
                f,
                "unreadable restriction: expected a tag such as [RESTRICTED: HR], found the field `{field}`; it is omitted"
            ),
            Self::FactField(field) => {
                write!(
                    f,
                    "field of another layer: only persistent_facts have the field `{field}`; it is kept"
                )
            }
            Self::Ingest(IngestDiagnostic::Expired { at, now }) => {
                let (at, now) = (time::format(*at), time::format(*now));
                write!(f, "expired: expected a time after {now}, found {at}; it is omitted")
            }
            Self::Ingest(diagnostic) => diagnostic.fmt(f),
        }
    }
}

impl std::error::Error for Diagnostic {}
