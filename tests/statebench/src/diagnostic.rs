//! What is wrong in a file of timelines: where, what was expected, and what became of the rest.

use super::timeline::written;
use orchestrion_kernel::Timestamp;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::KnowledgeError;
use std::fmt;

/// Something that could not be read or written as it stands. Everything else of the file was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if the file could not be read at all.
    pub line: u64,
    /// What is wrong.
    pub kind: DiagnosticKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// The file could not be read, or not further.
    Io(String),
    /// The line is too long to be read.
    TooLong {
        /// How many bytes a line may have.
        most: usize,
    },
    /// The line is not UTF-8.
    NotText {
        /// The first byte that is none, from 1.
        byte: usize,
    },
    /// The line is no timeline.
    NotATimeline(String),
    /// One part of it is none.
    NotAPart {
        /// Which, as it is counted from 1.
        part: String,
        /// Why.
        why: String,
    },
    /// There is no line in the file.
    Empty,
    /// One write does not fit what is known.
    Write {
        /// What it is called.
        key: String,
        /// Why.
        why: WriteDiagnostic,
    },
}

/// Why a write is not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteDiagnostic {
    /// There is no such layer.
    UnknownLayer(String),
    /// Nobody writes to that layer.
    ReadOnlyLayer,
    /// There is no such scope.
    UnknownScope(String),
    /// There is no such kind of constraint.
    UnknownConstraint(String),
    /// There is no such field.
    UnknownField(String),
    /// There is no such memory.
    UnknownMemory(String),
    /// What it supersedes was not written before.
    SupersedesNothing(String),
    /// What superseded it is not there.
    SupersededByNothing(String),
    /// What it supersedes supersedes it in turn.
    Cyclic(String),
    /// What it rests on was not written before.
    RestsOnNothing(String),
    /// What is to rest on it was not written.
    DerivesNothing(String),
    /// What is to rest on it may not.
    CannotDerive(String),
    /// Its source may not write such a thing.
    Denied(Rank),
    /// It has expired already.
    Expired {
        /// When.
        at: Timestamp,
        /// What time it is.
        now: Timestamp,
    },
    /// It is to say what time it is, and does not.
    NoMoment(String),
    /// A field that says for whom it is, and that nobody here can read.
    UnreadRestriction(String),
    /// A field that only facts have.
    OfFactsOnly(&'static str),
    /// It says itself that it does not hold.
    Withdrawn,
    /// The kernel refuses it.
    Misuse(KnowledgeError),
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
            Self::Io(why) => write!(f, "cannot be read: {why}"),
            Self::TooLong { most } => {
                write!(f, "the line has more than {most} bytes; expected one timeline. It is left out")
            }
            Self::NotText { byte } => {
                write!(f, "byte {byte} of the line is not UTF-8; expected JSON. The line is left out")
            }
            Self::NotATimeline(why) => write!(f, "no timeline: {why}. The line is left out"),
            Self::NotAPart { part, why } => {
                write!(f, "{part} is none: {why}. It is left out, the rest of the line is not")
            }
            Self::Empty => f.write_str("it has no line; expected one timeline to a line"),
            Self::Write { key, why } => write!(f, "the write of `{key}`: {why}"),
        }
    }
}

impl fmt::Display for WriteDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLayer(layer) => write!(
                f,
                "unknown layer `{layer}`; expected persistent_facts, working_set or environment. It is left out"
            ),
            Self::ReadOnlyLayer => {
                f.write_str("the identity is set once, at the start, and only read then. It is left out")
            }
            Self::UnknownScope(scope) => write!(
                f,
                "unknown scope `{scope}`; expected global, session, task, hypothetical or draft. It is left out"
            ),
            Self::UnknownConstraint(kind) => write!(
                f,
                "unknown constraint `{kind}`; expected budget, deadline, capacity or policy. It is kept without"
            ),
            Self::UnknownField(field) => write!(
                f,
                "unknown field `{field}`; expected those of its layer (003). It is kept without"
            ),
            Self::UnknownMemory(memory) => write!(
                f,
                "unknown memory_type `{memory}`; expected user, capability or organizational. It is kept in that of its \
                 source"
            ),
            Self::SupersedesNothing(what) if what.is_empty() => f.write_str(
                "it supersedes what has no name; expected an id, a key, or null for nothing. It is kept, and supersedes \
                 nothing"
            ),
            Self::SupersedesNothing(what) => write!(
                f,
                "it supersedes `{what}`, but nothing of that id or key was written before. It is kept, and \
                 supersedes nothing"
            ),
            Self::SupersededByNothing(what) if what.is_empty() => f.write_str(
                "`` is to have superseded it, but nothing has no name; expected an id, a key, or null for nothing. It is kept \
                 as it is",
            ),
            Self::SupersededByNothing(what) => write!(
                f,
                "`{what}` is to have superseded it, but nothing has that id or key. It is kept, and told to nobody"
            ),
            Self::Cyclic(what) => write!(
                f,
                "it and `{what}` are to supersede each other; expected no circle. It is kept, and this link is not"
            ),
            Self::RestsOnNothing(what) => write!(
                f,
                "it rests on `{what}`, but nothing of that id or key was written before. It is kept, and rests on \
                 the others"
            ),
            Self::DerivesNothing(what) => write!(
                f,
                "`{what}` is to rest on it, but nothing has that id or key. It is kept, and so are the others"
            ),
            Self::CannotDerive(what) => write!(
                f,
                "`{what}` is to rest on it, but it rests on `{what}`, or does not count where that does. It is kept, and so \
                 are the others"
            ),
            Self::Denied(rank) => write!(
                f,
                "a source of rank {rank} may not write it; expected a higher authority. It is kept, and shown to nobody"
            ),
            Self::Expired { at, now } => write!(
                f,
                "the write expired at {}, and it is {}; expected a later moment. It is left out",
                written(*at),
                written(*now)
            ),
            Self::NoMoment(text) => write!(
                f,
                "`{text}` is no moment; expected one such as 2025-11-25T12:00:00. It is told as it stands, and the \
                 clock stays"
            ),
            Self::UnreadRestriction(field) => write!(
                f,
                "its field `{field}` cannot be read; expected a tag in its text, such as [RESTRICTED: HR]. It is left out"
            ),
            Self::OfFactsOnly(field) => {
                write!(f, "only persistent_facts have the field `{field}`. It is kept without")
            }
            Self::Withdrawn => {
                f.write_str("it says of itself that it does not hold; expected what does. It is left out")
            }
            Self::Misuse(misuse) => write!(f, "{misuse}. It is left out"),
        }
    }
}

impl std::error::Error for Diagnostic {}
