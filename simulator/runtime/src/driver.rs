//! The driver of a running request: the calls in flight, and the order of inputs.

mod calls;
mod mail;

use crate::call::{CallError, RecoveryResult};
use crate::error::RuntimeError;
use crate::handoffs::unaccepted;
use crate::host::Host;
use crate::journal::Journal;
use crate::journaled::JournaledConversation;
use crate::mailbox::{Mail, Message, RefusedMessage, RefusedReason};
use crate::new_request::NewRequest;
use crate::refused_handoff::RefusedHandoff;
use crate::session_user::SessionUser;
use crate::size_limit::check_input_size;
use calls::{HostReply, SentCall};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use mail::Sent;
use orchestrion_handoff::SignedHandoff;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{CallId, Input, Phase, Refusal, State, Timestamp, can_step, decide};
use orchestrion_trace::{Denial, Idempotency, RequestFacts, RequestResult, StepMetadata, denied_item};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// The maximum length of a recorded note.
const NOTE_BYTES_MAX: usize = 4096;

/// Runs a conversation step by step. Dropping the driver drops the calls in flight.
pub struct RequestDriver<'a, J, H> {
    pub(crate) conversation: &'a mut JournaledConversation<J>,
    host: &'a H,
    /// The calls in flight: pending calls, and calls that exceeded their deadline or were cancelled.
    in_flight: FuturesUnordered<BoxFuture<'a, HostReply>>,
    /// The pending calls that were sent.
    sent: Vec<SentCall<'a>>,
    /// The newest call whose step is durable.
    durable_call: Option<CallId>,
    /// The timer of the next expiry, while a call is pending.
    expiry: Option<ExpiryTimer<'a>>,
    /// The calls that were in flight when the runtime crashed. The host recovers the outcome of each effectful one.
    recovering: Vec<CallId>,
    /// The pending calls that never started, by the host's recovery.
    not_started: Vec<CallId>,
    /// The handoffs that were sent, until their calls end.
    handoffs: BTreeMap<CallId, SignedHandoff>,
    /// The handoffs that reached their receivers and are not submitted yet.
    arrivals: VecDeque<SignedHandoff>,
    /// The refused messages that the caller has not taken yet.
    refused: Vec<RefusedMessage>,
}

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum StepResult {
    /// The kernel accepted an input.
    Accepted,
    /// The kernel refused an input, such as a late or repeated reply. The refusal is recorded, and the conversation
    /// continues.
    Refused(Refusal),
    /// The kernel refuses every possible next input. Some conversations end so under `as-drawn`.
    Halted(Refusal),
}

/// The timer of the next expiry of an item.
struct ExpiryTimer<'a> {
    at: Timestamp,
    timer: BoxFuture<'a, ()>,
}

enum NextEvent {
    Reply(HostReply),
    Mail(Mail),
    Deadline(CallId),
    Expiry,
}

impl<J, H> fmt::Debug for RequestDriver<'_, J, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestDriver").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}

impl<'a, J: Journal, H: Host> RequestDriver<'a, J, H> {
    pub(crate) fn new(conversation: &'a mut JournaledConversation<J>, host: &'a H) -> Self {
        // Nothing is in flight yet, so an earlier driver sent the pending calls.
        let pending = conversation.state().control().pending_calls();
        let recovering = pending.iter().map(|call| call.id).collect();
        Self {
            conversation,
            host,
            in_flight: FuturesUnordered::new(),
            sent: Vec::new(),
            durable_call: None,
            expiry: None,
            recovering,
            not_started: Vec::new(),
            handoffs: BTreeMap::new(),
            arrivals: VecDeque::new(),
            refused: Vec::new(),
        }
    }

    /// The current state.
    pub const fn state(&self) -> &State {
        self.conversation.state()
    }

    /// The facts about the running or latest request.
    pub const fn facts(&self) -> Option<&RequestFacts> {
        self.conversation.recorder.facts()
    }

    /// The number of recorded steps, including refused inputs.
    pub const fn steps(&self) -> u64 {
        self.conversation.recorder.steps()
    }

    /// Returns the messages that were refused since the last call, in order.
    pub fn take_refused(&mut self) -> Vec<RefusedMessage> {
        std::mem::take(&mut self.refused)
    }

    pub(crate) async fn finish(mut self) -> Result<RequestResult, RuntimeError> {
        loop {
            if let Some(result) = self.conversation.last_result().cloned() {
                self.commit().await?;
                return Ok(result);
            }
            if let StepResult::Halted(refusal) = self.step().await? {
                self.commit().await?;
                return Err(refusal.into());
            }
        }
    }

    /// Makes all recorded steps durable, and acknowledges the inputs with a key.
    ///
    /// # Errors
    /// [`RuntimeError::Journal`]; the conversation must then be opened again.
    pub async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.conversation.commit().await?;
        for notice in std::mem::take(&mut self.conversation.acknowledgements) {
            self.host.acknowledge(&notice);
        }
        Ok(())
    }

    /// Opens a session of the user if none is open, and submits the request, after the messages that arrived since the last request ended.
    /// The identity of an open session does not change.
    ///
    /// # Errors
    /// [`RuntimeError`], among them [`RuntimeError::RepeatedKey`].
    pub fn start_request(
        &mut self,
        session: &SessionUser,
        request: NewRequest,
    ) -> Result<StepResult, RuntimeError> {
        self.conversation.check_no_request()?;
        while let Some(mail) = self.conversation.inbox.try_recv() {
            // A user message would start a request of its own.
            let is_request = matches!(
                mail,
                Mail::Request { .. } | Mail::Message(Message { input: Input::UserMessage { .. }, .. })
            );
            if is_request || self.waits_for_session(&mail) {
                self.conversation.postponed.push(mail);
            } else {
                let _late = self.submit_mail(mail)?;
            }
        }
        self.start_received(session, request)
    }

    /// Starts a request that [`receive`](Self::receive) returned. Messages after it stay in the mailbox.
    ///
    /// # Errors
    /// [`RuntimeError`], among them [`RuntimeError::RepeatedKey`].
    pub fn start_received(
        &mut self,
        session: &SessionUser,
        request: NewRequest,
    ) -> Result<StepResult, RuntimeError> {
        self.conversation.check_no_request()?;
        let idempotency = request.key.clone().map(|key| key.of_request(session, &request));
        if let Some(repeated) = idempotency.as_ref().and_then(|key| self.conversation.find_repeated(key)) {
            return Err(RuntimeError::RepeatedKey(repeated));
        }
        let (SessionUser { user, identity }, NewRequest { text, scope, key: _ }) = (session, request);
        let input = Input::UserMessage { user: user.clone(), text, scope };
        check_input_size(&input).map_err(RuntimeError::InputTooLarge)?;
        let session = self.state().control().session().cloned();
        if session.as_ref() != Some(user) {
            let close = session.map(|_| Input::SessionEnd);
            let start = Input::SessionStart { user: user.clone(), identity: identity.clone().map(Box::new) };
            for input in close.into_iter().chain([start]) {
                // A refused session start ends the request, so it is the step of the key.
                let is_refused = idempotency.is_some()
                    && decide(self.conversation.recorder.policy(), self.state(), self.input_time(), &input)
                        .is_err();
                let idempotency = idempotency.clone().filter(|_| is_refused);
                match self.submit_start(&input, idempotency)? {
                    StepResult::Accepted => {}
                    refused @ (StepResult::Refused(_) | StepResult::Halted(_)) => return Ok(refused),
                }
            }
        }
        let started = self.submit_start(&input, idempotency)?;
        self.submit_waiting()?;
        Ok(started)
    }

    /// Submits the inputs that wait for a session. Without one, the kernel refuses them: before the end of a conversation, because no session
    /// follows. Those with a key are acknowledged with the next [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn submit_waiting(&mut self) -> Result<(), RuntimeError> {
        for mail in std::mem::take(&mut self.conversation.postponed) {
            let _busy_or_written = self.submit_mail(mail)?;
        }
        Ok(())
    }

    /// Submits an input that starts a session or a request. In Idle a refusal ends nothing: the next input may be valid.
    fn submit_start(
        &mut self,
        input: &Input,
        idempotency: Option<Idempotency>,
    ) -> Result<StepResult, RuntimeError> {
        check_input_size(input).map_err(RuntimeError::InputTooLarge)?;
        let decided = self.record_sent(input, None, Sent { sequence: None, idempotency })?;
        Ok(match accepted_or_halted(decided) {
            StepResult::Halted(refusal) if self.state().control().phase() == Phase::Idle => {
                StepResult::Refused(refusal)
            }
            result => result,
        })
    }

    /// Submits the input that resumes a request after a crash.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn resume(&mut self) -> Result<StepResult, RuntimeError> {
        self.record(&Input::Resume, None).map(accepted_or_halted)
    }

    /// Submits the next input: an internal step, or the first of a reply, the deadline and a message.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub async fn step(&mut self) -> Result<StepResult, RuntimeError> {
        let control = self.conversation.state().control();
        self.sent.retain(|sent| control.pending_call(sent.id).is_some());
        self.handoffs.retain(|call, _| control.pending_call(*call).is_some());
        self.not_started.retain(|call| control.pending_call(*call).is_some());
        let unsent = self.unsent_calls();
        // Before any other input: nothing else may happen to a call that is not made.
        if let Some((call, reason)) = self.forbidden_call(&unsent) {
            return self.submit_failure(call, Failure::Forbidden, Some(reason));
        }
        let newest = unsent.iter().map(|call| call.id).max();
        if newest > self.durable_call {
            // Before any other input, which could emit a second call: a torn tail contains at most one. Not again for each message that
            // arrives meanwhile: the call must be sent at some time.
            self.commit().await?;
            self.durable_call = newest;
        }
        if !self.conversation.acknowledgements.is_empty() {
            // Inputs that arrived together are made durable together.
            if let Some(mail) = self.next_of_group() {
                return self.submit_mail(mail);
            }
            self.commit().await?;
        }
        let continues = self.state().control().pending_calls().is_empty()
            || can_step(self.conversation.recorder.policy(), self.conversation.state());
        if !unsent.is_empty() || continues {
            // The conversation does not wait, so messages come first.
            if let Some(mail) = self.conversation.inbox.try_recv() {
                return self.submit_mail(mail);
            }
        }
        if !unsent.is_empty() {
            self.commit().await?;
        }
        for call in unsent {
            if call.not_made == Some(Failure::NoCandidates) {
                return self.submit_failure(call.id, Failure::NoCandidates, None);
            }
            if unaccepted(self.state(), call.id).is_some() {
                if let Err(error) = self.hand_off(call) {
                    return self.submit_failure(call.id, Failure::Error, Some(error.to_string()));
                }
                continue;
            }
            if let Err(error) = self.send(call) {
                return self.submit_failure(call.id, Failure::OverBudget, Some(error.to_string()));
            }
        }
        if let Some(received) = self.arrivals.pop_front() {
            return self.receive_handoff(&received, None);
        }
        if continues {
            return self.submit(&Input::Step);
        }
        self.conversation.commit_if_large().await?;
        self.set_expiry_timer();
        match self.next_event().await {
            NextEvent::Mail(mail) => self.submit_mail(mail),
            NextEvent::Reply(HostReply { id, result, note }) => match result {
                RecoveryResult::Completed(Ok(reply)) => self.submit_reply(id, reply, note, None),
                RecoveryResult::Completed(Err(CallError { failure, reason })) => {
                    self.submit_failure(id, failure, reason)
                }
                RecoveryResult::OutcomeUnknown => self.submit_failure(id, Failure::OutcomeUnknown, note),
                RecoveryResult::NotStarted => {
                    // The next step sends the call, unless its deadline has passed.
                    self.sent.retain(|sent| sent.id != id);
                    self.not_started.push(id);
                    Ok(StepResult::Accepted)
                }
            },
            NextEvent::Deadline(id) => self.on_deadline(id),
            NextEvent::Expiry => self.on_expiry(),
        }
    }

    /// Submits an input of the application. A refusal halts the conversation.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn submit(&mut self, input: &Input) -> Result<StepResult, RuntimeError> {
        check_input_size(input).map_err(RuntimeError::InputTooLarge)?;
        self.record(input, None).map(accepted_or_halted)
    }

    fn record(&mut self, input: &Input, note: Option<String>) -> Result<Result<(), Refusal>, RuntimeError> {
        self.record_sent(input, note, Sent::default())
    }

    /// Records an input of a sender. The host receives the notice of a refused handoff, and the sender that of a denied write.
    fn record_sent(
        &mut self,
        input: &Input,
        note: Option<String>,
        Sent { sequence, idempotency }: Sent,
    ) -> Result<Result<(), Refusal>, RuntimeError> {
        let detail = note.clone();
        let (found, last) = (self.host_time(), self.state().now());
        let correction = (found < last).then(|| {
            format!(
                "the host's clock went back: expected {last} or later, found {found}; the time stays {last}"
            )
        });
        let notes: Vec<String> = note.into_iter().chain(correction).collect();
        let note = (!notes.is_empty()).then(|| {
            let mut note = notes.join("; ");
            let mut end = note.len().min(NOTE_BYTES_MAX);
            while !note.is_char_boundary(end) {
                end -= 1;
            }
            note.truncate(end);
            note
        });
        let metadata = StepMetadata { note, idempotency, ..StepMetadata::at(found.max(last)) };
        Ok(self.conversation.submit(input, &metadata)?.map(|events| {
            let policy = self.conversation.recorder.policy();
            if let Some(denial) = denied_item(&events).and_then(|item| Denial::from_item(policy, item)) {
                self.report(sequence, RefusedReason::Denied(denial));
            }
            if let Some(refused) = RefusedHandoff::in_batch(sequence, &events, detail) {
                self.host.receive_refusal(&refused);
            }
        }))
    }

    /// The time of the next input.
    fn input_time(&self) -> Timestamp {
        self.host_time().max(self.state().now())
    }

    fn host_time(&self) -> Timestamp {
        Timestamp::from_millis(self.host.now_ms())
    }

    /// Sets the timer to the next expiry.
    fn set_expiry_timer(&mut self) {
        let next = self.state().semantic().next_expiry(self.state().now());
        if self.expiry.as_ref().map(|expiry| expiry.at) == next {
            return;
        }
        let now_ms = self.host.now_ms();
        self.expiry = next.map(|at| {
            let left = Duration::from_millis(at.millis().saturating_sub(now_ms));
            ExpiryTimer { at, timer: Box::pin(self.host.sleep(left).fuse()) }
        });
    }

    /// Waits for the next event. A reply that is ready takes precedence over a deadline, and a deadline over an expiry.
    async fn next_event(&mut self) -> NextEvent {
        let Self { conversation, in_flight, sent, expiry, .. } = self;
        poll_fn(|context| {
            if let Poll::Ready(Some(reply)) = in_flight.poll_next_unpin(context) {
                return Poll::Ready(NextEvent::Reply(reply));
            }
            let passed = sent.iter_mut().find_map(|sent| {
                let is_passed = sent.timer.as_mut().poll(context).is_ready();
                is_passed.then_some(sent.id)
            });
            if let Some(id) = passed {
                return Poll::Ready(NextEvent::Deadline(id));
            }
            if expiry.as_mut().is_some_and(|expiry| expiry.timer.as_mut().poll(context).is_ready()) {
                return Poll::Ready(NextEvent::Expiry);
            }
            // Timers take precedence over messages, so that many messages cannot postpone them.
            conversation.inbox.poll(context).map(NextEvent::Mail)
        })
        .await
    }

    /// Submits a tick, unless the host's timer was early: the next step then sets it again.
    fn on_expiry(&mut self) -> Result<StepResult, RuntimeError> {
        let is_due = self.expiry.take().is_some_and(|expiry| expiry.at <= self.host_time());
        if !is_due {
            return Ok(StepResult::Accepted);
        }
        Ok(match self.record(&Input::Tick, None)? {
            Ok(()) => StepResult::Accepted,
            Err(refusal) => StepResult::Refused(refusal),
        })
    }
}

fn accepted_or_halted(decision: Result<(), Refusal>) -> StepResult {
    match decision {
        Ok(()) => StepResult::Accepted,
        Err(refusal) => StepResult::Halted(refusal),
    }
}
