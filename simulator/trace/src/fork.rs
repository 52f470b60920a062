//! A fork: the first steps of a trace as they are, and another input or policy from a step on (decision 0060).

use crate::error::{TraceError, TraceErrorKind};
use crate::facts::ConversationFold;
use crate::format::{Header, StepMetadata};
use crate::read::Reader;
use crate::recorder::Recorder;
use crate::replay::{Difference, ReplayedStep, Replayer};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{Events, Input, Refusal, State};
use serde::{Deserialize, Serialize};
use std::{fmt, io};

/// Where a forked trace comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// The name of the file with the parent trace.
    pub parent: String,
    /// The digest of that file.
    pub digest: String,
    /// The first step that is not taken from the parent.
    pub step: u64,
    /// What was set at this step, as `KEY=VALUE`.
    pub set: Vec<String>,
}

/// The start of a forked trace, without its last line.
#[derive(Debug)]
pub struct Fork {
    /// The lines: the header, the steps of the parent, and the step at which it forks.
    pub trace: Vec<u8>,
    /// The number of these steps.
    pub steps: u64,
    /// The state after these steps.
    pub state: State,
    /// The time of the latest one, in milliseconds since 1970.
    pub at_ms: u64,
    /// The refusal of the latest one, if it is an internal step: the conversation cannot continue.
    pub halted: Option<Refusal>,
}

/// A step of a fork, for those who follow it.
#[derive(Debug)]
pub struct ForkStep<'a> {
    /// The conversation before the step.
    pub before: &'a ConversationFold,
    /// The conversation after it.
    pub after: &'a ConversationFold,
    /// The time of the input.
    pub at_ms: u64,
    /// The input.
    pub input: &'a Input,
    /// The input that the parent has here: another one at the step of the fork, if an input was set.
    pub recorded: &'a Input,
    /// The events; empty if the input was refused.
    pub events: &'a Events,
}

/// A trace cannot be forked.
#[derive(Debug)]
pub enum ForkError {
    /// The trace cannot be read to the step.
    Trace(TraceError),
    /// The trace has no such step.
    BeyondEnd {
        /// The requested step.
        found: u64,
        /// The number of steps.
        steps: u64,
    },
    /// An earlier step would be decided differently.
    Differs {
        /// The difference.
        difference: Difference,
        /// Whether the policy of the fork is another one than that of the trace.
        is_new_policy: bool,
    },
    /// The kernel refuses the input that was set.
    Refused(Refusal),
    /// The trace cannot be written.
    Io(io::Error),
}

impl fmt::Display for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::BeyondEnd { found, steps } => {
                write!(f, "no step {found}: expected a number from 1 to {steps}, the last step of the trace")
            }
            Self::Differs { difference: Difference { step, subject, .. }, is_new_policy } => {
                let condition = if *is_new_policy { "under the new policy" } else { "with this kernel" };
                write!(
                    f,
                    "step {step} would be decided differently {condition}, in {subject}: expected the recorded decision before the fork"
                )
            }
            Self::Refused(refusal) => write!(f, "the kernel refuses the input: {refusal}"),
            Self::Io(error) => write!(f, "cannot write the fork: {error}"),
        }
    }
}

impl std::error::Error for ForkError {}

impl From<io::Error> for ForkError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Forks a trace at a step. Earlier inputs are decided again under the policy of `header`, and must give the recorded steps; no module
/// is called. `change` returns the new input of the step, or `None` to keep the recorded one; it gets the state before the step and
/// the recorded input. `follow` sees each step.
///
/// # Errors
/// [`ForkError`], or the error of `change`.
pub fn fork<R: io::BufRead, E: From<ForkError>>(
    mut reader: Reader<R>,
    step: u64,
    header: &Header,
    contexts: &'static dyn ContextBuilder,
    mut change: impl FnMut(&State, &Input) -> Result<Option<Input>, E>,
    mut follow: impl FnMut(&ForkStep<'_>),
) -> Result<Fork, E> {
    let is_new_policy = reader.header().policy != header.policy;
    let mut replayer = Replayer::new(&reader, Some(&header.policy), contexts).map_err(ForkError::Trace)?;
    let start = reader.start().map_err(ForkError::Trace)?.clone();
    let mut recorder = Recorder::open(Vec::new(), header, contexts).map_err(ForkError::Io)?;
    let mut before = start;
    loop {
        let n = recorder.steps() + 1;
        let replayed = replayer.next(&mut reader).map_err(ForkError::Trace)?;
        let Some(ReplayedStep { mut metadata, input, difference, .. }) = replayed else {
            return Err(ForkError::BeyondEnd { found: step, steps: recorder.steps() }.into());
        };
        if reader.erased_texts() > 0 {
            let reason = format!("expected none up to the fork, found {}", reader.erased_texts());
            return Err(ForkError::Trace(reader.error(TraceErrorKind::ErasedText(reason))).into());
        }
        if let Some((_, difference)) = difference.filter(|_| n < step) {
            return Err(ForkError::Differs { difference, is_new_policy }.into());
        }
        let recorded = input;
        let new = if n == step { change(before.state(), &recorded)? } else { None };
        let is_changed = new.is_some();
        if is_changed {
            // The key and the note of the host belong to the recorded input.
            metadata = StepMetadata { at_ms: metadata.at_ms, ..StepMetadata::default() };
        }
        let input = new.unwrap_or_else(|| recorded.clone());
        let decided = recorder.submit(&input, &metadata).map_err(ForkError::Io)?;
        let (events, refusal) = match decided {
            Ok(events) => (events, None),
            Err(refusal) if is_changed => return Err(ForkError::Refused(refusal).into()),
            Err(refusal) => (Events::new(), Some(refusal)),
        };
        let after = recorder.fold();
        let at_ms = metadata.at_ms;
        follow(&ForkStep {
            before: &before,
            after,
            at_ms,
            input: &input,
            recorded: &recorded,
            events: &events,
        });
        if n == step {
            let halted = refusal.filter(|_| input == Input::Step);
            let state = after.state().clone();
            return Ok(Fork { steps: n, state, at_ms, halted, trace: recorder.into_output() });
        }
        before = after.clone();
    }
}
