//! The conversation as an application uses it: open, run requests, resume, close.

use crate::commit_status::CommitStatus;
use crate::deadlines::Deadlines;
use crate::driver::{RequestDriver, StepResult};
use crate::error::{OpenError, RuntimeError};
use crate::handoffs::NodeKeys;
use crate::host::Host;
use crate::idempotency_key::KeyResult;
use crate::journal::Journal;
use crate::journal_file::JournalFile;
use crate::journaled::JournaledConversation;
use crate::mailbox::Mailbox;
use crate::new_request::NewRequest;
use crate::observer::Observer;
use crate::recovered::RecoveredConversation;
use crate::recovery::TruncatedTail;
use crate::session_user::SessionUser;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::item::{Item, Scope};
use orchestrion_kernel::{ConversationId, Input, Phase, Policy, State, Text};
use orchestrion_trace::{Header, RequestResult, SnapshotError, StepMetadata};
use std::path::Path;

/// A conversation of the kernel. Each step is durable in the journal before the call that it emits is sent.
#[derive(Debug)]
pub struct Conversation<J>(JournaledConversation<J>);

impl Conversation<JournalFile> {
    /// Opens or creates the journal at this path. The file name up to its first dot is the conversation's name.
    ///
    /// # Errors
    /// [`OpenError`] if the file cannot be opened, is not a journal, was recorded with another policy or kernel, or is
    /// closed.
    pub fn open(
        path: impl AsRef<Path>,
        policy: Policy,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        let header = Header::new(ConversationId::new(name), policy, None).into_journal();
        Self::open_with(JournalFile::open(path)?, &header, contexts)
    }
}

impl<J: Journal> Conversation<J> {
    /// Opens a journal, or starts it with this header if it is empty. An existing journal keeps its form: short after
    /// [`Header::into_journal`], else with all events.
    ///
    /// # Errors
    /// See [`Conversation::open`].
    pub fn open_with(
        journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        Self::read(journal, header, contexts, None)?.open()
    }

    /// Starts a conversation that records nothing, for a simulation of which only the facts are needed. The journal stays empty, so that
    /// a crash cannot be resumed.
    ///
    /// # Errors
    /// [`OpenError`] if the policy names a tokenizer that this program does not have.
    pub fn start_unrecorded(
        journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        Ok(Self(JournaledConversation::unrecorded(journal, header, contexts)?))
    }

    /// Opens a journal as [`Conversation::open_with`] does, for a host that stored a [`Call::step`](crate::Call::step) before it executed
    /// the call. Calls with an effect are then sent at once, unless a torn tail was truncated.
    ///
    /// # Errors
    /// See [`Conversation::open`], and [`OpenError::Shorter`] if the journal ends before the step.
    pub fn open_acknowledged(
        journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
        acknowledged_step: u64,
    ) -> Result<Self, OpenError> {
        Self::read(journal, header, contexts, Some(acknowledged_step))?.open()
    }

    /// Reads a journal without changing it, so that the caller can check its state before it opens the conversation. With a step it reads
    /// as [`Conversation::open_acknowledged`], without one as [`Conversation::open_with`].
    ///
    /// # Errors
    /// See [`Conversation::open_acknowledged`].
    pub fn read(
        journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
        acknowledged_step: Option<u64>,
    ) -> Result<RecoveredConversation<J>, OpenError> {
        RecoveredConversation::read(journal, header, contexts, acknowledged_step)
    }

    pub(crate) const fn from_journaled(conversation: JournaledConversation<J>) -> Self {
        Self(conversation)
    }

    /// Sets the deadlines of calls.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.0.deadlines = deadlines;
        self
    }

    /// Sets the keys with which nodes sign handoffs. Default: simulated keys.
    #[must_use]
    pub fn with_keys(mut self, keys: NodeKeys) -> Self {
        self.0.keys = keys;
        self
    }

    /// Sets the observer of all further steps. It has not seen those that the journal already has.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observer + 'static) -> Self {
        self.0.observer = Some(Box::new(observer));
        self
    }

    /// The current state.
    pub const fn state(&self) -> &State {
        self.0.state()
    }

    /// Returns the current value of a fact key for the session user: the readable fact of the key, else its readable
    /// successor under any key (003 `get_current_value`). Without a session, the reader has the lowest rank.
    pub fn current_value(&self, key: impl Into<Text>) -> Option<&Item> {
        let state = self.state();
        state.semantic().get_current_value(&key.into(), &state.session_principal())
    }

    /// Returns the current value of a fact key for the session user in a scope, as [`current_value`](Self::current_value) does in that
    /// of the running request.
    pub fn current_value_in(&self, scope: &Scope, key: impl Into<Text>) -> Option<&Item> {
        let state = self.state();
        state.semantic().get_current_value(&key.into(), &state.principal_in(scope))
    }

    /// The number of recorded steps, including refused inputs.
    pub const fn steps(&self) -> u64 {
        self.0.recorder.steps()
    }

    /// Whether a commit is running.
    pub fn commit_status(&self) -> CommitStatus {
        self.0.commit_status.clone()
    }

    /// The torn tail that was truncated when the journal was opened, if any.
    pub const fn truncated_tail(&self) -> Option<TruncatedTail> {
        self.0.truncated_tail
    }

    /// Whether calls of the journal may be lost, so that the host recovers each effectful call before it is sent: a torn tail was
    /// truncated, in this process or an earlier one, and its request has not ended since; or the journal had steps and was opened
    /// without an acknowledged step, now or ever before.
    pub const fn recovers_first(&self) -> bool {
        self.0.recovers_first
    }

    /// Why the snapshot of the journal was not used when the journal was opened, if so. The journal was then read from its start.
    pub const fn snapshot_error(&self) -> Option<&SnapshotError> {
        self.0.snapshot_error.as_ref()
    }

    /// The result of the latest request. A caller that crashed may not have received it.
    pub fn last_result(&self) -> Option<&RequestResult> {
        self.0.last_result()
    }

    /// The mailbox for inputs while a request runs, such as a cancellation.
    pub fn mailbox(&self) -> Mailbox {
        self.0.inbox.mailbox()
    }

    /// Whether a request was interrupted, so that [`resume`](Self::resume) must be called.
    pub fn is_unfinished(&self) -> bool {
        !self.state().control().phase().is_quiescent()
    }

    /// Runs a request to its end. Opens a session of the user if none is open.
    ///
    /// The future may be dropped at any time; [`resume`](Self::resume) then continues the request. If the idempotency key of the request is that
    /// of the latest one, its result is returned again.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub async fn run_request<H: Host>(
        &mut self,
        host: &H,
        user: impl Into<SessionUser>,
        request: impl Into<NewRequest>,
    ) -> Result<RequestResult, RuntimeError> {
        let mut driver = self.run(host)?;
        match driver.start_request(&user.into(), request.into()) {
            Ok(StepResult::Accepted) => driver.finish().await,
            Ok(StepResult::Halted(refusal) | StepResult::Refused(refusal)) => {
                driver.commit().await?;
                Err(refusal.into())
            }
            Err(RuntimeError::RepeatedKey(notice)) => {
                driver.commit().await?;
                // The caller did not receive the result of the latest request.
                let latest = driver.facts().filter(|facts| facts.first_step == notice.step);
                let result = latest.and_then(|facts| facts.result.as_ref()).map(|(_, result)| result.clone());
                match notice.result {
                    KeyResult::Recorded { .. } => result.ok_or(RuntimeError::RepeatedKey(notice)),
                    KeyResult::KeyReused => Err(RuntimeError::RepeatedKey(notice)),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Resumes the request that was running when the runtime crashed. Returns `None` if no request was running.
    ///
    /// The call in flight is sent again under its own id. If it is effectful, the host first recovers its outcome. If the end of the
    /// journal may be lost, this holds for later effectful calls too ([`recovers_first`](Self::recovers_first)).
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub async fn resume<H: Host>(&mut self, host: &H) -> Result<Option<RequestResult>, RuntimeError> {
        if !self.is_unfinished() {
            return Ok(None);
        }
        let mut driver = self.run(host)?;
        match driver.resume()? {
            StepResult::Halted(refusal) | StepResult::Refused(refusal) => Err(refusal.into()),
            StepResult::Accepted => driver.finish().await.map(Some),
        }
    }

    /// Returns a driver that runs the conversation step by step.
    ///
    /// # Errors
    /// [`RuntimeError::JournalFailed`].
    pub fn run<'a, H: Host>(&'a mut self, host: &'a H) -> Result<RequestDriver<'a, J, H>, RuntimeError> {
        self.0.check_healthy()?;
        Ok(RequestDriver::new(&mut self.0, host))
    }

    /// Closes the open session, if any, and ends the trace. The journal cannot be opened again.
    ///
    /// # Errors
    /// [`RuntimeError::Unfinished`] while a request runs, or an error of the journal.
    pub async fn close(mut self) -> Result<J, RuntimeError> {
        self.0.check_healthy()?;
        self.0.check_no_request()?;
        let control = self.state().control();
        if control.phase() == Phase::Idle && control.session().is_some() {
            let now = StepMetadata::at(self.state().now());
            self.0.submit(&Input::SessionEnd, &now)??;
        }
        self.finish().await
    }

    /// Ends the trace in any state.
    ///
    /// # Errors
    /// An error of the journal.
    pub async fn finish(self) -> Result<J, RuntimeError> {
        self.0.finish().await
    }

    /// Makes all recorded steps durable. Happens automatically before a call is sent and before a result is returned.
    ///
    /// # Errors
    /// [`RuntimeError::Journal`]; the conversation must then be opened again.
    pub async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.0.commit().await
    }

    /// Returns the journal without uncommitted steps.
    pub fn into_journal(self) -> J {
        self.0.journal
    }

    /// The journal.
    pub const fn journal(&self) -> &J {
        &self.0.journal
    }
}
