//! Inputs that come to a conversation beside the answers of its host.

use super::locked;
use super::request_tracker::{SizeLimitError, check_input_size};
use futures_channel::mpsc::{self, Receiver, Sender};
use futures_util::StreamExt;
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{Input, Refusal};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use thiserror::Error;

/// How many inputs may wait to be taken.
const CAPACITY: usize = 64;

/// An input, and what there is to say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The input.
    pub input: Input,
    /// What the trace is to say of it.
    pub note: Option<String>,
    /// What its sender counts it as, who is told by that number if it is refused; nobody, if there is none.
    pub sequence: Option<u64>,
}

/// A numbered message that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMessage {
    /// Its number.
    pub number: u64,
    /// Why.
    pub why: Refusal,
}

/// Where inputs for a conversation are put. They are taken in order, while it is driven; what comes when it is not
/// expected is recorded and refused.
#[derive(Clone, Debug)]
pub struct Mailbox(Arc<Mutex<Sender<Message>>>);

/// Why an input was not put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MailboxError {
    /// The conversation is not open any more.
    #[error("the conversation is not open any more")]
    Closed,
    /// So much has come that was not taken yet.
    #[error("the conversation has {CAPACITY} inputs to take before; try again once it has gone on")]
    Full,
    /// It is too long.
    #[error(transparent)]
    TooLong(#[from] SizeLimitError),
}

impl Mailbox {
    /// Puts an input.
    ///
    /// # Errors
    /// [`MailError`].
    pub fn send(&mut self, message: Message) -> Result<(), MailboxError> {
        check_input_size(&message.input)?;
        locked(&self.0).try_send(message).map_err(|error| match error.is_full() {
            true => MailboxError::Full,
            false => MailboxError::Closed,
        })
    }

    /// Writes what is to be known though no module was asked for it: a fact, a signal, what time it is. While no request
    /// runs it waits for the next one.
    ///
    /// # Errors
    /// [`MailError`].
    pub fn write(&mut self, write: Write) -> Result<(), MailboxError> {
        self.send(Message { input: Input::Write(Box::new(write)), note: None, sequence: None })
    }

    /// Cancels the running request.
    ///
    /// # Errors
    /// [`MailError`].
    pub fn cancel(&mut self) -> Result<(), MailboxError> {
        self.send(Message { input: Input::Cancel, note: None, sequence: None })
    }
}

/// The other end of the mailbox.
#[derive(Debug)]
pub(super) struct MailboxReceiver {
    mailbox: Mailbox,
    receiver: Receiver<Message>,
}

impl MailboxReceiver {
    pub(super) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        Self { mailbox: Mailbox(Arc::new(Mutex::new(sender))), receiver }
    }

    pub(super) fn mailbox(&self) -> Mailbox {
        self.mailbox.clone()
    }

    /// What has come, without waiting.
    pub(super) fn try_recv(&mut self) -> Option<Message> {
        self.receiver.try_recv().ok()
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Message> {
        match self.receiver.poll_next_unpin(context) {
            Poll::Ready(Some(message)) => Poll::Ready(message),
            // Never closed: one sender is ours.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}
