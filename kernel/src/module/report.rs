//! Replies of modules, and failures of calls.

use super::{Operation, PerRole};
use crate::ids::{ItemId, Text, TraceId};
use crate::item::Scope;
use crate::network::Millionths;
use crate::plan::Plan;
use crate::score::Score;
use alloc::vec::Vec;
use core::fmt;

/// The typed payload of a module's reply. The boundary parses it from text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Report {
    /// Reply to [`Operation::VerifyIdentity`].
    Identity {
        /// The GCP lock matches.
        gcp: bool,
        /// The MongoDB lock matches.
        mongodb: bool,
    },
    /// Reply to [`Operation::LoadContext`].
    Context {
        /// The roles' ratings.
        ratings: Ratings,
        /// The past requests.
        traces: Vec<PastRequest>,
    },
    /// Reply to [`Operation::Summarize`].
    Summary {
        /// The text of the summary.
        text: Text,
        /// The summarized items, which are forgotten: at least one, and only items of the cluster. `None`: the whole cluster.
        forgets: Option<Vec<ItemId>>,
    },
    /// Reply to [`Operation::Classify`].
    Classification {
        /// The tags, in the classifier's order.
        tags: Vec<Text>,
        /// The cosine similarity of the nearest past request.
        similarity: Score,
    },
    /// Reply to [`Operation::DraftPlan`].
    Plan(Plan),
    /// Reply to [`Operation::Argue`], [`Operation::ArgueAdditional`] and [`Operation::ReviewRevision`].
    Argument {
        /// Stance and confidence.
        argument: Argument,
        /// The argument as text.
        text: Text,
        /// A new revision of the plan; only from Solution and the Optimizer.
        plan: Option<Plan>,
    },
    /// Reply to [`Operation::Approve`].
    Approval {
        /// Whether the plan may run.
        approved: bool,
        /// The reason or condition.
        text: Text,
    },
    /// Reply to [`Operation::Diagnose`] with a repaired plan.
    Repaired {
        /// The diagnosis.
        text: Text,
        /// The tasks to run now. A completed task that the plan omits does not run again.
        plan: Plan,
    },
    /// Reply to [`Operation::Diagnose`] without a repair.
    NoRepair {
        /// The reason.
        text: Text,
    },
    /// Reply to [`Operation::RunTask`] and [`Operation::UndoTask`].
    Exit {
        /// The exit code; 0 is success (004 §2, "exit code ≠ 0").
        code: i32,
        /// The output.
        text: Text,
        /// The output as a number, if it is one; averages and consensus need it (001 §8.3).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        number: Option<Millionths>,
    },
    /// Reply to [`Operation::StoreMemory`].
    Stored {
        /// Whether the store now holds the record.
        held: bool,
    },
    /// Reply to [`Operation::DeliverAudit`].
    Delivered,
}

impl Report {
    /// Returns whether a reply to this operation may contain this report.
    #[must_use]
    pub const fn is_reply_to(&self, operation: Operation) -> bool {
        match self {
            Self::Identity { .. } => matches!(operation, Operation::VerifyIdentity),
            Self::Context { .. } => matches!(operation, Operation::LoadContext),
            Self::Summary { .. } => matches!(operation, Operation::Summarize),
            Self::Classification { .. } => matches!(operation, Operation::Classify),
            Self::Plan(_) => matches!(operation, Operation::DraftPlan),
            Self::Argument { plan: None, .. } => operation.expects_argument(),
            Self::Argument { plan: Some(_), .. } => {
                matches!(operation, Operation::Argue(role) if role.revises_plan())
            }
            Self::Approval { .. } => matches!(operation, Operation::Approve),
            Self::Repaired { .. } | Self::NoRepair { .. } => matches!(operation, Operation::Diagnose),
            Self::Exit { .. } => matches!(operation, Operation::RunTask { .. } | Operation::UndoTask { .. }),
            Self::Stored { .. } => matches!(operation, Operation::StoreMemory { .. }),
            Self::Delivered => matches!(operation, Operation::DeliverAudit),
        }
    }

    /// Returns the plan that the report contains, if any.
    #[must_use]
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(plan) | Self::Argument { plan: Some(plan), .. } | Self::Repaired { plan, .. } => {
                Some(plan)
            }
            Self::Identity { .. }
            | Self::Context { .. }
            | Self::Summary { .. }
            | Self::Classification { .. }
            | Self::Argument { plan: None, .. }
            | Self::Approval { .. }
            | Self::NoRepair { .. }
            | Self::Exit { .. }
            | Self::Stored { .. }
            | Self::Delivered => None,
        }
    }

    /// Returns the kind of report, as a noun phrase.
    #[must_use]
    pub const fn label(&self) -> &'static str {
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
            Self::Stored { .. } => "a store's reply",
            Self::Delivered => "a receipt",
        }
    }
}

/// How a call ended without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Failure {
    /// The module reported an error.
    Error,
    /// The deadline passed; the effect of the call is unknown.
    Timeout,
    /// The boundary could not parse the reply.
    Malformed,
    /// No candidate was available to execute the call.
    NoCandidates,
    /// The pinned items and the payload exceed the module's budget; the call was not made.
    OverBudget,
    /// The runtime crashed while the call was in flight, and cannot determine its outcome.
    OutcomeUnknown,
    /// A claim of the project forbids the call; the call was not made (decision 0061).
    Forbidden,
}

impl Failure {
    /// Every failure.
    pub const ALL: [Self; 7] = [
        Self::Error,
        Self::Timeout,
        Self::Malformed,
        Self::NoCandidates,
        Self::OverBudget,
        Self::OutcomeUnknown,
        Self::Forbidden,
    ];
}

/// The stance of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Stance {
    /// For the plan.
    Pro,
    /// Against the plan.
    Con,
}

/// An argument without its text: stance and confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Argument {
    /// The stance.
    pub stance: Stance,
    /// The confidence.
    pub confidence: Score,
}

impl Argument {
    /// Returns whether it is CON with at least this confidence.
    #[must_use]
    pub fn is_objection_at_least(self, confidence: Score) -> bool {
        self.stance == Stance::Con && self.confidence >= confidence
    }
}

/// A role's Elo points, matches and wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rating {
    /// Elo points; the initial value is 1200.
    pub elo: u32,
    /// Matches won.
    pub successes: u32,
    /// Matches played.
    pub matches: u32,
}

impl Rating {
    /// The initial rating.
    pub const START: Self = Self { elo: 1200, successes: 0, matches: 0 };
}

impl Default for Rating {
    fn default() -> Self {
        Self::START
    }
}

/// The ratings of the five roles.
pub type Ratings = PerRole<Rating>;

/// A past request, as memory returns it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PastRequest {
    /// Its trace id.
    pub trace: TraceId,
    /// Its text and conclusion.
    pub text: Text,
    /// The scope in which it ran, and is readable.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Scope::is_global"))]
    pub scope: Scope,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Malformed => "malformed reply",
            Self::NoCandidates => "no candidates",
            Self::OverBudget => "over budget",
            Self::OutcomeUnknown => "outcome unknown",
            Self::Forbidden => "forbidden by a claim",
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
