//! The calls of a driver: what is sent to the host, and what its replies, failures and deadlines become.

use super::{RequestDriver, StepResult};
use crate::call::{Call, CallError, RecoveryResult, Reply};
use crate::error::RuntimeError;
use crate::handoffs::unaccepted;
use crate::host::Host;
use crate::journal::Journal;
use crate::mailbox::RefusedReason;
use crate::size_limit::check_reply_size;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use orchestrion_handoff::KeyError;
use orchestrion_kernel::context::ContextError;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::{CallId, Input, state};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// A call whose deadline runs: its handoff was sent, or a host executes it.
pub(super) struct SentCall<'a> {
    pub(super) id: CallId,
    pub(super) is_executing: bool,
    /// The call as a noun phrase.
    pub(super) name: String,
    /// The failure when the deadline passes.
    pub(super) deadline_failure: Failure,
    pub(super) deadline: Duration,
    pub(super) timer: BoxFuture<'a, ()>,
}

/// The result of a call in flight.
pub(super) struct HostReply {
    pub(super) id: CallId,
    pub(super) result: RecoveryResult,
    pub(super) note: Option<String>,
}

impl<J: Journal, H: Host> RequestDriver<'_, J, H> {
    /// Returns the pending calls that neither were handed off nor sent to the host.
    pub(super) fn unsent_calls(&self) -> Vec<state::Call> {
        let is_sent = |call: &state::Call| {
            let waits = unaccepted(self.state(), call.id).is_some();
            self.sent.iter().any(|sent| sent.id == call.id && (sent.is_executing || waits))
        };
        let pending = self.state().control().pending_calls().iter();
        pending.filter(|call| !is_sent(call)).copied().collect()
    }

    /// Returns the first call that the observer forbids, with the reason. An earlier run may have made a call without this observer: the host
    /// then recovers its outcome first.
    pub(super) fn forbidden_call(&self, unsent: &[state::Call]) -> Option<(CallId, String)> {
        let observer = self.conversation.observer.as_ref()?;
        // A call whose handoff no node accepted was not made.
        let may_be_made =
            |call: &state::Call| self.must_recover(*call) && unaccepted(self.state(), call.id).is_none();
        let judged = unsent.iter().filter(|call| call.not_made.is_none() && !may_be_made(call));
        judged.map(|call| call.id).find_map(|call| Some((call, observer.forbids(call)?)))
    }

    /// Whether the host recovers the outcome of a call before the call is sent.
    fn must_recover(&self, pending: state::Call) -> bool {
        let may_be_repeated = self.conversation.recovers_first || self.recovering.contains(&pending.id);
        may_be_repeated && pending.operation.is_effectful() && !self.not_started.contains(&pending.id)
    }

    /// Signs the handoff of a pending call, and sends it to its node. Its deadline starts.
    pub(super) fn hand_off(&mut self, pending: state::Call) -> Result<(), KeyError> {
        let (id, now) = (pending.id, self.host_time());
        let Some(handoff) = self.conversation.keys.create_handoff(self.state(), id, now)? else {
            return Ok(());
        };
        self.handoffs.insert(id, handoff.clone());
        self.arrivals.extend(self.host.transmit(handoff));
        let name = format!("call {id} ({})", pending.operation.expected_reply());
        self.set_deadline(pending, name, Failure::Timeout, false);
        Ok(())
    }

    /// Starts the deadline of a call. That of a call that was handed off started then.
    pub(super) fn set_deadline(
        &mut self,
        pending: state::Call,
        name: String,
        failure: Failure,
        is_executing: bool,
    ) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.id == pending.id) {
            sent.is_executing = is_executing;
            sent.deadline_failure = failure;
            return;
        }
        let deadline = self.deadline(pending.operation);
        // A fused timer stays ready after the deadline.
        let timer = Box::pin(self.host.sleep(deadline).fuse());
        self.sent.push(SentCall {
            id: pending.id,
            is_executing,
            name,
            deadline_failure: failure,
            deadline,
            timer,
        });
    }

    /// Returns the deadline of an operation: that of its module, or the timeout of its task if this is shorter (001 §3.2).
    pub(super) fn deadline(&self, operation: Operation) -> Duration {
        let deadline = self.conversation.deadlines.for_operation(operation);
        let request = self.state().control().request();
        let task = operation.task().and_then(|task| request?.started_task(task));
        let requirements = task.and_then(|task| task.step.requirements.as_deref());
        let timeout_ms = requirements.and_then(|requirements| requirements.constraints.timeout_ms);
        timeout_ms.map_or(deadline, |ms| deadline.min(Duration::from_millis(ms)))
    }

    /// Sends a pending call.
    pub(super) fn send(&mut self, pending: state::Call) -> Result<(), ContextError> {
        let conversation = &*self.conversation;
        let handoff = self.handoffs.get(&pending.id);
        let call =
            Call::from_pending(&conversation.recorder, pending, self.deadline(pending.operation), handoff)?;
        let Some(call) = call else { return Ok(()) };
        let (id, name, host) = (pending.id, call.to_string(), self.host);
        let must_recover = self.must_recover(pending);
        self.recovering.retain(|recovering| *recovering != id);
        self.in_flight.push(Box::pin(async move {
            let result = async {
                if must_recover {
                    host.recover(&call).await
                } else {
                    RecoveryResult::Completed(host.execute(&call).await)
                }
            };
            match AssertUnwindSafe(result).catch_unwind().await {
                Ok(result) => HostReply { id, result, note: None },
                Err(panic) => reply_of_panicked_host(&call, must_recover, &*panic),
            }
        }));
        let failure = if must_recover { Failure::OutcomeUnknown } else { Failure::Timeout };
        self.set_deadline(pending, name, failure, true);
        Ok(())
    }

    /// Submits a reply. A refused reply to a pending call is malformed; its sender learns the reason.
    pub(super) fn submit_reply(
        &mut self,
        id: CallId,
        reply: Reply,
        note: Option<String>,
        sequence: Option<u64>,
    ) -> Result<StepResult, RuntimeError> {
        let input = reply.into_input(id);
        if let Err(error) = check_reply_size(&input, self.conversation.recorder.facts()) {
            self.report(sequence, RefusedReason::ReplyTooLarge(id, error));
            return self.submit_failure(id, Failure::Malformed, Some(error.to_string()));
        }
        match self.record(&input, note)? {
            Ok(()) => Ok(StepResult::Accepted),
            Err(refusal) if self.is_pending(id) => {
                let note = refusal.to_string();
                self.report(sequence, refusal.into());
                self.submit_failure(id, Failure::Malformed, Some(note))
            }
            Err(refusal) => Ok(StepResult::Refused(refusal)),
        }
    }

    /// Submits a failure. If the kernel refuses the failure of a pending call, the conversation halts.
    pub(super) fn submit_failure(
        &mut self,
        id: CallId,
        failure: Failure,
        note: Option<String>,
    ) -> Result<StepResult, RuntimeError> {
        let was_pending = self.is_pending(id);
        let is_recovery =
            |sent: &SentCall<'_>| sent.id == id && sent.deadline_failure == Failure::OutcomeUnknown;
        let failure = match failure {
            // A malformed recovery result leaves the outcome unknown.
            Failure::Malformed if self.sent.iter().any(is_recovery) => Failure::OutcomeUnknown,
            failure => failure,
        };
        Ok(match self.record(&Input::CallFailed { call: id, failure }, note)? {
            Ok(()) => StepResult::Accepted,
            Err(refusal) if was_pending => StepResult::Halted(refusal),
            Err(refusal) => StepResult::Refused(refusal),
        })
    }

    pub(super) fn on_deadline(&mut self, id: CallId) -> Result<StepResult, RuntimeError> {
        let Some(sent) = self.sent.iter().find(|sent| sent.id == id) else { return Ok(StepResult::Accepted) };
        let SentCall { name, deadline_failure, deadline, .. } = sent;
        let note = format!("deadline exceeded: expected a reply to {name} within {deadline:?}, found none");
        self.submit_failure(id, *deadline_failure, Some(note))
    }

    pub(super) fn is_pending(&self, id: CallId) -> bool {
        self.state().control().pending_call(id).is_some()
    }
}

/// Returns the result of a host that panicked: an error, or an unknown outcome during recovery.
fn reply_of_panicked_host(call: &Call, was_recovery: bool, panic: &(dyn Any + Send)) -> HostReply {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let note = format!("the host panicked at {call}: {message}");
    match was_recovery {
        true => HostReply { id: call.id, result: RecoveryResult::OutcomeUnknown, note: Some(note) },
        false => HostReply {
            id: call.id,
            result: RecoveryResult::Completed(Err(CallError::error(note))),
            note: None,
        },
    }
}
