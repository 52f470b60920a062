//! Sets of claims.

use crate::CLAIMS;
use serde::{Deserialize, Serialize};

/// A set of claims, which are named by their positions in [`CLAIMS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimSet([u64; CLAIMS.len().div_ceil(64)]);

impl ClaimSet {
    /// Inserts a claim.
    pub fn insert(&mut self, claim: usize) {
        self.0[claim / 64] |= 1 << (claim % 64);
    }

    /// Whether the set contains a claim.
    #[must_use]
    pub fn contains(self, claim: usize) -> bool {
        self.0.get(claim / 64).is_some_and(|word| word >> (claim % 64) & 1 == 1)
    }

    /// The claims that both sets contain.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// The claims that one of the sets contains.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(core::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Whether the set has no claim.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The claims, in their order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0_usize..).step_by(64).zip(self.0).flat_map(|(first, mut word)| {
            core::iter::from_fn(move || {
                let claim = first + word.trailing_zeros() as usize;
                let is_member = word != 0;
                word &= word.wrapping_sub(1);
                is_member.then_some(claim)
            })
        })
    }
}

impl FromIterator<usize> for ClaimSet {
    fn from_iter<I: IntoIterator<Item = usize>>(claims: I) -> Self {
        let mut set = Self::default();
        claims.into_iter().for_each(|claim| set.insert(claim));
        set
    }
}
