//! The statistics of a result: an interval for every mean, differences from the baseline, sensitivities, and the Pareto front.

use crate::flows::FlowCount;
use crate::metrics::{METRICS, Metric, MetricKind};
use crate::statistics::{
    Difference, Estimate, Goal, Sensitivity, bootstrap_quantile, differences, estimate, pareto_front,
    sensitivities, student,
};
use crate::summary::Summary;
use crate::tally::Moments;
use crate::trajectories::{Trajectory, TrajectorySums};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The statistics of a result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The name of the experiment.
    pub experiment: String,
    /// The number of runs of each policy.
    pub runs: u64,
    /// The runs of the experiment that the result does not contain.
    pub missing_runs: u64,
    /// The number of requests of a run. Means are for each request.
    pub requests: u32,
    /// The confidence of every interval.
    pub confidence: f64,
    /// The digest of all rows.
    pub rows_digest: String,
    /// The policies, the baseline first.
    pub policies: Vec<PolicyReport>,
    /// The influence of each setting that varies on each metric, by base policy and metric.
    pub sensitivities: Vec<MetricSensitivities>,
    /// The positions of the policies of which no other one has both fewer harmful plans that started and fewer acceptable plans that were
    /// blocked.
    pub pareto_front: Vec<usize>,
}

/// The statistics of a policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyReport {
    /// The name.
    pub policy: String,
    /// The metrics, by name.
    pub metrics: BTreeMap<String, MetricReport>,
    /// The number of requests by their way.
    pub flows: Vec<FlowCount>,
    /// The trajectories: the mean at each pass or request, by node (an empty text where nodes have no part).
    pub trajectories: BTreeMap<String, BTreeMap<String, Vec<Estimate>>>,
}

/// The statistics of a metric.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct MetricReport {
    /// The mean for each request: a rate, or an amount.
    pub mean: Estimate,
    /// The median of the runs, for an amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<Estimate>,
    /// The mean difference from the baseline in the same run; absent for the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DifferenceReport>,
}

/// A difference from the baseline.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct DifferenceReport {
    /// The mean difference for each request.
    pub mean: Estimate,
    /// The p-value, corrected by Holm's method for all differences of the report.
    pub adjusted_p: f64,
}

/// The influence of each setting on a metric.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MetricSensitivities {
    /// The name of the policy whose settings vary.
    pub base: String,
    /// The metric.
    pub metric: String,
    /// The influence of each setting.
    pub settings: Vec<Sensitivity>,
}

impl Report {
    /// Computes the statistics of a result, for these metrics.
    #[must_use]
    pub fn new(summary: &Summary, metrics: &[&'static Metric]) -> Self {
        let found: BTreeMap<(usize, &str), Difference> = differences(summary, metrics)
            .into_iter()
            .map(|difference| ((difference.policy, difference.metric.name), difference))
            .collect();
        let policies = summary.policies.iter().enumerate().map(|(position, policy)| {
            let metric_report = |metric: &'static Metric| {
                let tally = policy.metrics.get(metric.name)?;
                let difference = found.get(&(position, metric.name)).map(|difference| DifferenceReport {
                    mean: difference.estimate,
                    adjusted_p: difference.adjusted_p,
                });
                let median = match metric.kind {
                    MetricKind::Requests => None,
                    MetricKind::Amount => Some(bootstrap_quantile(tally, 0.5)),
                };
                let mean = estimate(metric, tally, summary.requests);
                Some((metric.name.to_owned(), MetricReport { mean, median, difference }))
            };
            let metrics = metrics.iter().filter_map(|metric| metric_report(metric)).collect();
            PolicyReport {
                policy: policy.policy.clone(),
                metrics,
                flows: policy.flows.iter().collect(),
                trajectories: trajectories(&policy.trajectories),
            }
        });
        let missing = summary.missing().iter().map(|(first, end)| end - first).sum();
        Self {
            experiment: summary.experiment.clone(),
            runs: summary.completed_runs(),
            missing_runs: missing,
            requests: summary.requests,
            confidence: crate::statistics::CONFIDENCE,
            rows_digest: summary.rows_digest.to_string(),
            policies: policies.collect(),
            sensitivities: all_sensitivities(summary, metrics),
            pareto_front: front(summary),
        }
    }

    /// Returns the metrics that are not 0 under every policy. The others say nothing about a policy.
    #[must_use]
    pub fn used(&self, metrics: &[&'static Metric]) -> Vec<&'static Metric> {
        let is_used = |metric: &&&'static Metric| {
            let found = self.policies.iter().filter_map(|policy| policy.metrics.get(metric.name));
            found.into_iter().any(|found| found.mean.mean != 0.0)
        };
        metrics.iter().filter(is_used).copied().collect()
    }
}

/// Returns the mean at each position of each line, with its interval.
fn trajectories(sums: &TrajectorySums) -> BTreeMap<String, BTreeMap<String, Vec<Estimate>>> {
    let estimates = |name: &String, points: &Vec<Moments>| {
        let divisor = Trajectory::from_name(name).map_or(1.0, Trajectory::divisor);
        points.iter().map(|moments| student(moments).divided_by(divisor)).collect()
    };
    let lines = |(name, lines): (&String, &BTreeMap<String, Vec<Moments>>)| {
        let estimated = lines.iter().map(|(node, points)| (node.clone(), estimates(name, points)));
        (name.clone(), estimated.collect())
    };
    sums.iter().map(lines).collect()
}

fn all_sensitivities(summary: &Summary, metrics: &[&'static Metric]) -> Vec<MetricSensitivities> {
    let mut bases: Vec<&str> = summary.policies.iter().map(|policy| policy.base.as_str()).collect();
    bases.dedup();
    let mut all = Vec::new();
    if summary.settings.len() < 2 {
        return all;
    }
    for base in bases {
        for metric in METRICS.iter().filter(|metric| metrics.contains(metric)) {
            let settings = sensitivities(summary, base, metric);
            if !settings.is_empty() {
                all.push(MetricSensitivities {
                    base: base.to_owned(),
                    metric: metric.name.to_owned(),
                    settings,
                });
            }
        }
    }
    all
}

/// The policies of which no other one is better in both kinds of error.
fn front(summary: &Summary) -> Vec<usize> {
    let mean = |policy: &crate::summary::PolicySummary, name: &str| {
        policy.metrics.get(name).map_or(0.0, crate::tally::Tally::mean)
    };
    let point = |policy| vec![mean(policy, "wrong_proceed"), mean(policy, "wrong_block")];
    let points: Vec<Vec<f64>> = summary.policies.iter().map(point).collect();
    pareto_front(&points, &[Goal::Minimize, Goal::Minimize])
}
