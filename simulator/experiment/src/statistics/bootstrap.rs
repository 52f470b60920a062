//! Bootstrap intervals of quantiles, computed exactly.
//!
//! A resample draws n values with replacement. Its k-th smallest value is the quantile of the data at the k-th smallest of n uniform
//! numbers, which has the beta distribution with parameters k and n - k + 1. So the percentiles of the bootstrap distribution follow
//! without any resample.

use super::{CONFIDENCE, Estimate};
use crate::tally::Tally;
use statrs::distribution::{Beta, ContinuousCDF};

/// Returns a quantile of the values of the runs, with its bootstrap percentile interval.
#[must_use]
pub fn bootstrap_quantile(tally: &Tally, share: f64) -> Estimate {
    let mean = tally.quantile(share) as f64;
    let rank = (share.clamp(0.0, 1.0) * tally.moments.count as f64).ceil().max(1.0);
    let Ok(order_statistic) = Beta::new(rank, (tally.moments.count as f64 - rank + 1.0).max(1.0)) else {
        return Estimate { mean, low: mean, high: mean };
    };
    let end = |probability: f64| tally.quantile(order_statistic.inverse_cdf(probability)) as f64;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Estimate { mean, low: end(tail), high: end(1.0 - tail) }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn constant_has_no_width() {
        let estimate = bootstrap_quantile(&tally(&[7; 10]), 0.9);
        assert_eq!((estimate.low, estimate.high), (7.0, 7.0));
        assert_eq!(bootstrap_quantile(&Tally::default(), 0.5).mean, 0.0);
    }
}
