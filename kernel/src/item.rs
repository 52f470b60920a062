//! What the semantic state is made of (000 §2.1): facts, constraints and subtasks, each a text under an id.

mod layer;
mod topic;

pub use layer::{
    Audience, FactRecord, FactSource, Identity, Layer, MemoryType, Rank, Scope, SupersessionRule, Validity,
};
pub use topic::Topic;

use crate::ids::{ItemId, RequestId, TaskId, Text, TraceId, UserId};
use crate::module::Role;
use crate::situation::SummaryField;
use core::fmt;

/// An element of `Item` (000 §2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Item {
    /// Its identifier, `id(x)`.
    pub id: ItemId,
    /// Fact, constraint or subtask.
    pub kind: ItemKind,
    /// What it speaks of. Facts may share a key; of these at most one in each scope is current.
    pub key: ItemKey,
    /// What it says.
    pub text: Text,
    /// Where it belongs (003).
    pub layer: Layer,
    /// Whether it is to be believed (003 `is_valid`, `superseded_by`, `needs_review`).
    pub validity: Validity,
}

impl Item {
    /// An item that a request of this user leaves.
    #[must_use]
    pub const fn from_request(user: UserId, id: ItemId, variant: ItemKind, key: ItemKey, text: Text) -> Self {
        Self { id, kind: variant, key, text, layer: Layer::Request { user }, validity: Validity::Current }
    }

    /// The user whose request left it; nobody's did of other items.
    #[must_use]
    pub const fn user(&self) -> Option<&UserId> {
        match &self.layer {
            Layer::Request { user } => Some(user),
            _ => None,
        }
    }

    /// What stands in the schema of a persistent fact beside the text; nothing for other items.
    #[must_use]
    pub fn fact(&self) -> Option<&FactRecord> {
        match &self.layer {
            Layer::Fact(record) => Some(record),
            _ => None,
        }
    }

    /// The names that it speaks of: a fact of its own, a summary of facts of those that it stands for.
    pub fn covered_keys(&self) -> impl Iterator<Item = &Text> {
        let own = match &self.key {
            ItemKey::Fact(name) => Some(name),
            _ => None,
        };
        own.into_iter().chain(self.fact().into_iter().flat_map(|fact| &fact.summarized_keys))
    }

    /// Whether in its narrower scope it says all that a fact, or a summary of facts, says in a wider one.
    #[must_use]
    pub fn shadows(&self, wider: &Self) -> bool {
        let both = self.fact().zip(wider.fact());
        both.is_some_and(|(fact, other)| fact.can_shadow(other))
            && wider.covered_keys().next().is_some()
            && wider.covered_keys().all(|name| self.covered_keys().any(|own| own == name))
    }

    /// Whether it outlives the session (003 layers 2 and 4); the others are its working set (layer 3), and who speaks in it
    /// (layer 1).
    #[must_use]
    pub fn persists(&self) -> bool {
        self.key.persists()
            && match &self.layer {
                Layer::Fact(fact) => fact.scope != Scope::Session,
                Layer::Working { .. } => false,
                _ => true,
            }
    }

    /// Whether it was not superseded (003 `is_valid`).
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self.validity, Validity::Current | Validity::NeedsReview)
    }
}

/// Which summand of `Item` an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ItemKind {
    /// Something known.
    Fact,
    /// Something to be kept to, and of which kind, if that was said (003 `constraint_type`).
    Constraint(Option<ConstraintType>),
    /// Something to be done, and how far it is.
    Subtask(SubtaskStatus),
}

/// What a constraint limits (003 `constraint_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ConstraintType {
    /// What may be spent.
    Budget,
    /// By when.
    Deadline,
    /// How much there is room for.
    Capacity,
    /// What is allowed.
    Policy,
}

/// How far a subtask is (000 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SubtaskStatus {
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
pub enum ItemKey {
    /// What the user asked for.
    Request(RequestId),
    /// What the user was answered.
    FinalAnswer(RequestId),
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
    /// Who speaks (003 layer 1).
    Identity,
    /// Whatever a fact was called when it was written (003 layer 2).
    Fact(Text),
    /// Whatever an item of the working set was called (003 layer 3).
    Working(Text),
    /// Whatever a signal from outside was called (003 layer 4).
    Environment(Text),
    /// What time it is (003 layer 4).
    Clock,
    /// What several items said that were forgotten (000 §6). Several items have this key.
    Summary,
    /// What a module said last of where things stand (002 `situation_summary`).
    Situation(SummaryField),
}

impl ItemKey {
    /// The request that left the item.
    #[must_use]
    pub const fn request(&self) -> Option<RequestId> {
        match self {
            Self::Request(request)
            | Self::FinalAnswer(request)
            | Self::Tags(request)
            | Self::Task(request, _)
            | Self::Output(request, _)
            | Self::Argument(request, _)
            | Self::Diagnosis(request)
            | Self::Approval(request) => Some(*request),
            _ => None,
        }
    }

    /// Whether items with such a key outlive the session; see [`Item::persists`].
    #[must_use]
    pub const fn persists(&self) -> bool {
        matches!(
            self,
            Self::Request(_)
                | Self::FinalAnswer(_)
                | Self::Fact(_)
                | Self::Environment(_)
                | Self::Clock
                | Self::Summary
        )
    }
}

impl fmt::Display for ConstraintType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Capacity => "capacity",
            Self::Policy => "policy",
        })
    }
}

impl fmt::Display for SubtaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unassigned => "unassigned",
            Self::InProgress => "in progress",
            Self::Done => "done",
            Self::Failed => "failed",
        })
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(r) => write!(f, "request {r}"),
            Self::FinalAnswer(r) => write!(f, "answer to request {r}"),
            Self::Trace(trace) => write!(f, "past trace {trace}"),
            Self::Tags(r) => write!(f, "tags of request {r}"),
            Self::Task(r, task) => write!(f, "task {task} of request {r}"),
            Self::Output(r, task) => write!(f, "output of task {task} of request {r}"),
            Self::Argument(r, role) => write!(f, "{role} on request {r}"),
            Self::Diagnosis(r) => write!(f, "diagnosis of request {r}"),
            Self::Approval(r) => write!(f, "approval of request {r}"),
            Self::Identity => f.write_str("identity"),
            Self::Fact(name) => write!(f, "fact {name}"),
            Self::Working(name) => write!(f, "working item {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Clock => f.write_str("clock"),
            Self::Summary => f.write_str("summary"),
            Self::Situation(field) => write!(f, "situation {field}"),
        }
    }
}
