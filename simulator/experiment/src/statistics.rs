//! Intervals and comparisons from tallies. A mean never stands alone.
//!
//! A rate has a Wilson interval, a mean and a paired difference a Student t interval. p-values of many comparisons are corrected by Holm's
//! method. Quantiles and differences of quantiles have bootstrap intervals, drawn from the histogram.

mod bootstrap;
mod comparison;
mod pareto;
mod sensitivity;

pub use bootstrap::bootstrap_quantile;
pub use comparison::{Difference, differences, holm};
pub use pareto::{Goal, pareto_front};
pub use sensitivity::{Sensitivity, sensitivities};

use crate::metrics::{Metric, MetricKind};
use crate::tally::{Moments, Tally};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// An estimate with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(extend("required" = ["mean", "low", "high"]))]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval; null for the mean of fewer than two runs, which has no interval.
    #[serde(serialize_with = "serialize_end")]
    #[schemars(with = "Option<f64>")]
    pub low: f64,
    /// The upper end of the interval; null for the mean of fewer than two runs, which has no interval.
    #[serde(serialize_with = "serialize_end")]
    #[schemars(with = "Option<f64>")]
    pub high: f64,
}

/// Writes an end of an interval: null if it is infinite.
fn serialize_end<S: Serializer>(end: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    end.is_finite().then_some(*end).serialize(serializer)
}

/// The confidence of all intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Returns the quantile of the standard normal distribution for a two-sided interval.
fn normal_quantile() -> f64 {
    Normal::standard().inverse_cdf(f64::midpoint(1.0, CONFIDENCE))
}

/// Returns the mean of a metric for each request, with its interval.
#[must_use]
pub fn estimate(metric: &Metric, tally: &Tally, requests: u32) -> Estimate {
    match (metric.kind, requests) {
        (MetricKind::Requests, 1) => {
            wilson(u64::try_from(tally.moments.sum).unwrap_or(0), tally.moments.count)
        }
        (MetricKind::Requests | MetricKind::Amount, requests) => {
            student(&tally.moments).divided_by(f64::from(requests))
        }
    }
}

/// Returns a share with its Wilson interval. Without runs it is from 0 to 1.
#[must_use]
pub fn wilson(successes: u64, count: u64) -> Estimate {
    if count == 0 {
        return Estimate { mean: 0.0, low: 0.0, high: 1.0 };
    }
    let (n, z) = (count as f64, normal_quantile());
    let mean = successes as f64 / n;
    let divisor = 1.0 + z * z / n;
    let middle = (mean + z * z / (2.0 * n)) / divisor;
    let half = z / divisor * (mean * (1.0 - mean) / n + z * z / (4.0 * n * n)).sqrt();
    // At the ends of the scale the formula gives them up to rounding.
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == count { 1.0 } else { (middle + half).min(1.0) };
    Estimate { mean, low, high }
}

/// Returns a mean with its Student t interval. With fewer than two runs it is unbounded.
#[must_use]
pub fn student(moments: &Moments) -> Estimate {
    let mean = moments.mean();
    let half = half_width(moments.count, moments.variance());
    Estimate { mean, low: mean - half, high: mean + half }
}

/// Returns half of the width of the Student t interval of a mean of values with this variance; infinite for fewer than two values.
#[must_use]
pub fn half_width(count: u64, variance: f64) -> f64 {
    if count < 2 { f64::INFINITY } else { t_quantile(count) * (variance / count as f64).sqrt() }
}

fn t_quantile(count: u64) -> f64 {
    let freedom = (count - 1) as f64;
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
}

/// The standard error of the mean.
fn standard_error(moments: &Moments) -> f64 {
    (moments.variance() / moments.count as f64).sqrt()
}

impl Estimate {
    /// Returns whether there is an interval. The mean of fewer than two runs has none: its ends are infinite.
    #[must_use]
    pub const fn has_interval(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Formats the interval, with ends as means of this metric.
    #[must_use]
    pub fn format_interval(&self, metric: &Metric) -> String {
        match self.has_interval() {
            true => format!("[{}, {}]", metric.format(self.low), metric.format(self.high)),
            false => "(no interval)".to_owned(),
        }
    }

    pub(crate) fn divided_by(self, divisor: f64) -> Self {
        Self { mean: self.mean / divisor, low: self.low / divisor, high: self.high / divisor }
    }

    /// Returns whether the exact value, which is in `low..=high`, can have given this estimate of this number of runs.
    ///
    /// If all runs have one value, the interval is that value, and says nothing of the runs that are too rare to be in the sample. Their
    /// share is at most that of [`wilson`] without a success; each is assumed to differ by at most the mean, or 1.
    #[must_use]
    pub fn agrees_with(&self, low: f64, high: f64, runs: u64) -> bool {
        let is_constant = self.low == self.high;
        let unseen = if is_constant { wilson(0, runs).high * self.mean.abs().max(1.0) } else { 0.0 };
        self.low - unseen <= high && low <= self.high + unseen
    }

    /// Returns whether the interval contains a value.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact value of a metric that 1 run in 40,000 changes is no contradiction to 1,000 equal runs; another value is.
    #[test]
    fn constant_sample_agrees_with_rare_differences() {
        let constant = |mean| Estimate { mean, low: mean, high: mean };
        for (estimate, exact, agrees) in [
            (constant(0.0), 9e-7, true),
            (constant(12.0), 12.0 + 30.0 / 40_000.0, true),
            (constant(12.0), 12.0, true),
            (constant(0.0), 0.01, false),
            (constant(12.0), 13.0, false),
            (Estimate { mean: 12.0, low: 11.999, high: 12.001 }, 12.002, false),
        ] {
            assert_eq!(estimate.agrees_with(exact, exact, 1_000), agrees, "{estimate:?} {exact}");
        }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-5, "expected {expected}, found {found}");
    }

    /// The example of Newcombe (1998): 81 of 263, and the limits at 0.
    #[test]
    fn wilson_agrees_with_published_values() {
        let estimate = wilson(81, 263);
        assert_near(estimate.low, 0.2553);
        assert_near(estimate.high, 0.3662);
        let none = wilson(0, 20);
        assert_eq!(none.low, 0.0);
        assert_near(none.high, 0.1611);
        assert_eq!(wilson(20, 20).high, 1.0);
    }

    /// Ten values with mean 5.5 and variance 55/6; t(9) = 2.2622.
    #[test]
    fn student_agrees_with_tables() {
        let mut tally = Tally::default();
        (1..=10).for_each(|value| tally.add(value));
        let estimate = student(&tally.moments);
        assert_near(estimate.high - 5.5, 2.262_157 * (55.0_f64 / 6.0 / 10.0).sqrt());
        assert!(estimate.contains(5.5) && !estimate.contains(8.0));
    }

    #[test]
    fn single_run_has_no_interval() {
        let metric = Metric::from_name("calls").unwrap();
        let mut tally = Tally::default();
        tally.add(13);
        let single = student(&tally.moments);
        assert_eq!(single.format_interval(metric), "(no interval)");
        assert_eq!(
            serde_json::to_value(single).unwrap(),
            serde_json::json!({"mean": 13.0, "low": null, "high": null})
        );
        tally.add(13);
        assert_eq!(student(&tally.moments).format_interval(metric), "[13.000, 13.000]");
    }
}
