//! The interface between a conversation and its application.

use crate::call::{Call, CallResult, RecoveryResult};
use orchestrion_kernel::module::{Module, Operation};
use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Executes the calls of a conversation and provides time.
pub trait Host: Send + Sync {
    /// Executes a call. If the future is not ready by the call's deadline, the call fails. It is polled further while the
    /// request runs; a late reply is recorded and refused.
    fn execute(&self, call: &Call) -> impl Future<Output = CallResult> + Send;

    /// Recovers the outcome of an effectful call ([`Operation::is_effectful`]) that was in flight when the runtime crashed.
    fn recover(&self, call: &Call) -> impl Future<Output = RecoveryResult> + Send;

    /// Waits for this time.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// The time in milliseconds since 1970. It is recorded, and no decision depends on it.
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The deadlines of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    default: Duration,
    by_module: BTreeMap<Module, Duration>,
}

impl Deadlines {
    /// Creates the same deadline for every module.
    #[must_use]
    pub const fn new(default: Duration) -> Self {
        Self { default, by_module: BTreeMap::new() }
    }

    /// Sets the deadline of one module.
    #[must_use]
    pub fn with_module(mut self, module: Module, deadline: Duration) -> Self {
        self.by_module.insert(module, deadline);
        self
    }

    /// The deadline of calls with this operation.
    #[must_use]
    pub fn for_operation(&self, operation: Operation) -> Duration {
        self.by_module.get(&operation.module()).copied().unwrap_or(self.default)
    }
}

impl Default for Deadlines {
    /// One minute for every module.
    fn default() -> Self {
        Self::new(Duration::from_secs(60))
    }
}
