//! The limits of a search. They count nodes and work, not time, so that the solution is the same on every machine.

/// The limits of a search: whichever is reached first ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchLimits {
    /// The maximum number of visited nodes. A node with many open candidates counts once for every 256 of them.
    pub nodes: u64,
    /// The maximum work: steps over nodes, dependencies, partial states and table values, each of 10 to 15 nanoseconds. The
    /// visited node at which it is reached is finished.
    pub work: u64,
}

impl SearchLimits {
    /// The default work: about one second of a present processor.
    pub const WORK: u64 = 64_000_000;

    /// Limits the nodes only.
    #[must_use]
    pub const fn from_nodes(nodes: u64) -> Self {
        Self { nodes, work: u64::MAX }
    }

    /// Returns these limits with another work.
    #[must_use]
    pub const fn with_work(self, work: u64) -> Self {
        Self { work, ..self }
    }
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { nodes: 250_000, work: Self::WORK }
    }
}
