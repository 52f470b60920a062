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

    pub(crate) fn set_running(&self, is_running: bool) {
        self.0.store(is_running, Ordering::Release);
    }
}
