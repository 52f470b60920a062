//! Items of the semantic state (000 §2.1): facts, constraints and subtasks.

mod layer;
mod line_bytes;
mod topic;

pub use layer::{
    Audience, Derivation, FactRecord, FactSource, Identity, Layer, MemoryType, Rank, Scope, SupersessionRule,
    Validity,
};
pub use topic::Topic;

use crate::ids::{ItemId, RequestId, TaskId, Text, TraceId, UserId};
use crate::module::Role;
use crate::situation::SummaryField;
use core::fmt;

/// An item (000 §2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Item {
    /// The id, `id(x)`.
    pub id: ItemId,
    /// Fact, constraint or subtask.
    pub kind: ItemKind,
    /// The key. Facts may share a key; at most one of them per scope is current.
    pub key: ItemKey,
    /// The content.
    pub text: Text,
    /// The context layer (003).
    pub layer: Layer,
    /// The validity (003 `is_valid`, `superseded_by`, `needs_review`).
    pub validity: Validity,
}

impl Item {
    /// Creates an item of a request of this user, in the global scope.
    #[must_use]
    pub const fn from_request(user: UserId, id: ItemId, kind: ItemKind, key: ItemKey, text: Text) -> Self {
        let layer = Layer::Request { user, scope: Scope::Global };
        Self { id, kind, key, text, layer, validity: Validity::Current }
    }

    /// Returns the scope in which the item is readable.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        match &self.layer {
            Layer::Fact(fact) => &fact.scope,
            Layer::Request { scope, .. } => scope,
            Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => &Scope::Global,
        }
    }

    /// Returns the user whose request created the item; `None` for items of other layers.
    #[must_use]
    pub const fn user(&self) -> Option<&UserId> {
        match &self.layer {
            Layer::Request { user, .. } => Some(user),
            _ => None,
        }
    }

    /// Returns the fact record; `None` for items of other layers.
    #[must_use]
    pub fn fact(&self) -> Option<&FactRecord> {
        match &self.layer {
            Layer::Fact(record) => Some(record),
            _ => None,
        }
    }

    /// Returns the fact keys that the item covers: a fact its own and those that it took from summaries, a summary those that it
    /// summarizes.
    pub fn covered_keys(&self) -> impl Iterator<Item = &Text> {
        self.key.fact().into_iter().chain(self.fact().into_iter().flat_map(|fact| &fact.summarized_keys))
    }

    /// Returns whether it shadows an item of a wider scope: it covers the key of that fact, or all keys of that summary, and its
    /// fact can shadow the other.
    #[must_use]
    pub fn can_shadow(&self, wider: &Self) -> bool {
        let both = self.fact().zip(wider.fact());
        let covers = |key: &Text| self.covered_keys().any(|own| own == key);
        both.is_some_and(|(fact, other)| fact.can_shadow(other))
            && match wider.key.fact() {
                Some(key) => covers(key),
                None => wider.covered_keys().next().is_some() && wider.covered_keys().all(covers),
            }
    }

    /// Returns whether the item persists after the session (003 layers 2 and 4). The others are the identity (layer 1) and the
    /// working set (layer 3).
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        self.key.is_persistent()
            && match &self.layer {
                Layer::Fact(fact) => fact.scope != Scope::Session,
                Layer::Working { .. } => false,
                Layer::Request { .. } | Layer::Identity(_) | Layer::Environment => true,
            }
    }

    /// Returns whether the item belongs to the session: it ends with it, and is not the identity.
    #[must_use]
    pub fn is_session_item(&self) -> bool {
        !self.is_persistent() && !matches!(self.layer, Layer::Identity(_))
    }

    /// Returns whether it is current or needs review (003 `is_valid`).
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self.validity, Validity::Current | Validity::NeedsReview)
    }

    /// Whether the item is a persistent fact that needs review.
    #[must_use]
    pub(crate) fn is_fact_in_review(&self) -> bool {
        self.validity == Validity::NeedsReview && matches!(self.layer, Layer::Fact(_))
    }
}

/// The kind of an item: the summands of 000's `Item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ItemKind {
    /// A fact.
    Fact,
    /// A constraint, with its type if known (003 `constraint_type`).
    Constraint(Option<ConstraintType>),
    /// A subtask, with its status.
    Subtask(SubtaskStatus),
}

/// The type of a constraint (003 `constraint_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ConstraintType {
    /// A budget.
    Budget,
    /// A deadline.
    Deadline,
    /// A capacity.
    Capacity,
    /// A policy.
    Policy,
}

/// The status of a subtask (000 §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SubtaskStatus {
    /// Planned, not started.
    Unassigned,
    /// Running.
    InProgress,
    /// Ended with exit code 0.
    Done,
    /// Ended otherwise, or undone.
    Failed,
}

/// The key of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ItemKey {
    /// The user's message.
    Request(RequestId),
    /// The final answer.
    FinalAnswer(RequestId),
    /// A past request from memory.
    Trace(TraceId),
    /// The classifier's tags.
    Tags(RequestId),
    /// A task of the plan.
    Task(RequestId, TaskId),
    /// The output of a task.
    Output(RequestId, TaskId),
    /// A role's latest argument.
    Argument(RequestId, Role),
    /// The latest argument of the additional debater with this name.
    AdditionalArgument(RequestId, Text),
    /// The Critic's latest diagnosis.
    Diagnosis(RequestId),
    /// The approver's latest reply.
    Approval(RequestId),
    /// The aggregate of the results of the plan's members (decision 0042).
    Aggregate(RequestId),
    /// The identity of the session user (003 layer 1).
    Identity,
    /// A fact with this key (003 layer 2).
    Fact(Text),
    /// A working item with this key (003 layer 3).
    Working(Text),
    /// A signal with this key (003 layer 4).
    Environment(Text),
    /// A summary of forgotten items (000 §6). Several items may have this key.
    Summary,
    /// A field of the situation summary (002 `situation_summary`).
    Situation(SummaryField),
}

impl ItemKey {
    /// Returns the key of a fact.
    #[must_use]
    pub const fn fact(&self) -> Option<&Text> {
        if let Self::Fact(key) = self { Some(key) } else { None }
    }

    /// Returns the request that created the item.
    #[must_use]
    pub const fn request(&self) -> Option<RequestId> {
        match self {
            Self::Request(request)
            | Self::FinalAnswer(request)
            | Self::Tags(request)
            | Self::Task(request, _)
            | Self::Output(request, _)
            | Self::Argument(request, _)
            | Self::AdditionalArgument(request, _)
            | Self::Diagnosis(request)
            | Self::Approval(request)
            | Self::Aggregate(request) => Some(*request),
            Self::Trace(_)
            | Self::Identity
            | Self::Fact(_)
            | Self::Working(_)
            | Self::Environment(_)
            | Self::Summary
            | Self::Situation(_) => None,
        }
    }

    /// Returns whether items with this key can persist after the session; see [`Item::is_persistent`].
    #[must_use]
    pub const fn is_persistent(&self) -> bool {
        matches!(
            self,
            Self::Request(_) | Self::FinalAnswer(_) | Self::Fact(_) | Self::Environment(_) | Self::Summary
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
            Self::FinalAnswer(r) => write!(f, "final answer to request {r}"),
            Self::Trace(trace) => write!(f, "past trace {trace}"),
            Self::Tags(r) => write!(f, "tags of request {r}"),
            Self::Task(r, task) => write!(f, "task {task} of request {r}"),
            Self::Output(r, task) => write!(f, "output of task {task} of request {r}"),
            Self::Argument(r, role) => write!(f, "{role} on request {r}"),
            Self::AdditionalArgument(r, name) => write!(f, "{name} on request {r}"),
            Self::Diagnosis(r) => write!(f, "diagnosis of request {r}"),
            Self::Approval(r) => write!(f, "approval of request {r}"),
            Self::Aggregate(r) => write!(f, "aggregate of request {r}"),
            Self::Identity => f.write_str("identity"),
            Self::Fact(name) => write!(f, "fact {name}"),
            Self::Working(name) => write!(f, "working item {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Summary => f.write_str("summary"),
            Self::Situation(field) => write!(f, "situation {field}"),
        }
    }
}
