//! What is decided, reported, stored and audited of a request.

use crate::ids::{Revision, TaskId, Text, TraceId, UserId};
use crate::module::{ConclusionKind, Failure, Module, Ratings};
use crate::score::Score;
use alloc::vec::Vec;
use core::fmt;

/// The decision on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Decision {
    /// The revision that was decided on.
    pub revision: Revision,
    /// What was decided, and on which ground.
    pub label: DecisionLabel,
    /// The consensus that it rests on.
    pub score: Score,
    /// Security's objection to the revision decided on, if the policy names objections (finding F7).
    pub objection: Option<Score>,
}

/// What was decided, and on which ground (004 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DecisionLabel {
    /// PROCEED: the consensus reached the line above which nobody debates again.
    ConsensusReached,
    /// PROCEED: the passes are spent, or a repaired plan was cleared, and the consensus lies between the two lines
    /// (finding F8).
    ProceedBelowThreshold,
    /// REJECT: the consensus stayed too low.
    Rejected,
    /// VETO: Security found the plan unsafe.
    Vetoed,
}

impl DecisionLabel {
    /// Whether the plan may run.
    #[must_use]
    pub const fn is_proceed(self) -> bool {
        matches!(self, Self::ConsensusReached | Self::ProceedBelowThreshold)
    }
}

/// How one task of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TaskResult {
    /// The task.
    pub task: TaskId,
    /// How it ended.
    pub outcome: TaskOutcome,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TaskOutcome {
    /// With exit code 0.
    Succeeded,
    /// With another exit code.
    Exited(i32),
    /// Without a result.
    NoResult(Failure),
    /// It was not started: an earlier one failed.
    NotRun,
}

/// As what a request ends, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Conclusion {
    /// As what.
    pub kind: ConclusionKind,
    /// Why.
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
    /// A module that cannot be done without gave no answer.
    CallFailed(Module, Failure),
    /// Security vetoed the plan.
    Vetoed,
    /// The consensus stayed too low.
    Rejected,
    /// The Critic found no repair.
    NoRepair,
    /// The policy allows no further repair.
    RepairsExhausted,
    /// The repaired plan was not cleared.
    RepairRejected,
    /// The approver said no.
    NotApproved,
    /// The user cancelled.
    Cancelled,
}

/// What the stores keep of a request, under its trace id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MemoryRecord {
    /// The request; storing twice under one trace id is storing once.
    pub trace: TraceId,
    /// Its kind; always an outcome where the policy does not type kinds (finding F13).
    pub kind: ConclusionKind,
    /// What the user will read: the outputs of an outcome, or else as what and why the request ended.
    pub text: Text,
    /// The ratings after the duels; without a decision they stay as they are.
    pub ratings: Option<Ratings>,
}

/// What the audit says of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AuditRecord {
    /// The request.
    pub trace: TraceId,
    /// Whose it was.
    pub user: UserId,
    /// As what and why it ended.
    pub conclusion: Conclusion,
    /// What was decided: on the plan, and again on each repaired plan that was cleared to run.
    pub decisions: Vec<Decision>,
    /// What the two stores hold.
    pub stores: StoreStatuses,
    /// The tasks that were started, the latest start last, and what became of their effects (finding F15).
    pub tasks: Vec<TaskRecord>,
}

/// What each store holds of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StoreStatuses {
    /// The local one.
    pub local: StoreStatus,
    /// The cloud.
    pub cloud: StoreStatus,
}

impl Default for StoreStatuses {
    fn default() -> Self {
        Self { local: StoreStatus::Missing, cloud: StoreStatus::Missing }
    }
}

/// What a store holds of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StoreStatus {
    /// The record.
    Held,
    /// Nothing: it was not asked, or said no.
    Missing,
    /// It was asked, and what came back does not tell: nothing in time, or nothing that makes sense.
    Unknown,
}

/// What became of one started task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TaskRecord {
    /// The task.
    pub task: TaskId,
    /// What became of its effect; nothing for a pure task, or where the policy keeps no ledger.
    pub effect: Option<EffectOutcome>,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EffectOutcome {
    /// It stands.
    Kept,
    /// Its compensation succeeded.
    Undone,
    /// Its compensation failed, or gave no answer.
    UndoFailed,
}

impl StoreStatus {
    /// What a store holds when the call to it ended so: a store that said no, or was not there, holds
    /// nothing; one that did not answer in time, made no sense or was lost in a crash may hold the record.
    #[must_use]
    pub const fn from_failure(failure: Failure) -> Self {
        match failure {
            Failure::Error | Failure::NoCandidates | Failure::OverBudget => Self::Missing,
            Failure::Timeout | Failure::Malformed | Failure::OutcomeUnknown => Self::Unknown,
        }
    }
}

impl fmt::Display for DecisionLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConsensusReached => "PROCEED, consensus reached",
            Self::ProceedBelowThreshold => "PROCEED below the line",
            Self::Rejected => "REJECT, consensus too low",
            Self::Vetoed => "VETO by Security",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "every task succeeded",
            Self::IdentityMismatch => "the identity locks do not match",
            Self::CallFailed(module, failure) => return write!(f, "no answer from the {module} ({failure})"),
            Self::Vetoed => "Security vetoed the plan",
            Self::Rejected => "the consensus stayed too low",
            Self::NoRepair => "the Critic found no repair",
            Self::RepairsExhausted => "no further repair is allowed",
            Self::RepairRejected => "the repaired plan was not cleared",
            Self::NotApproved => "the approver said no",
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
