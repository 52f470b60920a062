//! Report of a sweep: a table, or JSON.

use super::rates::{RUNS, RandomRates, RowRates, SEED, outcomes};
use super::settings::Sweep;
use crate::cli::check::json as check_json;
use crate::cli::check::result::{PolicyResult, exit_status};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{quoted, text_width, write_command, write_hanging, write_summary};
use crate::cli::statistics::ShareReport;
use anstyle::{AnsiColor, Style};
use miette::Result;
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_model::check::ModelRun;
use orchestrion_report::text::{grouped, sanitize, wrap};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Claim ids up to this number are listed in a row; more are counted.
const IDS_MAX: usize = 8;

/// Columns of a rate with its interval.
const RATE_COLUMNS: usize = 20;

/// One combination of values.
pub(super) struct Row {
    pub(super) settings: Vec<(String, String)>,
    pub(super) policy: Result<Policy, PolicyError>,
    /// The result of the check, with its duration.
    pub(super) result: Option<(PolicyResult, Duration)>,
    /// The outcomes of its random runs.
    pub(super) rates: Option<RowRates>,
}

impl Row {
    pub(super) fn status(&self) -> ExitStatus {
        let result = self.result.as_ref();
        result.map_or(ExitStatus::Error, |(result, _)| exit_status(std::slice::from_ref(result), &[]))
    }

    fn runs(&self) -> impl Iterator<Item = &ModelRun> {
        self.result.iter().flat_map(|(result, _)| &result.runs)
    }

    /// Returns the ids of the claims with a verdict.
    fn claims(&self, verdict: &str) -> Vec<&'static str> {
        let claims = self.result.iter().flat_map(|(result, _)| &result.claims);
        claims.filter(|claim| claim.verdict_name() == verdict).map(|claim| claim.claim.id).collect()
    }

    /// Returns the failing claims with their traces.
    fn failures(&self) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        let claims = self.result.iter().flat_map(|(result, _)| &result.claims);
        let failing = claims.filter(|claim| claim.verdict_name() == "fails");
        failing
            .map(|claim| (claim.claim.id, claim.evidence.as_ref().map(|evidence| evidence.trace.as_path())))
    }
}

/// The table, with the columns of the settings.
pub(super) struct Table {
    /// Keys of the settings, with the widths of their columns.
    settings: Vec<(String, usize)>,
    width: usize,
}

impl Table {
    pub(super) fn new(sweeps: &[Sweep], width: usize) -> Self {
        let column = |sweep: &Sweep| {
            let widths = sweep.values.iter().map(String::len).chain([sweep.key().len()]);
            (sweep.key().to_owned(), widths.max().unwrap_or_default())
        };
        Self { settings: sweeps.iter().map(column).collect(), width }
    }

    /// Whether the claims fit beside the numbers; otherwise they have lines of their own.
    fn is_wide(&self) -> bool {
        self.numbers_end() + 24 <= self.width
    }

    fn numbers_end(&self) -> usize {
        self.settings.iter().map(|(_, width)| width + 2).sum::<usize>() + 36
    }

    /// Column of the claims.
    fn claims_column(&self) -> usize {
        if self.is_wide() { self.numbers_end() } else { 4 }
    }

    pub(super) fn write_heading(&self, policy: &Policy, scope: &str, out: &mut impl Write) -> io::Result<()> {
        let text = format!("policy {}, scope {scope}", sanitize(&policy.name));
        write_hanging(0, "", &text, self.width, out)?;
        for (key, width) in &self.settings {
            write!(out, "  {key:>width$}")?;
        }
        let claims = if self.is_wide() { "  claims" } else { "" };
        writeln!(out, "  {:>11} {:>11} {:>8}{claims}", "states", "products", "time")
    }

    pub(super) fn write_row(&self, row: &Row, out: &mut impl Write) -> io::Result<()> {
        for ((_, value), (_, width)) in row.settings.iter().zip(&self.settings) {
            write!(out, "  {value:>width$}")?;
        }
        let sum = |count: fn(&ModelRun) -> usize| grouped(row.runs().map(count).sum::<usize>() as u64);
        let (text, column) = match (&row.policy, &row.result) {
            (Err(error), _) => (format!("invalid policy: {error}"), 4),
            (Ok(_), None) => (String::new(), 4),
            (Ok(_), Some((_, time))) => {
                let (states, products) = (sum(|run| run.states), sum(|run| run.products));
                write!(out, "  {states:>11} {products:>11} {:>6.1} s", time.as_secs_f64())?;
                (claims_text(row), self.claims_column())
            }
        };
        let style = style(row.status());
        let mut lines = wrap(&text, text_width(self.width, column)).into_iter();
        if self.is_wide() && row.result.is_some() {
            write!(out, "  {style}{}{style:#}", lines.next().unwrap_or_default())?;
        }
        writeln!(out)?;
        lines.try_for_each(|line| writeln!(out, "{:column$}{style}{line}{style:#}", ""))
    }

    /// Writes the outcome rates of the rows of one policy.
    pub(super) fn write_rates(
        &self,
        rows: &[Row],
        random: &RandomRates,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let shown = outcomes(rows.iter().filter_map(|row| row.rates.as_ref()));
        if shown.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        write_hanging(0, "", &random.heading(), self.width, out)?;
        for (key, width) in &self.settings {
            write!(out, "  {key:>width$}")?;
        }
        shown.iter().try_for_each(|outcome| write!(out, "{:>RATE_COLUMNS$}", outcome.name()))?;
        writeln!(out)?;
        for row in rows {
            let Some(rates) = &row.rates else { continue };
            for ((_, value), (_, width)) in row.settings.iter().zip(&self.settings) {
                write!(out, "  {value:>width$}")?;
            }
            shown.iter().try_for_each(|outcome| write!(out, "{:>RATE_COLUMNS$}", rates.text(*outcome)))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes the first counterexample of each row, and the last line.
    pub(super) fn write_summary(
        &self,
        rows: &[Row],
        scope: &str,
        status: ExitStatus,
        out: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(out)?;
        for row in rows {
            let Some((claim, Some(trace))) = row.failures().next() else { continue };
            let settings: Vec<String> =
                row.settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
            let text = format!("{claim} under {}", settings.join(", "));
            write_hanging(2, "", &text, self.width, out)?;
            write_command("show", &format!("orchestrion show {}", quoted(trace)), self.width, out)?;
        }
        let count = |status: ExitStatus| rows.iter().filter(|row| row.status() == status).count();
        let word = match status {
            ExitStatus::Success => "HOLDS",
            ExitStatus::Failure => "FAILS",
            ExitStatus::Incomplete | ExitStatus::Error => "INCOMPLETE",
        };
        let combinations = if rows.len() == 1 { "combination" } else { "combinations" };
        let all = format!("{} {combinations}", rows.len());
        let mut text = match status {
            ExitStatus::Failure => format!(": {} of {all}", count(ExitStatus::Failure)),
            ExitStatus::Success | ExitStatus::Incomplete | ExitStatus::Error => {
                format!(": {} of {all} hold", count(ExitStatus::Success))
            }
        };
        text.push_str(&format!(" at scope {scope}"));
        for (status, label) in
            [(ExitStatus::Incomplete, "inconclusive or vacuous"), (ExitStatus::Error, "invalid")]
        {
            if count(status) > 0 {
                text.push_str(&format!("; {} {label}", count(status)));
            }
        }
        text.push_str(&format!(". exit {}", status.code()));
        write_summary(style(status).bold(), word, &text, self.width, out)
    }
}

/// Summarizes the verdicts of a row.
fn claims_text(row: &Row) -> String {
    let mut parts = vec![format!("{} hold", row.claims("holds").len())];
    for (verdict, label) in [
        ("fails", "FAILS"),
        ("vacuous", "vacuous"),
        ("not_in_model", "not in model"),
        ("inconclusive", "inconclusive"),
    ] {
        let ids = row.claims(verdict);
        match ids.len() {
            0 => {}
            count if count > IDS_MAX => parts.push(format!("{count} {label}")),
            _ => parts.push(format!("{label} {}", ids.join(" "))),
        }
    }
    parts.join("; ")
}

const fn style(status: ExitStatus) -> Style {
    let color = match status {
        ExitStatus::Success => AnsiColor::Green,
        ExitStatus::Failure => AnsiColor::Red,
        ExitStatus::Incomplete | ExitStatus::Error => AnsiColor::Yellow,
    };
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    scope: &'a str,
    /// The random runs of each row; they have the same random numbers in every row.
    random_runs: RandomRunsReport,
    rows: Vec<RowReport<'a>>,
}

#[derive(Serialize)]
struct RandomRunsReport {
    runs: u64,
    seed: u64,
    models: Vec<&'static str>,
}

#[derive(Serialize)]
struct RateReport {
    outcome: &'static str,
    #[serde(flatten)]
    share: ShareReport,
}

#[derive(Serialize)]
struct RowReport<'a> {
    policy: Option<&'a str>,
    settings: BTreeMap<&'a str, &'a str>,
    /// Why the settings contradict each other; nothing was explored then.
    error: Option<String>,
    verdict: &'static str,
    states: usize,
    product_states: usize,
    seconds: f64,
    holds: Vec<&'a str>,
    fails: Vec<FailureReport<'a>>,
    vacuous: Vec<&'a str>,
    not_in_model: Vec<&'a str>,
    inconclusive: Vec<&'a str>,
    not_checked: Vec<&'a str>,
    /// The outcomes of the random runs.
    outcomes: Vec<RateReport>,
}

#[derive(Serialize)]
struct FailureReport<'a> {
    claim: &'a str,
    trace: Option<&'a Path>,
}

pub(super) fn json(
    rows: &[Row],
    scope: &str,
    random: &RandomRates,
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let verdict = match status {
        ExitStatus::Success => "holds",
        ExitStatus::Failure => "fails",
        ExitStatus::Incomplete | ExitStatus::Error => "incomplete",
    };
    let models = random.models.iter().map(|model| model.name).collect();
    let random_runs = RandomRunsReport { runs: RUNS, seed: SEED, models };
    let report = Report { verdict, scope, random_runs, rows: rows.iter().map(row_report).collect() };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn row_report(row: &Row) -> RowReport<'_> {
    RowReport {
        policy: row.policy.as_ref().ok().map(|policy| &policy.name[..]),
        settings: row.settings.iter().map(|(path, value)| (&path[..], &value[..])).collect(),
        error: row.policy.as_ref().err().map(ToString::to_string),
        verdict: match &row.result {
            Some((result, _)) => check_json::verdict_name(std::slice::from_ref(result), row.status()),
            None => "invalid",
        },
        states: row.runs().map(|run| run.states).sum(),
        product_states: row.runs().map(|run| run.products).sum(),
        seconds: row.result.as_ref().map_or(0.0, |(_, time)| time.as_secs_f64()),
        holds: row.claims("holds"),
        fails: row.failures().map(|(claim, trace)| FailureReport { claim, trace }).collect(),
        vacuous: row.claims("vacuous"),
        not_in_model: row.claims("not_in_model"),
        inconclusive: row.claims("inconclusive"),
        not_checked: row.claims("not_checked"),
        outcomes: row.rates.iter().flat_map(rate_reports).collect(),
    }
}

fn rate_reports(rates: &RowRates) -> Vec<RateReport> {
    let shown = outcomes(std::iter::once(rates));
    shown
        .into_iter()
        .map(|outcome| RateReport { outcome: outcome.name(), share: rates.share(outcome).report() })
        .collect()
}
