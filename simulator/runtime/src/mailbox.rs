//! The mailbox: unsolicited inputs, such as cancellations and writes.

use crate::idempotency_key::IdempotencyKey;
use crate::new_request::NewRequest;
use crate::session_user::SessionUser;
use crate::size_limit::{SizeLimitError, check_input_size};
use crate::sync::lock_ignoring_poison;
use futures_channel::mpsc::{self, Receiver, Sender};
use futures_util::StreamExt;
use orchestrion_handoff::SignedHandoff;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{CallId, Input, Policy, Refusal, State, Text, UserId};
use orchestrion_trace::{Denial, Idempotency};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use thiserror::Error;

/// The maximum number of queued messages.
const CAPACITY: usize = 64;

/// The maximum number of inputs that wait for a session.
pub(crate) const WAITING_MAX: usize = 64;

/// An input with its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The input.
    pub input: Input,
    /// The note for the trace.
    pub note: Option<String>,
    /// The sender's number. If the message is refused, [`RefusedMessage`] reports this number; without a number, the refusal
    /// is only recorded.
    pub sequence: Option<u64>,
}

/// Derives writes, such as those that a text states, from the policy and the state.
pub type DeriveWrites = Box<dyn FnOnce(&Policy, &State) -> Vec<Write> + Send>;

/// An entry of the mailbox.
pub(crate) enum Mail {
    Message(Message),
    /// An input with a key.
    Keyed {
        input: Input,
        idempotency: Idempotency,
        sequence: Option<u64>,
    },
    /// A request. The kernel refuses it while another one runs.
    Request {
        user: SessionUser,
        request: NewRequest,
        sequence: Option<u64>,
    },
    /// A handoff that reached its receiver, with the sender's number. Its signature is verified when the conversation takes the entry.
    Handoff(Box<SignedHandoff>, Option<u64>),
    /// Writes that are derived when the conversation takes the entry, from the state at that time.
    Derived {
        derive: DeriveWrites,
        sequence: Option<u64>,
    },
}

impl Mail {
    /// The sender's number.
    pub(crate) const fn sequence(&self) -> Option<u64> {
        match self {
            Self::Message(Message { sequence, .. })
            | Self::Keyed { sequence, .. }
            | Self::Request { sequence, .. }
            | Self::Handoff(_, sequence)
            | Self::Derived { sequence, .. } => *sequence,
        }
    }

    /// The key of a write or a cancel, if it has one.
    pub(crate) const fn idempotency(&self) -> Option<&Idempotency> {
        match self {
            Self::Keyed { idempotency, .. } => Some(idempotency),
            Self::Message(_) | Self::Request { .. } | Self::Handoff(..) | Self::Derived { .. } => None,
        }
    }
}

/// A message with a number that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMessage {
    /// The sender's number.
    pub sequence: u64,
    /// The reason.
    pub reason: RefusedReason,
}

/// The reason why a message has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RefusedReason {
    /// The kernel refused it. The refusal is recorded. If it is a reply to a pending call, the call fails as malformed.
    #[error(transparent)]
    Kernel(#[from] Refusal),
    /// The kernel denied the write. Its item is recorded, and no context contains it.
    #[error("write denied: {0}")]
    Denied(Denial),
    /// It is a reply that exceeds the limit of its request. It is not recorded. If the call is pending, it fails as malformed.
    #[error("{1}")]
    ReplyTooLarge(CallId, SizeLimitError),
}

/// Sends inputs to a conversation. They are submitted in order while a request runs or [`RequestDriver::receive`](crate::RequestDriver::receive)
/// waits; an unexpected input is recorded and refused.
///
/// An input without a key happens at most once: it is lost if the program stops before the input is durable, and nothing says so. An input with an
/// [`IdempotencyKey`] happens exactly once if the sender repeats it until [`Host::acknowledge`](crate::Host::acknowledge) has its key.
#[derive(Clone, Debug)]
pub struct Mailbox(Arc<Mutex<Sender<Mail>>>);

/// The reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MailboxError {
    /// The conversation is closed.
    #[error("mailbox closed: expected an open conversation, found a closed one")]
    Closed,
    /// The mailbox is full.
    #[error("mailbox full: expected at most {CAPACITY} queued messages; send again later")]
    Full,
    /// Too many inputs wait for a session.
    #[error(
        "too many waiting inputs: expected at most {WAITING_MAX} without a session; start one, then send again"
    )]
    TooManyWaiting,
    /// The input is too large.
    #[error(transparent)]
    InputTooLarge(#[from] SizeLimitError),
}

impl Mailbox {
    /// Sends a message.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn send(&mut self, message: Message) -> Result<(), MailboxError> {
        check_input_size(&message.input)?;
        self.send_mail(Mail::Message(message))
    }

    /// Sends a text from which writes are derived when the conversation takes it, as `orchestrion_ingest::derive_writes` does.
    /// Without an open session it waits for the next one. A refused write is reported by the `sequence` as that of a message.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn ingest(
        &mut self,
        text: &Text,
        derive: DeriveWrites,
        sequence: Option<u64>,
    ) -> Result<(), MailboxError> {
        // A derived write is as large as its text.
        check_input_size(&Input::user_message(UserId::new(""), text.clone()))?;
        self.send_mail(Mail::Derived { derive, sequence })
    }

    /// Delivers a handoff that reached its receiver later than [`Host::transmit`](crate::Host::transmit) returned. The sender's number
    /// identifies it in a [`RefusedMessage`].
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn deliver(&mut self, handoff: SignedHandoff, sequence: Option<u64>) -> Result<(), MailboxError> {
        self.send_mail(Mail::Handoff(Box::new(handoff), sequence))
    }

    /// Sends a write that can be sent again under the same key. The host receives its acknowledgement when the write is durable.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn write_with_key(
        &mut self,
        key: IdempotencyKey,
        write: Write,
        sequence: Option<u64>,
    ) -> Result<(), MailboxError> {
        self.send_with_key(key, Input::Write(Box::new(write)), sequence)
    }

    /// Cancels the running request, with a key as for a write.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn cancel_with_key(
        &mut self,
        key: IdempotencyKey,
        sequence: Option<u64>,
    ) -> Result<(), MailboxError> {
        self.send_with_key(key, Input::Cancel, sequence)
    }

    fn send_with_key(
        &self,
        key: IdempotencyKey,
        input: Input,
        sequence: Option<u64>,
    ) -> Result<(), MailboxError> {
        check_input_size(&input)?;
        let idempotency = key.of_input(&input);
        self.send_mail(Mail::Keyed { input, idempotency, sequence })
    }

    /// Sends a request. [`RequestDriver::receive`](crate::RequestDriver::receive) returns it; while another request runs, the kernel
    /// refuses it.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn request(
        &mut self,
        user: SessionUser,
        request: NewRequest,
        sequence: Option<u64>,
    ) -> Result<(), MailboxError> {
        let NewRequest { text, scope, key: _ } = request.clone();
        check_input_size(&Input::UserMessage { user: user.user.clone(), text, scope })?;
        self.send_mail(Mail::Request { user, request, sequence })
    }

    fn send_mail(&self, mail: Mail) -> Result<(), MailboxError> {
        lock_ignoring_poison(&self.0).try_send(mail).map_err(|error| match error.is_full() {
            true => MailboxError::Full,
            false => MailboxError::Closed,
        })
    }

    /// Sends a write, such as a fact, a signal or the time. Without a running request it waits for the next one.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn write(&mut self, write: Write) -> Result<(), MailboxError> {
        self.send(Message { input: Input::Write(Box::new(write)), note: None, sequence: None })
    }

    /// Cancels the running request.
    ///
    /// # Errors
    /// [`MailboxError`].
    pub fn cancel(&mut self) -> Result<(), MailboxError> {
        self.send(Message { input: Input::Cancel, note: None, sequence: None })
    }
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => message.fmt(f),
            Self::Keyed { input, idempotency, .. } => {
                f.debug_struct("Keyed").field("input", input).field("idempotency", idempotency).finish()
            }
            Self::Request { user, request, .. } => {
                f.debug_struct("Request").field("user", user).field("request", request).finish()
            }
            Self::Handoff(handoff, _) => handoff.fmt(f),
            Self::Derived { sequence, .. } => {
                f.debug_struct("Derived").field("sequence", sequence).finish_non_exhaustive()
            }
        }
    }
}

/// The receiving end of the mailbox.
#[derive(Debug)]
pub(crate) struct MailboxReceiver {
    mailbox: Mailbox,
    receiver: Receiver<Mail>,
}

impl MailboxReceiver {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        Self { mailbox: Mailbox(Arc::new(Mutex::new(sender))), receiver }
    }

    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox.clone()
    }

    /// Receives an entry without waiting.
    pub(crate) fn try_recv(&mut self) -> Option<Mail> {
        self.receiver.try_recv().ok()
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Mail> {
        match self.receiver.poll_next_unpin(context) {
            Poll::Ready(Some(mail)) => Poll::Ready(mail),
            // The channel stays open, because `self.mailbox` holds a sender.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}
