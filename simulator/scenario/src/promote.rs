//! Promotion: what happened once becomes a scenario, with a golden trace by which it stays as it was.
//!
//! Whatever is promoted is played before anything is written, and a scenario that does not lead where the
//! recording went is an error. Deliberately absent: files. A [`Promotion`] is held in memory, whole.

mod answers;
mod from_debate;
mod from_trace;
mod record;
#[cfg(test)]
mod tests;

pub use from_debate::from_debate;
pub use from_trace::from_trace;

use crate::policy_file;
use crate::run::{ScenarioRunError, run_scenario};
use crate::{Scenario, ScenarioFile, write as write_scenario};
use miette::Diagnostic;
use orchestrion_kernel::{Policy, Refusal};
use orchestrion_trace::{Reader, Step, TraceError};
use orchestrion_yaml::{ReadError, StrictText};
use std::path::Path;
use thiserror::Error;

/// By this line editors find the schema, which then stands beside the scenarios' folder.
const SCHEMA_LINE: &str = "# yaml-language-server: $schema=../schemas/scenario.schema.json\n";

/// What is to become of a recording: the name of the scenario, and what its folder asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    name: String,
    schema: bool,
}

impl Target {
    /// A scenario of this name in this folder, which need not be there yet.
    ///
    /// # Errors
    /// [`PromoteError::Name`] for anything but small letters, digits and hyphens.
    pub fn new(name: &str, folder: &Path) -> Result<Self, PromoteError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        // A name that begins with a hyphen would be read as an option when it is used.
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

/// A recording as a scenario, played.
#[derive(Debug)]
pub struct Promotion {
    target: Target,
    /// The scenario file.
    pub scenario: String,
    /// The policy file that the scenario refers to; none for a built-in policy.
    pub policy: Option<String>,
    /// The trace that playing the scenario gives.
    pub golden: Vec<u8>,
    /// Its steps.
    pub steps: u64,
    /// Where playing it stops for good, if it does.
    pub halted: Option<Refusal>,
    /// What the scenario leaves out or adds, as sentences.
    pub notes: Vec<String>,
}

impl Promotion {
    /// The files that it consists of, by name, the scenario first.
    #[must_use]
    pub fn files(&self) -> Vec<(String, &[u8])> {
        let mut files = vec![(self.target.scenario_file(), self.scenario.as_bytes())];
        files.extend(self.policy.as_ref().map(|policy| (self.target.policy_file(), policy.as_bytes())));
        files.push((self.target.golden_file(), self.golden.as_slice()));
        files
    }
}

/// Why a recording cannot be promoted.
#[derive(Debug, Error, Diagnostic)]
pub enum PromoteError {
    /// A name that is no plain file name.
    #[error("`{name}` is no name for a scenario: expected small letters, digits and hyphens")]
    #[diagnostic(help("choose a name such as veto-survives"))]
    Name {
        /// The name.
        name: String,
    },
    /// The trace cannot be read.
    #[error(transparent)]
    #[diagnostic(help(
        "only what is whole up to where it stops can be promoted; a recorded debate is, with --as debate"
    ))]
    Trace(#[from] TraceError),
    /// Nothing was asked for.
    #[error("{file}: nobody asks for anything in it; expected at least one request")]
    #[diagnostic(help("promote a trace in which a user message was accepted"))]
    NoRequest {
        /// The trace.
        file: String,
    },
    /// Something happened that a scenario has no words for.
    #[error("{file}:{}: step {n} cannot be said in a scenario: {why}", n.saturating_add(1))]
    #[diagnostic(help("{help}"))]
    Inexpressible {
        /// The trace.
        file: String,
        /// The step.
        n: u64,
        /// What happened, as a clause.
        why: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// The scenario, played, goes another way than the recording.
    #[error(
        "{file}:{}: the scenario goes another way at step {n}: recorded {recorded}, played {played}",
        n.saturating_add(1)
    )]
    #[diagnostic(help(
        "the kernel decides otherwise than the one that recorded this; see where with: orchestrion replay {file}"
    ))]
    Differs {
        /// The trace.
        file: String,
        /// The step.
        n: u64,
        /// The recorded input.
        recorded: String,
        /// The played one.
        played: String,
    },
    /// The recorded debate, or a file made of the recording, cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// The scenario cannot be played.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Play(#[from] ScenarioRunError),
}

/// Where a scenario comes from, without the folders of whoever promoted it.
fn origin(file: &str) -> String {
    let path = Path::new(file);
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Writes the scenario, and plays it as whoever runs it will.
fn perform(
    target: &Target,
    mut file: ScenarioFile,
    policy: &Policy,
) -> Result<(Promotion, Vec<Step>), PromoteError> {
    let built_in = Policy::built_in(&policy.name).filter(|built_in| built_in == policy);
    let policy_text = built_in.is_none().then(|| policy_file::write(policy));
    let policy = match &policy_text {
        None => policy.clone(),
        // The golden trace must come of what the files say.
        Some(text) => policy_file::parse(&target.policy_file(), text, Path::new(""))?,
    };
    let named = policy_text.as_ref().map_or_else(|| policy.name.to_string(), |_| target.policy_file());
    file.policy = Some(StrictText::from(named).into());
    let mut text = String::from(if target.schema { SCHEMA_LINE } else { "" });
    text.push_str(&write_scenario(&file)?);
    let played = run_scenario(Scenario::parse_under(&target.scenario_file(), &text, policy)?)?;
    let steps = Reader::new(played.trace.as_slice(), &target.golden_file())?.collect::<Result<_, _>>()?;
    let promotion = Promotion {
        target: target.clone(),
        scenario: text,
        policy: policy_text,
        golden: played.trace,
        steps: played.steps,
        halted: played.halted,
        notes: Vec::new(),
    };
    Ok((promotion, steps))
}
