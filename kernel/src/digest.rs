//! Digests of 128 bits that a value remembers, so that a model checker hashes only what changed.
//!
//! Two different values have the same digest with probability 2⁻¹²⁸. Deliberately absent: resistance to an attacker.

use alloc::sync::Arc;
use core::hash::{Hash, Hasher};
use core::sync::atomic::{AtomicU64, Ordering};

/// Returns the digest of a value. Neither half is 0.
#[must_use]
pub fn digest<T: Hash>(value: &T) -> u128 {
    let mut hasher = DigestHasher { low: 0x243f_6a88_85a3_08d3, high: 0x1319_8a2e_0370_7344 };
    value.hash(&mut hasher);
    let half = |mixed: u64| {
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        u128::from((mixed ^ (mixed >> 32)).max(1))
    };
    half(hasher.high) << 64 | half(hasher.low)
}

/// The digest of a value that keeps it. A change of the value must reset it.
#[derive(Debug, Default)]
pub(crate) struct CachedDigest {
    /// Both halves; 0 before the first use. A value that threads share does not change, so all of them store the same.
    halves: [AtomicU64; 2],
}

impl CachedDigest {
    /// Returns the digest of this value, which is computed at the first use.
    pub(crate) fn of<T: Hash>(&self, value: &T) -> u128 {
        self.get_or_compute(|| digest(value))
    }

    fn get_or_compute(&self, compute: impl FnOnce() -> u128) -> u128 {
        if let (low @ 1.., high @ 1..) = self.load().into() {
            return u128::from(high) << 64 | u128::from(low);
        }
        let computed = compute();
        let [low, high] = &self.halves;
        // Each half is complete on its own.
        let computed_halves = halves(computed);
        low.store(computed_halves.0, Ordering::Relaxed);
        high.store(computed_halves.1, Ordering::Relaxed);
        computed
    }

    /// Forgets the digest: the value changes.
    pub(crate) fn reset(&mut self) {
        self.halves = Default::default();
    }

    fn load(&self) -> [u64; 2] {
        let [low, high] = &self.halves;
        [low.load(Ordering::Relaxed), high.load(Ordering::Relaxed)]
    }
}

impl Clone for CachedDigest {
    fn clone(&self) -> Self {
        Self { halves: self.load().map(AtomicU64::new) }
    }
}

/// The digest of a value that all its clones share until one of them changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedDigest(Arc<CachedDigest>);

impl SharedDigest {
    /// Returns the digest, which is computed at the first use.
    pub(crate) fn get_or_compute(&self, compute: impl FnOnce() -> u128) -> u128 {
        self.0.get_or_compute(compute)
    }

    /// Forgets the digest: the value changes, and its clones do not.
    pub(crate) fn reset(&mut self) {
        match Arc::get_mut(&mut self.0) {
            Some(own) => own.reset(),
            None => *self = Self::default(),
        }
    }

    /// Returns whether both values are clones that did not change since. Then they are equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Returns the lower and the upper half.
fn halves(value: u128) -> (u64, u64) {
    let half = |value: u128| u64::try_from(value & u128::from(u64::MAX)).unwrap_or_default();
    (half(value), half(value >> 64))
}

/// Returns a size as a number of 64 bits.
fn number(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Two mixtures of the same values, with different factors.
struct DigestHasher {
    low: u64,
    high: u64,
}

impl DigestHasher {
    /// A permutation for each value, and an injection for each state of a mixture.
    #[inline(always)]
    fn mix(&mut self, value: u64) {
        let low = (self.low ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.low = (low ^ (low >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let high = (self.high ^ value).wrapping_mul(0xa076_1d64_78bd_642f);
        self.high = (high ^ (high >> 31)).wrapping_mul(0xe703_7ed1_a0b4_28db);
    }
}

impl Hasher for DigestHasher {
    #[inline(always)]
    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    #[inline(always)]
    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    #[inline(always)]
    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    #[inline(always)]
    fn write_usize(&mut self, value: usize) {
        self.mix(number(value));
    }

    #[inline(always)]
    fn write_u128(&mut self, value: u128) {
        let (low, high) = halves(value);
        self.mix(low);
        self.mix(high);
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.mix(rest.iter().fold(number(rest.len()), |all, byte| all << 8 | u64::from(*byte)));
        }
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    #[test]
    fn digest_halves_are_independent() {
        let values = || (0..50_000_u32).map(|number| (number >> 8, Vec::from([number & 255; 3])));
        let halves = |shift: u32| -> BTreeSet<u128> {
            values().map(|value| digest(&value) >> shift & u128::from(u32::MAX)).collect()
        };
        // 50,000 values collide 0.3 times on average in 32 bits.
        for shift in [0, 32, 64, 96] {
            assert!(halves(shift).len() > 49_990, "bits from {shift}");
        }
    }

    #[test]
    fn digests_are_equal_on_every_machine() {
        // Computed by a second implementation, in Python.
        assert_eq!(digest(&()), 0xdb12_d06d_20cf_ebf9_d4e6_7398_1dcf_8f87);
        assert_eq!(digest(&(1_u8, 2_u32, 3_u64, 4_usize)), 0x5aa9_d53f_1399_2a6a_09d3_99eb_6901_5806);
        assert_eq!(digest(&(u128::MAX - 1)), 0x4d3d_1e58_a925_563b_7490_4983_f964_1d59);
        assert_eq!(digest(&"0123456789"), 0xd5eb_c165_a141_93a9_62e0_235e_546f_e60b);
    }

    #[test]
    fn reset_computes_the_digest_anew() {
        let mut cached = CachedDigest::default();
        assert_eq!(cached.of(&1), digest(&1));
        assert_eq!(cached.clone().of(&2), digest(&1));
        cached.reset();
        assert_eq!(cached.of(&2), digest(&2));
    }

    #[test]
    fn clone_keeps_the_digest_when_the_other_changes() {
        let mut changed = SharedDigest::default();
        let kept = changed.clone();
        assert!(changed.is_same(&kept));
        assert_eq!(kept.get_or_compute(|| digest(&1)), digest(&1));
        changed.reset();
        assert!(!changed.is_same(&kept));
        let both = [&changed, &kept].map(|shared| shared.get_or_compute(|| digest(&2)));
        assert_eq!(both, [digest(&2), digest(&1)]);
    }
}
