//! Plans, tasks, calls and nodes in an experiment file.

use super::ByModule;
use super::distributions::DurationFile;
use orchestrion_kernel::Score;
use orchestrion_scenario::Count;
use orchestrion_yaml::{Decimal, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::Deserialize;

/// The tasks of each plan.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TasksFile {
    /// The number of tasks. Each depends on the one before it. Default: 1.
    pub count: Count,
    /// The effect of each task. Default: undoable.
    pub effect: EffectFile,
    /// Whether no task depends on another one, so that they run in parallel if the policy allows it. Default: false.
    pub independent: bool,
}

/// The effect of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectFile {
    /// No effect outside the sandbox.
    Pure,
    /// A compensation can undo it.
    #[default]
    Undoable,
    /// Nothing can undo it.
    Irreversible,
}

/// The probabilities that plans are acceptable. A plan that is not acceptable is harmful.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlansFile {
    /// Of the drafted plan. Default: 1.
    #[serde(default, deserialize_with = "required_value")]
    pub acceptable: Option<Decimal<Score>>,
    /// Of a revision in the debate. Default: as `acceptable`.
    #[serde(default, deserialize_with = "required_value")]
    pub revision_acceptable: Option<Decimal<Score>>,
    /// Of a repaired plan. Default: as `acceptable`.
    #[serde(default, deserialize_with = "required_value")]
    pub repair_acceptable: Option<Decimal<Score>>,
}

/// The approver.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproverFile {
    /// The probability that it rejects an acceptable plan. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub false_alarm: Option<Decimal<Score>>,
    /// The probability that it approves a harmful plan. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub miss: Option<Decimal<Score>>,
}

/// The summarizer.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizerFile {
    /// The probability that a summary keeps the information of an item that it replaces. A summary of summaries keeps each item again
    /// with this probability.
    pub keeps: Decimal<Score>,
}

/// The executor.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutorFile {
    /// The probability that a task of an acceptable plan succeeds. Default: 1.
    #[serde(default, deserialize_with = "required_value")]
    pub success: Option<Decimal<Score>>,
    /// The probability that a task of a harmful plan succeeds. Default: as `success`.
    #[serde(default, deserialize_with = "required_value")]
    pub harmful_success: Option<Decimal<Score>>,
    /// The probability that a compensation succeeds. Default: 1.
    #[serde(default, deserialize_with = "required_value")]
    pub undo_success: Option<Decimal<Score>>,
    /// The text of each result. Its tokens are what a node gives for the tokens of the task. Default: an empty text.
    #[serde(default, deserialize_with = "required_value")]
    pub result: Option<StrictText>,
}

/// The calls of the modules.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallsFile {
    /// The calls of every module, unless it sets something else.
    #[serde(default)]
    pub default: Spanned<CallFile>,
    /// The calls of single modules.
    #[serde(default)]
    pub modules: ByModule<Spanned<CallFile>>,
}

/// How calls of a module end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallFile {
    /// The probability of an error. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub error: Option<Decimal<Score>>,
    /// The probability of no reply until the deadline. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub timeout: Option<Decimal<Score>>,
    /// The probability of a reply that cannot be parsed. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub malformed: Option<Decimal<Score>>,
    /// The duration. A call that takes longer than its deadline times out. Default: 0s.
    #[serde(default, deserialize_with = "required_value")]
    pub duration: Option<DurationFile>,
}

impl CallFile {
    /// Returns the calls with what `other` sets where these set nothing.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            error: self.error.or(other.error),
            timeout: self.timeout.or(other.timeout),
            malformed: self.malformed.or(other.malformed),
            duration: self.duration.clone().or_else(|| other.duration.clone()),
        }
    }
}

/// How a node executes tasks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeFile {
    /// The probability that it does a task well.
    pub success: Decimal<Score>,
    /// A probability from a later request on. Default: none.
    #[serde(default, deserialize_with = "required_value")]
    pub later: Option<LaterSuccessFile>,
    /// The probability that it reports success for a task that it did badly. The caller sees the work afterwards, and judges it.
    /// Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub lies: Option<Decimal<Score>>,
}

/// A probability from a request on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaterSuccessFile {
    /// The first request with this probability.
    pub from_request: Count,
    /// The probability that the node does a task well.
    pub success: Decimal<Score>,
}
