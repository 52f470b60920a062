//! A conversation while it is driven: the calls that are out, and what comes next.

use super::call::{Call, CallError, RecoveryResult, Reply};
use super::conversation::Conversation;
use super::error::RuntimeError;
use super::host::Host;
use super::journal::Journal;
use super::mailbox::{Message, RefusedMessage};
use super::request_tracker::{RequestResult, check_input_size};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use orchestrion_kernel::context::ContextError;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{CallId, Input, Refusal, State, Text, UserId, state};
use orchestrion_trace::StepMetadata;
use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::task::Poll;
use std::time::Duration;

/// Of what the runtime says of an input, no more is kept.
const NOTE_BYTES_MAX: usize = 4096;

/// A conversation while it is driven. Dropping it gives up the calls that are out.
pub struct RequestDriver<'a, J, H> {
    conversation: &'a mut Conversation<J>,
    host: &'a H,
    /// The calls that are out: at most one that is waited for, and those whose time is over.
    in_flight: FuturesUnordered<BoxFuture<'a, HostReply>>,
    /// The call that is waited for, once it is out.
    awaited: Option<PendingCall<'a>>,
    /// The call that was out when the runtime crashed. What became of it is to be found out, if it is effectful.
    recovering: Option<CallId>,
    /// The numbered messages that were refused and not asked for yet.
    refused: Vec<RefusedMessage>,
}

/// What came of one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum StepResult {
    /// The conversation goes on.
    Accepted,
    /// Something came that the kernel refuses: late, twice, or from nowhere. That is recorded, and the conversation goes on.
    Refused(Refusal),
    /// The kernel refuses whatever could come next; as drawn, some conversations end so.
    Halted(Refusal),
}

struct PendingCall<'a> {
    id: CallId,
    /// The call as a noun phrase.
    name: String,
    /// What the call failed with if its time is over.
    over_is: Failure,
    deadline: Duration,
    over: BoxFuture<'a, ()>,
}

/// What a host gave back.
struct HostReply {
    id: CallId,
    fate: RecoveryResult,
    note: Option<String>,
}

enum NextEvent {
    Back(HostReply),
    Message(Message),
    Over,
}

impl<J, H> fmt::Debug for RequestDriver<'_, J, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("out", &self.in_flight.len()).finish_non_exhaustive()
    }
}

impl<'a, J: Journal, H: Host> RequestDriver<'a, J, H> {
    pub(super) fn new(conversation: &'a mut Conversation<J>, host: &'a H) -> Self {
        // Nothing is out yet, so a call that is waited for already was lost with whoever drove it before.
        let lost = conversation.state().control.pending_call().map(|call| call.id);
        Self {
            conversation,
            host,
            in_flight: FuturesUnordered::new(),
            awaited: None,
            recovering: lost,
            refused: Vec::new(),
        }
    }

    /// The state as it is now.
    pub const fn state(&self) -> &State {
        self.conversation.state()
    }

    /// The steps recorded so far, refused inputs included.
    pub const fn steps(&self) -> u64 {
        self.conversation.steps()
    }

    /// The numbered messages that were refused since this was asked last, in the order in which they were taken.
    pub fn refused(&mut self) -> Vec<RefusedMessage> {
        std::mem::take(&mut self.refused)
    }

    pub(super) async fn finish(mut self) -> Result<RequestResult, RuntimeError> {
        loop {
            if let Some(answered) = self.conversation.last_result().cloned() {
                self.conversation.commit().await?;
                return Ok(answered);
            }
            if let StepResult::Halted(refusal) = self.step().await? {
                self.conversation.commit().await?;
                return Err(refusal.into());
            }
        }
    }

    /// Opens a session of the user if none is open, and submits the message.
    ///
    /// # Errors
    /// [`DriveError`].
    pub fn start_request(&mut self, user: &UserId, says: Text) -> Result<StepResult, RuntimeError> {
        self.conversation.finished()?;
        // What came after the last request was over is late.
        let mut early = Vec::new();
        while let Some(message) = self.conversation.post.try_recv() {
            match message.input {
                // It would begin a request of its own.
                Input::UserMessage { .. } => early.push(message),
                // It is about the session that is opened now.
                Input::Write(ref write)
                    if write.requires_session() && self.state().control.session().is_none() =>
                {
                    early.push(message);
                }
                _ => {
                    let _late = self.message(message)?;
                }
            }
        }
        let input = Input::UserMessage { user: user.clone(), text: says };
        check_input_size(&input).map_err(RuntimeError::TooLong)?;
        let session = self.state().control.session().cloned();
        if session.as_ref() != Some(user) {
            let close = session.map(|_| Input::SessionEnd);
            for input in close.into_iter().chain([Input::SessionStart { user: user.clone() }]) {
                if let halted @ StepResult::Halted(_) = self.submit(&input)? {
                    return Ok(halted);
                }
            }
        }
        let begun = self.submit(&input)?;
        for message in early {
            let _busy_or_written = self.message(message)?;
        }
        Ok(begun)
    }

    /// Says that the runtime is back after a crash.
    ///
    /// # Errors
    /// [`DriveError`].
    pub fn resume(&mut self) -> Result<StepResult, RuntimeError> {
        let note = self.conversation.dropped().map(|dropped| dropped.to_string());
        self.record(&Input::Resume, note).map(own)
    }

    /// Brings the conversation one input further: the next step, or what comes first of an answer, the end of the time for
    /// it, and the mailbox.
    ///
    /// # Errors
    /// [`DriveError`].
    pub async fn step(&mut self) -> Result<StepResult, RuntimeError> {
        let waiting = self.state().control.pending_call();
        let out = self.awaited.as_ref().map(|awaited| awaited.id);
        if out.is_none() || out != waiting.map(|call| call.id) {
            // Nothing is waited for yet, so what has come goes first.
            if let Some(message) = self.conversation.post.try_recv() {
                return self.message(message);
            }
            let Some(waiting) = waiting else { return self.submit(&Input::Step) };
            self.conversation.commit().await?;
            if let Err(over) = self.send(waiting) {
                return self.fail(waiting.id, Failure::OverBudget, Some(over.to_string()));
            }
        }
        self.conversation.commit_if_large().await?;
        match self.next().await {
            NextEvent::Message(message) => self.message(message),
            NextEvent::Back(HostReply { id, fate: RecoveryResult::Completed(Ok(reply)), note }) => {
                self.reply(id, reply, note)
            }
            NextEvent::Back(HostReply { id, fate: RecoveryResult::Completed(Err(no)), .. }) => {
                self.fail(id, no.failure, no.reason)
            }
            NextEvent::Back(HostReply { id, fate: RecoveryResult::OutcomeUnknown, note }) => {
                self.fail(id, Failure::OutcomeUnknown, note)
            }
            NextEvent::Back(HostReply { id, fate: RecoveryResult::NotStarted, .. }) => {
                // The next turn asks it, unless the time to find that out is over.
                self.awaited.take_if(|awaited| awaited.id == id);
                Ok(StepResult::Accepted)
            }
            NextEvent::Over => self.on_deadline(),
        }
    }

    /// Submits an input of the program's own, which must be accepted for anything to go on.
    ///
    /// # Errors
    /// [`DriveError`].
    pub fn submit(&mut self, input: &Input) -> Result<StepResult, RuntimeError> {
        check_input_size(input).map_err(RuntimeError::TooLong)?;
        self.record(input, None).map(own)
    }

    fn record(&mut self, input: &Input, note: Option<String>) -> Result<Result<(), Refusal>, RuntimeError> {
        let note = note.map(|mut note| {
            let mut end = note.len().min(NOTE_BYTES_MAX);
            while !note.is_char_boundary(end) {
                end -= 1;
            }
            note.truncate(end);
            note
        });
        self.conversation.submit(input, &StepMetadata { at_ms: self.host.now_ms(), note })
    }

    /// Lets the call that is waited for leave, unless what must be shown does not fit.
    fn send(&mut self, waiting: state::Call) -> Result<(), ContextError> {
        let conversation = &*self.conversation;
        let Some(call) =
            conversation.matters.call(&conversation.recording, waiting, &conversation.deadlines)?
        else {
            return Ok(());
        };
        let (id, name, host) = (waiting.id, call.to_string(), self.host);
        let lost = self.recovering.take() == Some(id) && waiting.operation.is_effectful();
        self.in_flight.push(Box::pin(async move {
            let outcome = async {
                if lost {
                    host.recover(&call).await
                } else {
                    RecoveryResult::Completed(host.execute(&call).await)
                }
            };
            match AssertUnwindSafe(outcome).catch_unwind().await {
                Ok(fate) => HostReply { id, fate, note: None },
                Err(panic) => panicked(&call, lost, &*panic),
            }
        }));
        let deadline = conversation.deadlines.for_operation(waiting.operation);
        // Once it is over, it stays so.
        let over = Box::pin(host.sleep(deadline).fuse());
        let over_is = if lost { Failure::OutcomeUnknown } else { Failure::Timeout };
        self.awaited = Some(PendingCall { id, name, over_is, deadline, over });
        Ok(())
    }

    /// Waits for whatever comes first. An answer that is there in time goes before the end of the time.
    async fn next(&mut self) -> NextEvent {
        let Self { conversation, in_flight: out, awaited, .. } = self;
        poll_fn(|context| {
            if let Poll::Ready(Some(back)) = out.poll_next_unpin(context) {
                return Poll::Ready(NextEvent::Back(back));
            }
            let over = match awaited {
                Some(awaited) => awaited.over.as_mut().poll(context),
                None => Poll::Ready(()),
            };
            // Nobody who sends much can stop the time.
            match over {
                Poll::Ready(()) => Poll::Ready(NextEvent::Over),
                Poll::Pending => conversation.post.poll(context).map(NextEvent::Message),
            }
        })
        .await
    }

    fn message(
        &mut self,
        Message { input, note, sequence: number }: Message,
    ) -> Result<StepResult, RuntimeError> {
        let turn = match input {
            Input::Reply { call, report, summary_update, action } => {
                self.reply(call, Reply { report, summary_update, action }, note)?
            }
            Input::CallFailed { call, failure } => self.fail(call, failure, note)?,
            input => match self.record(&input, note)? {
                Ok(()) => StepResult::Accepted,
                Err(refusal) => StepResult::Refused(refusal),
            },
        };
        if let (StepResult::Refused(why), Some(number)) = (&turn, number) {
            self.refused.push(RefusedMessage { number, why: why.clone() });
        }
        Ok(turn)
    }

    /// A reply came. One that does not fit the call that is waited for is an answer all the same: a malformed one.
    fn reply(&mut self, id: CallId, reply: Reply, note: Option<String>) -> Result<StepResult, RuntimeError> {
        let input = reply.into_input(id);
        if let Err(why) = self.conversation.matters.check_size(&input) {
            return self.fail(id, Failure::Malformed, Some(why.to_string()));
        }
        match self.record(&input, note)? {
            Ok(()) => Ok(StepResult::Accepted),
            Err(refusal) if self.is_waited_for(id) => {
                self.fail(id, Failure::Malformed, Some(refusal.to_string()))
            }
            Err(refusal) => Ok(StepResult::Refused(refusal)),
        }
    }

    /// A call failed. If the kernel refuses even that, nothing leads on from the call that is waited for.
    fn fail(
        &mut self,
        id: CallId,
        failure: Failure,
        note: Option<String>,
    ) -> Result<StepResult, RuntimeError> {
        let waited_for = self.is_waited_for(id);
        let asked_about =
            |awaited: &PendingCall<'_>| awaited.id == id && awaited.over_is == Failure::OutcomeUnknown;
        let failure = match failure {
            // Whoever was to find something out and talks nonsense has found out nothing.
            Failure::Malformed if self.awaited.as_ref().is_some_and(asked_about) => Failure::OutcomeUnknown,
            failure => failure,
        };
        Ok(match self.record(&Input::CallFailed { call: id, failure }, note)? {
            Ok(()) => StepResult::Accepted,
            Err(refusal) if waited_for => StepResult::Halted(refusal),
            Err(refusal) => StepResult::Refused(refusal),
        })
    }

    fn on_deadline(&mut self) -> Result<StepResult, RuntimeError> {
        let Some(PendingCall { id, name, over_is, deadline, .. }) = &self.awaited else {
            return Ok(StepResult::Accepted);
        };
        let note = format!("nothing came back from {name} within {deadline:?}");
        self.fail(*id, *over_is, Some(note))
    }

    fn is_waited_for(&self, id: CallId) -> bool {
        self.state().control.pending_call().is_some_and(|call| call.id == id)
    }
}

fn own(outcome: Result<(), Refusal>) -> StepResult {
    match outcome {
        Ok(()) => StepResult::Accepted,
        Err(refusal) => StepResult::Halted(refusal),
    }
}

/// What is made of a host that panicked: no answer, or, where it was to find something out, no knowledge.
fn panicked(call: &Call, lost: bool, panic: &(dyn Any + Send)) -> HostReply {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words");
    let note = format!("the host panicked at {call}: {words}");
    match lost {
        true => HostReply { id: call.id, fate: RecoveryResult::OutcomeUnknown, note: Some(note) },
        false => HostReply {
            id: call.id,
            fate: RecoveryResult::Completed(Err(CallError::error(note))),
            note: None,
        },
    }
}
