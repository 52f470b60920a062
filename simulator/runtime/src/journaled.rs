//! The core of a conversation: its state, its trace, and the journal that makes the trace durable.

use crate::commit_status::CommitStatus;
use crate::deadlines::Deadlines;
use crate::error::RuntimeError;
use crate::handoffs::NodeKeys;
use crate::idempotency_key::{Acknowledgement, KeyResult};
use crate::journal::Journal;
use crate::mailbox::{Mail, MailboxReceiver};
use crate::observer::Observer;
use crate::recovery::{RecoveredJournal, TruncatedTail};
use orchestrion_kernel::context::{ContextBuilder, TokenizerUnavailable};
use orchestrion_kernel::event::Events;
use orchestrion_kernel::{Input, Refusal, State};
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, Idempotency, RecordedInput, RequestResult, SnapshotError, StepMetadata};
use std::io;

/// The minimum growth of the journal between two snapshots.
const SNAPSHOT_BYTES_MIN: u64 = 1 << 19;

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
    /// The notices of inputs with a key. They are sent after the next commit.
    pub(crate) acknowledgements: Vec<Acknowledgement>,
    /// The inputs that wait for a session.
    pub(crate) postponed: Vec<Mail>,
    /// Whether the end of the journal may be lost, with calls that the host executed.
    pub(crate) recovers_first: bool,
    /// Why the snapshot of the journal was not used, if so.
    pub(crate) snapshot_error: Option<SnapshotError>,
    /// Sees the events of each accepted input.
    pub(crate) observer: Option<Box<dyn Observer>>,
    header: Header,
    /// The bytes of the journal, and those from which the next snapshot is due.
    journal_bytes: u64,
    snapshot_from_bytes: u64,
    /// Whether every commit succeeded.
    is_healthy: bool,
    /// Whether all lines of the journal are durable.
    is_durable: bool,
    pub(crate) commit_status: CommitStatus,
}

impl<J: Journal> JournaledConversation<J> {
    /// Starts a conversation that records nothing: the journal stays empty.
    ///
    /// # Errors
    /// The policy names a tokenizer that this program does not have.
    pub(crate) fn unrecorded(
        journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, TokenizerUnavailable> {
        contexts.check_policy(&header.policy)?;
        Ok(Self::from_recovered(
            journal,
            RecoveredJournal {
                header: header.clone(),
                recorder: Recorder::unrecorded(Vec::new(), header, contexts),
                valid_bytes: 0,
                truncated_tail: None,
                covered_bytes: 0,
                snapshot_error: None,
            },
            false,
        ))
    }

    pub(crate) fn from_recovered(journal: J, recovered: RecoveredJournal, recovers_first: bool) -> Self {
        Self {
            recorder: recovered.recorder,
            deadlines: Deadlines::default(),
            keys: NodeKeys::default(),
            inbox: MailboxReceiver::new(),
            journal,
            truncated_tail: recovered.truncated_tail,
            acknowledgements: Vec::new(),
            postponed: Vec::new(),
            recovers_first,
            snapshot_error: recovered.snapshot_error,
            observer: None,
            header: recovered.header,
            journal_bytes: recovered.valid_bytes,
            snapshot_from_bytes: recovered.covered_bytes + SNAPSHOT_BYTES_MIN,
            is_healthy: true,
            is_durable: true,
            commit_status: CommitStatus::default(),
        }
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

    /// Looks up an input with a key. If it was recorded before, or its key belongs to another input, returns the notice, which is sent after
    /// the next commit.
    pub(crate) fn find_repeated(&mut self, idempotency: &Idempotency) -> Option<Acknowledgement> {
        let recorded = self.recorder.inputs().get(&idempotency.key)?;
        let result = match recorded.idempotency == *idempotency {
            true => KeyResult::Recorded { is_accepted: recorded.is_accepted, is_repeated: true },
            false => KeyResult::KeyReused,
        };
        let notice = Acknowledgement { key: idempotency.key.clone(), step: recorded.step, result };
        self.acknowledgements.push(notice.clone());
        Some(notice)
    }

    /// Decides and records an input. If it has a key, its notice is sent after the next commit. The record is durable after the next [`commit`](Self::commit).
    pub(crate) fn submit(
        &mut self,
        input: &Input,
        metadata: &StepMetadata,
    ) -> Result<Result<Events, Refusal>, RuntimeError> {
        let decided = self.recorder.submit(input, metadata).map_err(|error| self.mark_failed(error))?;
        let key = metadata.idempotency.as_ref().map(|idempotency| &idempotency.key);
        if let Some(RecordedInput { idempotency, step, is_accepted }) =
            key.and_then(|key| self.recorder.inputs().get(key)).cloned()
        {
            let result = KeyResult::Recorded { is_accepted, is_repeated: false };
            self.acknowledgements.push(Acknowledgement { key: idempotency.key, step, result });
        }
        if let (Some(observer), Ok(events)) = (&mut self.observer, &decided) {
            observer.observe(self.recorder.steps(), events);
        }
        Ok(decided)
    }

    /// Makes all recorded steps durable.
    pub(crate) async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.check_healthy()?;
        let lines = self.recorder.output();
        if !lines.is_empty() {
            // A failed append may have written a part of the lines.
            if let Err(error) = self.journal.append(lines) {
                return Err(self.mark_failed(error));
            }
            self.journal_bytes += lines.len() as u64;
            lines.clear();
            self.is_durable = false;
        }
        if self.is_durable {
            return Ok(());
        }
        // If this future is dropped, the next commit syncs again.
        let running = self.commit_status.begin();
        let synced = self.journal.sync().await;
        drop(running);
        if let Err(error) = synced {
            return Err(self.mark_failed(error));
        }
        self.is_durable = true;
        self.take_snapshot_if_due();
        Ok(())
    }

    /// Takes a snapshot if the journal grew by three quarters of the size of the latest one, so that the cost of a request does not grow. A
    /// snapshot that cannot be written is no error, because the journal contains everything.
    fn take_snapshot_if_due(&mut self) {
        if self.journal_bytes < self.snapshot_from_bytes {
            return;
        }
        let snapshot = self.recorder.snapshot(&self.header, self.journal_bytes).encode();
        let len_bytes = snapshot.as_ref().map_or(0, |snapshot| snapshot.len() as u64);
        self.snapshot_from_bytes = self.journal_bytes + SNAPSHOT_BYTES_MIN.max(len_bytes / 4 * 3);
        let _is_kept = snapshot.and_then(|snapshot| self.journal.write_snapshot(&snapshot));
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
