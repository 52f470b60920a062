//! Records in events: decisions, task results, conclusions, memory and audit records.

use crate::ids::{Revision, TaskId, Text, TraceId, UserId};
use crate::item::Scope;
use crate::module::{ConclusionKind, Failure, Module, Ratings};
use crate::score::Score;
use alloc::vec::Vec;
use core::fmt;

/// The decision on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Decision {
    /// The decided revision.
    pub revision: Revision,
    /// Decision and reason.
    pub label: DecisionLabel,
    /// The consensus.
    pub score: Score,
    /// The confidence of Security's objection to this revision, if the policy enables `named_objections` (finding F7).
    pub objection: Option<Score>,
}

/// A decision with its reason (004 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DecisionLabel {
    /// PROCEED: the consensus reached `redebate_below`.
    ConsensusReached,
    /// PROCEED: no pass is left, or a reviewed plan was cleared, and the consensus is between `proceed_from` and
    /// `redebate_below` (finding F8).
    ProceedBelowThreshold,
    /// REJECT: the consensus is below `proceed_from`.
    Rejected,
    /// VETO: Security vetoed the plan.
    Vetoed,
    /// OUTDATED: a fact that the request can read was superseded since Security's latest review (finding F18).
    Outdated,
}

impl DecisionLabel {
    /// Returns whether the plan may run.
    #[must_use]
    pub const fn is_proceed(self) -> bool {
        matches!(self, Self::ConsensusReached | Self::ProceedBelowThreshold)
    }
}

/// The result of one task of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TaskResult {
    /// The task.
    pub task: TaskId,
    /// Its outcome.
    pub outcome: TaskOutcome,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TaskOutcome {
    /// Exit code 0.
    Succeeded,
    /// Another exit code.
    Exited(i32),
    /// The call failed.
    NoResult(Failure),
    /// Not started, because a task that it depends on failed, or the run stopped before.
    NotRun,
}

impl TaskOutcome {
    /// Returns the outcome of a task that ended with this exit code.
    #[must_use]
    pub const fn from_exit_code(code: i32) -> Self {
        match code {
            0 => Self::Succeeded,
            code => Self::Exited(code),
        }
    }
}

/// The conclusion of a request: kind and cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Conclusion {
    /// The kind.
    pub kind: ConclusionKind,
    /// The cause.
    pub cause: Cause,
}

/// Why a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Cause {
    /// Every task succeeded.
    Completed,
    /// An identity lock does not match.
    IdentityMismatch,
    /// The call of a required module failed.
    CallFailed(Module, Failure),
    /// Security vetoed the plan.
    Vetoed,
    /// The consensus is too low.
    Rejected,
    /// The Critic found no repair.
    NoRepair,
    /// The policy allows no further repair.
    RepairsExhausted,
    /// The repaired or outdated plan was not cleared.
    PlanNotCleared,
    /// The approver rejected the plan.
    NotApproved,
    /// Facts of the plan changed before it ran or while it ran.
    PlanOutdated,
    /// The user cancelled.
    Cancelled,
}

/// The record of a request in the stores, keyed by its trace id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MemoryRecord {
    /// The trace id; storing is idempotent per trace id.
    pub trace: TraceId,
    /// The kind; always `Outcome` unless the policy enables `typed_kinds` (finding F13).
    pub kind: ConclusionKind,
    /// The final answer: the outputs of an outcome, else kind and cause of the conclusion.
    pub text: Text,
    /// The scope of the request. A module that returns the request later returns it with its scope.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Scope::is_global"))]
    pub scope: Scope,
    /// The ratings after the duels; `None` without a decision.
    pub ratings: Option<Ratings>,
}

/// The audit record of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AuditRecord {
    /// The request.
    pub trace: TraceId,
    /// The user.
    pub user: UserId,
    /// The conclusion.
    pub conclusion: Conclusion,
    /// The decisions on the plan and on each repaired plan.
    pub decisions: Vec<Decision>,
    /// The status of both stores.
    pub stores: StoreStatuses,
    /// The started tasks, latest start last, with the outcomes of their effects (finding F15).
    pub tasks: Vec<TaskRecord>,
}

/// The record status of each store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StoreStatuses {
    /// The local store.
    pub local: StoreStatus,
    /// The cloud store.
    pub cloud: StoreStatus,
}

impl Default for StoreStatuses {
    fn default() -> Self {
        Self { local: StoreStatus::Missing, cloud: StoreStatus::Missing }
    }
}

/// Whether a store holds the record of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StoreStatus {
    /// It holds the record.
    Held,
    /// It does not hold the record: it was not called, or refused.
    Missing,
    /// Unknown: it was called, and did not reply in time or not intelligibly.
    Unknown,
}

/// A started task in the audit record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TaskRecord {
    /// The task.
    pub task: TaskId,
    /// The outcome of its effect; `None` for a pure task, and unless the policy enables `effects_ledger`.
    pub effect: Option<EffectOutcome>,
}

/// The outcome of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EffectOutcome {
    /// It persists.
    Kept,
    /// Its compensation succeeded.
    Undone,
    /// Its compensation failed, or its call failed.
    UndoFailed,
}

impl StoreStatus {
    /// Returns the status after a failed call: `Missing` if the store certainly did not store the record, else `Unknown`.
    #[must_use]
    pub const fn from_failure(failure: Failure) -> Self {
        match failure {
            Failure::Error | Failure::NoCandidates | Failure::OverBudget | Failure::Forbidden => {
                Self::Missing
            }
            Failure::Timeout | Failure::Malformed | Failure::OutcomeUnknown => Self::Unknown,
        }
    }
}

impl fmt::Display for DecisionLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConsensusReached => "PROCEED, consensus reached",
            Self::ProceedBelowThreshold => "PROCEED below the threshold",
            Self::Rejected => "REJECT, consensus too low",
            Self::Vetoed => "VETO by Security",
            Self::Outdated => "OUTDATED, facts changed since Security's review",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "every task succeeded",
            Self::IdentityMismatch => "the identity locks do not match",
            Self::CallFailed(module, failure) => {
                return write!(f, "the call to the {module} failed ({failure})");
            }
            Self::Vetoed => "Security vetoed the plan",
            Self::Rejected => "the consensus is too low",
            Self::NoRepair => "the Critic found no repair",
            Self::RepairsExhausted => "no further repair is allowed",
            Self::PlanNotCleared => "the reviewed plan was not cleared",
            Self::NotApproved => "the approver rejected the plan",
            Self::PlanOutdated => "facts changed since Security reviewed the plan",
            Self::Cancelled => "the user cancelled",
        })
    }
}

impl fmt::Display for StoreStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        })
    }
}

impl fmt::Display for EffectOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Undone => "undone",
            Self::UndoFailed => "undo failed",
        })
    }
}
