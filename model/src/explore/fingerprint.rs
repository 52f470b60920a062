//! Fingerprints of states: 64 bits, by fixed seeds.
//!
//! A folded multiplication takes up to 16 bytes and goes on with 64 bits, so of a long state the differences at each such
//! step may be lost with the chance 2⁻⁶⁴. Two lanes with seeds of their own lose them only together; then the chance that two states share
//! a fingerprint does not grow with their length.

use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;
use std::hash::{Hash, Hasher};

static LEFT: SharedSeed = SharedSeed::from_u64(0x6f72_6368_6573_7472);
static RIGHT: SharedSeed = SharedSeed::from_u64(0x696f_6e20_6669_6e67);

/// The fingerprint of a state; never the largest number.
#[inline]
pub(super) fn fingerprint<S: Hash>(state: &S) -> u64 {
    let mut lanes = Lanes(
        FoldHasher::with_seed(0x243f_6a88_85a3_08d3, &LEFT),
        FoldHasher::with_seed(0x1319_8a2e_0370_7344, &RIGHT),
    );
    state.hash(&mut lanes);
    lanes.finish().min(u64::MAX - 1)
}

struct Lanes<'a>(FoldHasher<'a>, FoldHasher<'a>);

macro_rules! both {
    ($($write:ident: $type:ty),*) => {
        $(#[inline(always)]
        fn $write(&mut self, value: $type) {
            self.0.$write(value);
            self.1.$write(value);
        })*
    };
}

impl Hasher for Lanes<'_> {
    both!(write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize);

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0.finish() ^ self.1.finish()
    }
}
