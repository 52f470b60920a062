//! Verdicts by the digest of what they depend on.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

/// The number of parts, so that threads seldom wait for each other.
const SHARDS: usize = 16;
/// The number of verdicts of a part. A full part is emptied: what is still needed is computed again.
const ENTRIES_MAX: usize = 1 << 13;

/// Verdicts by 128-bit digests. A verdict is a function of what was digested, so it does not depend on what the cache holds.
#[derive(Debug)]
pub(crate) struct VerdictCache<V>([Mutex<HashMap<u128, V, BuildHasherDefault<DigestKey>>>; SHARDS]);

impl<V> Default for VerdictCache<V> {
    fn default() -> Self {
        Self(Default::default())
    }
}

impl<V: Copy> VerdictCache<V> {
    /// Returns the verdict for a digest, which is computed if the cache does not have it.
    pub(crate) fn get_or_compute(&self, digest: u128, compute: impl FnOnce() -> V) -> V {
        let shard = &self.0[(digest >> 64) as usize % SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).copied();
        known.unwrap_or_else(|| {
            let verdict = compute();
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            if shard.len() >= ENTRIES_MAX {
                shard.clear();
            }
            shard.insert(digest, verdict);
            verdict
        })
    }

    /// An upper bound on the bytes of all verdicts.
    pub(crate) fn bytes(&self) -> usize {
        let capacity =
            |shard: &Mutex<HashMap<_, _, _>>| shard.lock().unwrap_or_else(PoisonError::into_inner).capacity();
        let entries: usize = self.0.iter().map(capacity).sum();
        // A map reserves room for eight entries for every seven, and one byte more for each.
        entries / 7 * 8 * (size_of::<(u128, V)>() + 1)
    }
}

/// The lower half of a digest, which is as good as a hash.
#[derive(Debug, Default)]
struct DigestKey(u64);

impl Hasher for DigestKey {
    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_is_computed_once_until_its_part_is_full() {
        let cache = VerdictCache::default();
        let mut computed = 0;
        let mut get = |digest: u128| {
            cache.get_or_compute(digest, || {
                computed += 1;
                digest % 3
            })
        };
        let all = ENTRIES_MAX as u128;
        assert!((0..all).chain(0..all).all(|digest| get(digest) == digest % 3));
        assert_eq!(get(all), all % 3);
        assert_eq!(get(0), 0);
        assert_eq!(computed, ENTRIES_MAX + 2);
        assert!(cache.bytes() >= 2 * size_of::<(u128, u128)>());
    }
}
