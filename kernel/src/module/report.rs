//! What may be answered, or how an answer stays away.

use super::{Operation, PerRole};
use crate::ids::{ItemId, Text, TraceId};
use crate::plan::Plan;
use crate::score::Score;
use alloc::vec::Vec;
use core::fmt;

/// A module's answer, typed at the border.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Report {
    /// Answers [`Ask::VerifyIdentity`].
    Identity {
        /// The GCP lock matches.
        gcp: bool,
        /// The MongoDB lock matches.
        mongodb: bool,
    },
    /// Answers [`Ask::LoadContext`].
    Context {
        /// The ratings that each role has earned so far.
        ratings: Ratings,
        /// What is remembered of earlier requests.
        traces: Vec<PastRequest>,
    },
    /// Answers [`Ask::Summarize`].
    Summary {
        /// What the new item says.
        text: Text,
        /// The items that it stands for from now on: one at least, and only such as were shown. Left out: all that were.
        forgets: Option<Vec<ItemId>>,
    },
    /// Answers [`Ask::Classify`].
    Classification {
        /// The tags, in the classifier's order.
        tags: Vec<Text>,
        /// The cosine similarity of the nearest past request.
        similarity: Score,
    },
    /// Answers [`Ask::DraftPlan`].
    Plan(Plan),
    /// Answers [`Ask::Argue`] and [`Ask::Reread`].
    Argument {
        /// For or against the plan, and how surely.
        argument: Argument,
        /// What was said.
        text: Text,
        /// A new revision of the plan; only Solution and the Optimizer may bring one.
        plan: Option<Plan>,
    },
    /// Answers [`Ask::Approve`].
    Approval {
        /// The plan may run.
        approved: bool,
        /// Why, or on which condition.
        text: Text,
    },
    /// Answers [`Ask::Diagnose`] with a repaired plan.
    Repaired {
        /// What went wrong.
        text: Text,
        /// The tasks that are to run now. A completed task that it does not name does not run again.
        plan: Plan,
    },
    /// Answers [`Ask::Diagnose`]: there is no repair.
    NoRepair {
        /// Why.
        text: Text,
    },
    /// Answers [`Ask::RunTask`] and [`Ask::UndoTask`].
    Exit {
        /// 0 is success (004 §2, "exit code ≠ 0").
        code: i32,
        /// What the task printed.
        text: Text,
    },
    /// Answers [`Ask::Remember`].
    Stored {
        /// Whether the store now holds the record.
        held: bool,
    },
    /// Answers [`Ask::DeliverAudit`].
    Delivered,
}

impl Report {
    /// Whether this kind of report answers that question.
    #[must_use]
    pub const fn is_reply_to(&self, ask: Operation) -> bool {
        match self {
            Self::Identity { .. } => matches!(ask, Operation::VerifyIdentity),
            Self::Context { .. } => matches!(ask, Operation::LoadContext),
            Self::Summary { .. } => matches!(ask, Operation::Summarize),
            Self::Classification { .. } => matches!(ask, Operation::Classify),
            Self::Plan(_) => matches!(ask, Operation::DraftPlan),
            Self::Argument { plan: None, .. } => ask.argued_by().is_some(),
            Self::Argument { plan: Some(_), .. } => match ask {
                Operation::Argue(role) => role.revises_plan(),
                _ => false,
            },
            Self::Approval { .. } => matches!(ask, Operation::Approve),
            Self::Repaired { .. } | Self::NoRepair { .. } => matches!(ask, Operation::Diagnose),
            Self::Exit { .. } => matches!(ask, Operation::RunTask { .. } | Operation::UndoTask { .. }),
            Self::Stored { .. } => matches!(ask, Operation::StoreMemory { .. }),
            Self::Delivered => matches!(ask, Operation::DeliverAudit),
        }
    }

    /// The plan that the report brings, if it brings one.
    #[must_use]
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(plan) | Self::Argument { plan: Some(plan), .. } | Self::Repaired { plan, .. } => {
                Some(plan)
            }
            _ => None,
        }
    }

    /// What the report is, as a noun phrase.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Identity { .. } => "identity locks",
            Self::Context { .. } => "ratings and traces",
            Self::Summary { .. } => "a summary",
            Self::Classification { .. } => "tags",
            Self::Plan(_) => "a plan",
            Self::Argument { plan: None, .. } => "an argument",
            Self::Argument { plan: Some(_), .. } => "an argument with a new plan",
            Self::Approval { .. } => "an approval",
            Self::Repaired { .. } => "a repaired plan",
            Self::NoRepair { .. } => "a diagnosis without repair",
            Self::Exit { .. } => "a task result",
            Self::Stored { .. } => "a store's answer",
            Self::Delivered => "a receipt",
        }
    }
}

/// How a call ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Failure {
    /// The module said that it failed.
    Error,
    /// No answer came in time; whether anything happened is not known.
    Timeout,
    /// An answer came that the border could not type.
    Malformed,
    /// Nobody was there to be asked.
    NoCandidates,
    /// What the module must be shown does not fit its budget, so it was not asked.
    OverBudget,
    /// The runtime crashed while it waited, and cannot find out whether the call happened.
    OutcomeUnknown,
}

impl Failure {
    /// Every way to fail.
    pub const ALL: [Self; 6] = [
        Self::Error,
        Self::Timeout,
        Self::Malformed,
        Self::NoCandidates,
        Self::OverBudget,
        Self::OutcomeUnknown,
    ];
}

/// For or against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Stance {
    /// For the plan.
    Pro,
    /// Against the plan.
    Con,
}

/// What control keeps of an argument: its stance and its confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Argument {
    /// For or against.
    pub stance: Stance,
    /// How surely.
    pub confidence: Score,
}

impl Argument {
    /// Whether it is an objection of at least this confidence.
    #[must_use]
    pub fn is_objection_at_least(self, confidence: Score) -> bool {
        self.stance == Stance::Con && self.confidence >= confidence
    }
}

/// What a role has earned: its Elo rating in points, and its matches and how many of them it won.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rating {
    /// Elo points; everybody starts at 1200.
    pub elo: u32,
    /// Matches won.
    pub successes: u32,
    /// Matches played.
    pub matches: u32,
}

impl Rating {
    /// Where everybody starts.
    pub const START: Self = Self { elo: 1200, successes: 0, matches: 0 };
}

impl Default for Rating {
    fn default() -> Self {
        Self::START
    }
}

/// The ratings of the five roles.
pub type Ratings = PerRole<Rating>;

/// What memory knows of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PastRequest {
    /// The earlier request.
    pub trace: TraceId,
    /// What it was about and how it ended.
    pub text: Text,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Malformed => "malformed answer",
            Self::NoCandidates => "no candidates",
            Self::OverBudget => "over budget",
            Self::OutcomeUnknown => "fate unknown",
        })
    }
}

impl fmt::Display for Stance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pro => "PRO",
            Self::Con => "CON",
        })
    }
}
