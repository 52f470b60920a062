//! Why a conversation cannot be opened, or cannot go on.

use super::request_tracker::SizeLimitError;
use orchestrion_kernel::Refusal;
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_trace::TraceError;
use std::io;
use thiserror::Error;

/// Why a conversation cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The file cannot be opened, made or read.
    #[error("{journal}: cannot be opened: {error}")]
    Io {
        /// The journal.
        journal: String,
        /// What the file system said.
        #[source]
        error: io::Error,
    },
    /// Somebody else writes it.
    #[error(
        "{journal}: another conversation has it open, here or in another program, and a journal has one writer; end \
         that one first, or choose another file"
    )]
    Locked {
        /// The journal.
        journal: String,
    },
    /// Something else than a journal, or one that was changed after it was written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It was recorded under other conditions than those in which it would go on.
    #[error(
        "{journal}: its {what} is {recorded}, and {given} was given; go on with the one that it was begun with, or begin \
         another journal"
    )]
    HeaderMismatch {
        /// The journal.
        journal: String,
        /// What differs, as a noun phrase.
        what: &'static str,
        /// What the journal was recorded with.
        recorded: String,
        /// What there is now.
        given: String,
    },
    /// The policy wants a tokenizer that this program was built without.
    #[error(transparent)]
    TokenizerUnavailable(#[from] TokenizerUnavailable),
    /// Its conversation is over.
    #[error("{journal}: its conversation was closed after {steps} steps; begin another journal")]
    Closed {
        /// The journal.
        journal: String,
        /// The steps in it.
        steps: u64,
    },
}

/// Why a conversation cannot go on.
#[derive(Debug, Error)]
pub enum RuntimeError {
    /// The journal cannot be written. What was asked of a module is kept, what came back may not be.
    #[error(
        "{journal}: cannot be written: {error}; what was kept is found when the conversation is opened again"
    )]
    Journal {
        /// The journal.
        journal: String,
        /// What the file system said.
        #[source]
        error: io::Error,
    },
    /// The journal could not be written before.
    #[error("{journal}: it could not be written before, so the conversation must be opened again")]
    JournalFailed {
        /// The journal.
        journal: String,
    },
    /// A request of this conversation still runs, since a crash or since the future that drove it was dropped.
    #[error("{0} is unfinished; expected `resume` before anything else is asked")]
    Unfinished(String),
    /// The kernel refuses what would have to come next.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// More than is taken in.
    #[error(transparent)]
    TooLong(SizeLimitError),
}
