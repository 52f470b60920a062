//! Bootstrap intervals of quantiles, from histograms.

use super::{CONFIDENCE, Estimate};
use crate::tally::Tally;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The number of resamples.
const RESAMPLES: usize = 1000;
/// The seed of the resamples. The interval of a tally is always the same.
const SEED: u64 = 0x6f72_6368_6573_7472;
/// The largest number of runs that a resample draws one by one. A larger sample is replaced by one of this size, and its interval is
/// narrowed by the square root of the ratio.
const DRAWS_MAX: u64 = 2_000;

/// Returns a quantile of the values of the runs, with its bootstrap percentile interval.
#[must_use]
pub fn bootstrap_quantile(tally: &Tally, share: f64) -> Estimate {
    let value = tally.quantile(share) as f64;
    if tally.count == 0 {
        return Estimate { mean: value, low: value, high: value };
    }
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let draws = tally.count.min(DRAWS_MAX);
    let mut quantiles: Vec<f64> =
        (0..RESAMPLES).map(|_| resample(tally, draws, &mut random).quantile(share) as f64).collect();
    quantiles.sort_by(f64::total_cmp);
    let narrowing = (draws as f64 / tally.count as f64).sqrt();
    let end = |share: f64| {
        let index = ((RESAMPLES - 1) as f64 * share).round() as usize;
        let end = quantiles.get(index).copied().unwrap_or(value);
        value + (end - value) * narrowing
    };
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Estimate { mean: value, low: end(tail), high: end(1.0 - tail) }
}

/// Draws runs with replacement.
fn resample(tally: &Tally, draws: u64, random: &mut ChaCha8Rng) -> Tally {
    let mut ranks: Vec<u64> = (0..draws)
        .map(|_| ((u128::from(random.next_u64()) * u128::from(tally.count)) >> 64) as u64)
        .collect();
    ranks.sort_unstable();
    let mut sample = Tally::default();
    let (mut groups, mut below) = (tally.histogram.iter(), 0);
    let mut current = 0;
    for rank in ranks {
        while rank >= below {
            let Some((value, count)) = groups.next() else { return sample };
            current = *value;
            below += count;
        }
        sample.add(current);
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median of 1 to 99 is 50; its exact 95 % interval by order statistics is from 40 to 60.
    #[test]
    fn interval_of_median_agrees_with_order_statistics() {
        let mut tally = Tally::default();
        (1..100).for_each(|value| tally.add(value));
        let estimate = bootstrap_quantile(&tally, 0.5);
        assert_eq!(estimate.mean, 50.0);
        assert!(
            (39.0..=42.0).contains(&estimate.low) && (58.0..=61.0).contains(&estimate.high),
            "{estimate:?}"
        );
        assert_eq!(bootstrap_quantile(&tally, 0.5), estimate);
    }

    #[test]
    fn constant_has_no_width() {
        let mut tally = Tally::default();
        (0..10).for_each(|_| tally.add(7));
        let estimate = bootstrap_quantile(&tally, 0.9);
        assert_eq!((estimate.low, estimate.high), (7.0, 7.0));
    }
}
