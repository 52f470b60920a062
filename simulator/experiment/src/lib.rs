//! Experiments: what a policy does, measured over many random runs, and computed exactly where the number of states is finite.
//!
//! [`Experiment`] is an experiment file that is ready to run. [`run_range`] runs a part of it; the [`Summary`] of the parts merges, in any
//! order, to the same bytes as that of one run. The kernel decides every run; the modules are an [`environment`](Environment) that draws
//! its answers from named random streams, equal under every policy. Deliberately absent: floats in results. Sums are whole numbers, and
//! [`statistics`] computes intervals from them.

mod contexts;
mod distribution;
mod draws;
mod environment;
pub mod exact;
mod experiment;
pub mod file;
mod flows;
mod information;
mod metrics;
mod nodes;
mod progress;
mod random;
mod report;
mod result_file;
mod run;
mod samples;
mod shard;
pub mod statistics;
mod summary;
mod table;
mod tally;
mod trajectories;

pub use contexts::ContextUse;
pub use distribution::{Confidences, Durations, QUANTILES};
pub use draws::{Draws, Purpose, Stream, Subject};
pub use environment::{Answer, CallBehavior, CallScene, Debater, Environment, Judgement, Memory};
pub use experiment::{Cell, Experiment, FACTS_MAX, POLICIES_MAX, REQUESTS_MAX, RUNS_MAX, experiment_schema};
pub use flows::{DecisionStage, Flow, FlowCount, Flows, OutcomeStage, PassesStage, PlanStage};
pub use metrics::{METRICS, Measurements, Metric, MetricKind};
pub use nodes::{LaterSuccess, NodeBehavior, NodeBehaviors};
pub use random::RandomDraws;
pub use report::{DifferenceReport, MetricReport, MetricSensitivities, PolicyReport, Report};
pub use result_file::ResultError;
pub use run::{RunRecord, Runner, World};
pub use shard::{RunError, Shard, Sink, run_range};
pub use summary::{MergeError, PolicySummary, RowsDigest, SUMMARY_FORMAT, Summary};
pub use table::Rows;
pub use tally::{Moments, Tally};
pub use trajectories::{Line, POSITIONS_MAX, Point, Trajectory, TrajectorySums};
