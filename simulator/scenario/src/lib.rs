//! Scenario and policy files: parsing, scripted modules, scenario runs, and promotion of recordings to scenarios.
//!
//! [`Scenario`] is a scenario that is ready to run; [`ScenarioFile`] is its serialized form. [`run::run_scenario`] runs a
//! scenario and records its trace, [`policy_file`] reads policies, [`promote`] turns a trace into a scenario.
//! [`parse_reply`] parses the reply of a module in the same form as a scenario.

mod action;
mod build_script;
mod convert;
mod deadlines;
mod format;
mod names;
mod one_or_many;
mod parse_reply;
mod plan;
pub mod policy_file;
pub mod promote;
mod read;
mod replies;
mod reply;
mod reply_nodes;
pub mod run;
pub mod script;
mod scripted_write;
mod time;
mod writes;

pub use action::{ActionFile, ArgFile, SummaryUpdateFile, ToolCallFile};
pub use deadlines::DeadlinesFile;
pub use format::{InterruptFile, ModulesFile, PhaseVisitFile, RequestFile, ScenarioFile};
pub use names::{ByTask, Count, ForTask, PhaseName, Seed};
pub use one_or_many::OneOrMany;
pub use parse_reply::{parse_reply, parse_write};
pub use plan::{PlanFile, TaskFile};
pub use replies::{
    ApproverReply, ArgumentFile, ArgumentReply, AuditorReply, ClassificationFile, ClassifierReply,
    ContextFile, DiagnosisReply, ExitFile, IdentityReply, LocksFile, MemoryReply, NoRepairFile, PlannerReply,
    RatingFile, RatingsFile, RepairFile, ReplyKind, RevisionFile, RevisionReply, StoreReply, SummarizerReply,
    SummaryFile, TaskReply, TraceFile,
};
pub use reply::{
    CaseFile, ExtendedReplyFile, RandomReplyFile, RepliesFile, ReplyFile, ReplyListFile, WeightedReplyFile,
    WhenFile,
};
pub use scripted_write::ScriptedWriteFile;
pub use time::{DelayFile, DelayRangeFile, DurationText};
pub use writes::{ClockFile, ConstraintFile, FactFile, IdentityFile, SignalFile, WorkingFile, WriteFile};

use crate::script::Script;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{ConversationId, Phase, Policy, Text, UserId};
use orchestrion_runtime::Deadlines;
use orchestrion_yaml::{ReadError, Source, Spanned, schema_of};
use std::path::Path;

/// A scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file name without its extension.
    pub name: String,
    /// The purpose of the scenario.
    pub description: String,
    /// The policy.
    pub policy: Policy,
    /// The id of the conversation.
    pub conversation: ConversationId,
    /// The requests, in order.
    pub requests: Vec<ScriptedRequest>,
    /// The replies of the modules.
    pub script: Script,
    /// The deadlines of calls.
    pub deadlines: Deadlines,
    pub(crate) source: Source,
}

/// One request of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedRequest {
    /// The user of the request.
    pub user: UserId,
    /// The text of the request.
    pub text: Text,
    /// The scripted events, in this order within one phase visit.
    pub events: Vec<(PhaseVisit, ScriptedEvent)>,
}

/// An event during a request that no module causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedEvent {
    /// A write.
    Write(Box<ScriptedWrite>),
    /// A user message, which the kernel refuses.
    Interrupt(Text),
    /// A crash of the runtime and its resume from the journal.
    Crash,
    /// The user cancels the request.
    Cancel,
}

/// A write with its expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedWrite {
    /// The write, with its place in the file.
    pub write: Spanned<Write>,
    /// Whether the kernel must refuse the write.
    pub refused: bool,
}

/// A point in a request: the n-th time that control enters a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseVisit {
    /// The phase.
    pub phase: Phase,
    /// The number of the visit, from 1.
    pub visit: u32,
}

impl PhaseVisit {
    /// The start of the request.
    pub const START: Self = Self { phase: Phase::VerifyingIdentity, visit: 1 };
}

impl Scenario {
    /// Reads a scenario file. The path of its policy is relative to the file's folder.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be opened, is too large, or is not a valid scenario.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        read::read_scenario(source, path.parent().unwrap_or_else(|| Path::new("")))
    }

    /// Parses a scenario. `name` is the file name for errors; the path of the policy is relative to `base_dir`.
    ///
    /// # Errors
    /// [`ReadError`] if the text is not a valid scenario.
    pub fn parse(name: &str, text: &str, base_dir: &Path) -> Result<Self, ReadError> {
        read::read_scenario(Source::from_text(name, text)?, base_dir)
    }

    /// Parses a scenario under this policy instead of the named one, whose file may not exist yet.
    ///
    /// # Errors
    /// [`ReadError`] if the text is not a valid scenario.
    pub fn parse_under(name: &str, text: &str, policy: Policy) -> Result<Self, ReadError> {
        read::read_scenario_under(Source::from_text(name, text)?, policy)
    }

    /// Returns the source text of the scenario.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

impl ScenarioFile {
    /// Parses the serialized form without resolving the policy.
    ///
    /// # Errors
    /// [`ReadError`] if the text does not have this form.
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        Source::from_text(name, text)?.parse()
    }
}

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
