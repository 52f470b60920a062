//! What is wrong in a file of timelines: where, what was expected, and what became of the rest.

use orchestrion_kernel::knowledge::Misuse;
use std::fmt;

/// Something that could not be read or written as it stands. Everything else of the file was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if the file could not be read at all.
    pub line: u64,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
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
    /// One event is none.
    NotAnEvent {
        /// Which, from 1.
        event: usize,
        /// Why.
        why: String,
    },
    /// One write is none, or does not fit what is known.
    Write {
        /// What it is called.
        key: String,
        /// Why.
        why: Unfit,
    },
}

/// Why a write is not taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is no such layer.
    UnknownLayer(String),
    /// Nobody writes to that layer.
    ReadOnlyLayer,
    /// There is no such scope.
    UnknownScope(String),
    /// There is no such kind of constraint.
    UnknownConstraint(String),
    /// What it supersedes was not written before.
    SupersedesNothing(String),
    /// What superseded it is not there.
    SupersededByNothing(String),
    /// What it supersedes supersedes it in turn.
    Cyclic(String),
    /// What it rests on was not written before.
    RestsOnNothing(String),
    /// It is to say what time it is, and does not.
    NoMoment(String),
    /// Only what is in the working set expires.
    DoesNotExpire,
    /// The kernel refuses it.
    Misuse(Misuse),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.kind)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.kind)
        }
    }
}

impl fmt::Display for FaultKind {
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
            Self::NotAnEvent { event, why } => {
                write!(f, "event {event} is none: {why}. It is left out, the rest of the line is not")
            }
            Self::Write { key, why } => write!(f, "the write of `{key}`: {why}"),
        }
    }
}

impl fmt::Display for Unfit {
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
            Self::SupersedesNothing(what) => write!(
                f,
                "it supersedes `{what}`, but nothing of that id or key was written before. It is kept, and \
                 supersedes nothing"
            ),
            Self::SupersededByNothing(what) => {
                write!(
                    f,
                    "`{what}` is to have superseded it, but nothing has that id or key. It is kept as it is"
                )
            }
            Self::Cyclic(what) => write!(
                f,
                "it and `{what}` are to supersede each other; expected no circle. It is kept, and this link is not"
            ),
            Self::RestsOnNothing(what) => write!(
                f,
                "it rests on `{what}`, but nothing of that id or key was written before. It is kept, and rests on \
                 the others"
            ),
            Self::NoMoment(text) => write!(
                f,
                "`{text}` is no moment; expected one such as 2025-11-25T12:00:00. It is told as it stands, and the \
                 clock stays"
            ),
            Self::DoesNotExpire => {
                f.write_str("only what is in the working set expires. It is kept, and does not")
            }
            Self::Misuse(misuse) => write!(f, "{misuse}. It is left out"),
        }
    }
}

impl std::error::Error for Fault {}
