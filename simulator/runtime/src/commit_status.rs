//! Whether a journal is being made durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a conversation waits until its journal is durable. Clones share it, so it can be read while the conversation runs.
#[derive(Clone, Debug, Default)]
pub struct CommitStatus(Arc<AtomicBool>);

impl CommitStatus {
    /// Whether a commit is running. A conversation that only waits for its host runs none.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Begins a commit. It ends when the result is dropped, also with the future of the commit.
    pub(crate) fn begin(&self) -> RunningCommit {
        self.0.store(true, Ordering::Release);
        RunningCommit(self.clone())
    }
}

/// A commit that is running.
#[derive(Debug)]
pub(crate) struct RunningCommit(CommitStatus);

impl Drop for RunningCommit {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}
