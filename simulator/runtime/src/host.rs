//! What a conversation needs of the program that it runs in.

use super::call::{Call, CallResult, RecoveryResult};
use orchestrion_kernel::module::{Module, Operation};
use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The program around a conversation: it reaches the modules, and has a clock. Any async runtime will do.
pub trait Host: Send + Sync {
    /// Asks the module. If the future is not ready by the call's deadline, the call has failed for the kernel; it is
    /// polled on as long as the request runs, and what it gives then is recorded and refused.
    fn execute(&self, call: &Call) -> impl Future<Output = CallResult> + Send;

    /// Finds out what became of an effectful call ([`Ask::is_effectful`]) that was out when the runtime crashed.
    fn recover(&self, call: &Call) -> impl Future<Output = RecoveryResult> + Send;

    /// Waits.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// The time, in milliseconds since 1970, for the record alone.
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// How long answers are waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    default: Duration,
    of: BTreeMap<Module, Duration>,
}

impl Deadlines {
    /// The same for every module.
    #[must_use]
    pub const fn new(each: Duration) -> Self {
        Self { default: each, of: BTreeMap::new() }
    }

    /// Another one for this module.
    #[must_use]
    pub fn with(mut self, module: Module, deadline: Duration) -> Self {
        self.of.insert(module, deadline);
        self
    }

    /// How long an answer to this is waited for.
    #[must_use]
    pub fn for_operation(&self, ask: Operation) -> Duration {
        self.of.get(&ask.module()).copied().unwrap_or(self.default)
    }
}

impl Default for Deadlines {
    /// A minute.
    fn default() -> Self {
        Self::new(Duration::from_secs(60))
    }
}
