//! `check --sweep`: the same check, with a policy's settings varied.

mod values;

pub(super) use values::{Sweep, read};

use super::report::ReportStyle;
use super::{Args, CheckPlan, PolicyResult, check, json as checked_json, outcome};
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_report::show::{grouped, sanitize, wrap};
use orchestrion_scenario::policy_file;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use values::combinations;

/// So many claims of a kind are named in a row; the others are counted.
const NAMED_MAX: usize = 8;

/// One combination of values.
struct Row {
    settings: Vec<(String, String)>,
    /// The policy that has them, or why there is none.
    policy: Result<Policy, PolicyError>,
    /// What checking it came to, and how long it took.
    checked: Option<(PolicyResult, Duration)>,
}

impl Row {
    fn outcome(&self) -> ExitStatus {
        let checked = self.checked.as_ref();
        checked.map_or(ExitStatus::Error, |(checked, _)| outcome(std::slice::from_ref(checked), &[]))
    }

    /// The claims that came to a verdict.
    fn claims(&self, word: &str) -> Vec<&'static str> {
        let found = self.checked.iter().flat_map(|(checked, _)| &checked.found);
        found.filter(|found| found.word() == word).map(|found| found.claim.id).collect()
    }
}

/// Checks every combination under every policy of the order, and prints a table as it goes.
pub(super) fn run(
    sweeps: &[Sweep],
    order: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    look: ReportStyle,
) -> Result<ExitStatus> {
    // Whatever cannot be read is said before anything is explored.
    let swept = order.policies.iter().map(|policy| Ok((policy, rows(policy, sweeps)?)));
    let swept = swept.collect::<Result<Vec<(&Policy, Vec<Row>)>>>()?;
    let table = Table::new(sweeps, look);
    let mut out = files::out();
    let mut all = Vec::new();
    for (policy, rows) in swept {
        if args.format == Format::Human {
            table.head(policy, order.scope.name, &mut out).into_diagnostic()?;
        }
        for mut row in rows {
            if let Ok(policy) = &row.policy {
                let began = Instant::now();
                let (checked, _) = check(policy, &order.scope, args, global)?;
                row.checked = Some((checked, began.elapsed()));
            }
            if args.format == Format::Human {
                table.row(&row, &mut out).and_then(|()| out.flush()).into_diagnostic()?;
            }
            all.push(row);
        }
    }
    let outcome = ExitStatus::of(&all.iter().map(Row::outcome).collect::<Vec<_>>());
    match args.format {
        Format::Human => foot(&all, order.scope.name, outcome, &mut out),
        Format::Json => json(&all, order.scope.name, outcome, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

/// The rows of one policy, not yet checked.
fn rows(policy: &Policy, sweeps: &[Sweep]) -> Result<Vec<Row>> {
    let row = |settings: Vec<(String, String)>| {
        let named: Vec<String> = settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let name = format!("{} with {}", policy.name, named.join(", "));
        let policy = policy_file::set(policy, &name, &settings)?;
        Ok(Row { settings, policy, checked: None })
    };
    combinations(sweeps).into_iter().map(row).collect()
}

/// The columns of the table.
struct Table {
    /// The settings, with their widths.
    settings: Vec<(String, usize)>,
    look: ReportStyle,
}

impl Table {
    fn new(sweeps: &[Sweep], look: ReportStyle) -> Self {
        let column = |sweep: &Sweep| {
            let widths = sweep.values.iter().map(String::len).chain([sweep.key().len()]);
            (sweep.key().to_owned(), widths.max().unwrap_or_default())
        };
        Self { settings: sweeps.iter().map(column).collect(), look }
    }

    fn head(&self, policy: &Policy, scope: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "policy {}, scope {scope}", sanitize(&policy.name))?;
        for (key, width) in &self.settings {
            write!(out, "  {key:>width$}")?;
        }
        writeln!(out, "  {:>11} {:>11} {:>8}  claims", "states", "products", "time")
    }

    fn row(&self, row: &Row, out: &mut impl Write) -> io::Result<()> {
        let mut at = 0;
        for ((_, value), (_, width)) in row.settings.iter().zip(&self.settings) {
            write!(out, "  {value:>width$}")?;
            at += 2 + width;
        }
        let told = match (&row.policy, &row.checked) {
            (Err(contradiction), _) => format!("contradicts itself: {contradiction}"),
            (Ok(_), None) => String::new(),
            (Ok(_), Some((checked, time))) => {
                let sum = |of: fn(&orchestrion_model::check::ModelRun) -> usize| {
                    grouped(checked.runs.iter().map(of).sum::<usize>() as u64)
                };
                let (states, products) = (sum(|run| run.states), sum(|run| run.products));
                write!(out, "  {states:>11} {products:>11} {:>6.1} s", time.as_secs_f64())?;
                at += 34;
                claims(row)
            }
        };
        let mut lines = wrap(&told, self.look.columns.saturating_sub(at + 2)).into_iter();
        let style = style(row.outcome());
        writeln!(out, "  {style}{}{style:#}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "{:at$}  {style}{line}{style:#}", ""))
    }
}

/// What the claims came to, in a few words.
fn claims(row: &Row) -> String {
    let mut told = vec![format!("{} hold", row.claims("holds").len())];
    for (word, shown) in
        [("fails", "FAILS"), ("vacuous", "vacuous"), ("outside", "outside"), ("inconclusive", "inconclusive")]
    {
        let ids = row.claims(word);
        match ids.len() {
            0 => {}
            count if count > NAMED_MAX => told.push(format!("{count} {shown}")),
            _ => told.push(format!("{shown} {}", ids.join(" "))),
        }
    }
    told.join("; ")
}

const fn style(outcome: ExitStatus) -> Style {
    let colour = match outcome {
        ExitStatus::Success => AnsiColor::Green,
        ExitStatus::Failure => AnsiColor::Red,
        ExitStatus::Incomplete | ExitStatus::Error => AnsiColor::Yellow,
    };
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

/// Where the counterexamples are, and what it came to.
fn foot(rows: &[Row], scope: &str, outcome: ExitStatus, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    for (row, found) in rows.iter().filter_map(|row| Some((row, first_failing(row)?))) {
        let settings: Vec<String> =
            row.settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let trace = files::quoted(found.1);
        writeln!(out, "  {} under {}\n  look   orchestrion show {trace}", found.0, settings.join(", "))?;
    }
    let count = |of: ExitStatus| rows.iter().filter(|row| row.outcome() == of).count();
    let word = match outcome {
        ExitStatus::Success => "HOLDS",
        ExitStatus::Failure => "FAILS",
        ExitStatus::Incomplete | ExitStatus::Error => "NOT SHOWN",
    };
    let style = style(outcome).bold();
    let combinations = if rows.len() == 1 { "combination" } else { "combinations" };
    let all = format!("{} {combinations}", rows.len());
    write!(out, "{style}{word}{style:#}: ")?;
    match outcome {
        ExitStatus::Failure => write!(out, "{} of {all}", count(ExitStatus::Failure))?,
        _ => write!(out, "{} of {all} hold", count(ExitStatus::Success))?,
    }
    write!(out, " at scope {scope}")?;
    for (of, what) in
        [(ExitStatus::Incomplete, "inconclusive or vacuous"), (ExitStatus::Error, "contradict themselves")]
    {
        if count(of) > 0 {
            write!(out, "; {} {what}", count(of))?;
        }
    }
    writeln!(out, ". exit {}", outcome.code())
}

/// The first claim that fails in a row, with its trace.
fn first_failing(row: &Row) -> Option<(&'static str, &Path)> {
    let found = row.checked.iter().flat_map(|(checked, _)| &checked.found);
    found.filter_map(|found| Some((found.claim.id, found.evidence.as_ref()?.trace.as_path()))).next()
}

#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    scope: &'a str,
    rows: Vec<RowReport<'a>>,
}

#[derive(Serialize)]
struct RowReport<'a> {
    policy: Option<&'a str>,
    settings: BTreeMap<&'a str, &'a str>,
    /// Why the settings contradict each other, if they do; nothing was explored then.
    contradiction: Option<String>,
    verdict: &'static str,
    states: usize,
    products: usize,
    seconds: f64,
    holds: Vec<&'a str>,
    fails: Vec<FailureReport<'a>>,
    vacuous: Vec<&'a str>,
    outside: Vec<&'a str>,
    inconclusive: Vec<&'a str>,
    not_checked: Vec<&'a str>,
}

#[derive(Serialize)]
struct FailureReport<'a> {
    claim: &'a str,
    trace: Option<&'a Path>,
}

fn json(rows: &[Row], scope: &str, outcome: ExitStatus, out: &mut impl Write) -> io::Result<()> {
    let verdict = match outcome {
        ExitStatus::Success => "holds",
        ExitStatus::Failure => "fails",
        ExitStatus::Incomplete | ExitStatus::Error => "not_shown",
    };
    let report = Report { verdict, scope, rows: rows.iter().map(row_report).collect() };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn row_report(row: &Row) -> RowReport<'_> {
    let runs = || row.checked.iter().flat_map(|(checked, _)| &checked.runs);
    let found = row.checked.iter().flat_map(|(checked, _)| &checked.found);
    let fails = found.filter(|found| found.word() == "fails").map(|found| FailureReport {
        claim: found.claim.id,
        trace: found.evidence.as_ref().map(|kept| kept.trace.as_path()),
    });
    RowReport {
        policy: row.policy.as_ref().ok().map(|policy| &policy.name[..]),
        settings: row.settings.iter().map(|(path, value)| (&path[..], &value[..])).collect(),
        contradiction: row.policy.as_ref().err().map(ToString::to_string),
        verdict: match &row.checked {
            Some((checked, _)) => checked_json::verdict(std::slice::from_ref(checked), row.outcome()),
            None => "contradictory",
        },
        states: runs().map(|run| run.states).sum(),
        products: runs().map(|run| run.products).sum(),
        seconds: row.checked.as_ref().map_or(0.0, |(_, time)| time.as_secs_f64()),
        holds: row.claims("holds"),
        fails: fails.collect(),
        vacuous: row.claims("vacuous"),
        outside: row.claims("outside"),
        inconclusive: row.claims("inconclusive"),
        not_checked: row.claims("not_checked"),
    }
}
