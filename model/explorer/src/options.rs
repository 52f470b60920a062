//! How far an exploration may go, and how it ended.

use super::observations::ObservationSet;
use std::num::NonZeroUsize;
use std::time::Duration;

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many threads expand states. What is found does not depend on it.
    pub threads: NonZeroUsize,
    /// How a visited state is known again.
    pub store: StateStorage,
    /// What it may take.
    pub budget: ResourceLimits,
    /// It ends once one of these marks was shown.
    pub stop_at: ObservationSet,
}

impl Default for Options {
    /// One thread, fingerprints, no bounds, to the end.
    fn default() -> Self {
        let (store, budget, stop_at) =
            (StateStorage::Fingerprint, ResourceLimits::default(), ObservationSet::default());
        Self { threads: NonZeroUsize::MIN, store, budget, stop_at }
    }
}

/// How a visited state is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateStorage {
    /// By 64 bits: two states with the same ones are taken for one.
    Fingerprint,
    /// By all of it: every state is kept, and compared where fingerprints are equal.
    Exact,
}

/// What an exploration may take; nothing named is unbounded.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceLimits {
    /// Bytes: those of the visited states and the graph, and of the states that wait or are kept. These are what they were
    /// packed into, or else their heap is estimated by [`heap`](super::FairModel::heap) of some. What the states lead to that
    /// several threads expand at once, at most 4,096, comes on top.
    pub memory: Option<usize>,
    /// Time. Where it cuts differs from run to run.
    pub time: Option<Duration>,
    /// States, exceeded by at most the successors of one.
    pub states: Option<usize>,
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// [`Budget::memory`].
    Memory,
    /// [`Budget::time`].
    Time,
    /// [`Budget::states`].
    States,
}

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Every state inside the model's boundary was visited and expanded.
    Exhausted,
    /// A mark of [`Options::stop_at`] was shown.
    ObservationFound {
        /// Which one.
        mark: usize,
    },
    /// A budget ran out first.
    LimitReached {
        /// Which one.
        why: Resource,
        /// States that were visited and not expanded.
        frontier: usize,
    },
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Visited states.
    pub states: usize,
    /// Initial states and steps, whether they led to new states or not.
    pub generated: u64,
    /// Steps from an initial state to those that are expanded now.
    pub depth: usize,
    /// States that wait to be expanded.
    pub waiting: usize,
    /// Bytes, as a budget of memory counts them.
    pub bytes: usize,
    /// How long it took so far.
    pub time: Duration,
}

impl Progress {
    /// Visited states a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.states as f64 / self.time.as_secs_f64().max(1e-9)
    }
}
