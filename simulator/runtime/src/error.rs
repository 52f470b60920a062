//! The errors of opening and running a conversation.

use crate::idempotency_key::Acknowledgement;
use crate::size_limit::SizeLimitError;
use orchestrion_kernel::Refusal;
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_trace::TraceError;
use std::io;
use thiserror::Error;

/// The reason why a conversation cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The file cannot be opened, created or read.
    #[error("{journal}: unreadable journal: {error}")]
    Io {
        /// The journal.
        journal: String,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// Another conversation has the journal open.
    #[error(
        "{journal}: locked journal: expected one writer, found another conversation in this or another program; close it or \
         choose another file"
    )]
    Locked {
        /// The journal.
        journal: String,
    },
    /// The file is not a journal, or was edited.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The journal was recorded under other conditions.
    #[error(
        "{journal}: {subject} mismatch: expected {expected} (recorded), found {found}; use the recorded one or {remedy}"
    )]
    HeaderMismatch {
        /// The journal.
        journal: String,
        /// The differing condition, as a noun phrase.
        subject: &'static str,
        /// The recorded value.
        expected: String,
        /// The value of this program.
        found: String,
        /// The other remedy.
        remedy: &'static str,
    },
    /// The policy requires a tokenizer that this build does not contain.
    #[error(transparent)]
    TokenizerUnavailable(#[from] TokenizerUnavailable),
    /// The journal ends before a step that was acknowledged to the host. The file is unchanged.
    #[error(
        "{journal}: shorter journal: expected the acknowledged step {acknowledged} or a later one, found {steps} steps; restore the \
         journal from a copy, or {}", match steps {
            0 => "use a new conversation: no call of this one can be recovered",
            _ => "open it without the acknowledged step: the host then recovers each call with an effect before it is sent",
        }
    )]
    Shorter {
        /// The journal.
        journal: String,
        /// The acknowledged step.
        acknowledged: u64,
        /// The number of steps, without a torn tail.
        steps: u64,
    },
    /// The conversation is closed.
    #[error(
        "{journal}: closed conversation: expected an open trace, found its end after {steps} steps; use a new journal"
    )]
    Closed {
        /// The journal.
        journal: String,
        /// The number of steps.
        steps: u64,
    },
}

/// The reason why a conversation cannot continue.
#[derive(Debug, Error)]
pub enum RuntimeError {
    /// The journal cannot be written. Every sent call is durable; a received reply may be lost.
    #[error("{journal}: unwritable journal: {error}; open the conversation again")]
    Journal {
        /// The journal.
        journal: String,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
    /// An earlier write to the journal failed.
    #[error("{journal}: journal failed earlier; open the conversation again")]
    JournalFailed {
        /// The journal.
        journal: String,
    },
    /// A request was interrupted by a crash or a dropped future.
    #[error("unfinished request: expected no running request, found {0}; call `resume` first")]
    Unfinished(String),
    /// The kernel refuses the next input.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The input is too large.
    #[error(transparent)]
    InputTooLarge(SizeLimitError),
    /// The idempotency key of a request was used before. Nothing was recorded.
    #[error("{0}")]
    RepeatedKey(Acknowledgement),
}
