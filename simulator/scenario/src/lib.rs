//! Scenarios: what a user asks and what every module answers, as a file.
//!
//! [`ScenarioFile`] is the file as it is written; [`Scenario`] is what it means, ready to be played. Nothing
//! in a scenario decides anything: the kernel does, and a scenario only says what it is told.

mod answers;
mod build_script;
mod deadlines;
mod format;
mod names;
mod one_or_many;
mod parse_reply;
pub mod policy_file;
pub mod promote;
mod read;
mod reply_extras;
mod reply_lists;
mod reply_shapes;
pub mod run;
pub mod script;
mod scripted_write;
mod tagged;
mod time;
mod to_kernel;
mod writes;

pub use answers::{
    ApproverAnswer, ArgumentFile, ArgumentReply, AuditorAnswer, ClassificationFile, ClassifierAnswer,
    ContextFile, DiagnosisAnswer, ExitFile, IdentityAnswer, LocksFile, MemoryAnswer, NoRepairFile, PlanFile,
    PlannerAnswer, RatingFile, RatingsFile, RepairFile, RevisionFile, RevisionReply, StoreAnswer,
    SummarizerAnswer, SummaryFile, TaskAnswer, TaskFile, TraceFile,
};
pub use deadlines::DeadlinesFile;
pub use format::{InterruptFile, ModulesFile, PhaseVisitFile, RequestFile, ScenarioFile};
pub use names::{ByTask, Count, ForTask, PhaseName, Seed};
pub use one_or_many::OneOrMany;
pub use parse_reply::{parse_reply, parse_write};
pub use reply_extras::{
    ActionFile, ArgFile, ModeFile, OutcomeFile, ReplyExtrasFile, ReplyFile, SummaryUpdateFile, ToolCallFile,
};
pub use reply_lists::{
    CaseFile, DelayedReplyFile, RandomReplyFile, RepliesFile, ReplyListFile, WeightedReplyFile, WhenFile,
};
pub use scripted_write::WrittenFile;
pub use time::{DelayFile, DelayRangeFile, DurationText};
pub use writes::{
    AudienceFile, ClockFile, ConstraintFile, FactFile, IdentityFile, LimitFile, MemoryFile, RuleFile,
    ScopeFile, SignalFile, WorkingFile, WriteFile,
};

use crate::script::Script;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{ConversationId, Phase, Policy, Text, UserId};
use orchestrion_runtime::Deadlines;
use orchestrion_yaml::{ReadError, Source, Spanned, schema_of};
use std::path::Path;

/// A scenario, ready to be played.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file's name without its ending.
    pub name: String,
    /// A sentence on what it shows.
    pub about: String,
    /// The policy in force.
    pub policy: Policy,
    /// The conversation's name.
    pub conversation: ConversationId,
    /// What is asked, in order.
    pub requests: Vec<ScriptedRequest>,
    /// What the modules answer.
    pub script: Script,
    /// How long their answers are waited for.
    pub deadlines: Deadlines,
    pub(crate) source: Source,
}

/// One request of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedRequest {
    /// Who asks.
    pub user: UserId,
    /// What the user asks for.
    pub says: Text,
    /// What happens in the middle of it; at one moment in this order.
    pub incidents: Vec<(PhaseVisit, ScriptedEvent)>,
}

/// What happens in the middle of a request, beside what modules answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedEvent {
    /// Something is written by name.
    Write(Box<ScriptedWrite>),
    /// The user speaks.
    Interrupt(Text),
    /// The runtime crashes, and is resumed from its log.
    Crash,
    /// The user cancels.
    Cancel,
}

/// Something that is written by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedWrite {
    /// What, and where that stands.
    pub write: Spanned<Write>,
    /// Whether the kernel is to refuse it.
    pub refused: bool,
}

/// A moment of a request: when control enters a state for the n-th time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseVisit {
    /// The state.
    pub when: Phase,
    /// The how-manieth time, from 1.
    pub visit: u32,
}

impl PhaseVisit {
    /// The request has just begun.
    pub const BEGIN: Self = Self { when: Phase::VerifyingIdentity, visit: 1 };
}

impl Scenario {
    /// Reads a scenario file. A policy that it names by path is looked up from the file's folder.
    ///
    /// # Errors
    /// [`ReadError`] for a file that cannot be opened, is too large, or is no scenario.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        read::scenario(source, path.parent().unwrap_or_else(|| Path::new("")))
    }

    /// Reads a scenario from text. `name` is the file name that errors show, with or without its ending; a
    /// policy that the text names by path is looked up from `base_dir`.
    ///
    /// # Errors
    /// [`ReadError`] if the text is no scenario.
    pub fn parse(name: &str, text: &str, base_dir: &Path) -> Result<Self, ReadError> {
        read::scenario(Source::from_text(name, text)?, base_dir)
    }

    /// Reads a scenario from text, under a policy that is at hand, whatever the text names: the policy's file
    /// may not be written yet.
    pub fn parse_under(name: &str, text: &str, policy: Policy) -> Result<Self, ReadError> {
        read::scenario_under(Source::from_text(name, text)?, policy)
    }

    /// The text that the scenario was read from, for its digest.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text()
    }
}

impl ScenarioFile {
    /// Reads the file as it is written, without looking up what it means.
    ///
    /// # Errors
    /// [`ReadError`] if the text is not of this form.
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        Source::from_text(name, text)?.parse()
    }
}

/// Writes a scenario file: keys in the schema's order, what has its default left out.
///
/// # Errors
/// [`ReadError`] if the file could not be written as YAML.
pub fn write(file: &ScenarioFile) -> Result<String, ReadError> {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // Folding moves line breaks about; a text is written as it is.
        folded_wrap_chars: orchestrion_yaml::FILE_BYTES_MAX,
    };
    serde_saphyr::to_string_with_options(file, options).map_err(|error| {
        ReadError::for_file(
            format!("the scenario cannot be written as YAML: {error}"),
            "report this as a bug",
        )
    })
}

/// The JSON Schema of scenario files.
#[must_use]
pub fn scenario_schema() -> serde_json::Value {
    schema_of::<ScenarioFile>("Orchestrion scenario")
}

#[cfg(test)]
mod tests;
