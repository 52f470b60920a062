//! The result of some runs of an experiment. Results of disjoint runs merge, in any order, to the same bytes as one result of all runs.

mod error;

pub use error::MergeError;

use crate::experiment::{Experiment, POLICIES_MAX, RUNS_MAX};
use crate::flows::Flows;
use crate::metrics::{METRICS, Metric, MetricKind};
use crate::run::RunRecord;
use crate::tally::{Moments, Tally};
use crate::trajectories::{Line, POSITIONS_MAX, Trajectory, TrajectorySums, merge_line};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The format of a result file.
pub const SUMMARY_FORMAT: &str = "orchestrion-experiment/1";

/// The result of some runs of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The format.
    pub format: String,
    /// The name of the experiment.
    pub experiment: String,
    /// The digest of the experiment. Only results of the same experiment merge.
    pub digest: String,
    /// The number of runs of the whole experiment.
    pub runs: u64,
    /// The number of requests of a run.
    pub requests: u32,
    /// The runs of this result: the first one, and the one after the last, of each range.
    pub ranges: Vec<(u64, u64)>,
    /// The sum of the digests of all rows, modulo 2²⁵⁶. Equal rows in any order have the same sum. It detects differences, not
    /// manipulation.
    pub rows_digest: RowsDigest,
    /// The paths of the settings that vary.
    pub settings: Vec<String>,
    /// The names of the metrics of the report; empty for every metric, as in a result of an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// The policies, the baseline first.
    pub policies: Vec<PolicySummary>,
}

/// The result of the runs of one policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySummary {
    /// The name of the policy.
    pub policy: String,
    /// The name of the policy whose settings vary.
    pub base: String,
    /// The value of each setting that varies.
    pub values: Vec<String>,
    /// The distribution of each metric.
    pub metrics: BTreeMap<String, Tally>,
    /// The distribution of the difference of each metric from the baseline in the same run; none for the baseline.
    pub differences: BTreeMap<String, Tally>,
    /// The number of requests by their way.
    pub flows: Flows,
    /// The trajectories of the experiment.
    pub trajectories: TrajectorySums,
}

/// The sum of the digests of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsDigest([u64; 4]);

impl RowsDigest {
    /// Adds a row: the run, the position of the policy, and the metrics in the order of [`METRICS`].
    pub fn add(&mut self, run: u64, policy: u64, values: &[i64]) {
        let mut hasher = blake3::Hasher::new_derive_key("orchestrion: a row of an experiment, version 1");
        hasher.update(&run.to_le_bytes()).update(&policy.to_le_bytes());
        values.iter().for_each(|value| {
            hasher.update(&value.to_le_bytes());
        });
        let mut digest = [0; 4];
        for (part, bytes) in digest.iter_mut().zip(hasher.finalize().as_bytes().chunks_exact(8)) {
            *part = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        }
        self.merge(Self(digest));
    }

    /// Adds a sum, with carries.
    fn merge(&mut self, other: Self) {
        let mut carry = false;
        for (part, added) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = part.overflowing_add(added);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *part = sum;
            carry = first || second;
        }
    }
}

impl fmt::Display for RowsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().rev().try_for_each(|part| write!(f, "{part:016x}"))
    }
}

impl Serialize for RowsDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RowsDigest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let part = |index: usize| {
            let digits = text.get(index * 16..index * 16 + 16).filter(|_| text.len() == 64)?;
            u64::from_str_radix(digits, 16).ok()
        };
        match (part(0), part(1), part(2), part(3)) {
            (Some(first), Some(second), Some(third), Some(fourth)) => {
                Ok(Self([fourth, third, second, first]))
            }
            _ => Err(serde::de::Error::custom("expected 64 hexadecimal digits")),
        }
    }
}

impl Summary {
    /// Creates the result of no run of an experiment.
    #[must_use]
    pub fn empty(experiment: &Experiment) -> Self {
        let tallies = || METRICS.iter().map(|metric| (metric.name.to_owned(), Tally::default())).collect();
        let policies = experiment.policies.iter().enumerate().map(|(position, cell)| PolicySummary {
            policy: cell.policy.name.clone(),
            base: cell.base.clone(),
            values: cell.values.clone(),
            metrics: tallies(),
            differences: if position == 0 { BTreeMap::new() } else { tallies() },
            flows: Flows::default(),
            trajectories: TrajectorySums::new(),
        });
        let has_all = experiment.metrics.iter().copied().eq(METRICS);
        let names = experiment.metrics.iter().map(|metric| metric.name.to_owned());
        Self {
            format: SUMMARY_FORMAT.to_owned(),
            experiment: experiment.name.clone(),
            digest: experiment.digest(),
            runs: experiment.runs,
            requests: experiment.world.requests,
            ranges: Vec::new(),
            rows_digest: RowsDigest::default(),
            settings: experiment.settings.clone(),
            metrics: if has_all { Vec::new() } else { names.collect() },
            policies: policies.collect(),
        }
    }

    /// Merges the result of other runs.
    ///
    /// # Errors
    /// [`MergeError`] for a result of another experiment, and for a run that both contain. This result does not change then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.digest != other.digest {
            return Err(MergeError::OtherExperiment {
                expected: self.digest.clone(),
                found: other.digest.clone(),
            });
        }
        if !self.has_equal_names(other) {
            return Err(MergeError::OtherPolicies);
        }
        if self.metrics != other.metrics {
            let names = |metrics: &[String]| match metrics {
                [] => "every metric".to_owned(),
                names => names.join(", "),
            };
            return Err(MergeError::OtherMetrics {
                expected: names(&self.metrics),
                found: names(&other.metrics),
            });
        }
        self.ranges = joined(&self.ranges, &other.ranges).map_err(|run| MergeError::RepeatedRun { run })?;
        self.rows_digest.merge(other.rows_digest);
        for (policy, other) in self.policies.iter_mut().zip(&other.policies) {
            merge_tallies(&mut policy.metrics, &other.metrics);
            merge_tallies(&mut policy.differences, &other.differences);
            policy.flows.merge(&other.flows);
            for (name, lines) in &other.trajectories {
                for (node, points) in lines {
                    merge_line(line_of(&mut policy.trajectories, name, node), points);
                }
            }
        }
        Ok(())
    }

    /// Whether everything that the experiment determines before a run is equal.
    fn has_equal_names(&self, other: &Self) -> bool {
        let names =
            |policy: &PolicySummary| (policy.policy.clone(), policy.base.clone(), policy.values.clone());
        (self.runs, self.requests) == (other.runs, other.requests)
            && (&self.experiment, &self.settings) == (&other.experiment, &other.settings)
            && self.policies.iter().map(names).eq(other.policies.iter().map(names))
    }

    /// Returns the metrics of the report, in their order.
    #[must_use]
    pub fn report_metrics(&self) -> Vec<&'static Metric> {
        match self.metrics.is_empty() {
            true => METRICS.iter().collect(),
            false => self.metrics.iter().filter_map(|name| Metric::from_name(name)).collect(),
        }
    }

    /// Whether every run of another result is in this one.
    #[must_use]
    pub fn contains_runs_of(&self, other: &Self) -> bool {
        let contains =
            |(first, end): &(u64, u64)| self.ranges.iter().any(|(start, stop)| start <= first && end <= stop);
        other.ranges.iter().all(contains)
    }

    /// The number of runs of this result.
    #[must_use]
    pub fn completed_runs(&self) -> u64 {
        self.ranges.iter().map(|(first, end)| end - first).sum()
    }

    /// The runs of the experiment that are not in this result.
    #[must_use]
    pub fn missing(&self) -> Vec<(u64, u64)> {
        let mut missing = Vec::new();
        let mut next = 0;
        for (first, end) in self.ranges.iter().copied().chain([(self.runs, self.runs)]) {
            if first > next {
                missing.push((next, first));
            }
            next = end;
        }
        missing
    }

    /// Whether the ranges and the counts fit each other, as in every result that this program writes.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let mut next = 0;
        let are_ordered = self.ranges.iter().all(|(first, end)| {
            let is_after = next <= *first && first < end && *end <= self.runs;
            next = *end;
            is_after
        });
        // The counts below are those of ordered ranges.
        if !are_ordered || self.runs > RUNS_MAX || self.policies.len() as u64 > POLICIES_MAX {
            return false;
        }
        let runs = self.completed_runs();
        let requests_of_run = i64::from(self.requests);
        let fits = |tallies: &BTreeMap<String, Tally>, least_of_requests: i64| {
            tallies.iter().all(|(name, tally)| {
                let Some(metric) = METRICS.iter().find(|metric| metric.name == name) else { return false };
                let is_possible = |value: &i64| match metric.kind {
                    MetricKind::Requests => (least_of_requests..=requests_of_run).contains(value),
                    MetricKind::Amount => true,
                };
                tally.moments.count == runs
                    && tally.histogram.keys().all(is_possible)
                    && tally.is_consistent()
            })
        };
        let has_values = |policy: &PolicySummary| policy.values.len() == self.settings.len();
        let has_trajectories = |policy: &PolicySummary| {
            let is_short = |points: &Vec<Moments>| points.len() <= POSITIONS_MAX as usize;
            policy
                .trajectories
                .iter()
                .all(|(name, lines)| Trajectory::from_name(name).is_some() && lines.values().all(is_short))
        };
        // Names are printed, and become names of files.
        let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_control);
        let requests = runs.saturating_mul(u64::from(self.requests));
        self.requests > 0
            && is_name(&self.experiment)
            && self.metrics.iter().all(|name| Metric::from_name(name).is_some())
            && self.policies.iter().all(|policy| {
                is_name(&policy.policy)
                    && has_values(policy)
                    && fits(&policy.metrics, 0)
                    && fits(&policy.differences, -requests_of_run)
                    && policy.flows.requests() <= requests
                    && has_trajectories(policy)
            })
    }

    /// Returns the JSON of a result file. Equal results have equal bytes.
    ///
    /// # Errors
    /// A serialization error, which is a bug.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

/// Returns the points of a line, which are none before the first.
fn line_of<'a>(sums: &'a mut TrajectorySums, name: &str, node: &str) -> &'a mut Vec<Moments> {
    sums.entry(name.to_owned()).or_default().entry(node.to_owned()).or_default()
}

fn merge_tallies(into: &mut BTreeMap<String, Tally>, other: &BTreeMap<String, Tally>) {
    for (name, tally) in other {
        into.entry(name.clone()).or_default().merge(tally);
    }
}

/// Returns the union of two lists of ranges, or the first run that is in both.
fn joined(first: &[(u64, u64)], second: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, u64> {
    let mut ranges: Vec<(u64, u64)> =
        first.iter().chain(second).copied().filter(|(first, end)| first < end).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, end) in ranges {
        match joined.last_mut() {
            Some((_, last)) if first < *last => return Err(first),
            Some((_, last)) if first == *last => *last = end,
            Some(_) | None => joined.push((first, end)),
        }
    }
    Ok(joined)
}

/// Counts runs of consecutive numbers. Tallies are by position here, and by name in the [`Summary`].
#[derive(Clone, Debug)]
pub(crate) struct Counter<'a> {
    rows_digest: RowsDigest,
    policies: Vec<PolicyCounter>,
    lines: &'a [Line],
}

#[derive(Clone, Debug, Default)]
struct PolicyCounter {
    metrics: [Tally; METRICS.len()],
    differences: [Tally; METRICS.len()],
    flows: Flows,
    /// The points of each line, by position.
    lines: Vec<Vec<Moments>>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(policies: usize, lines: &'a [Line]) -> Self {
        let counter = PolicyCounter { lines: vec![Vec::new(); lines.len()], ..PolicyCounter::default() };
        Self { rows_digest: RowsDigest::default(), policies: vec![counter; policies], lines }
    }

    /// Counts one run under all policies, the baseline first.
    pub(crate) fn add(&mut self, run: u64, records: &[RunRecord]) {
        let Some(baseline) = records.first().map(|record| record.measurements.values()) else { return };
        for (position, (counter, record)) in self.policies.iter_mut().zip(records).enumerate() {
            let values = record.measurements.values();
            record.flows.iter().for_each(|flow| counter.flows.add(*flow, 1));
            for point in &record.points {
                let Some(line) = counter.lines.get_mut(point.line) else { continue };
                let length = point.position as usize;
                if line.len() < length {
                    line.resize(length, Moments::default());
                }
                if let Some(moments) = line.get_mut(length - 1) {
                    moments.add(point.value);
                }
            }
            self.rows_digest.add(run, position as u64, &values);
            for ((tally, difference), (value, base)) in
                counter.metrics.iter_mut().zip(&mut counter.differences).zip(values.iter().zip(baseline))
            {
                tally.add(*value);
                if position > 0 {
                    difference.add(value - base);
                }
            }
        }
    }

    /// Adds the counted runs to a result.
    pub(crate) fn add_to(&self, summary: &mut Summary, first: u64, end: u64) -> Result<(), MergeError> {
        summary.ranges =
            joined(&summary.ranges, &[(first, end)]).map_err(|run| MergeError::RepeatedRun { run })?;
        summary.rows_digest.merge(self.rows_digest);
        for (policy, counter) in summary.policies.iter_mut().zip(&self.policies) {
            for (metric, (tally, difference)) in
                METRICS.iter().zip(counter.metrics.iter().zip(&counter.differences))
            {
                if let Some(into) = policy.metrics.get_mut(metric.name) {
                    into.merge(tally);
                }
                if let Some(into) = policy.differences.get_mut(metric.name) {
                    into.merge(difference);
                }
            }
            policy.flows.merge(&counter.flows);
            for (line, points) in self.lines.iter().zip(&counter.lines) {
                merge_line(line_of(&mut policy.trajectories, line.trajectory.name(), line.key()), points);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_overlaps_are_found() {
        assert_eq!(joined(&[(0, 5), (9, 12)], &[(5, 9), (20, 21)]), Ok(vec![(0, 12), (20, 21)]));
        assert_eq!(joined(&[(0, 5)], &[(4, 9)]), Err(4));
        assert_eq!(joined(&[(3, 3)], &[(3, 4)]), Ok(vec![(3, 4)]));
    }

    #[test]
    fn rows_digest_ignores_order_and_round_trips() {
        let rows = [(0, 0, [1]), (1, 0, [2]), (1, 1, [-2])];
        let sum = |order: [usize; 3]| {
            let mut digest = RowsDigest::default();
            order.iter().for_each(|index| digest.add(rows[*index].0, rows[*index].1, &rows[*index].2));
            digest
        };
        assert_eq!(sum([0, 1, 2]), sum([2, 0, 1]));
        let json = serde_json::to_string(&sum([0, 1, 2])).unwrap();
        assert_eq!(serde_json::from_str::<RowsDigest>(&json).unwrap(), sum([1, 2, 0]));
        let mut other = RowsDigest::default();
        other.add(1, 1, &[2]);
        assert_ne!(sum([0, 1, 2]), other);
    }
}
