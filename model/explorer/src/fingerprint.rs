//! Fingerprints of states: 64 bits, one pass, fixed seeds.
//!
//! Each written value is mixed in by an injection: two states that differ keep their last difference, however much they
//! share after it. So two states collide only if an earlier difference cancels it, with probability 2⁻⁶⁴ in total, not
//! at each step as with hashes that fold a longer product.

use std::hash::{Hash, Hasher};

/// The fingerprint of a state. It is never the largest number.
#[inline]
pub fn fingerprint<S: Hash>(state: &S) -> u64 {
    let mut mixed = Mixed(0x243f_6a88_85a3_08d3);
    state.hash(&mut mixed);
    mixed.finish().min(u64::MAX - 1)
}

struct Mixed(u64);

impl Mixed {
    /// A permutation for each value, and an injection for each state of the mixture.
    #[inline(always)]
    fn mix(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
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
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }
}
