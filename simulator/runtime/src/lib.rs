//! Driving a conversation with real modules: what the kernel decides is carried out, and what comes back is the
//! next input.
//!
//! A [`Host`] reaches the modules; a [`Conversation`] asks it. Every step is kept in a [`Journal`] before anything that
//! follows from it is done, so that a program that was killed at any moment goes on where it was: nothing that was asked
//! or answered is lost, and no effect happens twice without somebody having said that it did not happen.
//!
//! Deliberately absent: an async runtime. Any will do; where there is none, [`Clock::block_on`] does.

mod call;
mod clock;
mod conversation;
mod driver;
mod error;
mod host;
mod journal;
mod mailbox;
mod request_tracker;

pub use call::{Call, CallError, CallPayload, CallResult, RecoveryResult, Reply};
pub use clock::{Clock, DeadlockError, Sleep};
pub use conversation::{Conversation, TruncatedTail};
pub use driver::{RequestDriver, StepResult};
pub use error::{OpenError, RuntimeError};
pub use host::{Deadlines, Host};
pub use journal::{Journal, JournalFile};
pub use mailbox::{Mailbox, MailboxError, Message, RefusedMessage};
pub use request_tracker::{INPUT_BYTES_MAX, RequestResult, SizeLimitError};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what no holder leaves half done, even one that panics.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
