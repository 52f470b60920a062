//! The distribution of a whole number over runs.

use super::Interval;
use orchestrion_experiment::statistics::half_width;
use orchestrion_report::text::grouped;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many runs have each value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Distribution(BTreeMap<u64, u64>);

/// A distribution in a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(in crate::cli) struct DistributionReport {
    /// The mean.
    mean: f64,
    /// The 95 % interval of the mean by Student's distribution; absent for fewer than two runs.
    interval: Option<Interval>,
    /// The median; of an even number of runs the mean of both middle values.
    median: f64,
    /// The smallest value.
    min: u64,
    /// The largest value.
    max: u64,
}

impl Distribution {
    pub(in crate::cli) fn add(&mut self, value: u64) {
        *self.0.entry(value).or_default() += 1;
    }

    pub(in crate::cli) fn merge(&mut self, other: Self) {
        for (value, runs) in other.0 {
            *self.0.entry(value).or_default() += runs;
        }
    }

    /// Returns what a report says; `None` without runs.
    pub(in crate::cli) fn report(&self) -> Option<DistributionReport> {
        let (min, max) = (*self.0.first_key_value()?.0, *self.0.last_key_value()?.0);
        let runs: u64 = self.0.values().sum();
        let sum: u128 = self.0.iter().map(|(value, runs)| u128::from(*value) * u128::from(*runs)).sum();
        let mean = sum as f64 / runs as f64;
        let (lower, upper) = (self.value_at((runs - 1) / 2)?, self.value_at(runs / 2)?);
        let median = lower as f64 + (upper - lower) as f64 / 2.0;
        Some(DistributionReport { mean, interval: self.mean_interval(runs, mean), median, min, max })
    }

    /// Returns the value at a position, from 0, of the sorted runs.
    fn value_at(&self, position: u64) -> Option<u64> {
        let mut before = 0;
        let reaches = |runs: &u64| {
            before += runs;
            position < before
        };
        let mut reaches = reaches;
        self.0.iter().find(|(_, runs)| reaches(runs)).map(|(value, _)| *value)
    }

    fn mean_interval(&self, runs: u64, mean: f64) -> Option<Interval> {
        let squares = self.0.iter().map(|(value, runs)| (*value as f64 - mean).powi(2) * *runs as f64);
        mean_interval(runs, mean, squares.sum())
    }
}

/// Returns the 95 % interval of a mean by Student's distribution, from the sum of the squared deviations.
pub(super) fn mean_interval(runs: u64, mean: f64, squares: f64) -> Option<Interval> {
    let freedom = runs.checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let half = half_width(runs, squares / freedom);
    Some(Interval { lower: mean - half, upper: mean + half })
}

impl DistributionReport {
    /// Returns the values as text; `write` writes a value with its unit.
    pub(in crate::cli) fn text(&self, write: impl Fn(f64) -> String) -> String {
        let Self { mean, interval, median, min, max } = *self;
        let mut text = format!("mean {}", write(mean));
        if let Some(Interval { lower, upper }) = interval {
            // A mean of values from 0 is not negative, whatever its interval says.
            text.push_str(&format!(" ({} to {})", write(lower.max(0.0)), write(upper)));
        }
        let (min, max) = (write(min as f64), write(max as f64));
        text.push_str(&format!(", median {}, range {min} to {max}", write(median)));
        text
    }
}

/// Writes a number that may be a mean: two decimals, unless it is whole.
pub(in crate::cli) fn number_text(value: f64) -> String {
    let whole = grouped(value.trunc() as u64);
    match (value.fract() * 100.0).round() as u64 {
        0 => whole,
        100 => grouped(value.trunc() as u64 + 1),
        hundredths => format!("{whole}.{hundredths:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        values.iter().for_each(|value| distribution.add(*value));
        distribution
    }

    /// Student's data on the effect of soporific drugs, of which many books print the interval of the mean: 0.75 ± 1.28 for the first and
    /// 2.33 ± 1.43 for the second one; here in tenths, and shifted by 2 hours.
    #[test]
    fn mean_interval_follows_student() {
        let second = [39, 28, 31, 21, 19, 64, 75, 36, 66, 54];
        let report = distribution(&second).report().unwrap();
        let Interval { lower, upper } = report.interval.unwrap();
        assert!((report.mean - 43.3).abs() < 1e-9, "{report:?}");
        assert!((lower - 28.98).abs() < 0.02 && (upper - 57.62).abs() < 0.02, "{report:?}");
    }

    #[test]
    fn median_and_range_follow_sorted_values() {
        let report = distribution(&[7, 1, 3, 3]).report().unwrap();
        assert_eq!((report.median, report.min, report.max), (3.0, 1, 7));
        let report = distribution(&[4, 1]).report().unwrap();
        assert_eq!((report.median, report.mean), (2.5, 2.5));
        let report = distribution(&[9]).report().unwrap();
        assert_eq!((report.median, report.interval), (9.0, None));
        assert_eq!(Distribution::default().report(), None);
    }

    #[test]
    fn numbers_have_two_decimals_or_none() {
        let texts = [0.0, 13.0, 1.25, 0.999, 14_455.151, 1_000_000.5].map(number_text);
        assert_eq!(texts, ["0", "13", "1.25", "1", "14,455.15", "1,000,000.50"]);
    }

    #[test]
    fn merging_is_commutative() {
        let (a, b) = (distribution(&[1, 5, 5]), distribution(&[5, 2]));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(b);
        ba.merge(a);
        assert_eq!(ab, ba);
        assert_eq!(ab, distribution(&[1, 5, 5, 5, 2]));
    }
}
