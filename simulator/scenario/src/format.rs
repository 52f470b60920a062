//! The serialized form of a scenario file. The doc comments are the descriptions in the JSON Schema.

use crate::build_script::ScriptBuilder;
use crate::deadlines::DeadlinesFile;
use crate::names::{ByTask, Count, PhaseName, Seed};
use crate::one_or_many::OneOrMany;
use crate::parse_reply::parse_kind;
use crate::replies::{
    ApproverReply, ArgumentReply, AuditorReply, ClassifierReply, DiagnosisReply, IdentityReply, MemoryReply,
    PlannerReply, RevisionReply, StoreReply, SummarizerReply, TaskReply,
};
use crate::reply::RepliesFile;
use crate::script::{ScriptKey, ScriptedReply};
use crate::scripted_write::ScriptedWriteFile;
use orchestrion_kernel::module::{Role, Store};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario: the requests of users and the replies of modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// The purpose of the scenario, in a sentence.
    pub description: StrictText,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file relative to this file. Default: hardened.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Spanned<StrictText>>,
    /// The id of the conversation. Default: the file name without its extension.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub conversation: Option<StrictText>,
    /// The user of the requests.
    pub user: StrictText,
    /// The seed of all random streams. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: Seed,
    /// The requests, in order.
    #[schemars(length(min = 1))]
    pub requests: Spanned<Vec<RequestFile>>,
    /// The deadlines of calls. Default: one minute each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadlines: DeadlinesFile,
    /// The replies of each module. Modules without replies succeed, except the debate roles and the summarizer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub modules: Spanned<ModulesFile>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// The text of the request.
    pub text: StrictText,
    /// The user of the request. A change of user ends the session and starts another. Default: the scenario's user.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// Writes at the start of the request, in order; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: OneOrMany<ScriptedWriteFile>,
    /// User messages during the request, which the kernel refuses; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupt: OneOrMany<InterruptFile>,
    /// Crashes of the runtime, each followed by a resume from the journal; one, or a list. The next reply to the pending
    /// call is its recovery result; `fail: outcome_unknown` means that the outcome is unknown. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crash: OneOrMany<PhaseVisitFile>,
    /// Cancellations by the user; one, or a list. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cancel: OneOrMany<PhaseVisitFile>,
}

impl RequestFile {
    /// Returns a request of the scenario's user without scripted events.
    #[must_use]
    pub const fn new(text: StrictText) -> Self {
        Self {
            text,
            user: None,
            write: OneOrMany::none(),
            interrupt: OneOrMany::none(),
            crash: OneOrMany::none(),
            cancel: OneOrMany::none(),
        }
    }
}

/// A point in a request: the n-th time that control enters a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseVisitFile {
    /// The phase.
    pub phase: PhaseName,
    /// The number of the visit in this request, from 1. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
}

/// A user message during a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptFile {
    /// The phase.
    pub phase: PhaseName,
    /// The number of the visit in this request, from 1. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
    /// The text of the message.
    pub text: StrictText,
}

/// Defines the keys of the modules, each with its replies and its key in a script.
macro_rules! modules {
    ($($(#[$doc:meta])* $field:ident: $reply:ty = $key:ident $(($($part:tt)*))?,)*) => {
        /// The replies of each module: one reply for every call, a list in order, `random` choices, or `cases`. A call
        /// after the last reply of a list is an error. `{reply: …, after: 5s}` delays a reply.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ModulesFile {
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                pub $field: Option<RepliesFile<$reply>>,
            )*
            /// The executor, by task number. Default: each task succeeds.
            #[serde(default, skip_serializing_if = "is_default")]
            pub tasks: ByTask<TaskReply>,
            /// The executor's compensations, by task number. Default: each compensation succeeds.
            #[serde(default, skip_serializing_if = "is_default")]
            pub undo: ByTask<TaskReply>,
        }

        impl ModulesFile {
            /// Adds the replies of all modules except the executor.
            pub(crate) fn add_to(&self, script: &mut ScriptBuilder<'_>) -> Result<(), LabeledError> {
                $(script.add(ScriptKey::$key $(($($part)*))?, self.$field.as_ref())?;)*
                Ok(())
            }
        }

        impl ScriptKey {
            /// The key under `modules` in a scenario file.
            pub(crate) fn name(self) -> String {
                match self {
                    $(Self::$key $(($($part)*))? => stringify!($field).to_owned(),)*
                    Self::Task(task) => format!("tasks.{task}"),
                    Self::Undo(task) => format!("undo.{task}"),
                }
            }

            /// Parses one reply of the module.
            pub(crate) fn parse_reply(self, source: &Source) -> Result<ScriptedReply, ReadError> {
                match self {
                    $(Self::$key $(($($part)*))? => parse_kind::<$reply>(source),)*
                    Self::Task(_) | Self::Undo(_) => parse_kind::<TaskReply>(source),
                }
            }
        }
    };
}

modules! {
    /// The identity guard. Default: both locks match.
    identity: IdentityReply = Identity,
    /// The memory. Default: start ratings, no traces.
    memory: MemoryReply = Memory,
    /// The summarizer, which is called for compaction. Default: no candidates, so no item is summarized.
    summarizer: SummarizerReply = Summarizer,
    /// The classifier. Default: no tags, similarity 0.
    classifier: ClassifierReply = Classifier,
    /// The planner. Default: one task without effect, with the text of the request.
    planner: PlannerReply = Planner,
    /// The Analyst. Required if it is called.
    analyst: ArgumentReply = Debater(Role::Analyst),
    /// Solution. Required if it is called.
    solution: RevisionReply = Debater(Role::Solution),
    /// The Critic. Required if it is called.
    critic: ArgumentReply = Debater(Role::Critic),
    /// Security. Required if it is called.
    security: ArgumentReply = Debater(Role::Security),
    /// The Optimizer. Required if it is called.
    optimizer: RevisionReply = Debater(Role::Optimizer),
    /// Security's review of a revision after its round. Default: the replies of `security`, which the two then share.
    review: ArgumentReply = Review,
    /// The approver, if the policy requires one. Default: approved.
    approver: ApproverReply = Approver,
    /// The Critic's diagnosis of a failure. Default: no repair.
    diagnosis: DiagnosisReply = Diagnosis,
    /// The local store. Default: stored.
    local_store: StoreReply = Store(Store::Local),
    /// The cloud store. Default: stored.
    cloud_store: StoreReply = Store(Store::Cloud),
    /// The outside audit sink. Default: delivered.
    auditor: AuditorReply = Auditor,
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
