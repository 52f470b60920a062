//! Fingerprints of states: 64 bits, one pass, fixed seeds.
//!
//! The values of a state are collected and mixed several at a time, each by an injection of its lane: two states that differ
//! keep their last difference in a lane, however much they share after it. So two states collide only if an earlier
//! difference cancels it, with probability 2⁻⁶⁴ in total, not at each step as with hashes that fold a longer product. Lanes
//! do not wait for each other, which makes large states several times as fast as one chain.

use std::hash::{Hash, Hasher};

/// The fingerprint of a state. It is never the largest number.
#[inline]
pub fn fingerprint<S: Hash>(state: &S) -> u64 {
    let mut values = Mixed { values: [0; VALUES], len: 0, lanes: SEEDS };
    state.hash(&mut values);
    values.finish().min(u64::MAX - 1)
}

const LANES: usize = 4;
/// The number of values that are collected before they are mixed.
const VALUES: usize = 16;
const SEEDS: [u64; LANES] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

struct Mixed {
    values: [u64; VALUES],
    /// The number of all values so far. The last ones wait in `values`.
    len: usize,
    lanes: [u64; LANES],
}

/// A permutation for each value, and an injection for each state of the mixture.
#[inline(always)]
fn mix(mixture: u64, value: u64) -> u64 {
    let mixed = (mixture ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[inline(always)]
fn mix_block(lanes: &mut [u64; LANES], block: &[u64; LANES]) {
    lanes.iter_mut().zip(block).for_each(|(lane, value)| *lane = mix(*lane, *value));
}

impl Mixed {
    #[inline(always)]
    fn push(&mut self, value: u64) {
        self.values[self.len % VALUES] = value;
        self.len += 1;
        if self.len.is_multiple_of(VALUES) {
            self.mix_collected();
        }
    }

    fn mix_collected(&mut self) {
        let (blocks, _) = self.values.as_chunks::<LANES>();
        blocks.iter().for_each(|block| mix_block(&mut self.lanes, block));
    }
}

macro_rules! collected {
    ($($write:ident: $type:ty),*) => {
        $(#[inline(always)]
        fn $write(&mut self, value: $type) {
            self.push(value as u64);
        })*
    };
}

impl Hasher for Mixed {
    collected!(write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize);

    #[inline(always)]
    fn write_u128(&mut self, value: u128) {
        self.push(value as u64);
        self.push((value >> 64) as u64);
    }

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.push(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.push(rest.iter().fold(rest.len() as u64, |all, byte| all << 8 | u64::from(*byte)));
        }
    }

    /// Mixes the lanes, if there are any, and the values that fill no block.
    #[inline(always)]
    fn finish(&self) -> u64 {
        let (blocks, rest) = self.values[..self.len % VALUES].as_chunks::<LANES>();
        let mut mixture = SEEDS[0];
        if self.len >= LANES {
            let mut lanes = self.lanes;
            blocks.iter().for_each(|block| mix_block(&mut lanes, block));
            mixture = lanes.into_iter().fold(mixture, mix);
        }
        mixture = rest.iter().copied().fold(mixture, mix);
        let mixed = (mixture ^ (mixture >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }
}
