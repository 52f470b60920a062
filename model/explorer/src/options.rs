//! The options and the end of an exploration.

use super::observations::ObservationSet;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The options of an exploration.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of threads that expand states. The result does not depend on it.
    pub threads: NonZeroUsize,
    /// How visited states are recognized.
    pub storage: StateStorage,
    /// The resource limits.
    pub limits: ResourceLimits,
    /// The exploration stops after one of these observations.
    pub stop_at: ObservationSet,
}

impl Default for Options {
    /// One thread, fingerprints, and no limits.
    fn default() -> Self {
        let (store, budget, stop_at) =
            (StateStorage::Fingerprint, ResourceLimits::default(), ObservationSet::default());
        Self { threads: NonZeroUsize::MIN, storage: store, limits: budget, stop_at }
    }
}

/// How visited states are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateStorage {
    /// By 64 bits. Two states with the same fingerprint count as one.
    Fingerprint,
    /// By the whole state. Every state is stored, and compared if fingerprints are equal.
    Exact,
}

/// The resource limits of an exploration. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceLimits {
    /// Memory in bytes: visited states, graph, and stored states. Packed states count with their length, others with an
    /// estimate from [`FairModel::heap_bytes`](super::FairModel::heap_bytes) of some. The successors of at most 4,096
    /// states that threads expand at once come on top.
    pub memory_bytes: Option<usize>,
    /// Time. The exact end differs between runs.
    pub time: Option<Duration>,
    /// States, exceeded by at most the successors of one state.
    pub states: Option<usize>,
}

/// The resource that was exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// [`ResourceLimits::memory_bytes`].
    Memory,
    /// [`ResourceLimits::time`].
    Time,
    /// [`ResourceLimits::states`].
    States,
}

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Every state inside of the boundary was visited and expanded.
    Exhausted,
    /// An observation of [`Options::stop_at`] occurred.
    ObservationFound {
        /// The resource.
        observation: usize,
    },
    /// A resource limit was reached first.
    LimitReached {
        /// The observation.
        resource: Resource,
        /// The number of visited states that were not expanded.
        frontier: usize,
    },
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of visited states.
    pub states: usize,
    /// The number of initial states and steps, including steps to visited states.
    pub generated: u64,
    /// The depth of the states that are expanded now.
    pub depth: usize,
    /// The number of states in the frontier.
    pub frontier: usize,
    /// The memory in bytes, as [`ResourceLimits::memory_bytes`] counts it.
    pub bytes: usize,
    /// The time so far.
    pub time: Duration,
}

impl Progress {
    /// Visited states per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.states as f64 / self.time.as_secs_f64().max(1e-9)
    }
}
