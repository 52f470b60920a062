//! Inputs that arrive while no request runs.

use crate::driver::{RequestDriver, StepResult};
use crate::error::RuntimeError;
use crate::host::Host;
use crate::journal::Journal;
use crate::mailbox::{Mail, MailboxError, Message, WAITING_MAX};
use crate::new_request::NewRequest;
use crate::session_user::SessionUser;
use orchestrion_kernel::Input;
use std::future::poll_fn;

/// The number of inputs with a key that are made durable together. A sender that sends without a pause must not delay their
/// acknowledgement.
const GROUP_MAX: usize = 64;

/// What arrived while no request runs.
#[derive(Debug)]
#[must_use]
pub enum Received {
    /// A request to start with [`RequestDriver::start_received`].
    Request {
        /// The user.
        user: SessionUser,
        /// The request.
        request: NewRequest,
        /// The sender's number.
        sequence: Option<u64>,
    },
    /// Another input was submitted, or waits for a session.
    Input(StepResult),
    /// An input was not taken, and nothing was recorded. Its sender can send it again.
    NotTaken {
        /// The sender's number.
        sequence: Option<u64>,
        /// The reason.
        error: MailboxError,
    },
}

impl<J: Journal, H: Host> RequestDriver<'_, J, H> {
    /// Waits for the next entry of the mailbox while no request runs. Inputs are durable, and those with a key acknowledged, before it waits.
    /// The future may be dropped at any time.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub async fn receive(&mut self) -> Result<Received, RuntimeError> {
        if let Some(mail) = self.next_of_group() {
            return self.receive_mail(mail);
        }
        self.commit().await?;
        let mail = poll_fn(|context| self.conversation.inbox.poll(context)).await;
        self.receive_mail(mail)
    }

    /// Takes the next entry of the mailbox as [`receive`](Self::receive) does. Returns `None` if there is none.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn try_receive(&mut self) -> Result<Option<Received>, RuntimeError> {
        self.conversation.inbox.try_recv().map(|mail| self.receive_mail(mail)).transpose()
    }

    fn receive_mail(&mut self, mail: Mail) -> Result<Received, RuntimeError> {
        let mail = match mail {
            Mail::Request { user, request, sequence } => {
                return Ok(Received::Request { user, request, sequence });
            }
            Mail::Message(Message { input: Input::UserMessage { user, text, scope }, sequence, .. }) => {
                let (user, request) = (user.into(), NewRequest { text, scope, key: None });
                return Ok(Received::Request { user, request, sequence });
            }
            mail => mail,
        };
        if !self.waits_for_session(&mail) {
            return self.submit_mail(mail).map(Received::Input);
        }
        let waiting = &mut self.conversation.postponed;
        // The acknowledgement of the waiting input answers a repetition, too.
        let is_repeated =
            mail.idempotency().is_some_and(|key| waiting.iter().any(|mail| mail.idempotency() == Some(key)));
        if !is_repeated {
            if waiting.len() >= WAITING_MAX {
                return Ok(Received::NotTaken {
                    sequence: mail.sequence(),
                    error: MailboxError::TooManyWaiting,
                });
            }
            waiting.push(mail);
        }
        Ok(Received::Input(StepResult::Accepted))
    }

    /// Takes an entry that can be made durable together with the inputs before it.
    pub(crate) fn next_of_group(&mut self) -> Option<Mail> {
        let is_full = self.conversation.acknowledgements.len() >= GROUP_MAX;
        if is_full { None } else { self.conversation.inbox.try_recv() }
    }

    /// Whether an entry belongs to a session and none is open. A key that is recorded needs none.
    pub(crate) fn waits_for_session(&self, mail: &Mail) -> bool {
        let recorded = mail
            .idempotency()
            .and_then(|idempotency| self.conversation.recorder.inputs().get(&idempotency.key));
        if self.state().control().session().is_some() || recorded.is_some() {
            return false;
        }
        match mail {
            Mail::Message(Message { input: Input::Write(write), .. })
            | Mail::Keyed { input: Input::Write(write), .. } => write.requires_session(),
            Mail::Derived { .. } => true,
            Mail::Message(_) | Mail::Keyed { .. } | Mail::Request { .. } | Mail::Handoff(..) => false,
        }
    }
}
