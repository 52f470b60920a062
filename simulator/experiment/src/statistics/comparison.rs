//! Paired differences from the baseline, with a correction for many comparisons.

use super::{Estimate, standard_error, student};
use crate::metrics::{METRICS, Metric};
use crate::summary::Summary;
use crate::tally::Moments;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The difference of a metric from the baseline, for each request.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The position of the policy.
    pub policy: usize,
    /// The metric.
    pub metric: &'static Metric,
    /// The mean difference with its interval. Runs are paired: they draw the same random numbers.
    pub estimate: Estimate,
    /// The probability of a difference at least as large if the true one is 0, by Student's t test.
    pub p: f64,
    /// The probability after Holm's correction for all comparisons of the table.
    pub adjusted_p: f64,
}

/// Returns the differences of these metrics from the baseline, for every other policy.
#[must_use]
pub fn differences(summary: &Summary, metrics: &[&'static Metric]) -> Vec<Difference> {
    let mut all = Vec::new();
    for (position, policy) in summary.policies.iter().enumerate().skip(1) {
        for metric in METRICS.iter().filter(|metric| metrics.contains(metric)) {
            let Some(tally) = policy.differences.get(metric.name) else { continue };
            let estimate = student(&tally.moments).divided_by(f64::from(summary.requests));
            let p = p_value(&tally.moments);
            all.push(Difference { policy: position, metric, estimate, p, adjusted_p: p });
        }
    }
    let adjusted = holm(&all.iter().map(|difference| difference.p).collect::<Vec<_>>());
    for (difference, adjusted) in all.iter_mut().zip(adjusted) {
        difference.adjusted_p = adjusted;
    }
    all
}

/// The two-sided p-value of the hypothesis that the mean is 0.
fn p_value(moments: &Moments) -> f64 {
    let error = standard_error(moments);
    if moments.count < 2 || moments.mean() == 0.0 {
        return 1.0;
    }
    if error == 0.0 {
        return 0.0;
    }
    let freedom = (moments.count - 1) as f64;
    let t = (moments.mean() / error).abs();
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |distribution| 2.0 * distribution.sf(t))
}

/// Corrects p-values by Holm's step-down method. The results are in the order of the input.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    let value = |index: usize| p_values.get(index).copied().unwrap_or(1.0);
    order.sort_by(|first, second| value(*first).total_cmp(&value(*second)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, index) in order.iter().enumerate() {
        largest = largest.max(value(*index) * (p_values.len() - rank) as f64).min(1.0);
        if let Some(slot) = adjusted.get_mut(*index) {
            *slot = largest;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holm (1979): the smallest of m values is multiplied by m, the next by m - 1; results do not decrease.
    #[test]
    fn holm_multiplies_by_remaining_hypotheses() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn p_value_is_that_of_students_test() {
        let mut tally = Moments::default();
        [1, 2, 3, 4, 5].into_iter().for_each(|value| tally.add(value));
        // t = 3 / sqrt(2.5 / 5) = 4.2426 with 4 degrees of freedom.
        assert!((p_value(&tally) - 0.013_236).abs() < 1e-5, "{}", p_value(&tally));
        let mut equal = Moments::default();
        (0..5).for_each(|_| equal.add(0));
        assert_eq!(p_value(&equal), 1.0);
    }
}
