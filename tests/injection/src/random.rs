//! Repeatable choices: one seed gives all of them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A part of a run with choices of its own, so that a change in one part leaves the choices of the others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Plan,
    Disk,
    Host,
}

#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, stream: Stream) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream as u64);
        Self(generator)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end.max(1)
    }

    /// An index below `end`; 0 if `end` is 0.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap_or(0)
    }

    /// Whether one of so many cases occurs.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }
}
