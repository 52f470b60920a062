//! The statistics of a result, for a reader.

use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, write_hanging, write_summary};
use crate::cli::test_report::write_json;
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_experiment::statistics::Estimate;
use orchestrion_experiment::{Experiment, Metric, MetricReport, PolicyReport, Report, Summary};
use orchestrion_report::text::{grouped, sanitize};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The number of policies that are printed; the others are in the files.
const POLICIES_MAX: usize = 20;

/// The statistics with the files, as JSON.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(rename = "ExperimentReport")]
pub(in crate::cli) struct JsonReport<'a> {
    /// The file with sums and histograms.
    result: String,
    /// The file with the rows, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<String>,
    /// The file with the rows as Parquet, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    parquet: Option<String>,
    /// The statistics.
    report: &'a Report,
}

/// The files that a command wrote.
pub(super) struct Files {
    pub(super) result: PathBuf,
    pub(super) rows: Option<PathBuf>,
    pub(super) parquet: Option<PathBuf>,
}

/// Prints the statistics of an experiment.
pub(super) fn print(
    experiment: &Experiment,
    summary: &Summary,
    files: &Files,
    format: Format,
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    if format == Format::Human && !global.quiet {
        let mut out = output::stdout();
        write_hanging(0, "", &sanitize(&experiment.description), output::width(), &mut out)
            .into_diagnostic()?;
    }
    print_report(summary, files, ExitStatus::Success, format, global)
}

/// Prints the statistics of a result. `of_part` is the exit status if runs of the experiment are not in it.
pub(super) fn print_report(
    summary: &Summary,
    files: &Files,
    of_part: ExitStatus,
    format: Format,
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    let metrics = summary.report_metrics();
    let report = Report::new(summary, &metrics);
    let status = if report.missing_runs == 0 { ExitStatus::Success } else { of_part };
    let shown = |path: &Path| sanitize(&path.display().to_string());
    let mut out = output::stdout();
    match format {
        Format::Json => {
            let json = JsonReport {
                result: files.result.display().to_string(),
                rows: files.rows.as_ref().map(|rows| rows.display().to_string()),
                parquet: files.parquet.as_ref().map(|parquet| parquet.display().to_string()),
                report: &report,
            };
            write_json(&json, &mut out).into_diagnostic()?;
        }
        Format::Human => {
            if !global.quiet {
                human(&report, &metrics, output::width(), &mut out).into_diagnostic()?;
            }
            let missing = match report.missing_runs {
                0 => String::new(),
                missing => format!(", {} of the experiment not in it", grouped(missing)),
            };
            let rest = format!(
                ": {} of {} under {}{missing}. exit {}",
                count(report.runs, "run"),
                count(u64::from(report.requests), "request"),
                count(report.policies.len() as u64, "policy"),
                status.code()
            );
            write_summary(
                Style::new().bold().fg_color(Some(AnsiColor::Green.into())),
                "DONE",
                &rest,
                output::width(),
                &mut out,
            )
            .into_diagnostic()?;
            writeln!(out, "  result   {}", shown(&files.result)).into_diagnostic()?;
            for (name, path) in [("rows   ", &files.rows), ("parquet", &files.parquet)] {
                if let Some(path) = path {
                    writeln!(out, "  {name}  {}", shown(path)).into_diagnostic()?;
                }
            }
        }
    }
    Ok(status)
}

fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(number)),
        (_, None) => format!("{} {noun}s", grouped(number)),
    }
}

fn human(report: &Report, metrics: &[&'static Metric], width: usize, out: &mut impl Write) -> io::Result<()> {
    let used = report.used(metrics);
    for policy in report.policies.iter().take(POLICIES_MAX) {
        let bold = Style::new().bold();
        writeln!(out, "\n{bold}{}{bold:#}", sanitize(&policy.policy))?;
        write_metrics(policy, &used, width, out)?;
    }
    if let Some(more) = report.policies.len().checked_sub(POLICIES_MAX).filter(|more| *more > 0) {
        writeln!(out, "\n{more} more policies are in the files and in --format json")?;
    }
    write_sensitivities(report, &used, width, out)?;
    // The front is about both kinds of error.
    let has_both =
        ["wrong_proceed", "wrong_block"].iter().all(|name| used.iter().any(|metric| metric.name == *name));
    if report.policies.len() > 1 && has_both {
        let names = report.pareto_front.iter().filter_map(|position| report.policies.get(*position));
        let names: Vec<String> = names.map(|policy| sanitize(&policy.policy)).take(POLICIES_MAX).collect();
        writeln!(out, "\nno other policy has both fewer wrong_proceed and fewer wrong_block:")?;
        for name in names {
            write_hanging(4, "  ", &name, width, out)?;
        }
    }
    writeln!(out)
}

fn write_metrics(
    policy: &PolicyReport,
    used: &[&'static Metric],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let names = name_width(used);
    for metric in used {
        let Some(found) = policy.metrics.get(metric.name) else { continue };
        let value = format!("{:<names$}{}", metric.name, interval(metric, &found.mean));
        match difference(metric, found) {
            None => writeln!(out, "  {value}")?,
            Some(difference) if value.chars().count() + difference.chars().count() + 6 <= width => {
                writeln!(out, "  {value:<48}  {difference}")?;
            }
            Some(difference) => writeln!(out, "  {value}\n  {:names$}{difference}", "")?,
        }
    }
    Ok(())
}

/// The columns of the names of these metrics.
fn name_width(metrics: &[&'static Metric]) -> usize {
    metrics.iter().map(|metric| metric.name.len() + 1).max().unwrap_or(0).max(18)
}

/// Formats a mean with its interval.
fn interval(metric: &Metric, estimate: &Estimate) -> String {
    format!("{} {}", metric.format(estimate.mean), estimate.format_interval(metric))
}

/// Formats the difference from the baseline, if there is one.
fn difference(metric: &Metric, found: &MetricReport) -> Option<String> {
    let difference = found.difference?;
    let Estimate { mean, low, high } = difference.mean;
    // A mean of 0 over several runs can hide runs that differ; then its interval is wider than 0.
    let is_single = !difference.mean.has_interval();
    if mean == 0.0 && (is_single || low == high) {
        return Some("equal to the baseline".to_owned());
    }
    let p = match difference.adjusted_p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p => format!("p = {p:.3}"),
    };
    let sign = if mean > 0.0 { "+" } else { "" };
    Some(format!("{sign}{} {p}", interval(metric, &difference.mean)))
}

fn write_sensitivities(
    report: &Report,
    used: &[&'static Metric],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    const HEADING: &str =
        "share of the variance between policies that a setting explains (alone; with others)";
    let names = name_width(used);
    let mut is_first = true;
    for found in
        report.sensitivities.iter().filter(|found| used.iter().any(|metric| metric.name == found.metric))
    {
        if is_first {
            writeln!(out)?;
            write_hanging(0, "", HEADING, width, out)?;
            is_first = false;
        }
        for (position, setting) in found.settings.iter().enumerate() {
            let head = if position == 0 { found.metric.as_str() } else { "" };
            writeln!(
                out,
                "  {head:<names$}{:<32} {:.2}  {:.2}",
                sanitize(&setting.setting),
                setting.first_order,
                setting.total
            )?;
        }
    }
    Ok(())
}
