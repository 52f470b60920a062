//! A simulated disk and a simulated host under the runtime, with injected faults.
//!
//! Entry points: [`run_seed`]; [`run_single_fault`] for each operation; [`IntactJournal`] for each byte of a journal. One number decides a run: the inputs of a host, its replies, the faults of the disk and of the host, and the
//! clock. The code between both is the runtime's own: the conversation of `run --stdio`, its driver, its mailbox and its journal file.
//! Time is simulated, on one thread.
//!
//! Deliberately absent: threads, files, and the text of the protocol, which other tests of `run --stdio` cover.

#![allow(clippy::indexing_slicing, reason = "a test tool fails by panicking")]

mod damage;
mod disk;
mod fault;
mod host;
mod ledger;
mod modules;
mod oracle;
mod plan;
mod random;
mod run;

pub use damage::{Damage, IntactJournal, TornLine};
pub use fault::{FaultCounts, FaultKind};
pub use plan::OPERATION_FAULTS;
pub use run::{Outcome, run_logged_seed, run_seed, run_single_fault};
