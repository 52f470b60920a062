//! Exact values beside estimates, for a reader.

use crate::cli::args::Format;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, write_hanging, write_summary};
use crate::cli::test_report::write_json;
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_experiment::exact::{Exact, ExactResult, Interval};
use orchestrion_experiment::statistics::{Estimate, estimate};
use orchestrion_experiment::{Experiment, Summary};
use orchestrion_report::text::{grouped, sanitize};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;

/// The exact values of an experiment.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExactReport")]
pub(in crate::cli) struct JsonReport<'a> {
    /// The name of the experiment.
    experiment: &'a str,
    /// The policies.
    policies: Vec<PolicyValues<'a>>,
    /// The exact values that lie outside the interval of their estimate; null without estimates.
    outside: Option<usize>,
    /// The values that were compared with an estimate.
    compared: usize,
}

/// The exact values under a policy.
#[derive(Serialize, JsonSchema)]
struct PolicyValues<'a> {
    /// The name of the policy.
    policy: &'a str,
    /// The number of states.
    states: usize,
    /// The number of transitions.
    transitions: usize,
    /// Whether no state repeats in a run.
    is_acyclic: bool,
    /// The bounds of the probability that a run never ends.
    endless: Bounds,
    /// The metrics.
    metrics: Vec<MetricValue>,
}

/// The exact value of a metric, for each request.
#[derive(Serialize, JsonSchema)]
struct MetricValue {
    /// The name.
    metric: &'static str,
    /// The exact fraction of the value for each run, if the chain is small enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<String>,
    /// The bounds of the value, or of its least value over all adversaries.
    value: Bounds,
    /// The bounds of the greatest value over all adversaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    greatest: Option<Bounds>,
    /// The estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Estimate>,
    /// Whether the interval of the estimate contains the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    agrees: Option<bool>,
}

/// Bounds of a value; null if it is infinite.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct Bounds {
    /// The lower bound.
    #[schemars(with = "Option<f64>")]
    low: f64,
    /// The upper bound.
    #[schemars(with = "Option<f64>")]
    high: f64,
}

impl Bounds {
    fn new(interval: Interval, requests: u32) -> Self {
        Self { low: interval.low / f64::from(requests), high: interval.high / f64::from(requests) }
    }

    fn text(self) -> String {
        match self {
            Self { low, .. } if low.is_infinite() => "infinite".to_owned(),
            Self { low, high } if high - low <= 1e-9 * high.abs().max(1.0) => format!("{low:.9}"),
            Self { low, high } => format!("{low:.9} to {high:.9}"),
        }
    }
}

/// Prints the values of each policy.
pub(super) fn print(
    experiment: &Experiment,
    results: &[ExactResult],
    estimates: Option<&Summary>,
    format: Format,
    width: usize,
) -> Result<ExitStatus> {
    let policies: Vec<PolicyValues<'_>> = experiment
        .policies
        .iter()
        .zip(results)
        .enumerate()
        .map(|(position, (cell, result))| PolicyValues {
            policy: &cell.policy.name,
            states: result.states,
            transitions: result.transitions,
            is_acyclic: result.is_acyclic,
            endless: Bounds::new(result.endless.bounds(), 1),
            metrics: metric_values(experiment, result, estimates, position),
        })
        .collect();
    let verdicts: Vec<bool> =
        policies.iter().flat_map(|policy| &policy.metrics).filter_map(|metric| metric.agrees).collect();
    let outside = verdicts.iter().filter(|agrees| !**agrees).count();
    // One in twenty intervals misses its value.
    let disagrees = outside * 20 > verdicts.len().max(20);
    let status = if disagrees { ExitStatus::Failure } else { ExitStatus::Success };
    let report = JsonReport {
        experiment: &experiment.name,
        policies,
        outside: estimates.map(|_| outside),
        compared: verdicts.len(),
    };
    let mut out = output::stdout();
    match format {
        Format::Json => {
            write_json(&report, &mut out).into_diagnostic()?;
        }
        Format::Human => human(&report, status, width, &mut out).into_diagnostic()?,
    }
    Ok(status)
}

fn metric_values(
    experiment: &Experiment,
    result: &ExactResult,
    estimates: Option<&Summary>,
    position: usize,
) -> Vec<MetricValue> {
    let requests = experiment.world.requests;
    let value = |found: &orchestrion_experiment::exact::ExactValue| {
        let (fraction, value, greatest) = match &found.value {
            Exact::Rational(fraction, _) => (Some(fraction.clone()), found.value.bounds(), None),
            Exact::Interval(interval) => (None, *interval, None),
            Exact::MinMax { min, max } => (None, *min, Some(Bounds::new(*max, requests))),
            Exact::Infinite => (None, Interval::INFINITE, None),
        };
        let value = Bounds::new(value, requests);
        let tally =
            estimates.and_then(|summary| summary.policies.get(position)?.metrics.get(found.metric.name));
        let estimate = tally.map(|tally| estimate(found.metric, tally, requests));
        let top = greatest.map_or(value.high, |greatest| greatest.high);
        let agrees = tally
            .zip(estimate)
            .map(|(tally, estimate)| estimate.agrees_with(value.low, top, tally.moments.count));
        MetricValue { metric: found.metric.name, fraction, value, greatest, estimate, agrees }
    };
    result.values.iter().map(value).collect()
}

fn human(
    report: &JsonReport<'_>,
    status: ExitStatus,
    width: usize,
    out: &mut impl Write,
) -> std::io::Result<()> {
    for policy in &report.policies {
        let bold = Style::new().bold();
        writeln!(out, "\n{bold}{}{bold:#}", sanitize(policy.policy))?;
        let shape = if policy.is_acyclic { "no state repeats" } else { "states repeat" };
        let size = format!(
            "{} states, {} transitions, {shape}",
            grouped(policy.states as u64),
            grouped(policy.transitions as u64)
        );
        write_hanging(2, "", &size, width, out)?;
        if policy.endless.high > 0.0 {
            write_hanging(
                2,
                "",
                &format!("a run never ends with the probability {}", policy.endless.text()),
                width,
                out,
            )?;
        }
        for metric in &policy.metrics {
            write_metric(metric, width, out)?;
        }
    }
    writeln!(out)?;
    let compared = match report.outside {
        None => String::new(),
        Some(outside) => format!(
            "; {} of {} values outside the 95 % intervals of the estimates",
            grouped(outside as u64),
            grouped(report.compared as u64)
        ),
    };
    let (word, color) = match status {
        ExitStatus::Failure => ("DISAGREES", AnsiColor::Red),
        ExitStatus::Success | ExitStatus::Error | ExitStatus::Incomplete => ("EXACT", AnsiColor::Green),
    };
    let count = report.policies.len();
    let policies = if count == 1 { "1 policy".to_owned() } else { format!("{count} policies") };
    let rest = format!(": {policies}{compared}. exit {}", status.code());
    write_summary(Style::new().bold().fg_color(Some(color.into())), word, &rest, width, out)
}

fn write_metric(metric: &MetricValue, width: usize, out: &mut impl Write) -> std::io::Result<()> {
    let is_zero = |bounds: Bounds| bounds.low == 0.0 && bounds.high == 0.0;
    let is_unused =
        is_zero(metric.value) && metric.greatest.is_none_or(is_zero) && metric.agrees != Some(false);
    if is_unused {
        return Ok(());
    }
    let mut text = metric.value.text();
    if let Some(greatest) = metric.greatest {
        text = format!("least {text}, greatest {}", greatest.text());
    }
    // A longer fraction is in the JSON report.
    if let Some(fraction) =
        metric.fraction.as_ref().filter(|fraction| fraction.len() <= 24 && fraction.contains('/'))
    {
        text = format!("{text} = {fraction}");
    }
    if let Some(estimate) = metric.estimate {
        let Estimate { mean, low, high } = estimate;
        let mark = if metric.agrees == Some(false) { "  outside" } else { "" };
        let interval = match estimate.has_interval() {
            true => format!("[{low:.4}, {high:.4}]"),
            false => "(no interval)".to_owned(),
        };
        text = format!("{text}   estimate {mean:.4} {interval}{mark}");
    }
    write_hanging(20, &format!("  {}", metric.metric), &text, width, out)
}
