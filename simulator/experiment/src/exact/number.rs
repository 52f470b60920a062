//! Numbers of the solvers: exact fractions, and floats whose rounding is bounded.

use num_bigint::BigInt;
use num_rational::Ratio;
use num_traits::{One, ToPrimitive, Zero};

/// An exact fraction.
pub(crate) type Fraction = Ratio<BigInt>;

/// Half of the distance of 1 to the next float: the maximum relative error of one operation.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Every integer up to this one is a float.
const EXACT_MAX: i64 = 1 << f64::MANTISSA_DIGITS;

/// What elimination needs from a number that is not negative. There is no subtraction, so floats lose no digits.
pub(crate) trait Number: Clone {
    fn zero() -> Self;
    fn one() -> Self;
    fn is_zero(&self) -> bool;
    fn add(&mut self, other: &Self);
    fn multiply(&self, other: &Self) -> Self;
    fn divide(&self, other: &Self) -> Self;
    /// The effort of an operation with this number.
    fn size(&self) -> u64;
}

impl Number for Fraction {
    fn zero() -> Self {
        Zero::zero()
    }
    fn one() -> Self {
        One::one()
    }
    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
    }
    fn add(&mut self, other: &Self) {
        *self += other;
    }
    fn multiply(&self, other: &Self) -> Self {
        self * other
    }
    fn divide(&self, other: &Self) -> Self {
        self / other
    }
    fn size(&self) -> u64 {
        let words = self.denom().bits() / 64 + 1;
        // The common divisor takes quadratic time.
        words * words
    }
}

/// A number that is not negative, between two floats. Every operation rounds outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// Zero.
    pub(crate) const ZERO: Self = Self { low: 0.0, high: 0.0 };
    /// One.
    pub(crate) const ONE: Self = Self { low: 1.0, high: 1.0 };
    /// A value without bound.
    pub const INFINITE: Self = Self { low: f64::INFINITY, high: f64::INFINITY };

    /// Returns the interval of all numbers whose nearest float this is.
    pub(crate) fn around(nearest: f64) -> Self {
        Self { low: round_down(nearest, 1.0), high: round_up(nearest, 1.0) }
    }

    /// Returns the middle.
    #[must_use]
    pub fn middle(self) -> f64 {
        if self.low == self.high { self.low } else { self.low + (self.high - self.low) / 2.0 }
    }

    /// Returns the distance of the bounds.
    #[must_use]
    pub fn width(self) -> f64 {
        if self.low == self.high { 0.0 } else { self.high - self.low }
    }

    /// Returns 1 minus a probability.
    pub(crate) fn complement(self) -> Self {
        Self { low: round_down(1.0 - self.high, 1.0), high: round_up((1.0 - self.low).max(0.0), 1.0) }
    }
}

impl Number for Interval {
    fn zero() -> Self {
        Self::ZERO
    }
    fn one() -> Self {
        Self::ONE
    }
    fn is_zero(&self) -> bool {
        self.high == 0.0
    }
    fn add(&mut self, other: &Self) {
        self.low = round_down(self.low + other.low, 1.0);
        self.high = round_up(self.high + other.high, 1.0);
    }
    fn multiply(&self, other: &Self) -> Self {
        Self { low: round_down(self.low * other.low, 1.0), high: round_up(self.high * other.high, 1.0) }
    }
    fn divide(&self, other: &Self) -> Self {
        Self { low: round_down(self.low / other.high, 1.0), high: round_up(self.high / other.low, 1.0) }
    }
    fn size(&self) -> u64 {
        1
    }
}

/// Returns the nearest float.
pub(crate) fn to_float(fraction: &Fraction) -> f64 {
    // A quotient of two floats is the float nearest to the exact one.
    let exact_float =
        |part: &BigInt| part.to_i64().filter(|part| part.abs() <= EXACT_MAX).map(|part| part as f64);
    match (exact_float(fraction.numer()), exact_float(fraction.denom())) {
        (Some(numerator), Some(denominator)) => numerator / denominator,
        _ => fraction.to_f64().unwrap_or(f64::NAN),
    }
}

/// Returns a float below the exact result, if `value` is the rounded result of up to `operations` operations on numbers that are not
/// negative. The factor covers its own rounding.
pub(crate) fn round_down(value: f64, operations: f64) -> f64 {
    // A number this small is as good as none, and the relative error of even smaller ones is not bounded.
    if value < f64::MIN_POSITIVE { 0.0 } else { value * (1.0 - (operations + 3.0) * UNIT) }
}

/// Returns a float above the exact result, as [`round_down`].
pub(crate) fn round_up(value: f64, operations: f64) -> f64 {
    if value == 0.0 { 0.0 } else { (value * (1.0 + (operations + 3.0) * UNIT)).max(f64::MIN_POSITIVE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(numerator: i64, denominator: i64) -> Fraction {
        Fraction::new(numerator.into(), denominator.into())
    }

    #[test]
    fn quotient_of_small_integers_is_the_nearest_float() {
        for (a, b) in [(1, 3), (2, 3), (999_999, 1_000_000), (1, EXACT_MAX - 1), (EXACT_MAX, 3), (0, 1)] {
            let exact = fraction(a, b);
            assert_eq!(to_float(&exact), exact.to_f64().unwrap(), "{a}/{b}");
        }
    }

    /// Floats are fractions, so a comparison with them is exact.
    fn contains(interval: Interval, exact: &Fraction) -> bool {
        let float = |value: f64| Fraction::from_float(value).unwrap();
        float(interval.low) <= *exact && *exact <= float(interval.high)
    }

    #[test]
    fn operations_round_outwards() {
        for (a, b) in [(1, 3), (2, 7), (999_999, 1_000_000), (1, 1_000_000_007)] {
            let (x, y) = (fraction(a, b), fraction(b % 11 + 1, 13));
            let (u, v) = (Interval::around(to_float(&x)), Interval::around(to_float(&y)));
            assert!(contains(u, &x) && contains(v, &y));
            let mut sum = u;
            Number::add(&mut sum, &v);
            assert!(contains(sum, &(&x + &y)));
            assert!(contains(u.multiply(&v), &(&x * &y)));
            assert!(contains(u.divide(&v), &(&x / &y)));
            assert!(sum.width() < 1e-14);
        }
    }
}
