//! Variance-based sensitivity over a full grid: which share of the variance of a mean each setting explains.
//!
//! The indices are those of Sobol for a uniform distribution over the values of each setting. The grid is complete, so they are sums, not
//! estimates by sampling. They are those of the estimated means.

use crate::metrics::Metric;
use crate::summary::{PolicySummary, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The influence of a setting on a metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sensitivity {
    /// The path of the setting.
    pub setting: String,
    /// The share of the variance between policies that the setting explains alone.
    pub first_order: f64,
    /// The share that the setting explains alone or together with others.
    pub total: f64,
}

/// Returns the influence of each setting on the mean of a metric, for the policies with this base; empty if the mean is equal everywhere.
#[must_use]
pub fn sensitivities(summary: &Summary, base: &str, metric: &Metric) -> Vec<Sensitivity> {
    let policies: Vec<&PolicySummary> =
        summary.policies.iter().filter(|policy| policy.base == base).collect();
    let cells: Vec<(&[String], f64)> = policies
        .iter()
        .filter_map(|policy| Some((&policy.values[..], policy.metrics.get(metric.name)?.mean())))
        .collect();
    let variance = variance(cells.iter().map(|(_, mean)| *mean));
    if cells.len() < 2 || variance <= f64::EPSILON {
        return Vec::new();
    }
    let index = |(position, setting): (usize, &String)| {
        // The variance of the means over all other settings, and over this one alone.
        let alone = grouped(&cells, |values| values.get(position).cloned().into_iter().collect());
        let others = grouped(&cells, |values| {
            values
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != position)
                .map(|(_, value)| value.clone())
                .collect()
        });
        Sensitivity {
            setting: setting.clone(),
            first_order: alone / variance,
            total: 1.0 - others / variance,
        }
    };
    summary.settings.iter().enumerate().map(index).collect()
}

/// Returns the variance of the means of the groups with equal keys.
fn grouped(cells: &[(&[String], f64)], key: impl Fn(&[String]) -> Vec<String>) -> f64 {
    let mut groups: BTreeMap<Vec<String>, (f64, f64)> = BTreeMap::new();
    for (values, mean) in cells {
        let (sum, count) = groups.entry(key(values)).or_default();
        *sum += mean;
        *count += 1.0;
    }
    variance(groups.values().map(|(sum, count)| sum / count))
}

/// The variance of numbers with equal weights.
fn variance(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count
}
