//! What a module may answer in a scenario file.
//!
//! Part of the form of such a file: the doc comments are the schema's descriptions. An answer is one word or
//! one key with a value, so that its place is never lost.

use super::format::is_default;
use super::names::failure_schema;
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Failure, Rating};
use orchestrion_yaml::{Decimal, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident { $($variants:tt)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($variants)*
            /// No answer: error, timeout, malformed or no_candidates.
            Fail(#[schemars(schema_with = "failure_schema")] Failure),
        }
    )*};
}

answers! {
    /// An answer of the identity guard.
    IdentityAnswer {
        /// Which locks match.
        Locks(LocksFile),
    }
    /// An answer of the memory.
    MemoryAnswer {
        /// What is remembered.
        Context(ContextFile),
    }
    /// An answer of the classifier.
    ClassifierAnswer {
        /// What the request is like.
        Classified(ClassificationFile),
    }
    /// An answer of the summarizer.
    SummarizerAnswer {
        /// What the items come to.
        Summary(SummaryFile),
    }
    /// An answer of the planner.
    PlannerAnswer {
        /// The baseline plan.
        Plan(PlanFile),
    }
    /// An answer of a voice that brings no plan.
    ArgumentReply {
        /// For the plan.
        Pro(ArgumentFile),
        /// Against the plan.
        Con(ArgumentFile),
    }
    /// An answer of a voice that may bring a new plan.
    RevisionReply {
        /// For the plan.
        Pro(RevisionFile),
        /// Against the plan.
        Con(RevisionFile),
    }
    /// An answer of the approver.
    ApproverAnswer {
        /// The plan may run; on which condition, or nothing.
        Approved(StrictText),
        /// It may not; why.
        Denied(StrictText),
    }
    /// A diagnosis.
    DiagnosisAnswer {
        /// A plan that repairs what went wrong.
        Repaired(RepairFile),
        /// There is no repair.
        NoRepair(NoRepairFile),
    }
    /// An answer of a task or of its undoing.
    TaskAnswer {
        /// It succeeded, and printed this.
        Ok(StrictText),
        /// It ended with an exit code.
        Exit(ExitFile),
    }
    /// An answer of a store.
    StoreAnswer {
        /// It holds the record.
        Held,
        /// It does not.
        Refused,
    }
    /// An answer of the audit sink.
    AuditorAnswer {
        /// It has the record.
        Delivered,
    }
}

/// Which identity locks match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocksFile {
    /// The GCP lock.
    pub gcp: bool,
    /// The MongoDB lock.
    pub mongodb: bool,
}

/// What the memory gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextFile {
    /// What the roles have earned. A role that is left out starts anew.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ratings: RatingsFile,
    /// What is remembered of earlier requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceFile>,
}

/// What each role has earned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RatingsFile {
    /// The Analyst.
    #[serde(skip_serializing_if = "is_default")]
    pub analyst: RatingFile,
    /// Solution.
    #[serde(skip_serializing_if = "is_default")]
    pub solution: RatingFile,
    /// The Critic.
    #[serde(skip_serializing_if = "is_default")]
    pub critic: RatingFile,
    /// Security.
    #[serde(skip_serializing_if = "is_default")]
    pub security: RatingFile,
    /// The Optimizer.
    #[serde(skip_serializing_if = "is_default")]
    pub optimizer: RatingFile,
}

/// What a role has earned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RatingFile {
    /// Elo points. Left out: 1200.
    pub elo: u32,
    /// Matches won. Left out: 0.
    pub successes: u32,
    /// Matches played. Left out: 0.
    pub matches: u32,
}

impl Default for RatingFile {
    fn default() -> Self {
        let Rating { elo, successes, matches } = Rating::START;
        Self { elo, successes, matches }
    }
}

/// What is remembered of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// Its conversation.
    pub conversation: StrictText,
    /// Its number in it.
    pub request: u32,
    /// What it was about and how it ended.
    pub text: StrictText,
}

/// What the summarizer makes of the items that it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryFile {
    /// What the summary says.
    pub says: StrictText,
    /// The numbers of the items that it stands for, of those that were shown. Left out: all of them.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub forgets: Option<Vec<u64>>,
}

/// What the classifier finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationFile {
    /// The tags, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<StrictText>,
    /// How near the nearest past request is, from 0 to 1.
    pub similarity: Decimal<Score>,
}

/// A plan: 1 to 1000 tasks with distinct numbers, run in order.
pub type PlanFile = Spanned<Vec<Spanned<TaskFile>>>;

/// A task of a plan. Without `undo` or `irreversible` it leaves nothing behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// Its number, which later revisions of the plan keep.
    pub task: u32,
    /// What is to be done.
    #[serde(rename = "do")]
    pub action: StrictText,
    /// What would take its effect back.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub undo: Option<StrictText>,
    /// Whether its effect stays.
    #[serde(default, skip_serializing_if = "is_default")]
    pub irreversible: bool,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentFile {
    /// How surely, from 0 to 1.
    pub confidence: Decimal<Score>,
    /// What is said. Left out: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: StrictText,
}

/// An argument that may bring a new plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionFile {
    /// How surely, from 0 to 1.
    pub confidence: Decimal<Score>,
    /// What is said. Left out: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: StrictText,
    /// The new plan. Left out: the plan stays.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanFile>,
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepairFile {
    /// What went wrong. Left out: nothing is said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: StrictText,
    /// The tasks that are to run now.
    pub plan: PlanFile,
}

/// Why there is no repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRepairFile {
    /// Why. Left out: nothing is said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: StrictText,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitFile {
    /// 0 is success.
    pub code: i32,
    /// What it printed. Left out: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: StrictText,
}
