//! The share of the runs that have a property, with Wilson's score interval.

use super::Interval;
use orchestrion_experiment::statistics::{Estimate, wilson};
use orchestrion_report::text::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of runs with a property, among all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Share {
    pub(in crate::cli) count: u64,
    pub(in crate::cli) runs: u64,
}

/// A share in a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(in crate::cli) struct ShareReport {
    /// The runs with the property.
    count: u64,
    /// All runs.
    runs: u64,
    /// Their quotient.
    rate: f64,
    /// The 95 % interval of the rate by Wilson's score method.
    interval: Interval,
}

impl Share {
    /// Returns the rate; 0 without runs.
    pub(in crate::cli) fn rate(self) -> f64 {
        if self.runs == 0 { 0.0 } else { self.count as f64 / self.runs as f64 }
    }

    /// Returns Wilson's score interval of 95 %. Unlike the normal one it stays between 0 and 1, and has a width where no run or every run
    /// has the property. Without runs it is everything.
    pub(in crate::cli) fn interval(self) -> Interval {
        let Estimate { low: lower, high: upper, .. } = wilson(self.count, self.runs);
        Interval { lower, upper }
    }

    /// Returns the count, the rate and its interval as text.
    pub(in crate::cli) fn text(self) -> String {
        let Interval { lower, upper } = self.interval();
        let (count, runs) = (grouped(self.count), grouped(self.runs));
        format!("{count} of {runs}: {} ({} to {})", percent(self.rate()), percent(lower), percent(upper))
    }

    pub(in crate::cli) fn report(self) -> ShareReport {
        let Self { count, runs } = self;
        ShareReport { count, runs, rate: self.rate(), interval: self.interval() }
    }
}

/// Writes a rate in percent, with one decimal.
pub(in crate::cli) fn percent(rate: f64) -> String {
    format!("{:.1} %", rate * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(count: u64, runs: u64) -> (f64, f64) {
        let Interval { lower, upper } = Share { count, runs }.interval();
        (lower, upper)
    }

    /// The examples of Newcombe, "Two-sided confidence intervals for the single proportion" (1998), method 3.
    #[test]
    fn wilson_interval_has_published_values() {
        for (count, runs, lower, upper) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let found = interval(count, runs);
            let is_near = |a: f64, b: f64| (a - b).abs() < 6e-5;
            assert!(is_near(found.0, lower) && is_near(found.1, upper), "{count}/{runs}: {found:?}");
        }
        assert_eq!(interval(10, 10).1, 1.0);
        assert_eq!(interval(0, 0), (0.0, 1.0));
    }

    /// The exact probability that the interval of a binomial count contains the rate, averaged over rates.
    #[test]
    fn wilson_interval_covers_95_percent() {
        const RUNS: u64 = 50;
        const RATES: u64 = 199;
        let mut sum = 0.0;
        for step in 1..=RATES {
            let rate = step as f64 / (RATES + 1) as f64;
            let mut probability = (1.0 - rate).powi(RUNS as i32);
            let mut covered = 0.0;
            for count in 0..=RUNS {
                let (lower, upper) = interval(count, RUNS);
                if (lower..=upper).contains(&rate) {
                    covered += probability;
                }
                probability *= (RUNS - count) as f64 / (count + 1) as f64 * rate / (1.0 - rate);
            }
            assert!(covered > 0.83, "{rate}: {covered}");
            sum += covered;
        }
        let mean = sum / RATES as f64;
        assert!((mean - 0.95).abs() < 0.006, "{mean}");
    }

    #[test]
    fn share_text_has_count_and_interval() {
        let share = Share { count: 812, runs: 1000 };
        assert_eq!(share.text(), "812 of 1,000: 81.2 % (78.7 % to 83.5 %)");
    }
}
