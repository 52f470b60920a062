//! Generators of policies and actions, from random numbers or from the bytes of a fuzzer.
//!
//! Every choice uses [`RandomSource`], so random tests and fuzzers generate the same kinds of values. Every value
//! implements [`Shrink`], so failing cases can be shrunk. Generators check nothing, except that they make policies
//! valid.

mod actions;
mod network_conversations;
mod network_plans;
mod policies;
mod reports;
mod shrink;
mod situation;
mod writes;

pub use actions::{ActionKind, Bias, CallSelector, TimeShift, UserSelector, WalkAction};
pub use network_conversations::{NetworkBias, NetworkConversation, network_policy};
pub use policies::random_policy;

use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{TestRng, TestRunner};
use std::fmt;

/// A source of choices.
pub trait RandomSource {
    /// Returns a number below the bound, which is not 0.
    fn below(&mut self, bound: u32) -> u32;

    /// Returns true with this probability in percent.
    fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// Returns an element of a non-empty list. An exhausted source selects the first.
    fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        let bound = u32::try_from(list.len()).unwrap_or(u32::MAX);
        let index = self.below(bound);
        list[usize::try_from(index).unwrap_or(0)].clone()
    }

    /// Returns an index into a list of weights, with probability proportional to the weight.
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
        // The bias is negligible: at most one in four thousand for the widest range in use.
        self.next_u32() % bound
    }
}

/// Choices read from the bytes of a fuzzer; 0 after the last byte.
#[derive(Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    /// Returns whether all bytes are used.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl RandomSource for Bytes<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        // Each choice uses as few bytes as its bound needs, so changing one byte changes one choice.
        let width = match bound {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let (taken, left) = self.0.split_at(width.min(self.0.len()));
        self.0 = left;
        taken.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) % bound
    }
}

/// A value that can be shrunk.
pub trait Shrink: Clone + fmt::Debug {
    /// Returns simpler values, the simplest first. Each must be strictly simpler, or shrinking would not end.
    fn shrink_candidates(&self) -> Vec<Self>;
}

/// A proptest strategy that generates values and shrinks them by [`Shrink`].
pub struct ShrinkStrategy<F>(pub F);

impl<F> fmt::Debug for ShrinkStrategy<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShrinkStrategy")
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

/// A value during shrinking.
#[derive(Debug)]
pub struct ShrinkTree<T> {
    current: T,
    /// The value before the current simplification; `None` once the current value is confirmed to fail.
    before: Option<T>,
    /// The remaining candidates, the next one last; `None` before the first attempt.
    candidates: Option<Vec<T>>,
}

impl<T: Shrink> ValueTree for ShrinkTree<T> {
    type Value = T;

    fn current(&self) -> T {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        if self.before.take().is_some() {
            // The current simplification is accepted and yields new candidates.
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
