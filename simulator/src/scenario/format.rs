//! A scenario file, as it is written: the types that read it, write it and give its schema.
//!
//! What a file means is settled in `read`; here is only what may stand where. The doc comments are the
//! schema's descriptions, so they speak to whoever writes such a file.

use super::names::{ByTask, PhaseName, Visit, failure_schema};
use super::one_or_many::OneOrMany;
use crate::yaml::{At, Decimal, Words, given};
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Failure, Rating};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario: what a user asks, and what every module answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// A sentence on what the scenario shows.
    pub about: Words,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file, relative to this file. Left out:
    /// hardened.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub policy: Option<At<Words>>,
    /// The name of the conversation. Left out: the file's name without its ending.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Words>,
    /// Who asks.
    pub user: Words,
    /// What the user asks for, one request after the other.
    #[schemars(length(min = 1))]
    pub requests: At<Vec<RequestFile>>,
    /// What each module answers. A module that is left out succeeds, but for the five voices of the debate.
    #[serde(default = "no_modules", skip_serializing_if = "is_empty")]
    pub modules: At<ModulesFile>,
}

fn no_modules() -> At<ModulesFile> {
    ModulesFile::default().into()
}

fn is_empty(modules: &At<ModulesFile>) -> bool {
    modules.value.is_empty()
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// What the user asks for.
    pub says: Words,
    /// When the user cancels. Left out: never.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelFile>,
}

/// The moment at which the user cancels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelFile {
    /// The control state that is entered, by its name.
    pub when: PhaseName,
    /// The how-manieth time it is entered in this request, from 1. Left out: the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Visit,
}

macro_rules! modules {
    ($($(#[$doc:meta])* $field:ident: $answer:ty,)*) => {
        /// What each module answers. One answer is given every time; a list is used in order, and to be asked
        /// once more than it has answers is an error.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ModulesFile {
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
                pub $field: Option<OneOrMany<$answer>>,
            )*
            /// What running a task answers, by its number. Left out: it succeeds.
            #[serde(default, skip_serializing_if = "ByTask::is_empty")]
            pub tasks: ByTask<TaskAnswer>,
            /// What undoing a task answers, by its number. Left out: it succeeds.
            #[serde(default, skip_serializing_if = "ByTask::is_empty")]
            pub undo: ByTask<TaskAnswer>,
        }
    };
}

modules! {
    /// The identity guard. Left out: both locks match.
    identity: IdentityAnswer,
    /// The memory. Left out: start ratings, no traces.
    memory: MemoryAnswer,
    /// The classifier. Left out: no tags, similarity 0.
    classifier: ClassifierAnswer,
    /// The planner. Left out: one task without effect, whose text is the request's.
    planner: PlannerAnswer,
    /// The Analyst. Must be here if it is asked.
    analyst: VoiceAnswer,
    /// Solution. Must be here if it is asked.
    solution: ReviserAnswer,
    /// The Critic. Must be here if it is asked.
    critic: VoiceAnswer,
    /// Security. Must be here if it is asked.
    security: VoiceAnswer,
    /// The Optimizer. Must be here if it is asked.
    optimizer: ReviserAnswer,
    /// Security when it reads a revision that came after its round. Left out: as `security`, whose list it
    /// then shares.
    reread: VoiceAnswer,
    /// The Critic's diagnosis of a failure. Left out: there is no repair.
    diagnosis: DiagnosisAnswer,
    /// The local store. Left out: it holds the record.
    local_store: StoreAnswer,
    /// The cloud store. Left out: it holds the record.
    cloud_store: StoreAnswer,
    /// The outside audit sink. Left out: it takes the record.
    auditor: AuditorAnswer,
}

impl ModulesFile {
    /// Whether nothing is scripted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

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
        Classified(ClassifiedFile),
    }
    /// An answer of the planner.
    PlannerAnswer {
        /// The baseline plan.
        Plan(PlanFile),
    }
    /// An answer of a voice that brings no plan.
    VoiceAnswer {
        /// For the plan.
        Pro(ArgumentFile),
        /// Against the plan.
        Con(ArgumentFile),
    }
    /// An answer of a voice that may bring a new plan.
    ReviserAnswer {
        /// For the plan.
        Pro(RevisionFile),
        /// Against the plan.
        Con(RevisionFile),
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
        Ok(Words),
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

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
    pub conversation: Words,
    /// Its number in it.
    pub request: u32,
    /// What it was about and how it ended.
    pub text: Words,
}

/// What the classifier finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifiedFile {
    /// The tags, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Words>,
    /// How near the nearest past request is, from 0 to 1.
    pub similarity: Decimal<Score>,
}

/// A plan: 1 to 1000 tasks with distinct numbers, run in order.
pub type PlanFile = At<Vec<At<TaskFile>>>;

/// A task of a plan. Without `undo` or `irreversible` it leaves nothing behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// Its number, which later revisions of the plan keep.
    pub task: u32,
    /// What is to be done.
    #[serde(rename = "do")]
    pub action: Words,
    /// What would take its effect back.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub undo: Option<Words>,
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
    pub says: Words,
}

/// An argument that may bring a new plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionFile {
    /// How surely, from 0 to 1.
    pub confidence: Decimal<Score>,
    /// What is said. Left out: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: Words,
    /// The new plan. Left out: the plan stays.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanFile>,
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepairFile {
    /// What went wrong. Left out: nothing is said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: Words,
    /// The tasks that are to run now.
    pub plan: PlanFile,
}

/// Why there is no repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRepairFile {
    /// Why. Left out: nothing is said.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: Words,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitFile {
    /// 0 is success.
    pub code: i32,
    /// What it printed. Left out: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub says: Words,
}
