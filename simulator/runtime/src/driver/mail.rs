//! The inputs that reach a driver through its mailbox: messages, inputs with a key, requests, and handoffs.

use super::{RequestDriver, StepResult};
use crate::call::Reply;
use crate::error::RuntimeError;
use crate::host::Host;
use crate::journal::Journal;
use crate::mailbox::{Mail, Message, RefusedMessage, RefusedReason};
use crate::new_request::NewRequest;
use orchestrion_handoff::SignedHandoff;
use orchestrion_kernel::Input;
use orchestrion_trace::Idempotency;

/// What the sender of an input gave beside it.
#[derive(Default)]
pub(super) struct Sent {
    /// Its number.
    pub(super) sequence: Option<u64>,
    /// Its key.
    pub(super) idempotency: Option<Idempotency>,
}

impl<J: Journal, H: Host> RequestDriver<'_, J, H> {
    /// Submits a handoff that reached its receiver, with its verified signature.
    pub(super) fn receive_handoff(
        &mut self,
        received: &SignedHandoff,
        sequence: Option<u64>,
    ) -> Result<StepResult, RuntimeError> {
        let (input, note) = self.conversation.keys.receive(self.state(), received);
        let sent = Sent { sequence, idempotency: None };
        Ok(match self.record_sent(&Input::Network(Box::new(input)), note, sent)? {
            Ok(()) => StepResult::Accepted,
            Err(refusal) => StepResult::Refused(refusal),
        })
    }

    /// Submits an entry of the mailbox. Of several derived writes, the last refusal is the result.
    pub(crate) fn submit_mail(&mut self, mail: Mail) -> Result<StepResult, RuntimeError> {
        let (derive, sequence) = match mail {
            Mail::Message(message) => return self.submit_message(message),
            Mail::Keyed { input, idempotency, sequence } => {
                return self.submit_keyed(&input, Sent { sequence, idempotency: Some(idempotency) });
            }
            Mail::Request { user, request, sequence } => {
                let idempotency = request.key.clone().map(|key| key.of_request(&user, &request));
                let NewRequest { text, scope, key: _ } = request;
                let input = Input::UserMessage { user: user.user, text, scope };
                return self.submit_keyed(&input, Sent { sequence, idempotency });
            }
            Mail::Handoff(received, sequence) => {
                let result = self.receive_handoff(&received, sequence)?;
                self.report_refusal(&result, sequence);
                return Ok(result);
            }
            Mail::Derived { derive, sequence } => (derive, sequence),
        };
        let mut result = StepResult::Accepted;
        for write in derive(self.conversation.recorder.policy(), self.state()) {
            let message = Message { input: Input::Write(Box::new(write)), note: None, sequence };
            match self.submit_message(message)? {
                StepResult::Accepted => {}
                refused @ (StepResult::Refused(_) | StepResult::Halted(_)) => result = refused,
            }
        }
        Ok(result)
    }

    pub(super) fn submit_message(
        &mut self,
        Message { input, note, sequence }: Message,
    ) -> Result<StepResult, RuntimeError> {
        let result = match input {
            Input::Reply { call, report, summary_update, action, interaction } => {
                let reply = Reply { report, summary_update, action, interaction };
                self.submit_reply(call, reply, note, sequence)?
            }
            Input::CallFailed { call, failure } => self.submit_failure(call, failure, note)?,
            input => match self.record_sent(&input, note, Sent { sequence, idempotency: None })? {
                Ok(()) => StepResult::Accepted,
                Err(refusal) => StepResult::Refused(refusal),
            },
        };
        self.report_refusal(&result, sequence);
        Ok(result)
    }

    /// Submits an input of a sender, unless its key was used before.
    pub(super) fn submit_keyed(&mut self, input: &Input, sent: Sent) -> Result<StepResult, RuntimeError> {
        let idempotency = sent.idempotency.as_ref();
        if idempotency.and_then(|key| self.conversation.find_repeated(key)).is_some() {
            return Ok(StepResult::Accepted);
        }
        let sequence = sent.sequence;
        let result = match self.record_sent(input, None, sent)? {
            Ok(()) => StepResult::Accepted,
            Err(refusal) => StepResult::Refused(refusal),
        };
        self.report_refusal(&result, sequence);
        Ok(result)
    }

    pub(super) fn report_refusal(&mut self, result: &StepResult, sequence: Option<u64>) {
        if let StepResult::Refused(refusal) = result {
            self.report(sequence, refusal.clone().into());
        }
    }

    /// Reports to the sender of a message, if it has a number, that the message has no effect.
    pub(super) fn report(&mut self, sequence: Option<u64>, reason: RefusedReason) {
        self.refused.extend(sequence.map(|sequence| RefusedMessage { sequence, reason }));
    }
}
