//! What is drawn at random, or by a fuzzer: policies, and what happens under them.
//!
//! Everything is drawn through [`Choice`], so that a random generator and the bytes of a fuzzer give the same kinds
//! of things; and everything says what would be [`Simpler`], so that what fails can be shrunk. Deliberately absent:
//! any judgement on what is drawn, except that a policy is mended until it is valid.

mod actions;
mod policies;
mod reports;
mod shrink;
mod situation;

pub use actions::{ActionKind, Bias, CallSelector, UserSelector, WalkAction};
pub use policies::policy as drawn_policy;

use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{TestRng, TestRunner};
use std::fmt;

/// Where choices come from.
pub trait RandomSource {
    /// A number below the bound, which is not 0.
    fn below(&mut self, bound: u32) -> u32;

    /// Yes, so many times out of a hundred.
    fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// One of a list that is not empty. A choice that has run dry takes the first.
    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        let bound = u32::try_from(list.len()).unwrap_or(u32::MAX);
        let at = self.below(bound);
        list[usize::try_from(at).unwrap_or(0)].clone()
    }

    /// The place in a list of weights, each taken as often as it is heavy.
    fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().sum());
        weights
            .iter()
            .position(|weight| match left.checked_sub(*weight) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            })
            .unwrap_or(0)
    }
}

impl RandomSource for TestRng {
    fn below(&mut self, bound: u32) -> u32 {
        // The bias is of no matter here: at most one in four thousand for the widest range that is drawn.
        self.next_u32() % bound
    }
}

/// Choices read from the bytes of a fuzzer; 0 when they are used up.
#[derive(Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// Whether all bytes are used up.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl RandomSource for Bytes<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        // As few bytes as the bound needs, so that a change of one byte changes one choice.
        let wanted = match bound {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let (taken, left) = self.0.split_at(wanted.min(self.0.len()));
        self.0 = left;
        taken.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) % bound
    }
}

/// What can be made simpler.
pub trait Shrink: Clone + fmt::Debug {
    /// Simpler ones, the simplest first. None of them is as complex as this one, or shrinking would not end.
    fn shrink_candidates(&self) -> Vec<Self>;
}

/// A proptest strategy that draws values, and shrinks them to what they say is simpler.
pub struct ShrinkStrategy<F>(pub F);

impl<F> fmt::Debug for ShrinkStrategy<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawn")
    }
}

impl<T: Shrink, F: Fn(&mut TestRng) -> T> Strategy for ShrinkStrategy<F> {
    type Tree = ShrinkTree<T>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let current = (self.0)(runner.rng());
        Ok(ShrinkTree { current, before: None, candidates: None })
    }
}

/// A value on its way to a simpler one.
#[derive(Debug)]
pub struct ShrinkTree<T> {
    current: T,
    /// What the current value was made from, as long as nobody has said that it fails as well.
    before: Option<T>,
    /// What is still to be tried, the next one last; `None` before anything was.
    candidates: Option<Vec<T>>,
}

impl<T: Shrink> ValueTree for ShrinkTree<T> {
    type Value = T;

    fn current(&self) -> T {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        if self.before.take().is_some() {
            // The last simplification stands; what is simpler than it is asked anew.
            self.candidates = None;
        }
        let current = &self.current;
        let candidates = self.candidates.get_or_insert_with(|| {
            let mut simpler = current.shrink_candidates();
            simpler.reverse();
            simpler
        });
        let Some(next) = candidates.pop() else { return false };
        self.before = Some(std::mem::replace(&mut self.current, next));
        true
    }

    fn complicate(&mut self) -> bool {
        let Some(before) = self.before.take() else { return false };
        self.current = before;
        true
    }
}
