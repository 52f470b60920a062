//! Exponentials, logarithms and powers of fixed-point numbers: the only module with floats.
//!
//! `libm` computes them in software, so that every target has the same bits; the result is rounded to millionths at once. Each
//! function is total: a value outside the range of its result saturates.
#![allow(
    clippy::as_conversions,
    clippy::disallowed_types,
    clippy::float_arithmetic,
    reason = "the numeric module of the kernel"
)]

/// One, in millionths.
const ONE: f64 = 1_000_000.0;

/// Rounds to the nearest millionth; half away from zero. Saturates; not-a-number is 0.
fn round(value: f64) -> i64 {
    // A cast from a float saturates.
    libm::round(value * ONE) as i64
}

/// Converts millionths. Above 2^53 the lowest bits are lost.
fn value(millionths: i64) -> f64 {
    millionths as f64 / ONE
}

/// Returns `e^x`, in millionths.
#[must_use]
pub(crate) fn exp(x: i64) -> i64 {
    round(libm::exp(value(x)))
}

/// Returns `ln x`, in millionths; `i64::MIN` where `x` is not positive.
#[must_use]
pub(crate) fn ln(x: i64) -> i64 {
    if x <= 0 { i64::MIN } else { round(libm::log(value(x))) }
}

/// Returns `x^exponent`, in millionths; a negative `x` counts as 0.
#[must_use]
pub(crate) fn pow(x: i64, exponent: i64) -> i64 {
    let x = value(x.max(0));
    if exponent == 500_000 { round(libm::sqrt(x)) } else { round(libm::pow(x, value(exponent))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_round_to_millionths() {
        assert_eq!([exp(0), exp(1_000_000), exp(-1_000_000)], [1_000_000, 2_718_282, 367_879]);
        assert_eq!([ln(1_000_000), ln(2_000_000), ln(1_000)], [0, 693_147, -6_907_755]);
        assert_eq!([pow(4_000_000, 500_000), pow(2_000_000, 500_000)], [2_000_000, 1_414_214]);
        assert_eq!(pow(2_000_000, 3_000_000), 8_000_000);
    }

    #[test]
    fn functions_are_total() {
        assert_eq!([exp(i64::MAX), exp(i64::MIN)], [i64::MAX, 0]);
        assert_eq!([ln(0), ln(-1), ln(1), ln(i64::MAX)], [i64::MIN, i64::MIN, -13_815_511, 29_852_762]);
        assert_eq!([pow(i64::MIN, 500_000), pow(0, -1_000_000), pow(0, 0)], [0, i64::MAX, 1_000_000]);
        assert_eq!(pow(i64::MAX, i64::MAX), i64::MAX);
    }
}
