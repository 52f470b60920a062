//! The distribution of a whole number over many runs: sums and a histogram, exact and independent of the order.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number, sum and sum of squares of whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub sum: i128,
    /// The sum of the squares of the values.
    pub sum_of_squares: u128,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: i64) {
        self.count += 1;
        self.sum += i128::from(value);
        self.sum_of_squares += u128::from(value.unsigned_abs()).pow(2);
    }

    /// Adds the values of others.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// The mean; 0 without values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The variance of the values, with the divisor n - 1; 0 for fewer than two. The numerator is a whole number, so no digits cancel.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let count = u128::from(self.count);
        if count < 2 {
            return 0.0;
        }
        let numerator = (count * self.sum_of_squares).saturating_sub(self.sum.unsigned_abs().pow(2));
        numerator as f64 / (count * (count - 1)) as f64
    }
}

/// The distribution of a metric, or of its difference between two policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// The number of runs, with the sums of their values.
    pub moments: Moments,
    /// The number of runs by value. From 128 on, values are grouped: by their seven leading bits, at the smallest value of the group.
    pub histogram: BTreeMap<i64, u64>,
}

/// Values with a smaller magnitude have a group of their own.
const EXACT_BELOW: u64 = 128;

/// Returns the value by which a value is grouped.
fn group(value: i64) -> i64 {
    let magnitude = value.unsigned_abs();
    if magnitude < EXACT_BELOW {
        return value;
    }
    let dropped = (u64::BITS - magnitude.leading_zeros()).saturating_sub(EXACT_BELOW.trailing_zeros());
    let grouped = i64::try_from(magnitude >> dropped << dropped).unwrap_or(i64::MAX);
    if value < 0 { -grouped } else { grouped }
}

/// Returns the least and the greatest value that are grouped by this value; `None` if none is.
fn values_of_group(value: i64) -> Option<(i128, i128)> {
    let magnitude = value.unsigned_abs();
    let dropped = (u64::BITS - magnitude.leading_zeros()).saturating_sub(EXACT_BELOW.trailing_zeros());
    let far = i128::from(value).abs() + (1 << dropped) - 1;
    (group(value) == value).then_some(match value < 0 {
        true => (-far, value.into()),
        false => (value.into(), far),
    })
}

impl Tally {
    /// Whether the sums are possible for the values of the histogram.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.fits_histogram().unwrap_or(false)
    }

    /// Returns `None` for numbers that no result contains.
    fn fits_histogram(&self) -> Option<bool> {
        let (mut counted, mut least, mut most, mut least_square, mut most_square) =
            (0_u64, 0_i128, 0_i128, 0_u128, 0_u128);
        for (value, count) in &self.histogram {
            let (low, high) = values_of_group(*value)?;
            let (near, far) =
                (low.unsigned_abs().min(high.unsigned_abs()), low.unsigned_abs().max(high.unsigned_abs()));
            counted = counted.checked_add(*count)?;
            least = least.checked_add(low.checked_mul((*count).into())?)?;
            most = most.checked_add(high.checked_mul((*count).into())?)?;
            let squares = |magnitude: u128| magnitude.checked_pow(2)?.checked_mul((*count).into());
            least_square = least_square.checked_add(squares(near)?)?;
            most_square = most_square.checked_add(squares(far)?)?;
        }
        let Moments { count, sum, sum_of_squares } = &self.moments;
        Some(
            counted == *count
                && (least..=most).contains(sum)
                && (least_square..=most_square).contains(sum_of_squares),
        )
    }

    /// Adds the value of one run.
    pub fn add(&mut self, value: i64) {
        self.moments.add(value);
        *self.histogram.entry(group(value)).or_default() += 1;
    }

    /// Adds the runs of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        for (value, count) in &other.histogram {
            *self.histogram.entry(*value).or_default() += count;
        }
    }

    /// The mean; 0 without runs.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.moments.mean()
    }

    /// The smallest group below which at least this share of the runs lies, such as 0.5 for the median; 0 without runs.
    #[must_use]
    pub fn quantile(&self, share: f64) -> i64 {
        let rank = (share.clamp(0.0, 1.0) * self.moments.count as f64).ceil().max(1.0);
        let mut below = 0;
        for (value, count) in &self.histogram {
            below += count;
            if below as f64 >= rank {
                return *value;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Tally {
        let mut tally = Tally::default();
        values.iter().for_each(|value| tally.add(*value));
        tally
    }

    #[test]
    fn merge_equals_adding_all() {
        let (first, second) = ([1, -5, 1000, 1001, 7], [1, 127, 128, -129]);
        let (mut merged, all) = (of(&second), of(&[&first[..], &second].concat()));
        merged.merge(&of(&first));
        assert_eq!(merged, all);
    }

    #[test]
    fn sums_fit_the_histogram_of_their_values() {
        let values = [0, 1, -5, 127, 128, -129, 1000, 1001, -1_000_000_007];
        assert!(of(&values).is_consistent() && Tally::default().is_consistent());
        let exact = of(&[2, 4, 4]);
        let changes: [fn(&mut Tally); 6] = [
            |tally| tally.moments.count += 1,
            |tally| tally.moments.sum += 1,
            |tally| tally.moments.sum_of_squares -= 1,
            |tally| *tally.histogram.entry(4).or_default() += 1,
            |tally| tally.histogram.extend([(129, 0)]),
            |tally| tally.histogram.extend([(i64::MIN, u64::MAX)]),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = exact.clone();
            change(&mut changed);
            assert!(!changed.is_consistent(), "{number}: {changed:?}");
        }
    }

    #[test]
    fn moments_are_those_of_the_values() {
        let tally = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((tally.mean(), tally.moments.variance()), (5.0, 32.0 / 7.0));
        assert_eq!((tally.quantile(0.5), tally.quantile(1.0), tally.quantile(0.0)), (4, 9, 2));
        let far = of(&[1_000_000_001, 1_000_000_002, 1_000_000_003]);
        assert_eq!(far.moments.variance(), 1.0);
    }

    #[test]
    fn groups_keep_seven_bits() {
        assert_eq!(
            [0, 127, -127, 128, 129, 130, 255, 256, -257, 1000].map(group),
            [0, 127, -127, 128, 128, 130, 254, 256, -256, 1000]
        );
        for value in (0..100_000).step_by(37) {
            let grouped = group(value);
            assert!(grouped <= value && (value - grouped) * 64 <= value.max(64), "{value} {grouped}");
            assert_eq!(group(grouped), grouped);
        }
    }
}
