//! The enumeration of all choices of one call, with their probabilities as exact fractions.
//!
//! A [`Tape`] forces the choices of one path. [`Tape::advance`] moves it to the next path, until every path was taken once. A choice with
//! one possible result is no choice, and is not recorded.

use super::number::Fraction;
use crate::draws::{Draws, Purpose, Stream};
use num_rational::Ratio;
use num_traits::{CheckedMul, One};

/// The choices of one path: forced ones, and after them the first possible result of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    picks: Vec<Pick>,
    /// The number of choices that were asked for.
    asked: usize,
    /// The argument that an adversary takes.
    adversary: usize,
    /// The number of arguments from which an adversary can choose; 1 without an adversary.
    adversary_options: usize,
}

/// A random choice.
#[derive(Clone, Debug)]
struct Pick {
    chosen: usize,
    weights: Vec<u64>,
}

impl Pick {
    /// Returns the probability of the chosen result.
    fn probability(&self) -> Ratio<u128> {
        let total: u128 = self.weights.iter().map(|weight| u128::from(*weight)).sum();
        let weight = self.weights.get(self.chosen).copied().unwrap_or(0);
        Ratio::new(weight.into(), total.max(1))
    }
}

impl Tape {
    /// Creates the first path of those on which an adversary takes this argument.
    pub(crate) fn new(adversary: usize) -> Self {
        Self { picks: Vec::new(), asked: 0, adversary, adversary_options: 1 }
    }

    /// Returns whether the path contains no choice at all.
    pub(crate) fn is_certain(&self) -> bool {
        self.picks.is_empty() && self.adversary_options == 1
    }

    /// Returns the number of arguments from which an adversary can choose.
    pub(crate) const fn adversary_options(&self) -> usize {
        self.adversary_options
    }

    /// Returns the probability of the path.
    pub(crate) fn probability(&self) -> Fraction {
        // Reduced fractions of 128 bits suffice for a few choices, and are much faster.
        let small = self
            .picks
            .iter()
            .try_fold(Ratio::one(), |product, pick| pick.probability().checked_mul(&product));
        let large = |fraction: Ratio<u128>| {
            let (numerator, denominator) = fraction.into_raw();
            Fraction::new_raw(numerator.into(), denominator.into())
        };
        match small {
            Some(product) => large(product),
            None => self.picks.iter().map(|pick| large(pick.probability())).product(),
        }
    }

    /// Moves to the next path. Returns whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.asked = 0;
        while let Some(last) = self.picks.last_mut() {
            if let Some(next) = next_possible(&last.weights, last.chosen + 1) {
                last.chosen = next;
                return true;
            }
            self.picks.pop();
        }
        false
    }
}

/// Returns the first index with a positive weight, from `start` on.
fn next_possible(weights: &[u64], start: usize) -> Option<usize> {
    weights.iter().enumerate().skip(start).find(|(_, weight)| **weight > 0).map(|(index, _)| index)
}

impl Draws for Tape {
    fn pick(&mut self, stream: Stream, weights: &[u64]) -> usize {
        let first = next_possible(weights, 0).unwrap_or(0);
        if next_possible(weights, first + 1).is_none() {
            return first;
        }
        if stream.purpose == Purpose::Adversary {
            self.adversary_options = self.adversary_options.max(weights.len());
            return self.adversary.min(weights.len() - 1);
        }
        let at = self.asked;
        self.asked += 1;
        match self.picks.get(at) {
            Some(pick) => pick.chosen,
            None => {
                self.picks.push(Pick { chosen: first, weights: weights.to_vec() });
                first
            }
        }
    }

    fn below(&mut self, stream: Stream, bound: u32) -> u32 {
        u32::try_from(self.pick(stream, &vec![1; bound as usize])).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_traits::Zero;

    const TRUTH: Stream = Stream::world(Purpose::Truth);
    const ADVERSARY: Stream = Stream::world(Purpose::Adversary);

    /// Draws a tree in which the second choice depends on the first.
    fn draw(tape: &mut Tape) -> Vec<usize> {
        let first = tape.pick(TRUTH, &[0, 3, 0, 5]);
        let certain = tape.pick(TRUTH, &[0, 7]);
        let second = if first == 1 { tape.pick(TRUTH, &[1, 1, 1]) } else { 9 };
        vec![first, certain, second]
    }

    #[test]
    fn paths_are_disjoint_and_sum_to_one() {
        let mut tape = Tape::new(0);
        let (mut paths, mut sum) = (Vec::new(), Fraction::zero());
        loop {
            paths.push(draw(&mut tape));
            sum += tape.probability();
            if !tape.advance() {
                break;
            }
        }
        assert_eq!(paths, [[1, 1, 0], [1, 1, 1], [1, 1, 2], [3, 1, 9]]);
        assert!(sum.is_one(), "{sum}");
    }

    /// The product of many choices has more than 128 bits.
    #[test]
    fn long_path_has_its_exact_probability() {
        let mut tape = Tape::new(0);
        (0..12).for_each(|_| {
            tape.pick(TRUTH, &[999_983, 17]);
        });
        let expected = Fraction::new(999_983.into(), 1_000_000.into());
        assert_eq!(tape.probability(), (0..12).map(|_| &expected).product());
    }

    #[test]
    fn adversary_choice_has_no_probability() {
        let mut tape = Tape::new(2);
        assert_eq!(tape.pick(ADVERSARY, &[1, 1, 1]), 2);
        assert_eq!(tape.adversary_options(), 3);
        assert!(!tape.is_certain() && tape.probability().is_one());
        assert!(!tape.advance());
    }

    #[test]
    fn one_possible_result_is_no_choice() {
        let mut tape = Tape::new(0);
        assert_eq!((tape.pick(TRUTH, &[0, 4]), tape.pick(ADVERSARY, &[1]), tape.below(TRUTH, 1)), (1, 0, 0));
        assert!(tape.is_certain());
    }
}
