//! The replies of each module, as a scenario file or a host writes them.
//!
//! Each type is one word (`stored`) or one key with a value (`fail: timeout`). The doc comments are the descriptions in the
//! JSON Schema.

use crate::convert::{FileValue, convert, values};
use crate::is_default::is_default;
use crate::names::failure_schema;
use crate::plan::PlanFile;
use crate::writes::request_scope_schema;
use orchestrion_kernel::TraceId;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Argument, Failure, PastRequest, Rating, Ratings, Report, Stance};
use orchestrion_kernel::network::Millionths;
use orchestrion_network::Number;
use orchestrion_yaml::{LabeledError, MeasuredScore, StrictText, required_value};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The replies of one kind of module.
pub trait ReplyKind: Sized + Serialize + DeserializeOwned + JsonSchema {
    /// The keys and words of a reply, each with whether it takes a value.
    const KEYS: &'static [(&'static str, bool)];

    /// Returns the report, or the failure that the reply simulates.
    ///
    /// # Errors
    /// [`LabeledError`] for a plan that the kernel does not accept.
    fn to_kernel(&self) -> Result<Result<Report, Failure>, LabeledError>;

    /// Returns the reply that means this outcome; `None` for a report of another kind of module.
    fn from_kernel(outcome: Result<&Report, Failure>) -> Option<Self>;
}

/// Defines the replies of each module. The right side of an equation is the report that a reply means; the names in brackets
/// are converted.
macro_rules! replies {
    ($($(#[$doc:meta])* $name:ident {$(
        $(#[$variant_doc:meta])* $key:literal $variant:ident $(($value:ident [$($bound:ident),*] $($file:tt)*))?
            = $report:ident $({ $($field:tt)* })? $(($plan:ident))?;
    )*})*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $key)] $variant $(($value))?,)*
            /// The call fails: error, timeout, malformed, no_candidates, over_budget, outcome_unknown or forbidden.
            #[serde(rename = "fail")]
            Fail(#[schemars(schema_with = "failure_schema")] Failure),
        }

        impl ReplyKind for $name {
            const KEYS: &'static [(&'static str, bool)] = &[
                $(($key, { const VALUE: &[&str] = &[$(stringify!($value))?]; !VALUE.is_empty() }),)*
                ("fail", true),
            ];

            fn to_kernel(&self) -> Result<Result<Report, Failure>, LabeledError> {
                Ok(Ok(match self {
                    $(Self::$variant $(($($file)*))? => {
                        $($(let $bound = FileValue::to_kernel($bound)?;)*)?
                        Report::$report $({ $($field)* })? $(($plan))?
                    })*
                    Self::Fail(failure) => return Ok(Err(*failure)),
                }))
            }

            fn from_kernel(outcome: Result<&Report, Failure>) -> Option<Self> {
                Some(match outcome {
                    Err(failure) => Self::Fail(failure),
                    $(Ok(Report::$report $({ $($field)* })? $(($plan))?) => {
                        $($(let $bound = FileValue::from_kernel($bound)?;)*)?
                        Self::$variant $(($($file)*))?
                    })*
                    Ok(_) => return None,
                })
            }
        }
    )*};
}

replies! {
    /// A reply of the identity guard.
    IdentityReply {
        /// Which identity locks match.
        "locks" Locks(LocksFile [gcp, mongodb] LocksFile { gcp, mongodb }) = Identity { gcp, mongodb };
    }
    /// A reply of the memory.
    MemoryReply {
        /// Ratings, and traces of earlier requests.
        "context" Context(ContextFile [ratings, traces] ContextFile { ratings, traces })
            = Context { ratings, traces };
    }
    /// A reply of the classifier.
    ClassifierReply {
        /// The classification of the request.
        "classification" Classification(
            ClassificationFile [tags, similarity] ClassificationFile { tags, similarity }
        ) = Classification { tags, similarity };
    }
    /// A reply of the summarizer.
    SummarizerReply {
        /// The summary of a cluster of items.
        "summary" Summary(SummaryFile [text, forgets] SummaryFile { text, forgets })
            = Summary { text, forgets };
    }
    /// A reply of the planner.
    PlannerReply {
        /// The baseline plan.
        "plan" Plan(PlanFile [plan] plan) = Plan(plan);
    }
    /// An argument of a role that cannot revise the plan.
    ArgumentReply {
        /// For the plan.
        "pro" Pro(ArgumentFile [confidence, text] ArgumentFile { confidence, text })
            = Argument { argument: Argument { stance: Stance::Pro, confidence }, text, plan: None };
        /// Against the plan.
        "con" Con(ArgumentFile [confidence, text] ArgumentFile { confidence, text })
            = Argument { argument: Argument { stance: Stance::Con, confidence }, text, plan: None };
    }
    /// An argument of a role that can revise the plan.
    RevisionReply {
        /// For the plan.
        "pro" Pro(RevisionFile [confidence, text, plan] RevisionFile { confidence, text, plan })
            = Argument { argument: Argument { stance: Stance::Pro, confidence }, text, plan };
        /// Against the plan.
        "con" Con(RevisionFile [confidence, text, plan] RevisionFile { confidence, text, plan })
            = Argument { argument: Argument { stance: Stance::Con, confidence }, text, plan };
    }
    /// A reply of the approver.
    ApproverReply {
        /// The plan may run; the text is a condition or empty.
        "approved" Approved(StrictText [text] text) = Approval { approved: true, text };
        /// The plan must not run; the text is the reason.
        "denied" Denied(StrictText [text] text) = Approval { approved: false, text };
    }
    /// A diagnosis of a failed task.
    DiagnosisReply {
        /// A plan that repairs the failure.
        "repair" Repair(RepairFile [text, plan] RepairFile { text, plan }) = Repaired { text, plan };
        /// There is no repair.
        "no_repair" NoRepair(NoRepairFile [text] NoRepairFile { text }) = NoRepair { text };
    }
    /// The outcome of a task or of its compensation.
    TaskReply {
        /// The task succeeded; the text is its output.
        "ok" Ok(StrictText [text] text) = Exit { code: 0, text, number: None };
        /// The task succeeded with a number, which averages and consensus need.
        "number" Number(NumberFile [value, text] NumberFile { value, text })
            = Exit { code: 0, text, number: Some(value) };
        /// The task ended with this exit code.
        "exit" Exit(ExitFile [code, text, number] ExitFile { code, text, number }) = Exit { code, text, number };
    }
    /// A reply of a store.
    StoreReply {
        /// The store holds the record.
        "stored" Stored = Stored { held: true };
        /// The store refused the record.
        "refused" Refused = Stored { held: false };
    }
    /// A reply of the audit sink.
    AuditorReply {
        /// The sink accepted the record.
        "delivered" Delivered = Delivered;
    }
}

convert! {
    RatingsFile { analyst, solution, critic, security, optimizer }
        = Ratings { analyst, solution, critic, security, optimizer };
    RatingFile { elo, successes, matches } = Rating { elo, successes, matches };
    TraceFile { conversation, request, text, scope }
        = PastRequest { trace: TraceId { conversation, request }, text, scope };
}

impl Default for RatingFile {
    fn default() -> Self {
        let Rating { elo, successes, matches } = Rating::START;
        Self { elo, successes, matches }
    }
}

/// The identity locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocksFile {
    /// Whether the GCP lock matches.
    pub gcp: bool,
    /// Whether the MongoDB lock matches.
    pub mongodb: bool,
}

/// The memory's context of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextFile {
    /// The ratings of the roles. Default: the start rating for each role.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ratings: RatingsFile,
    /// Traces of earlier requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceFile>,
}

/// The ratings of the roles.
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

/// The rating of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RatingFile {
    /// Elo points. Default: 1200.
    pub elo: u32,
    /// Matches won. Default: 0.
    pub successes: u32,
    /// Matches played. Default: 0.
    pub matches: u32,
}

/// A trace of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The conversation of the request.
    pub conversation: StrictText,
    /// The number of the request in its conversation.
    pub request: u32,
    /// The request and its conclusion.
    pub text: StrictText,
    /// The scope in which the request ran. Default: global.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "request_scope_schema")]
    pub scope: Scope,
}

/// A summary of a cluster of items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryFile {
    /// The text of the summary.
    pub text: StrictText,
    /// The ids of the summarized items, which the kernel then forgets. Default: the whole cluster.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub forgets: Option<Vec<u64>>,
}

/// The classification of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationFile {
    /// The tags, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<StrictText>,
    /// The similarity of the nearest past request, from 0 to 1, rounded to six places.
    pub similarity: MeasuredScore,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArgumentFile {
    /// The confidence, from 0 to 1, rounded to six places.
    pub confidence: MeasuredScore,
    /// The text of the argument. Default: empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: StrictText,
}

/// An argument with an optional revision of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionFile {
    /// The confidence, from 0 to 1, rounded to six places.
    pub confidence: MeasuredScore,
    /// The text of the argument. Default: empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: StrictText,
    /// The revised plan. Default: the plan does not change.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanFile>,
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepairFile {
    /// The cause of the failure. Default: empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: StrictText,
    /// The tasks that run now.
    pub plan: PlanFile,
}

/// The reason why there is no repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoRepairFile {
    /// The reason. Default: empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: StrictText,
}

/// The exit of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitFile {
    /// The exit code; 0 is success.
    #[schemars(range(min = i32::MIN, max = i32::MAX))]
    pub code: i32,
    /// The output of the task. Default: empty.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: StrictText,
    /// The output as a number, if it is one. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
}

/// The number of a task that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumberFile {
    /// The number, with at most six places.
    pub value: Number,
    /// The output of the task. Default: the number.
    #[schemars(default)]
    pub text: StrictText,
}

/// The keys of a [`NumberFile`]: the number is the default of the text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberKeys {
    value: Number,
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    text: Option<StrictText>,
}

impl Serialize for NumberFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { value, text } = self;
        let text = Some(text.clone()).filter(|text| text.as_str() != value.to_string());
        NumberKeys { value: *value, text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NumberFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let NumberKeys { value, text } = NumberKeys::deserialize(deserializer)?;
        Ok(Self { value, text: text.unwrap_or_else(|| value.to_string().into()) })
    }
}

values! {
    Number = Millionths: |number| number.0, |number| Some(Self(*number));
}
