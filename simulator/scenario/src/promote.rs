//! Promotion of a recording to a scenario with a golden trace.
//!
//! Each promoted scenario is run first. A run that differs from the recording is an error. This module writes no files;
//! a [`Promotion`] is in memory.

mod comparison;
mod from_debate;
mod from_trace;
mod record;
mod recorded_network;
mod recorded_replies;
mod scenario_builder;
mod task_delays;
#[cfg(test)]
mod tests;

pub use from_debate::from_debate;
pub use from_trace::{from_trace, from_trace_in_project};

use crate::policy_file;
use crate::run::{ScenarioRunError, run_scenario};
use crate::{Scenario, ScenarioFile, write as write_scenario};
use miette::Diagnostic;
use orchestrion_files::limits::PROMOTED_STEPS_BYTES_MAX;
use orchestrion_kernel::{Policy, Refusal};
use orchestrion_trace::{Reader, Step, TraceError};
use orchestrion_yaml::{ReadError, StrictText};
use std::path::Path;
use thiserror::Error;

/// The line by which editors find the schema.
const SCHEMA_LINE: &str = "# yaml-language-server: $schema=../schemas/scenario.schema.json\n";

/// The name of a scenario, and whether its file refers to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    name: String,
    schema: bool,
}

impl Target {
    /// Returns the target with this name in this folder, which need not exist.
    ///
    /// # Errors
    /// [`PromoteError::Name`] for characters other than lower-case letters, digits and hyphens.
    pub fn new(name: &str, folder: &Path) -> Result<Self, PromoteError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        // The command line would parse a leading hyphen as an option.
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(plain) {
            return Err(PromoteError::Name { name: name.escape_debug().to_string() });
        }
        let above = match (folder.file_name(), folder.parent()) {
            (Some(_), Some(above)) => above.to_path_buf(),
            _ => folder.join(".."),
        };
        Ok(Self { name: name.to_string(), schema: above.join("schemas").is_dir() })
    }

    fn scenario_file(&self) -> String {
        format!("{}.yaml", self.name)
    }

    fn golden_file(&self) -> String {
        format!("{}.ndjson", self.name)
    }

    fn policy_file(&self) -> String {
        format!("{}.policy.yaml", self.name)
    }
}

/// The policy of a project, under which a promoted scenario runs.
#[derive(Clone, Debug)]
pub struct ProjectPolicy {
    /// The policy now.
    pub policy: Policy,
    /// Its name in the scenario; `None` for the default of the project.
    pub reference: Option<String>,
}

/// The policy under which a promoted scenario runs.
#[derive(Clone, Debug)]
enum RunPolicy {
    /// This one, which is kept beside the scenario unless it is built in.
    Pinned(Policy),
    /// That of the project, as it will be when the scenario runs.
    Project(ProjectPolicy),
}

/// A promoted scenario with its run.
#[derive(Debug)]
pub struct Promotion {
    target: Target,
    /// The scenario file.
    pub scenario: String,
    /// The policy file; `None` for a built-in policy.
    pub policy: Option<String>,
    /// The trace of the run.
    pub golden: Vec<u8>,
    /// Whether the trace is the golden trace of the scenario. A test of a claim has none: the claim alone judges it.
    pub has_golden: bool,
    /// The claims that the recording violates, of the catalogue and of the project.
    pub violated: Vec<String>,
    /// The expectations that the run does not meet, as sentences.
    pub unmet: Vec<String>,
    /// The number of its steps.
    pub steps: u64,
    /// The refusal at which the run halted, if it did.
    pub halted: Option<Refusal>,
    /// What the scenario omits or adds, as sentences.
    pub notes: Vec<String>,
}

impl Promotion {
    /// Returns the files by name, the scenario first.
    #[must_use]
    pub fn files(&self) -> Vec<(String, &[u8])> {
        let mut files = vec![(self.target.scenario_file(), self.scenario.as_bytes())];
        files.extend(self.policy.as_ref().map(|policy| (self.target.policy_file(), policy.as_bytes())));
        files.extend(self.has_golden.then(|| (self.target.golden_file(), self.golden.as_slice())));
        files
    }
}

/// A failed promotion.
#[derive(Debug, Error, Diagnostic)]
pub enum PromoteError {
    /// The name is not valid.
    #[error("invalid scenario name `{name}`: expected lower-case letters, digits and hyphens")]
    #[diagnostic(help("write a name such as veto-survives"))]
    Name {
        /// The name.
        name: String,
    },
    /// The trace cannot be read.
    #[error(transparent)]
    #[diagnostic(help("write `--from debate` to promote a recorded debate"))]
    Trace(#[from] TraceError),
    /// The steps of the recording need too much memory.
    #[error(
        "{file}:{}: recording too large: expected steps of at most {PROMOTED_STEPS_BYTES_MAX} bytes, found more at step {n}",
        n.saturating_add(1)
    )]
    #[diagnostic(help("record a shorter conversation: a scenario file has at most 1 MiB"))]
    TooLarge {
        /// The trace.
        file: String,
        /// The step.
        n: u64,
    },
    /// The recording has no request.
    #[error("{file}: expected at least one request, found none")]
    #[diagnostic(help("promote a trace with an accepted user message"))]
    NoRequest {
        /// The trace.
        file: String,
    },
    /// A scenario cannot express a recorded step.
    #[error("{file}:{}: a scenario cannot express step {n}: {why}", n.saturating_add(1))]
    #[diagnostic(help("{help}"))]
    Inexpressible {
        /// The trace.
        file: String,
        /// The step.
        n: u64,
        /// The reason.
        why: &'static str,
        /// The remedy.
        help: &'static str,
    },
    /// The run of the scenario differs from the recording.
    #[error(
        "{file}:{}: divergence at step {n}: expected {recorded} (recorded), found {found}",
        n.saturating_add(1)
    )]
    #[diagnostic(help(
        "run: orchestrion replay {file}; if it finds a difference, this kernel decides differently; if not, a scenario cannot \
         repeat this trace, so keep the trace itself"
    ))]
    Differs {
        /// The trace.
        file: String,
        /// The step.
        n: u64,
        /// An excerpt of the recorded input.
        recorded: String,
        /// An excerpt of the input of the run.
        found: String,
    },
    /// The recorded debate or a promoted file is invalid.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// The run of the scenario failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Run(#[from] ScenarioRunError),
}

/// Returns the file name of a recording, without its folders.
fn origin(file: &str) -> String {
    let path = Path::new(file);
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Serializes the scenario and its policy, and runs them.
fn run_promotion(
    target: &Target,
    mut file: ScenarioFile,
    policy: &RunPolicy,
) -> Result<(Promotion, Vec<Step>), PromoteError> {
    let (policy, policy_text) = match policy {
        RunPolicy::Project(ProjectPolicy { policy, reference }) => {
            file.policy = reference.clone().map(|reference| StrictText::from(reference).into());
            (policy.clone(), None)
        }
        RunPolicy::Pinned(policy) if Policy::built_in(&policy.name).as_ref() == Some(policy) => {
            file.policy = Some(StrictText::from(policy.name.as_str()).into());
            (policy.clone(), None)
        }
        RunPolicy::Pinned(policy) => {
            file.policy = Some(StrictText::from(target.policy_file()).into());
            let text = policy_file::write(policy);
            // The golden trace must be the trace of the serialized policy.
            (policy_file::parse(&target.policy_file(), &text, Path::new(""))?, Some(text))
        }
    };
    let mut text = String::from(if target.schema { SCHEMA_LINE } else { "" });
    text.push_str(&write_scenario(&file)?);
    let scenario = Scenario::parse_under(&target.scenario_file(), &text, policy)?;
    let has_golden = scenario.has_golden;
    let run = run_scenario(scenario)?;
    let steps = Reader::new(run.trace.as_slice(), &target.golden_file())?.collect::<Result<_, _>>()?;
    let promotion = Promotion {
        target: target.clone(),
        scenario: text,
        policy: policy_text,
        golden: run.trace,
        has_golden,
        violated: Vec::new(),
        unmet: run.unmet_expectations.iter().map(ToString::to_string).collect(),
        steps: run.steps,
        halted: run.halted,
        notes: Vec::new(),
    };
    Ok((promotion, steps))
}
