//! The replies of each module under `modules`, and the key of each in a script.

use crate::by_task::ByTask;
use crate::is_default::is_default;
use crate::parse_kind::parse_kind;
use crate::replies::{
    ApproverReply, ArgumentReply, AuditorReply, ClassifierReply, DiagnosisReply, IdentityReply, MemoryReply,
    PlannerReply, RevisionReply, StoreReply, SummarizerReply, TaskReply,
};
use crate::reply::RepliesFile;
use crate::script::{ScriptKey, ScriptedReply};
use crate::script_builder::ScriptBuilder;
use orchestrion_kernel::module::{Role, Store};
use orchestrion_yaml::{LabeledError, ReadError, Source, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
            /// The additional debaters of the policy, by name. Each is required if it is called.
            #[serde(default, skip_serializing_if = "is_default")]
            pub additional_debaters: BTreeMap<String, RepliesFile<ArgumentReply>>,
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
                for (name, replies) in &self.additional_debaters {
                    script.add(ScriptKey::AdditionalDebater(name.as_str().into()), Some(replies))?;
                }
                Ok(())
            }
        }

        impl ScriptKey {
            /// The key under `modules` in a scenario file.
            pub(crate) fn name(&self) -> String {
                match self {
                    $(Self::$key $(($($part)*))? => stringify!($field).to_owned(),)*
                    Self::AdditionalDebater(name) => format!("additional_debaters.{name}"),
                    Self::Task(task) => format!("tasks.{task}"),
                    Self::Undo(task) => format!("undo.{task}"),
                }
            }

            /// Parses one reply of the module.
            pub(crate) fn parse_reply(&self, source: &Source) -> Result<ScriptedReply, ReadError> {
                match self {
                    $(Self::$key $(($($part)*))? => parse_kind::<$reply>(source),)*
                    Self::AdditionalDebater(_) => parse_kind::<ArgumentReply>(source),
                    Self::Task(_) | Self::Undo(_) => parse_kind::<TaskReply>(source),
                }
            }
        }
    };
}

modules! {
    /// The identity guard. Default: both locks match.
    identity: IdentityReply = Identity,
    /// The memory. Default: simulated. It returns the latest ratings and the user's past requests from the records that a
    /// store holds; at first start ratings and no traces. With replies here, nothing is simulated.
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
