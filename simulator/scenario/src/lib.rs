//! Scenario and policy files: parsing, scripted modules, scenario runs, and promotion of recordings to scenarios.
//!
//! [`Scenario`] is a scenario that is ready to run; [`ScenarioFile`] is its serialized form. [`run::run_scenario`] runs a
//! scenario and records its trace, [`policy_file`] reads policies, [`promote`] turns a trace into a scenario.
//! [`parse_reply`] parses the reply of a module in the same form as a scenario.

mod action;
mod by_task;
mod changed_network;
mod convert;
mod deadlines;
mod expect;
mod expectations;
mod format;
mod handoff_channel;
mod handoffs;
mod ingest;
mod interaction;
mod is_default;
mod modules;
mod names;
mod network;
mod network_events;
mod one_or_many;
mod parse_kind;
mod parse_reply;
mod plan;
pub mod policy_file;
pub mod promote;
mod read;
mod replies;
mod reply;
mod reply_conversion;
mod reply_keys;
pub mod run;
mod scenario;
pub mod script;
mod script_builder;
mod scripted;
mod time;
mod timestamp;
mod writes;

pub use action::{ActionFile, ArgFile, SummaryUpdateFile, ToolCallFile};
pub use by_task::{ByTask, ForTask};
pub use changed_network::changed_network;
pub use deadlines::DeadlinesFile;
pub use expect::{
    ClaimId, ContextExpectFile, DecisionName, ExpectedClaim, RequestExpectFile, ScenarioExpectFile,
    ScriptForm, TransitionName,
};
pub use expectations::ProjectClaims;
pub use format::{InterruptFile, PhaseVisitFile, RequestFile, ScenarioFile};
pub use handoffs::{HandoffFault, HandoffFile, HandoffScript};
pub use ingest::{IngestFile, ingest, parse_ingest};
pub use interaction::{FeedbackFile, InteractionFile, StarRating};
pub use modules::ModulesFile;
pub use names::{Count, PhaseName, Seed};
pub use network::ScenarioNetworkFile;
pub use network_events::{
    AvailabilityFile, DefenseSignalFile, LoadReportFile, NetworkEventFile, NetworkTickFile, NewKeyFile,
    ResolvedThreatFile,
};
pub use one_or_many::OneOrMany;
pub use orchestrion_ingest::SourceText;
pub use parse_reply::{parse_reply, parse_write};
pub use plan::{
    AggregatedPlanFile, AggregationFile, PatternFile, PlanFile, PlanForm, RequiresFile, TaskFile,
};
pub use replies::{
    ApproverReply, ArgumentFile, ArgumentReply, AuditorReply, ClassificationFile, ClassifierReply,
    ContextFile, DiagnosisReply, ExitFile, IdentityReply, LocksFile, MemoryReply, NoRepairFile, NumberFile,
    PlannerReply, RatingFile, RatingsFile, RepairFile, ReplyKind, RevisionFile, RevisionReply, StoreReply,
    SummarizerReply, SummaryFile, TaskReply, TraceFile,
};
pub use reply::{
    CaseFile, ExtendedReplyFile, RandomReplyFile, RepliesFile, ReplyFile, ReplyListFile, WeightedReplyFile,
    WhenFile,
};
pub use scenario::{
    PhaseVisit, Scenario, ScriptedEvent, ScriptedNetworkEvent, ScriptedRequest, ScriptedWrite,
};
pub use scripted::{ScriptedFile, ScriptedKind, ScriptedNetworkEventFile, ScriptedWriteFile};
pub use time::{DelayFile, DelayRangeFile, DurationText};
pub use timestamp::TimeText;
pub use writes::{
    ConstraintFile, FactFile, IdentityFile, PromoteFile, SignalFile, WorkingFile, WriteFile,
    request_scope_schema,
};

use orchestrion_yaml::{ReadError, schema_of};

/// Serializes a scenario file: keys in the order of the schema, without default values.
///
/// # Errors
/// [`ReadError`] if YAML serialization fails.
pub fn write(file: &ScenarioFile) -> Result<String, ReadError> {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // Folding would change the line breaks of texts.
        folded_wrap_chars: orchestrion_yaml::FILE_BYTES_MAX,
    };
    serde_saphyr::to_string_with_options(file, options).map_err(|error| {
        ReadError::for_file(format!("YAML serialization failed: {error}"), "report this as a bug")
    })
}

/// Returns the JSON Schema of scenario files.
#[must_use]
pub fn scenario_schema() -> serde_json::Value {
    schema_of::<ScenarioFile>("Orchestrion scenario")
}

#[cfg(test)]
mod tests;
