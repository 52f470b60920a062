//! Upgrades: a conversation continues under another policy, or under the kernel of this program (decision 0069).
//!
//! An upgrade is a rotation whose next segment has another header, and names what it was upgraded from. So each segment has one kernel and
//! one policy, and the steps before the upgrade stay as they were decided.

use crate::error::OpenError;
use crate::journal::Journal as _;
use crate::journal_file::JournalFile;
use crate::recovery::{RecoveredJournal, TruncatedTail, read_steps};
use crate::rotation::{
    RotateError, RotatedSegment, check_format, continue_in_segment, open_file, unwritable,
};
use orchestrion_kernel::context::{ContextBuilder, TokenizerUnavailable};
use orchestrion_kernel::{Phase, Policy, State};
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, Reader, TraceError, TraceErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A conversation that can be upgraded: its journal is locked and verified, and no request runs. Nothing is written before
/// [`apply`](Self::apply).
#[derive(Debug)]
pub struct Upgrade {
    journal: PathBuf,
    file: JournalFile,
    recorder: Recorder<Vec<u8>>,
    recorded: Header,
    conversions: Vec<String>,
    contexts: &'static dyn ContextBuilder,
}

/// The reason why a conversation cannot be upgraded. The journal is unchanged.
#[derive(Debug, Error)]
pub enum UpgradeError {
    /// The journal cannot be read, or the segment not be written.
    #[error(transparent)]
    Rotate(#[from] RotateError),
    /// A request runs. Its later decisions depend on what was decided under the recorded policy.
    #[error(
        "{journal}: running request: expected no request, found {request}; let it end or cancel it, and upgrade then"
    )]
    Running {
        /// The journal.
        journal: String,
        /// The trace id of the request.
        request: String,
    },
    /// The conversation accepts no further request.
    #[error(
        "{journal}: ended conversation: expected the phase {}, found {phase}; begin a new journal",
        Phase::Idle
    )]
    Ended {
        /// The journal.
        journal: String,
        /// The phase.
        phase: Phase,
    },
    /// The end of the journal may be lost, with the calls of a request.
    #[error("{journal}: torn tail: expected complete lines, found {} bytes of a torn line {}; open the conversation under the recorded policy \
         once, which recovers its calls, and upgrade then", tail.bytes, tail.line)]
    TornTail {
        /// The journal.
        journal: String,
        /// The torn tail.
        tail: TruncatedTail,
    },
    /// This kernel decides recorded steps otherwise, so it cannot compute the state from them.
    #[error(
        "{error}; or rotate the journal with the version {kernel} that recorded it, and upgrade then: the state at its end is stored in \
         the journal"
    )]
    OtherDecisions {
        /// The version of the kernel that recorded the journal.
        kernel: String,
        /// The first step with other events.
        #[source]
        error: TraceError,
    },
    /// The policy requires a tokenizer that this build does not contain.
    #[error(transparent)]
    TokenizerUnavailable(#[from] TokenizerUnavailable),
}

impl Upgrade {
    /// Locks a journal that no program has open, and verifies it.
    ///
    /// # Errors
    /// [`UpgradeError`]
    pub fn prepare(journal: &Path, contexts: &'static dyn ContextBuilder) -> Result<Self, UpgradeError> {
        let name = journal.display().to_string();
        let mut file = open_file(journal)?;
        let mut conversions = Vec::new();
        let input = file.read().map_err(unwritable(journal))?;
        let reader = Reader::new_older(input, &name, &mut conversions).map_err(unreadable)?;
        check_format(journal, reader.header())?;
        let kernel = reader.header().kernel.clone();
        let fold = reader.start().map_err(unreadable)?.clone();
        let RecoveredJournal { header: recorded, recorder, truncated_tail, .. } =
            read_steps(reader, fold, &name, contexts).map_err(|error| match error {
                OpenError::Trace(error) if matches!(error.kind, TraceErrorKind::EventsDiffer { .. }) => {
                    UpgradeError::OtherDecisions { kernel, error }
                }
                error => RotateError::from(error).into(),
            })?;
        if let Some(tail) = truncated_tail {
            return Err(UpgradeError::TornTail { journal: name, tail });
        }
        let control = recorder.state().control();
        if let Some(request) = control.request() {
            let request = control.trace_id(request.id).to_string();
            return Err(UpgradeError::Running { journal: name, request });
        }
        let phase = control.phase();
        if phase != Phase::Idle {
            return Err(UpgradeError::Ended { journal: name, phase });
        }
        Ok(Self { journal: journal.to_owned(), file, recorder, recorded, conversions, contexts })
    }

    /// The header of the journal.
    #[must_use]
    pub const fn recorded(&self) -> &Header {
        &self.recorded
    }

    /// What this version converted in the header, as sentences.
    #[must_use]
    pub fn conversions(&self) -> &[String] {
        &self.conversions
    }

    /// The state at the end of the journal.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.recorder.state()
    }

    /// The number of steps.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.recorder.steps()
    }

    /// Returns the header of the next segment under this kernel and this policy. Returns `None` if nothing changes.
    #[must_use]
    pub fn next_header(&self, policy: &Policy) -> Option<Header> {
        let next = self.recorded.upgraded(policy.clone());
        let is_equal = next.upgraded_from == Some(next.as_upgraded_from());
        (!is_equal || !self.conversions.is_empty()).then_some(next)
    }

    /// Moves the lines of the journal to a segment, as [`rotate`](crate::rotate) does, and continues the journal with this header.
    ///
    /// # Errors
    /// [`UpgradeError`]
    pub fn apply(self, next: Header, segment: Option<&Path>) -> Result<RotatedSegment, UpgradeError> {
        let Self { journal, file, recorder, contexts, .. } = self;
        contexts.check_policy(&next.policy)?;
        file.remove_snapshot().map_err(unwritable(&journal))?;
        Ok(continue_in_segment(&journal, file, recorder, next, segment)?)
    }
}

fn unreadable(error: TraceError) -> UpgradeError {
    RotateError::from(OpenError::from(error)).into()
}
