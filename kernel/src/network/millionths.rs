//! Signed fixed-point numbers: reciprocity, tone, volumes, positions.

use crate::score::{Score, Weight};
use core::fmt;

/// One, in millionths.
pub(crate) const ONE: i64 = 1_000_000;

/// A signed number in millionths. Arithmetic saturates; products and quotients round half away from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Millionths(i64);

impl Millionths {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(ONE);

    /// Creates the number from millionths.
    #[must_use]
    pub const fn new(millionths: i64) -> Self {
        Self(millionths)
    }

    /// Returns the number in millionths.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns the number, clamped to 0..=1.
    #[must_use]
    pub fn to_score(self) -> Score {
        let clamped = self.0.clamp(0, ONE);
        u32::try_from(clamped).ok().and_then(Score::from_millionths).unwrap_or(Score::ZERO)
    }

    /// Returns the number, clamped to the range of a weight.
    #[must_use]
    pub fn to_weight(self) -> Weight {
        let clamped = self.0.clamp(0, i64::from(Weight::MAX.millionths()));
        u32::try_from(clamped).ok().and_then(Weight::from_millionths).unwrap_or(Weight::ZERO)
    }

    /// Returns the number, clamped to −1..=1.
    #[must_use]
    pub fn clamp_to_unit(self) -> Self {
        Self(self.0.clamp(-ONE, ONE))
    }
}

impl core::ops::Add for Millionths {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl core::ops::Sub for Millionths {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl core::ops::Mul for Millionths {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(mul_round(self.0, other.0))
    }
}

impl From<Score> for Millionths {
    fn from(score: Score) -> Self {
        Self(i64::from(score.millionths()))
    }
}

impl From<Weight> for Millionths {
    fn from(weight: Weight) -> Self {
        Self(i64::from(weight.millionths()))
    }
}

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let (whole, fraction) = (magnitude / 1_000_000, magnitude % 1_000_000);
        write!(f, "{sign}{whole}.{fraction:06}")
    }
}

/// Returns `numerator / denominator`, rounded half away from zero; 0 where the denominator is 0 (0/0 is 0).
pub(crate) fn div_round(numerator: i128, denominator: i128) -> i64 {
    let magnitude = denominator.unsigned_abs();
    let half = magnitude / 2;
    let quotient = numerator.unsigned_abs().saturating_add(half).checked_div(magnitude).unwrap_or(0);
    let quotient = i64::try_from(quotient).unwrap_or(i64::MAX);
    if numerator.is_negative() == denominator.is_negative() { quotient } else { quotient.saturating_neg() }
}

/// Returns the product of two numbers in millionths, rounded half away from zero.
pub(crate) fn mul_round(a: i64, b: i64) -> i64 {
    const HALF: i64 = ONE / 2;
    // Both the product and its half fit 64 bits almost always; a division of 128 bits is slow.
    match a.checked_mul(b).and_then(|product| product.checked_add(if product < 0 { -HALF } else { HALF })) {
        Some(product) => product / ONE,
        None => div_round(i128::from(a).saturating_mul(i128::from(b)), i128::from(ONE)),
    }
}

/// Returns the exponential moving average `λ old + (1−λ) new`, rounded half away from zero.
pub(crate) fn blend(lambda: Score, old: Millionths, new: Millionths) -> Millionths {
    let lambda = i64::from(lambda.millionths());
    let rest = ONE.saturating_sub(lambda);
    let small = |factor: i64, value: i64| factor.checked_mul(value);
    let sum = small(lambda, old.0).zip(small(rest, new.0)).and_then(|(old, new)| old.checked_add(new));
    Millionths(match sum.and_then(|sum| sum.checked_add(if sum < 0 { -(ONE / 2) } else { ONE / 2 })) {
        Some(sum) => sum / ONE,
        None => {
            let wide = |factor: i64, value: i64| i128::from(factor).saturating_mul(i128::from(value));
            div_round(wide(lambda, old.0).saturating_add(wide(rest, new.0)), i128::from(ONE))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_round_half_away_from_zero() {
        assert_eq!([mul_round(1, 500_000), mul_round(-1, 500_000), mul_round(1, 499_999)], [1, -1, 0]);
        assert_eq!(mul_round(i64::MAX, i64::MIN), -i64::MAX);
        assert_eq!(mul_round(3_000_000_000_000, 3_000_000_000_000), 9_000_000_000_000_000_000);
        assert_eq!([div_round(5, 2), div_round(-5, 2), div_round(5, 0), div_round(0, 0)], [3, -3, 0, 0]);
    }

    #[test]
    fn blend_is_exact_at_its_ends() {
        let (old, new) = (Millionths::new(i64::MAX), Millionths::new(i64::MIN));
        assert_eq!(blend(Score::ONE, old, new), old);
        assert_eq!(blend(Score::ZERO, old, new), Millionths::new(-i64::MAX));
    }
}
