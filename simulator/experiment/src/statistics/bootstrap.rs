//! Bootstrap intervals of quantiles, computed without resamples.
//!
//! A resample draws n values with replacement. Its k-th smallest value is the quantile of the data at the k-th smallest of n uniform
//! numbers, which has the beta distribution with parameters k and n - k + 1. The percentiles of the bootstrap distribution follow from it.

use super::{CONFIDENCE, Estimate};
use crate::tally::Tally;
use statrs::distribution::{Beta, ContinuousCDF, Normal};

/// From this parameter on, a beta distribution is replaced by the normal distribution with its mean and deviation. Their quantiles then
/// differ by less than a hundredth of the deviation, and the search for those of the beta distribution need not end.
const NORMAL_FROM: f64 = 100_000.0;

/// Returns a quantile of the values of the runs, with its bootstrap percentile interval.
#[must_use]
pub fn bootstrap_quantile(tally: &Tally, share: f64) -> Estimate {
    let mean = tally.quantile(share) as f64;
    let rank = (share.clamp(0.0, 1.0) * tally.moments.count as f64).ceil().max(1.0);
    let later = (tally.moments.count as f64 - rank + 1.0).max(1.0);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let end = |probability: f64| {
        beta_quantile(rank, later, probability).map_or(mean, |share| tally.quantile(share) as f64)
    };
    Estimate { mean, low: end(tail), high: end(1.0 - tail) }
}

/// Returns a quantile of the beta distribution; `None` if it does not exist.
fn beta_quantile(a: f64, b: f64, probability: f64) -> Option<f64> {
    if a.min(b) < NORMAL_FROM {
        return Beta::new(a, b).ok().map(|beta| beta.inverse_cdf(probability));
    }
    let mean = a / (a + b);
    let deviation = (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    Normal::new(mean, deviation).ok().map(|normal| normal.inverse_cdf(probability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Moments;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn tally(values: &[i64]) -> Tally {
        let mut tally = Tally::default();
        values.iter().for_each(|value| tally.add(*value));
        tally
    }

    /// The percentiles of 4,000 resamples of the values themselves.
    #[test]
    fn interval_agrees_with_resampling() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let values: Vec<i64> = (0..60).map(|_| i64::from(random.next_u32() % 100)).collect();
        for share in [0.25, 0.5, 0.9] {
            let mut resampled: Vec<i64> = (0..4000)
                .map(|_| {
                    let draw = |_| values[random.next_u32() as usize % values.len()];
                    tally(&(0..values.len()).map(draw).collect::<Vec<_>>()).quantile(share)
                })
                .collect();
            resampled.sort_unstable();
            let found = bootstrap_quantile(&tally(&values), share);
            for (end, at) in [(found.low, 100), (found.high, 3899)] {
                let near = &resampled[at - 40..(at + 40).min(3999)];
                assert!(near.contains(&(end as i64)), "{share}: {end} is not among {near:?}");
            }
        }
    }

    #[test]
    fn large_beta_quantiles_are_nearly_normal() {
        for (a, b) in [(NORMAL_FROM, NORMAL_FROM), (NORMAL_FROM, 5.0 * NORMAL_FROM)] {
            let deviation = (a * b / (a + b + 1.0)).sqrt() / (a + b);
            for probability in [0.025, 0.5, 0.975] {
                let exact = Beta::new(a, b).unwrap().inverse_cdf(probability);
                let found = beta_quantile(a, b, probability).unwrap();
                assert!((found - exact).abs() < deviation / 100.0, "{a} {b} {probability}: {found} {exact}");
            }
        }
    }

    #[test]
    fn many_runs_have_an_interval() {
        let mut many = tally(&[0, 1]);
        many.moments = Moments { count: 1_000_000_000, sum: 500_000_000, sum_of_squares: 500_000_000 };
        many.histogram.values_mut().for_each(|count| *count = 500_000_000);
        let estimate = bootstrap_quantile(&many, 0.5);
        assert_eq!((estimate.low, estimate.high), (0.0, 1.0));
    }

    #[test]
    fn constant_has_no_width() {
        let estimate = bootstrap_quantile(&tally(&[7; 10]), 0.9);
        assert_eq!((estimate.low, estimate.high), (7.0, 7.0));
        assert_eq!(bootstrap_quantile(&Tally::default(), 0.5).mean, 0.0);
    }
}
