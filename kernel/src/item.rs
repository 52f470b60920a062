//! What the semantic state is made of (000 §2.1): facts, constraints and subtasks, each a text under an id.

use crate::ids::{ItemId, RequestId, TaskId, Text, TraceId};
use crate::module::Role;
use core::fmt;

/// An element of `Item` (000 §2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Item {
    /// Its identifier, `id(x)`.
    pub id: ItemId,
    /// Fact, constraint or subtask.
    pub variant: Variant,
    /// What it speaks of; at most one item of the state has a given key.
    pub key: Key,
    /// What it says.
    pub text: Text,
}

/// Which summand of `Item` an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Variant {
    /// Something known.
    Fact,
    /// Something to be kept to.
    Constraint,
    /// Something to be done, and how far it is.
    Subtask(Status),
}

/// How far a subtask is (000 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Status {
    /// Planned, not running.
    Unassigned,
    /// The executor has it.
    InProgress,
    /// It ended with exit code 0.
    Done,
    /// It ended otherwise, or was undone.
    Failed,
}

/// What an item speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Key {
    /// What the user asked for.
    Request(RequestId),
    /// What the user was answered.
    Answer(RequestId),
    /// What memory gave back of an earlier request.
    Trace(TraceId),
    /// How the classifier tagged the request.
    Tags(RequestId),
    /// A task of the plan.
    Task(RequestId, TaskId),
    /// What running the task gave.
    Output(RequestId, TaskId),
    /// A role's latest argument.
    Argument(RequestId, Role),
    /// The Critic's latest diagnosis.
    Diagnosis(RequestId),
    /// What the approver said last.
    Approval(RequestId),
}

impl Key {
    /// Whether such an item outlives the session (003 layer 2); the others are its working set (layer 3).
    #[must_use]
    pub const fn persists(&self) -> bool {
        matches!(self, Self::Request(_) | Self::Answer(_))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unassigned => "unassigned",
            Self::InProgress => "in progress",
            Self::Done => "done",
            Self::Failed => "failed",
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(r) => write!(f, "request {r}"),
            Self::Answer(r) => write!(f, "answer to request {r}"),
            Self::Trace(trace) => write!(f, "past trace {trace}"),
            Self::Tags(r) => write!(f, "tags of request {r}"),
            Self::Task(r, task) => write!(f, "task {task} of request {r}"),
            Self::Output(r, task) => write!(f, "output of task {task} of request {r}"),
            Self::Argument(r, role) => write!(f, "{role} on request {r}"),
            Self::Diagnosis(r) => write!(f, "diagnosis of request {r}"),
            Self::Approval(r) => write!(f, "approval of request {r}"),
        }
    }
}
