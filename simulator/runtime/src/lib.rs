//! Runs conversations of the kernel with asynchronous modules and a durable journal.
//!
//! Entry points: implement [`Host`] to execute calls, open a [`Conversation`], and run a request with
//! [`Conversation::run_request`]. After a crash, [`Conversation::resume`] continues the interrupted request. A [`Mailbox`]
//! submits writes and cancellations while a request runs. A [`RequestDriver`] runs a request step by step.
//!
//! The runtime appends each step to the [`Journal`] and makes it durable before it sends the call that the step emits.
//! Therefore a crash loses no call and no reply, and no effect happens twice unless the host reports that it did not happen.
//!
//! A disk can lose the end of a journal, with a call whose effect happened. So after a journal was opened again, the host recovers each
//! effectful call before it is sent. A host that stored the last [`Call::step`] passes it to [`Conversation::open_acknowledged`]: a
//! shorter journal is then refused, and calls are sent at once.
//!
//! # Acknowledged inputs
//!
//! An application sends writes, cancels and requests through the [`Mailbox`], or a request through [`Conversation::run_request`]. With an
//! [`IdempotencyKey`] such an input happens exactly once:
//!
//! - When its step is durable, [`Host::acknowledge`] gets the key, the step, and whether the kernel accepted the input.
//! - The application repeats an input that was not acknowledged, also after the journal was opened again. An input that was recorded is
//!   acknowledged again, and has no second effect.
//! - The same key with another content is refused with [`KeyResult::KeyReused`]. Nothing is recorded.
//! - The journal contains the key beside the input, and its chain covers it. A conversation remembers the latest
//!   [`RECENT_INPUTS_MAX`](orchestrion_trace::RECENT_INPUTS_MAX) keys; a repetition of an older one is a new input.
//!
//! An input without a key happens at most once. It becomes durable with the next call or with the end of its request.
//!
//! Deliberately absent: an async runtime. Any executor works; [`Clock::block_on`] runs a future without one.
//!
//! # Example
//!
//! ```
//! use orchestrion_kernel::module::{ConclusionKind, Operation, Report};
//! use orchestrion_kernel::Policy;
//! use orchestrion_runtime::{Call, CallError, CallResult, Clock, Conversation, Host, RecoveryResult};
//! use orchestrion_text::StandardContexts;
//! use std::time::Duration;
//!
//! /// The modules of the application.
//! struct Modules(Clock);
//!
//! impl Host for Modules {
//!     async fn execute(&self, call: &Call) -> CallResult {
//!         match call.operation {
//!             Operation::VerifyIdentity => Ok(Report::Identity { gcp: true, mongodb: false }.into()),
//!             Operation::DeliverAudit => Ok(Report::Delivered.into()),
//!             _ => Err(CallError::error("not implemented")),
//!         }
//!     }
//!
//!     async fn recover(&self, _: &Call) -> RecoveryResult {
//!         RecoveryResult::OutcomeUnknown
//!     }
//!
//!     async fn sleep(&self, time: Duration) {
//!         self.0.sleep(time).await;
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let path = dir.path().join("office.ndjson");
//! let modules = Modules(Clock::real());
//! let mut conversation = Conversation::open(&path, Policy::hardened(), &StandardContexts)?;
//! let result = modules.0.block_on(conversation.run_request(&modules, "ada", "Order paper"))??;
//! assert_eq!(result.conclusion.map(|conclusion| conclusion.kind), Some(ConclusionKind::Aborted));
//! # Ok(())
//! # }
//! ```

mod call;
mod clock;
mod commit_status;
mod conversation;
mod deadlines;
mod driver;
mod error;
mod handoffs;
mod host;
mod idempotency_key;
mod journal;
mod journal_file;
mod journaled;
mod mailbox;
mod new_request;
mod observer;
mod receive;
mod recovered;
mod recovery;
mod refused_handoff;
mod rotation;
mod session_user;
mod size_limit;
mod storage;
mod sync;
mod sync_threads;
mod upgrade;

pub use call::{Call, CallError, CallPayload, CallResult, RecoveryResult, Reply};
pub use clock::{Clock, DeadlockError, Sleep};
pub use commit_status::CommitStatus;
pub use conversation::Conversation;
pub use deadlines::Deadlines;
pub use driver::{RequestDriver, StepResult};
pub use error::{OpenError, RuntimeError};
pub use handoffs::NodeKeys;
pub use host::Host;
pub use idempotency_key::{Acknowledgement, IdempotencyKey, KEY_BYTES_MAX, KeyFormatError, KeyResult};
pub use journal::Journal;
pub use journal_file::{JournalFile, remove_snapshot};
pub use mailbox::{DeriveWrites, Mailbox, MailboxError, Message, RefusedMessage, RefusedReason};
pub use new_request::NewRequest;
pub use observer::Observer;
pub use orchestrion_handoff::SignedHandoff;
pub use orchestrion_trace::RequestResult;
pub use receive::Received;
pub use recovered::RecoveredConversation;
pub use recovery::TruncatedTail;
pub use refused_handoff::RefusedHandoff;
pub use rotation::{RotateError, RotatedSegment, rotate};
pub use session_user::SessionUser;
pub use size_limit::{INPUT_BYTES_MAX, INPUT_VALUES_MAX, SizeLimitError};
pub use storage::{LockedFile, Storage};
pub use sync::lock_ignoring_poison;
pub use sync_threads::SyncThreads;
pub use upgrade::{Upgrade, UpgradeError};
