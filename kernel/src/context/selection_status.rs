//! What a selector proved about its selection.

/// The proven quality of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionStatus {
    /// The selection is proven optimal, tie-break included.
    Optimal,
    /// The optimum is not proven. The utility may equal the bound: then only the tie-break is not proven.
    NotProven {
        /// An upper bound on the utility of every valid selection.
        bound: u64,
    },
}

impl SelectionStatus {
    /// Returns the upper bound on the utility of every valid selection, for a selection of this utility.
    #[must_use]
    pub const fn bound(self, utility: u64) -> u64 {
        match self {
            Self::Optimal => utility,
            Self::NotProven { bound } => bound,
        }
    }

    /// Returns the name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::NotProven { .. } => "not_proven",
        }
    }
}
