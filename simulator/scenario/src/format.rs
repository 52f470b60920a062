//! A scenario file, as it is written: the types that read it, write it and give its schema.
//!
//! What a file means is settled in `read`; here is only what may stand where. The doc comments are the
//! schema's descriptions, so they speak to whoever writes such a file.

use super::answers::{
    ApproverAnswer, ArgumentReply, AuditorAnswer, ClassifierAnswer, DiagnosisAnswer, IdentityAnswer,
    MemoryAnswer, PlannerAnswer, RevisionReply, StoreAnswer, SummarizerAnswer, TaskAnswer,
};
use super::deadlines::DeadlinesFile;
use super::names::{ByTask, Count, PhaseName, Seed};
use super::one_or_many::OneOrMany;
use super::reply_lists::RepliesFile;
use super::scripted_write::WrittenFile;
use orchestrion_yaml::{Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario: what a user asks, and what every module answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// A sentence on what the scenario shows.
    pub about: StrictText,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file, relative to this file. Left out:
    /// hardened.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub policy: Option<Spanned<StrictText>>,
    /// The name of the conversation. Left out: the file's name without its ending.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub conversation: Option<StrictText>,
    /// Who asks.
    pub user: StrictText,
    /// The seed of whatever is drawn: every named seed depends on it. Left out: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: Seed,
    /// What the user asks for, one request after the other.
    #[schemars(length(min = 1))]
    pub requests: Spanned<Vec<RequestFile>>,
    /// How long answers are waited for. Left out: a minute.
    #[serde(default, skip_serializing_if = "DeadlinesFile::is_empty")]
    pub deadlines: DeadlinesFile,
    /// What each module answers. A module that is left out succeeds, but for the five voices of the debate and the
    /// summarizer.
    #[serde(default = "no_modules", skip_serializing_if = "is_empty")]
    pub modules: Spanned<ModulesFile>,
}

fn no_modules() -> Spanned<ModulesFile> {
    ModulesFile::default().into()
}

fn is_empty(modules: &Spanned<ModulesFile>) -> bool {
    modules.value.is_empty()
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// What the user asks for.
    pub says: StrictText,
    /// Whose request it is. When the user changes, the session of the one ends and that of the other starts. Left out: the
    /// scenario's user.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// What is written by name as the request begins, in this order; one, or a list. A write that the kernel refuses is told
    /// with its place, unless `refused: true` stands beside it. Left out: nothing.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub write: OneOrMany<WrittenFile>,
    /// When the user speaks again, though the request still runs; once, or a list. Left out: never.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub interrupt: OneOrMany<InterruptFile>,
    /// When the runtime crashes, and is resumed from its log; once, or a list. What the call that is waited for then answers
    /// is what the host finds out about it; `fail: unknown` if it cannot. Left out: never.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub crash: OneOrMany<PhaseVisitFile>,
    /// When the user cancels; once, or a list. Left out: never.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub cancel: OneOrMany<PhaseVisitFile>,
}

impl RequestFile {
    /// A request of the scenario's user, in which nothing happens but what modules answer.
    #[must_use]
    pub const fn new(says: StrictText) -> Self {
        Self {
            says,
            user: None,
            write: OneOrMany::none(),
            interrupt: OneOrMany::none(),
            crash: OneOrMany::none(),
            cancel: OneOrMany::none(),
        }
    }
}

/// A moment of a request: when control enters a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseVisitFile {
    /// The control state that is entered, by its name.
    pub when: PhaseName,
    /// The how-manieth time it is entered in this request, from 1. Left out: the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
}

/// What the user says in the middle of a request, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptFile {
    /// The control state that is entered, by its name.
    pub when: PhaseName,
    /// The how-manieth time it is entered in this request, from 1. Left out: the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visit: Count,
    /// What the user says. It is refused, and the request goes on.
    pub says: StrictText,
}

macro_rules! modules {
    ($($(#[$doc:meta])* $field:ident: $answer:ty,)*) => {
        /// What each module answers. One answer is given every time; a list is used in order, and to be asked
        /// once more than it has answers is an error. With `draw` answers are drawn by lot, with `cases` they are for some
        /// passes, requests, users or texts only. Beside an answer, `after` says how long it takes.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ModulesFile {
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                pub $field: Option<RepliesFile<$answer>>,
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
    /// The summarizer, when what is known has grown. Left out: there is none, and everything stays known.
    summarizer: SummarizerAnswer,
    /// The classifier. Left out: no tags, similarity 0.
    classifier: ClassifierAnswer,
    /// The planner. Left out: one task without effect, whose text is the request's.
    planner: PlannerAnswer,
    /// The Analyst. Must be here if it is asked.
    analyst: ArgumentReply,
    /// Solution. Must be here if it is asked.
    solution: RevisionReply,
    /// The Critic. Must be here if it is asked.
    critic: ArgumentReply,
    /// Security. Must be here if it is asked.
    security: ArgumentReply,
    /// The Optimizer. Must be here if it is asked.
    optimizer: RevisionReply,
    /// Security when it reads a revision that came after its round. Left out: as `security`, whose list it
    /// then shares.
    reread: ArgumentReply,
    /// The approver, where the policy wants one. Left out: it agrees.
    approver: ApproverAnswer,
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

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
