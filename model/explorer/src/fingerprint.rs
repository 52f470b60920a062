//! Fingerprints of states: 64 bits, one pass, fixed seeds.
//!
//! The mixture has 128 bits, and each written value is mixed in by an injection: two states that differ keep their last
//! difference, however much they share after it. So two states collide only if an earlier difference cancels it, with
//! probability 2⁻⁶⁴ in total, not at each step as with hashes that fold a longer product. The lower half of a product spreads
//! a difference in low bits, and the upper half one in high bits.

use std::hash::{Hash, Hasher};

/// The fingerprint of a state. It is never the largest number.
#[inline]
pub fn fingerprint<S: Hash>(state: &S) -> u64 {
    let mut mixed = Mixed { next: 0x243f_6a88_85a3_08d3, other: 0x1319_8a2e_0370_7344 };
    state.hash(&mut mixed);
    mixed.finish().min(u64::MAX - 1)
}

struct Mixed {
    /// The half into which the next value is mixed.
    next: u64,
    other: u64,
}

impl Mixed {
    /// A permutation of the mixtures for each value: the lower half of the product determines `next`, the upper half then
    /// determines `other`.
    #[inline(always)]
    fn mix(&mut self, value: u64) {
        let product = u128::from(self.next ^ value) * 0x9e37_79b9_7f4a_7c15;
        self.next = self.other ^ (product >> 64) as u64;
        self.other = product as u64;
    }
}

macro_rules! mixed {
    ($($write:ident: $type:ty),*) => {
        $(#[inline(always)]
        fn $write(&mut self, value: $type) {
            self.mix(value as u64);
        })*
    };
}

impl Hasher for Mixed {
    mixed!(write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize);

    #[inline(always)]
    fn write_u128(&mut self, value: u128) {
        self.mix(value as u64);
        self.mix((value >> 64) as u64);
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.mix(rest.iter().fold(rest.len() as u64, |all, byte| all << 8 | u64::from(*byte)));
        }
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        let first = (self.next ^ (self.next >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let both = first ^ (first >> 32) ^ self.other;
        let mixed = (both ^ (both >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }
}
