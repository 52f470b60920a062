//! Logarithms, exponentials and powers by their series, in integers.
//!
//! Numbers have 18 decimal places. The error stays below 10^-14 of a result, so that rounding to millionths gives the nearest one,
//! except for values next to the middle of two.

/// One.
pub(crate) const UNIT: i128 = 1_000_000_000_000_000_000;

/// Units in a millionth.
const MILLIONTH: i128 = 1_000_000_000_000;

/// `ln 2`
const LN_2: i128 = 693_147_180_559_945_309;

/// `a / b`, rounded half away from zero; 0 where the divisor is 0.
pub(crate) fn rounded(a: i128, b: i128) -> i128 {
    let half = if (a < 0) == (b < 0) { b / 2 } else { (b / 2).saturating_neg() };
    a.saturating_add(half).checked_div(b).unwrap_or(0)
}

fn product(a: i128, b: i128) -> i128 {
    rounded(a.saturating_mul(b), UNIT)
}

/// `ln (a / b)` of two positive integers below 2^64.
pub(crate) fn ln_ratio(a: i128, b: i128) -> i128 {
    ln_integer(a).saturating_sub(ln_integer(b))
}

/// `ln n = k ln 2 + 2 artanh((m − 1) / (m + 1))` with `n = m 2^k` and `1 ≤ m < 2`; `artanh y = y + y³/3 + y⁵/5 + …`.
fn ln_integer(n: i128) -> i128 {
    let Some(exponent) = n.checked_ilog2() else { return 0 };
    let power = 1_i128 << exponent;
    let scaled = n.saturating_sub(power).saturating_mul(UNIT);
    let y = rounded(scaled, n.saturating_add(power));
    let square = product(y, y);
    let (mut term, mut sum, mut odd) = (y, 0_i128, 1_i128);
    while term != 0 {
        sum = sum.saturating_add(rounded(term, odd));
        term = product(term, square);
        odd = odd.saturating_add(2);
    }
    LN_2.saturating_mul(exponent.into()).saturating_add(sum.saturating_mul(2))
}

/// `e^x = 2^k e^r` with `|r| ≤ ln 2 / 2`; the largest number where this exceeds 2^62, and 0 below the last place.
pub(crate) fn exp(x: i128) -> i128 {
    let exponent = rounded(x, LN_2);
    let rest = x.saturating_sub(exponent.saturating_mul(LN_2));
    let (mut term, mut sum, mut n) = (UNIT, 0_i128, 1_i128);
    while term != 0 {
        sum = sum.saturating_add(term);
        term = rounded(product(term, rest), n);
        n = n.saturating_add(1);
    }
    if exponent > 62 {
        return i128::MAX;
    }
    match u32::try_from(exponent) {
        Ok(exponent) => sum.saturating_mul(1 << exponent),
        Err(_) => {
            let places = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
            1_i128.checked_shl(places).filter(|power| *power > 0).map_or(0, |power| rounded(sum, power))
        }
    }
}

fn to_millionths(x: i128) -> i64 {
    let nearest = rounded(x, MILLIONTH);
    i64::try_from(nearest).unwrap_or(if nearest < 0 { i64::MIN } else { i64::MAX })
}

/// `ln x` of a number in millionths, rounded to millionths; the smallest number where `x` is not positive.
pub(crate) fn ln_millionths(x: i64) -> i64 {
    if x <= 0 { i64::MIN } else { to_millionths(ln_ratio(x.into(), 1_000_000)) }
}

/// `e^x` of a number in millionths, rounded to millionths.
pub(crate) fn exp_millionths(x: i64) -> i64 {
    to_millionths(exp(i128::from(x).saturating_mul(MILLIONTH)))
}

/// `x^y` of numbers in millionths, rounded to millionths; a negative `x` counts as 0. `x^y = e^(y ln x)`.
pub(crate) fn pow_millionths(x: i64, y: i64) -> i64 {
    match (x.max(0), y) {
        (_, 0) => 1_000_000,
        (0, y) => {
            if y < 0 {
                i64::MAX
            } else {
                0
            }
        }
        (x, y) => {
            to_millionths(exp(rounded(ln_ratio(x.into(), 1_000_000).saturating_mul(y.into()), 1_000_000)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_round_to_millionths() {
        assert_eq!([0, 1_000_000, -1_000_000].map(exp_millionths), [1_000_000, 2_718_282, 367_879]);
        assert_eq!([1_000_000, 2_000_000, 1_000].map(ln_millionths), [0, 693_147, -6_907_755]);
        assert_eq!([0, -1, 1, i64::MAX].map(ln_millionths), [i64::MIN, i64::MIN, -13_815_511, 29_852_762]);
        assert_eq!([i64::MAX, i64::MIN].map(exp_millionths), [i64::MAX, 0]);
        assert_eq!(pow_millionths(4_000_000, 500_000), 2_000_000);
        assert_eq!(pow_millionths(2_000_000, 500_000), 1_414_214);
        assert_eq!(pow_millionths(2_000_000, 3_000_000), 8_000_000);
        assert_eq!([(0, -1), (0, 0), (0, 1)].map(|(x, y)| pow_millionths(x, y)), [i64::MAX, 1_000_000, 0]);
    }
}
