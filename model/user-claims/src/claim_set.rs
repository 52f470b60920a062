//! Sets of claims.

use crate::claim::MAX_CLAIMS;

/// A set of positions in a list of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClaimSet(u64);

const _: () = assert!(MAX_CLAIMS <= u64::BITS as usize, "a set has a bit for each claim");

impl ClaimSet {
    /// The positions of this many claims.
    #[must_use]
    pub fn first(count: usize) -> Self {
        let mut all = Self::default();
        (0..count).for_each(|claim| all.insert(claim));
        all
    }

    /// The position of one claim.
    #[must_use]
    pub fn of(claim: usize) -> Self {
        let mut one = Self::default();
        one.insert(claim);
        one
    }

    /// Adds a position. One that no claim can have is not added.
    pub fn insert(&mut self, claim: usize) {
        if claim < MAX_CLAIMS {
            self.0 |= 1 << claim;
        }
    }

    /// Whether the set contains a position.
    #[must_use]
    pub const fn contains(self, claim: usize) -> bool {
        claim < MAX_CLAIMS && self.0 >> claim & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The positions in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The positions in one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The positions that are not in the other set.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The positions, in their order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (next < u64::BITS as usize).then_some(next)
        })
    }
}
