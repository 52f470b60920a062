//! Deadlines of calls.

use orchestrion_kernel::module::{Module, Operation};
use std::collections::BTreeMap;
use std::time::Duration;

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
