//! Ranges of set sizes.

/// A range of the number of nodes in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardinalityRange {
    /// Every number.
    Any,
    /// At most this number.
    AtMost(i64),
    /// At least this number.
    AtLeast(i64),
}

impl CardinalityRange {
    pub(super) fn has(self, count: i64) -> bool {
        match self {
            Self::Any => true,
            Self::AtMost(quota) => count <= quota,
            Self::AtLeast(quota) => count >= quota,
        }
    }

    /// The number of nodes at which the count price is neutral.
    pub(super) fn limit(self) -> i64 {
        match self {
            Self::Any => 0,
            Self::AtMost(quota) | Self::AtLeast(quota) => quota,
        }
    }
}
