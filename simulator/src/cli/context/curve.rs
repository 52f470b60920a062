//! `context curve`: maximum utility as a function of the budget.

use super::problem::ProblemArgs;
use super::progress::SearchProgress;
use super::text::{percent, search_status, solve_error, status_name, style};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::files;
use crate::cli::output::{self, ReportStyle, write_hanging, write_summary};
use miette::{IntoDiagnostic, Result};
use orchestrion_files::FileKind;
use orchestrion_optimizer::{SearchLimits, SolveStatus};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_selection::{Curve, NamedProblem, Point, SVG_PREFIX, budget_curve, curve_svg};
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Compute the maximum utility for every budget, as a table, JSON or SVG.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context curve problem.json
  orchestrion context curve problem.json --svg curve.svg
  orchestrion context curve problem.json --format json --max-points 500

The curve is a step function, and each search finds one step: `from` is the cost
of the selection, `to` the largest budget for which it is known to be optimal.
If there are more steps than --max-points, the largest gaps are searched first,
and `complete` is false in JSON.

All searches share the work limit. In a point that is not proven, more utility is
possible, at most its `bound`.

Exit codes: 0 success; 2 error; 3 a search hit a limit.")]
pub(super) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Search at most this number of budgets.
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    max_points: NonZeroUsize,
    /// Draw the curve into this SVG file; an earlier curve is overwritten.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the curve in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let problem = args.problem.read()?;
    if let Some(path) = &args.svg {
        files::ensure_overwritable(path, &CURVE)?;
    }
    let curve = {
        let points = args.max_points.get();
        let progress = SearchProgress::start_of("curve:", points);
        let limits = args.problem.limits(3 * SearchLimits::WORK);
        budget_curve(&problem, points, limits, &mut |done| progress.set_position(done))
            .map_err(solve_error)?
    };
    if let Some(path) = &args.svg {
        let svg = curve_svg(&args.problem.file_name(), problem.problem.budget(), &curve);
        files::replace_with(path, &CURVE, |file| file.write_all(svg.as_bytes()))?;
    }
    let status = search_status(curve.hit_limit);
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = io::BufWriter::new(output::stdout());
    match args.format {
        Format::Json => json(&problem, &curve, &mut out),
        Format::Human => human(&problem, &curve, args.svg.as_deref(), style, status, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(status)
}

const CURVE: FileKind = FileKind {
    name: "a budget curve",
    is_start: |start| start.starts_with(SVG_PREFIX.as_bytes()),
    last_line: None,
};

fn human(
    problem: &NamedProblem,
    curve: &Curve,
    svg: Option<&Path>,
    report: ReportStyle,
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    if !report.quiet {
        write_table(curve, problem.problem.budget(), report.width, out)?;
    }
    let style = style(!curve.hit_limit).bold();
    let word = if curve.hit_limit { "INCOMPLETE" } else { "CURVE" };
    let count = grouped(curve.points.len() as u64);
    let steps = match (curve.is_complete, curve.points.len()) {
        (true, 1) => "1 step, the only one".to_owned(),
        (true, _) => format!("all {count} steps"),
        (false, _) => format!("{count} points, with further steps between them"),
    };
    write_summary(style, word, &format!(": {steps}. exit {}", status.code()), report.width, out)?;
    if let Some(text) = unproven(curve) {
        write_hanging(2, "", &text, report.width, out)?;
    }
    match svg {
        Some(path) => writeln!(out, "  svg      {}", sanitize(&path.display().to_string())),
        None => Ok(()),
    }
}

/// Describes the points that are not proven, with their greatest loss.
fn unproven(curve: &Curve) -> Option<String> {
    let open = curve.points.iter().filter(|point| point.status == SolveStatus::Bounded);
    let count = open.clone().count();
    let worst = open.max_by_key(|point| point.bound.saturating_sub(point.utility))?;
    let loss = worst.bound.saturating_sub(worst.utility);
    let share = percent(loss, worst.bound);
    Some(format!("not proven at {} of them: loss at most {} ({share})", grouped(count as u64), grouped(loss)))
}

/// Writes one row for each point, in columns as wide as their values.
fn write_table(curve: &Curve, budget: u64, width: usize, out: &mut impl Write) -> io::Result<()> {
    let mut rows = vec![["from", "to", "utility", "items", "utility/token"].map(str::to_owned)];
    let mut previous = None;
    for point in &curve.points {
        let price = previous.replace(point).map_or_else(String::new, |previous| price(point, previous));
        let numbers = [point.cost, point.budget, point.utility, point.items as u64].map(grouped);
        let [from, to, utility, items] = numbers;
        rows.push([from, to, utility, items, price]);
    }
    let column_width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths = [0, 1, 2, 3, 4].map(column_width);
    let marker = format!("  budget {}", grouped(budget));
    let row_width = widths.iter().map(|width| width + 2).sum::<usize>() + marker.len();
    for (index, row) in rows.iter().enumerate() {
        let point = index.checked_sub(1).and_then(|index| curve.points.get(index));
        let is_current = point.is_some_and(|point| (point.cost..=point.budget).contains(&budget));
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}"));
        let mut line: String = cells.collect();
        if is_current {
            line.push_str(if row_width <= width { &marker } else { " *" });
        }
        let style = if is_current { style(true) } else { anstyle::Style::new() };
        writeln!(out, "{style}{}{style:#}", line.trim_end())?;
    }
    if row_width > width {
        writeln!(out, "  * budget {}", grouped(budget))?;
    }
    writeln!(out)
}

/// Formats the utility per token between two points, with two decimals, rounded down.
fn price(point: &Point, previous: &Point) -> String {
    let utility = u128::from(point.utility.saturating_sub(previous.utility)) * 100;
    let hundredths = utility / u128::from(point.cost.saturating_sub(previous.cost).max(1));
    let whole = u64::try_from(hundredths / 100).unwrap_or(u64::MAX);
    format!("{}.{:02}", grouped(whole), hundredths % 100)
}

#[derive(Serialize)]
struct Report {
    complete: bool,
    budget: u64,
    points: Vec<PointReport>,
}

#[derive(Serialize)]
struct PointReport {
    from: u64,
    to: u64,
    utility: u64,
    items: usize,
    bound: u64,
    status: &'static str,
}

fn json(problem: &NamedProblem, curve: &Curve, out: &mut impl Write) -> io::Result<()> {
    let point = |point: &Point| PointReport {
        from: point.cost,
        to: point.budget,
        utility: point.utility,
        items: point.items,
        bound: point.bound,
        status: status_name(point.status),
    };
    let points = curve.points.iter().map(point).collect();
    let report = Report { complete: curve.is_complete, budget: problem.problem.budget(), points };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}
