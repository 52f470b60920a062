//! The serialized form of an experiment file. The doc comments are the descriptions in the JSON Schema.

mod debaters;
mod distributions;
mod grid;
mod modules;

pub use debaters::{ArgumentFile, DebaterFile, DebatersFile};
pub use distributions::{
    BetaFile, ConfidenceFile, DurationFile, DurationRangeFile, RangeFile, SamplesFile, WeightedValueFile,
};
pub use grid::GridFile;
pub use modules::{
    ApproverFile, CallFile, CallsFile, EffectFile, ExecutorFile, LaterSuccessFile, NodeFile, PlansFile,
    SummarizerFile, TasksFile,
};

use orchestrion_kernel::Score;
use orchestrion_scenario::policy_file::ByName;
use orchestrion_scenario::{Count, DurationText};
use orchestrion_yaml::{Decimal, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment: random modules, policies, and the number of runs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// The question of the experiment, in a sentence.
    pub description: StrictText,
    /// The seed of all random streams. Default: 0.
    #[serde(default)]
    pub seed: u64,
    /// The number of runs of each policy. Run n of every policy draws the same random numbers.
    pub runs: Spanned<u64>,
    /// The policies: built-in ones, or paths of policy files relative to this file. The first one is the baseline of differences. Default:
    /// hardened.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub policies: Spanned<Vec<Spanned<StrictText>>>,
    /// Settings that vary: of the policy, or with `network.` before its path of the trust network, such as network.routing.order. Every
    /// combination of their values is a policy. Default: none.
    #[serde(default)]
    pub grid: Spanned<Vec<GridFile>>,
    /// The metrics of the report, by name. Default: all.
    #[serde(default)]
    pub metrics: Vec<Spanned<StrictText>>,
    /// The number of requests of a run. Default: 1.
    #[serde(default)]
    #[schemars(schema_with = "requests_schema")]
    pub requests: Spanned<Count>,
    /// The text of each request. Default: request.
    #[serde(default, deserialize_with = "required_value")]
    pub text: Option<StrictText>,
    /// The number of facts that are known before the first request. Default: 0.
    #[serde(default)]
    #[schemars(schema_with = "facts_schema")]
    pub facts: Spanned<u32>,
    /// Whether calls get their contexts, so that tokens and utility are measured. Default: false.
    #[serde(default)]
    pub contexts: Spanned<bool>,
    /// Whether the rules greedy, ranked and recent also select each context, so that the utility that they lose is measured. Needs
    /// `contexts`. Default: false.
    #[serde(default)]
    pub rules: Spanned<bool>,
    /// Values over the requests of a run, or over the passes of a debate: `consensus` by pass; `trust` and `tasks_by_node` of each
    /// node of the network, and any metric, by request. Default: none.
    #[serde(default)]
    pub trajectories: Vec<Spanned<StrictText>>,
    /// The summarizer. Default: it fails, so that nothing is compacted.
    #[serde(default, deserialize_with = "required_value")]
    pub summarizer: Option<Spanned<SummarizerFile>>,
    /// The deadline of each call. Default: 60s.
    #[serde(default, deserialize_with = "required_value")]
    pub deadline: Option<DurationText>,
    /// The tasks of each plan. Default: one undoable task.
    #[serde(default)]
    pub tasks: TasksFile,
    /// Which plans are acceptable. Default: all.
    #[serde(default)]
    pub plans: PlansFile,
    /// The probability with which a debater takes an error that is common in the pass, in place of an own one. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub common_errors: Option<Decimal<Score>>,
    /// The debaters. Default: they never err, with confidence 0.9.
    #[serde(default)]
    pub debaters: DebatersFile,
    /// The approver. Default: it never errs.
    #[serde(default)]
    pub approver: ApproverFile,
    /// The executor. Default: every task succeeds.
    #[serde(default)]
    pub executor: ExecutorFile,
    /// The probability that the Critic's diagnosis of a failed run contains a repaired plan. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub repairs: Option<Decimal<Score>>,
    /// How calls fail and how long they take, by module; `default` for all others. Default: no failure, no time.
    #[serde(default)]
    pub calls: CallsFile,
    /// A trust network whose nodes execute the calls (001): the path of a network file relative to this file. Default: none.
    #[serde(default, deserialize_with = "required_value")]
    pub network: Option<Spanned<StrictText>>,
    /// How the nodes of the network execute tasks, by node. Default: as well as the executor.
    #[serde(default)]
    pub nodes: Spanned<BTreeMap<String, NodeFile>>,
}

fn requests_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 1, "maximum": super::REQUESTS_MAX})
}

fn facts_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer", "minimum": 0, "maximum": super::FACTS_MAX})
}

/// The modules by name.
pub(crate) type ByModule<T> = ByName<orchestrion_kernel::module::Module, T>;
