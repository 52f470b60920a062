//! Paired differences: two policies on the same runs.

use super::{Interval, Share, percent};
use schemars::JsonSchema;
use serde::Serialize;

/// How many runs have a property under policy A, under policy B, under both and under neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct PairedCounts {
    pub(in crate::cli) both: u64,
    pub(in crate::cli) only_a: u64,
    pub(in crate::cli) only_b: u64,
    pub(in crate::cli) neither: u64,
}

/// A paired difference in a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(in crate::cli) struct DifferenceReport {
    /// The runs with the property under A alone.
    only_a: u64,
    /// The runs with the property under B alone.
    only_b: u64,
    /// All runs.
    runs: u64,
    /// The rate under B minus the rate under A.
    difference: f64,
    /// The 95 % interval of the difference by Newcombe's method for pairs.
    interval: Interval,
}

impl PairedCounts {
    pub(in crate::cli) const fn runs(self) -> u64 {
        self.both + self.only_a + self.only_b + self.neither
    }

    pub(in crate::cli) const fn share_a(self) -> Share {
        Share { count: self.both + self.only_a, runs: self.runs() }
    }

    pub(in crate::cli) const fn share_b(self) -> Share {
        Share { count: self.both + self.only_b, runs: self.runs() }
    }

    /// Returns the rate under B minus the rate under A.
    pub(in crate::cli) fn difference(self) -> f64 {
        if self.runs() == 0 {
            return 0.0;
        }
        (self.only_b as f64 - self.only_a as f64) / self.runs() as f64
    }

    /// Returns the 95 % interval of the difference: Newcombe, "Improved confidence intervals for the difference between binomial
    /// proportions based on paired data" (1998), method 10. It joins both Wilson intervals with the correlation of the pairs, and has a
    /// width where no pair differs. Without runs it is everything.
    pub(in crate::cli) fn interval(self) -> Interval {
        if self.runs() == 0 {
            return Interval { lower: -1.0, upper: 1.0 };
        }
        let distances = |share: Share| {
            let Interval { lower, upper } = share.interval();
            (share.rate() - lower, upper - share.rate())
        };
        let ((below_a, above_a), (below_b, above_b)) = (distances(self.share_a()), distances(self.share_b()));
        let (phi, difference) = (self.correlation(), self.difference());
        let joined =
            |one: f64, other: f64| (one * one - 2.0 * phi * one * other + other * other).max(0.0).sqrt();
        Interval {
            lower: (difference - joined(below_b, above_a)).max(-1.0),
            upper: (difference + joined(above_b, below_a)).min(1.0),
        }
    }

    /// Returns the correlation of the pairs, with the continuity correction of the method.
    fn correlation(self) -> f64 {
        let [both, only_a, only_b, neither] =
            [self.both, self.only_a, self.only_b, self.neither].map(|count| count as f64);
        let half = self.runs() as f64 / 2.0;
        let product = both * neither - only_a * only_b;
        let corrected = if product > half { product - half } else { product.min(0.0) };
        let margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
        if margins > 0.0 { corrected / margins.sqrt() } else { 0.0 }
    }

    /// Returns the difference and its interval in percentage points, as text.
    pub(in crate::cli) fn text(self) -> String {
        let points = |rate: f64| {
            let text = percent(rate);
            let text = text.trim_end_matches(" %");
            // Rounding leaves a sign at zero.
            if text == "-0.0" {
                "0.0".to_owned()
            } else if rate > 0.0 && text != "0.0" {
                format!("+{text}")
            } else {
                text.to_owned()
            }
        };
        let Interval { lower, upper } = self.interval();
        format!("{} points ({} to {})", points(self.difference()), points(lower), points(upper))
    }

    pub(in crate::cli) fn report(self) -> DifferenceReport {
        let Self { only_a, only_b, .. } = self;
        DifferenceReport {
            only_a,
            only_b,
            runs: self.runs(),
            difference: self.difference(),
            interval: self.interval(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of the paper. The paper subtracts B from A.
    #[test]
    fn interval_has_published_values() {
        let pairs = PairedCounts { both: 36, only_a: 2, only_b: 12, neither: 0 };
        let Interval { lower, upper } = pairs.interval();
        assert!((pairs.difference() - 0.2).abs() < 1e-12);
        assert!((lower - 0.0569).abs() < 6e-5 && (upper - 0.3404).abs() < 6e-5, "{lower} {upper}");
    }

    #[test]
    fn interval_is_symmetric() {
        let pairs = PairedCounts { both: 40, only_a: 3, only_b: 20, neither: 100 };
        let swapped = PairedCounts { only_a: 20, only_b: 3, ..pairs };
        let (one, other) = (pairs.interval(), swapped.interval());
        assert!((one.lower + other.upper).abs() < 1e-12 && (one.upper + other.lower).abs() < 1e-12);
    }

    #[test]
    fn equal_pairs_leave_width() {
        let pairs = PairedCounts { both: 30, ..PairedCounts::default() };
        let Interval { lower, upper } = pairs.interval();
        assert!(lower < -0.1 && upper > 0.1, "{lower} {upper}");
        assert_eq!(PairedCounts::default().interval(), Interval { lower: -1.0, upper: 1.0 });
        assert_eq!(pairs.text(), "0.0 points (-11.4 to +11.4)");
    }

    /// Pairs narrow the interval: the same rates without correlation have a wider one.
    #[test]
    fn correlation_narrows_interval() {
        let width = |pairs: PairedCounts| pairs.interval().upper - pairs.interval().lower;
        let paired = PairedCounts { both: 480, only_a: 5, only_b: 20, neither: 495 };
        let unpaired = PairedCounts { both: 242, only_a: 243, only_b: 258, neither: 257 };
        assert!(width(paired) * 3.0 < width(unpaired), "{} {}", width(paired), width(unpaired));
    }
}
