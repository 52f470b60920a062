//! A conversation that is kept in a journal: opened, asked, resumed, closed.

use super::driver::{RequestDriver, StepResult};
use super::error::{OpenError, RuntimeError};
use super::host::{Deadlines, Host};
use super::journal::{Journal, JournalFile};
use super::mailbox::{Mailbox, MailboxReceiver};
use super::request_tracker::{RequestResult, RequestTracker};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{ConversationId, Input, Phase, Policy, Refusal, State, Text, UserId};
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{
    CALL, Header, Reader, StepMetadata, TRACE_PREFIX, TraceError, TraceErrorKind, digest,
};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// A conversation of the kernel, each step of it kept in a journal before anything that follows from it is done.
#[derive(Debug)]
pub struct Conversation<J> {
    /// Its lines stay here until they are appended to the journal.
    pub(super) recording: Recorder<Vec<u8>>,
    pub(super) matters: RequestTracker,
    pub(super) deadlines: Deadlines,
    pub(super) post: MailboxReceiver,
    journal: J,
    dropped: Option<TruncatedTail>,
    /// Whether everything that was to be kept is kept.
    sound: bool,
}

/// The end of a journal that was never wholly written, and is gone. Nothing rested on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedTail {
    /// The line, from 1, where it began.
    pub line: u64,
    /// How long it was.
    pub bytes: u64,
}

impl fmt::Display for TruncatedTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, bytes } = self;
        write!(f, "the last {bytes} bytes, from line {line} on, were never wholly written, and are dropped")
    }
}

impl Conversation<JournalFile> {
    /// Opens the journal at this path, or begins it; the conversation is then called like the file.
    ///
    /// # Errors
    /// [`OpenError`]: the file cannot be had, is no journal, was begun with another policy or kernel, or was closed.
    pub fn open(
        path: impl AsRef<Path>,
        policy: Policy,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        let header = Header::new(ConversationId::new(name), policy, None);
        Self::open_with(JournalFile::open(path)?, &header, contexts)
    }
}

impl<J: Journal> Conversation<J> {
    /// Opens a journal that is at hand, or begins it with this header.
    ///
    /// # Errors
    /// As [`Conversation::open`].
    pub fn open_with(
        mut journal: J,
        header: &Header,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, OpenError> {
        contexts.check_policy(&header.policy)?;
        let name = journal.name();
        let unreadable = |error| OpenError::Io { journal: name.clone(), error };
        let found = read(journal.read().map_err(unreadable)?, &name, header, contexts)?;
        if found.sound_bytes > 0 || found.dropped.is_some() {
            // Also where nothing is dropped: what is found from here on is durable.
            journal.truncate(found.sound_bytes).map_err(unreadable)?;
        }
        let (post, matters) = (MailboxReceiver::new(), found.matters);
        Ok(Self {
            recording: found.recording,
            matters,
            deadlines: Deadlines::default(),
            post,
            journal,
            dropped: found.dropped,
            sound: true,
        })
    }

    /// Waits for answers as long as this says.
    #[must_use]
    pub fn with_deadlines(mut self, deadlines: Deadlines) -> Self {
        self.deadlines = deadlines;
        self
    }

    /// The state as it is now.
    pub const fn state(&self) -> &State {
        self.recording.state()
    }

    /// The steps recorded so far, refused inputs included.
    pub const fn steps(&self) -> u64 {
        self.recording.steps()
    }

    /// What was dropped from the end of the journal when it was opened, if anything was.
    pub const fn dropped(&self) -> Option<TruncatedTail> {
        self.dropped
    }

    /// How the latest request was answered. Whoever asked may have missed it in a crash.
    pub const fn last_result(&self) -> Option<&RequestResult> {
        self.matters.answered()
    }

    /// Where anybody can put inputs for the conversation while it is driven: a cancel, above all.
    pub fn mailbox(&self) -> Mailbox {
        self.post.mailbox()
    }

    /// Whether a request runs that nobody drives, so that [`resume`](Self::resume) is to be called.
    pub fn is_unfinished(&self) -> bool {
        !self.state().control.phase().is_quiescent()
    }

    /// Asks for something, and drives the request to its end. A session of the user is opened if none is.
    ///
    /// The future may be dropped at any time; [`resume`](Self::resume) then goes on.
    ///
    /// # Errors
    /// [`DriveError`].
    pub async fn run_request<H: Host>(
        &mut self,
        host: &H,
        user: &str,
        says: impl Into<Text>,
    ) -> Result<RequestResult, RuntimeError> {
        let mut running = self.run(host)?;
        match running.start_request(&UserId::new(user), says.into())? {
            StepResult::Halted(refusal) | StepResult::Refused(refusal) => Err(refusal.into()),
            StepResult::Accepted => running.finish().await,
        }
    }

    /// Goes on with the request in whose middle the runtime crashed; `None` if there is none.
    ///
    /// A call that was out is asked again under its own id; if it is effectful, the host is asked first whether it
    /// happened.
    ///
    /// # Errors
    /// [`DriveError`].
    pub async fn resume<H: Host>(&mut self, host: &H) -> Result<Option<RequestResult>, RuntimeError> {
        if !self.is_unfinished() {
            return Ok(None);
        }
        let mut running = self.run(host)?;
        match running.resume()? {
            StepResult::Halted(refusal) | StepResult::Refused(refusal) => Err(refusal.into()),
            StepResult::Accepted => running.finish().await.map(Some),
        }
    }

    /// Drives the conversation turn by turn, for programs that want to act in between.
    ///
    /// # Errors
    /// [`DriveError::Broken`].
    pub fn run<'a, H: Host>(&'a mut self, host: &'a H) -> Result<RequestDriver<'a, J, H>, RuntimeError> {
        self.check_healthy()?;
        Ok(RequestDriver::new(self, host))
    }

    /// Closes the session, if one is open, and ends the trace. The journal cannot be opened again.
    ///
    /// # Errors
    /// [`DriveError::Unfinished`] while a request runs, or whatever the journal gives.
    pub async fn close(mut self) -> Result<J, RuntimeError> {
        self.check_healthy()?;
        self.finished()?;
        if self.state().control.phase() == Phase::Idle && self.state().control.session().is_some() {
            self.submit(&Input::SessionEnd, &StepMetadata::default())??;
        }
        self.finish().await
    }

    /// Ends the trace wherever the conversation stands.
    ///
    /// # Errors
    /// Whatever the journal gives.
    pub async fn finish(mut self) -> Result<J, RuntimeError> {
        self.commit().await?;
        let Self { recording, mut journal, .. } = self;
        let written = async {
            journal.append(&recording.close()?)?;
            journal.sync().await
        };
        match written.await {
            Ok(()) => Ok(journal),
            Err(error) => Err(RuntimeError::Journal { journal: journal.name(), error }),
        }
    }

    /// Leaves the conversation as it stands, without what is not kept yet.
    pub fn into_journal(self) -> J {
        self.journal
    }

    /// Where it is kept.
    pub const fn journal(&self) -> &J {
        &self.journal
    }

    pub(super) fn finished(&self) -> Result<(), RuntimeError> {
        let control = &self.state().control;
        match control.request() {
            Some(request) => Err(RuntimeError::Unfinished(control.trace_id(request.id).to_string())),
            None => Ok(()),
        }
    }

    fn check_healthy(&self) -> Result<(), RuntimeError> {
        if self.sound { Ok(()) } else { Err(RuntimeError::JournalFailed { journal: self.journal.name() }) }
    }

    /// Submits an input. It is written down, but may not be kept before the next [`commit`](Self::commit).
    pub(super) fn submit(
        &mut self,
        input: &Input,
        stamp: &StepMetadata,
    ) -> Result<Result<(), Refusal>, RuntimeError> {
        match self.recording.submit(input, stamp) {
            Ok(Ok(events)) => {
                self.matters.apply(self.recording.state(), &events);
                Ok(Ok(()))
            }
            Ok(Err(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(self.mark_failed(error)),
        }
    }

    /// Keeps everything that was written down so far. Done by itself before any call leaves, and before anything is answered.
    ///
    /// # Errors
    /// [`DriveError::Journal`]; the conversation must then be opened again.
    pub async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.check_healthy()?;
        let lines = self.recording.out();
        if lines.is_empty() {
            return Ok(());
        }
        // If the future is dropped in the middle, nobody knows what was kept.
        self.sound = false;
        let kept = match self.journal.append(lines) {
            Ok(()) => self.journal.sync().await,
            Err(error) => Err(error),
        };
        match kept {
            Ok(()) => {
                self.recording.out().clear();
                self.sound = true;
                Ok(())
            }
            Err(error) => Err(self.mark_failed(error)),
        }
    }

    /// Keeps what was written down if that is much, as when somebody sends and sends what is refused.
    pub(super) async fn commit_if_large(&mut self) -> Result<(), RuntimeError> {
        const MUCH_BYTES: usize = 1 << 20;
        if self.recording.out().len() > MUCH_BYTES { self.commit().await } else { Ok(()) }
    }

    fn mark_failed(&mut self, error: io::Error) -> RuntimeError {
        self.sound = false;
        RuntimeError::Journal { journal: self.journal.name(), error }
    }
}

/// What a journal has.
struct RecoveredJournal {
    recording: Recorder<Vec<u8>>,
    matters: RequestTracker,
    sound_bytes: u64,
    dropped: Option<TruncatedTail>,
}

/// Reads a journal to its end, or begins it if there is nothing in it.
fn read(
    mut input: impl BufRead,
    name: &str,
    header: &Header,
    contexts: &'static dyn ContextBuilder,
) -> Result<RecoveredJournal, OpenError> {
    let io = |error| OpenError::Io { journal: name.to_owned(), error };
    let mut first = Vec::new();
    input.by_ref().take(HEADER_BYTES_MAX).read_until(b'\n', &mut first).map_err(io)?;
    let written = first.iter().position(|byte| *byte == 0).unwrap_or(first.len());
    let mut dropped = None;
    if !first.ends_with(b"\n") || written < first.len() {
        input.by_ref().take(HEADER_BYTES_MAX).read_to_end(&mut first).map_err(io)?;
        let (written, rest) = first.split_at(written);
        if is_torn_header(written, rest) {
            dropped = Some(TruncatedTail { line: 1, bytes: first.len() as u64 })
                .filter(|dropped| dropped.bytes > 0);
            first.clear();
        }
    }
    if first.is_empty() {
        return Ok(RecoveredJournal {
            recording: Recorder::open(Vec::new(), header, contexts).map_err(io)?,
            matters: RequestTracker::default(),
            sound_bytes: 0,
            dropped,
        });
    }
    let input = first.as_slice().chain(input);
    let mut reader = Reader::new(input, name)?;
    check_header(name, reader.header(), header)?;
    let mut state = State::new(header.conversation.clone());
    let mut matters = RequestTracker::default();
    let torn = loop {
        match reader.advance() {
            Ok(true) => {
                let step = reader.step()?;
                step.events.iter().for_each(|event| state.apply(event));
                matters.apply(&state, &step.events);
            }
            Ok(false) => return Err(OpenError::Closed { journal: name.to_owned(), steps: reader.number() }),
            Err(TraceError { kind: TraceErrorKind::MissingEnd, .. }) => break None,
            Err(error) if reader.is_torn(&error) => {
                // A step is kept before its call leaves, so no more than one call can stand in what was never kept.
                if reader.count_remaining_calls().map_err(io)? > 1 {
                    return Err(error.into());
                }
                break Some(error.line);
            }
            Err(error) => return Err(error.into()),
        }
    };
    let (place, sound_bytes) = (reader.place(), reader.valid_bytes());
    let dropped = torn.map(|line| TruncatedTail { line, bytes: reader.read_bytes() - sound_bytes });
    let recording = Recorder::resume(Vec::new(), header.policy.clone(), state, place, contexts);
    Ok(RecoveredJournal { recording, matters, sound_bytes, dropped })
}

/// No header is longer; a policy file has at most 1 MiB.
const HEADER_BYTES_MAX: u64 = 4 << 20;

/// Whether a file that starts like this, up to where its first line ends or a zero stands, and goes on like that, is one
/// whose first lines were never wholly written, and so nothing that could be lost.
fn is_torn_header(written: &[u8], rest: &[u8]) -> bool {
    const CHAINED: &[u8] = b"\"chain\":\"";
    // The first step with a call is kept before that call leaves, so with a second one something was kept.
    let calls = String::from_utf8_lossy(rest).matches(CALL).count();
    if calls > 1 || rest.len() as u64 >= HEADER_BYTES_MAX {
        return false;
    }
    match written {
        [] => rest.iter().all(|byte| *byte == 0) || rest.windows(CHAINED.len()).any(|part| part == CHAINED),
        written => {
            written.starts_with(TRACE_PREFIX.as_bytes()) || TRACE_PREFIX.as_bytes().starts_with(written)
        }
    }
}

/// Refuses a journal that would go on under other conditions than those that it was begun in.
fn check_header(journal: &str, recorded: &Header, given: &Header) -> Result<(), OpenError> {
    let policy = |header: &Header| {
        let text = serde_json::to_string(&header.policy).unwrap_or_default();
        format!("{} with the digest {}", header.policy.name, digest(text.as_bytes()))
    };
    let scenario = |header: &Header| match &header.scenario {
        Some(scenario) => format!("{} with the digest {}", scenario.name, scenario.digest),
        None => "none".to_owned(),
    };
    let pairs = [
        ("kernel version", recorded.kernel.clone(), given.kernel.clone()),
        ("transition table's digest", recorded.table.clone(), given.table.clone()),
        ("policy", policy(recorded), policy(given)),
        ("conversation", recorded.conversation.to_string(), given.conversation.to_string()),
        ("scenario", scenario(recorded), scenario(given)),
    ];
    match pairs.into_iter().find(|(_, recorded, given)| recorded != given) {
        None => Ok(()),
        Some((what, recorded, given)) => {
            Err(OpenError::HeaderMismatch { journal: journal.to_owned(), what, recorded, given })
        }
    }
}
