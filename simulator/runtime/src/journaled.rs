//! The core of a conversation: its state, its trace, and the journal that makes the trace durable.

use crate::deadlines::Deadlines;
use crate::error::{OpenError, RuntimeError};
use crate::handoffs::NodeKeys;
use crate::journal::Journal;
use crate::mailbox::MailboxReceiver;
use crate::recovery::{TruncatedTail, read_journal};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{Input, Refusal, State};
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, RequestResult, StepMetadata};
use std::io;

/// A conversation with its journal.
#[derive(Debug)]
pub(crate) struct JournaledConversation<J> {
    /// Its output contains the lines that are not in the journal yet.
    pub(crate) recorder: Recorder<Vec<u8>>,
    pub(crate) deadlines: Deadlines,
    pub(crate) keys: NodeKeys,
    pub(crate) inbox: MailboxReceiver,
    pub(crate) journal: J,
    pub(crate) truncated_tail: Option<TruncatedTail>,
    /// Whether every commit succeeded.
    is_healthy: bool,
}

impl<J: Journal> JournaledConversation<J> {
    /// Reads the journal, and truncates its torn tail.
    pub(crate) fn open(
        mut journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        contexts.check_policy(&header.policy)?;
        let name = journal.name();
        let unreadable = |error| OpenError::Io { journal: name.clone(), error };
        let recovered = read_journal(journal.read().map_err(unreadable)?, &name, header, contexts)?;
        if recovered.valid_bytes > 0 || recovered.truncated_tail.is_some() {
            // Also without a torn tail: afterwards everything that was read is durable.
            journal.truncate(recovered.valid_bytes).map_err(unreadable)?;
        }
        Ok(Self {
            recorder: recovered.recorder,
            deadlines: Deadlines::default(),
            keys: NodeKeys::default(),
            inbox: MailboxReceiver::new(),
            journal,
            truncated_tail: recovered.truncated_tail,
            is_healthy: true,
        })
    }

    /// The current state.
    pub(crate) const fn state(&self) -> &State {
        self.recorder.state()
    }

    /// The result of the latest request, if it has ended.
    pub(crate) fn last_result(&self) -> Option<&RequestResult> {
        self.recorder.facts()?.result.as_ref().map(|(_, result)| result)
    }

    pub(crate) fn check_no_request(&self) -> Result<(), RuntimeError> {
        let control = self.state().control();
        match control.request() {
            Some(request) => Err(RuntimeError::Unfinished(control.trace_id(request.id).to_string())),
            None => Ok(()),
        }
    }

    pub(crate) fn check_healthy(&self) -> Result<(), RuntimeError> {
        if self.is_healthy {
            Ok(())
        } else {
            Err(RuntimeError::JournalFailed { journal: self.journal.name() })
        }
    }

    /// Decides and records an input. The record is durable after the next [`commit`](Self::commit).
    pub(crate) fn submit(
        &mut self,
        input: &Input,
        metadata: &StepMetadata,
    ) -> Result<Result<(), Refusal>, RuntimeError> {
        match self.recorder.submit(input, metadata) {
            Ok(decided) => Ok(decided.map(drop)),
            Err(error) => Err(self.mark_failed(error)),
        }
    }

    /// Makes all recorded steps durable.
    pub(crate) async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.check_healthy()?;
        let lines = self.recorder.output();
        if lines.is_empty() {
            return Ok(());
        }
        // If this future is dropped, the journal may contain a part of the lines.
        self.is_healthy = false;
        let written = match self.journal.append(lines) {
            Ok(()) => self.journal.sync().await,
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => {
                self.recorder.output().clear();
                self.is_healthy = true;
                Ok(())
            }
            Err(error) => Err(self.mark_failed(error)),
        }
    }

    /// Commits if many bytes wait, for example after many refused messages.
    pub(crate) async fn commit_if_large(&mut self) -> Result<(), RuntimeError> {
        const LARGE_BYTES: usize = 1 << 20;
        if self.recorder.output().len() > LARGE_BYTES { self.commit().await } else { Ok(()) }
    }

    /// Ends the trace and returns the journal.
    pub(crate) async fn finish(mut self) -> Result<J, RuntimeError> {
        self.commit().await?;
        let Self { recorder, mut journal, .. } = self;
        let written = async {
            journal.append(&recorder.close()?)?;
            journal.sync().await
        };
        match written.await {
            Ok(()) => Ok(journal),
            Err(error) => Err(RuntimeError::Journal { journal: journal.name(), error }),
        }
    }

    fn mark_failed(&mut self, error: io::Error) -> RuntimeError {
        self.is_healthy = false;
        RuntimeError::Journal { journal: self.journal.name(), error }
    }
}
