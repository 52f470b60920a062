//! `context curve`: what other budgets would buy.

use super::solve::unsolved;
use super::{ProblemArgs, outcome, status_name, style};
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use miette::{IntoDiagnostic, Result};
use orchestrion_report::show::grouped;
use orchestrion_selection::{Curve, NamedProblem, PICTURE_BEGINS, Point, curve, picture};
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Tell the most utility that every budget can buy, as a table, as JSON, or as a picture.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context curve problem.json
  orchestrion context curve problem.json --svg curve.svg           a picture, for a page or a browser
  orchestrion context curve problem.json --format json --points 500

The curve is a staircase, and each search finds a whole step: `from` is what the choice costs, `to` the largest budget at which
it is known to be the best. Where a problem has more steps than points, they are looked for where most is open, and in JSON
`complete` is false.")]
pub(super) struct Args {
    #[command(flatten)]
    about: ProblemArgs,
    /// Search at so many budgets at most.
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    max_points: NonZeroUsize,
    /// Draw the curve into this file, over an earlier picture if there is one.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How the curve is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let named = args.about.read()?;
    if let Some(path) = &args.svg {
        refuse_other(path)?;
    }
    let curve = curve(&named, args.max_points.get(), args.about.limits()).map_err(unsolved)?;
    if let Some(path) = &args.svg {
        let name = args.about.problem.file_name().unwrap_or_default().to_string_lossy();
        let drawn = picture(&name, named.problem.budget(), &curve);
        refuse_other(path)?;
        files::replace_by(path, |file| file.write_all(drawn.as_bytes()))?;
    }
    let outcome = outcome(curve.hit_node_limit);
    let mut out = io::BufWriter::new(files::out());
    match args.format {
        Format::Json => json(&named, &curve, &mut out),
        Format::Human => human(&named, &curve, args.svg.as_deref(), global.quiet, outcome, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(outcome)
}

fn refuse_other(path: &Path) -> Result<()> {
    files::ensure_overwritable(
        path,
        PICTURE_BEGINS,
        "no budget curve",
        "choose another file for it, or move this one away",
    )
}

fn human(
    named: &NamedProblem,
    curve: &Curve,
    svg: Option<&Path>,
    quiet: bool,
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let budget = named.problem.budget();
    if !quiet {
        writeln!(
            out,
            "  {:>13} {:>13} {:>17} {:>9} {:>15}",
            "from", "to", "utility", "items", "a token more"
        )?;
        let mut below = None;
        for point in &curve.points {
            row(point, below.replace(point), budget, out)?;
        }
        writeln!(out)?;
    }
    let style = style(!curve.hit_node_limit).bold();
    let (told, count) = (if curve.hit_node_limit { "CUT SHORT" } else { "CURVE" }, curve.points.len());
    let which = match (curve.is_complete, count) {
        (true, 1) => "one step, and there is no other".to_owned(),
        (true, _) => format!("all {} steps", grouped(count as u64)),
        (false, _) => format!("{} points, with more steps between them", grouped(count as u64)),
    };
    writeln!(out, "{style}{told}{style:#}: {which}. exit {}", outcome.code())?;
    match svg {
        Some(path) => {
            writeln!(out, "  drawn  {}", orchestrion_report::show::sanitize(&path.display().to_string()))
        }
        None => Ok(()),
    }
}

/// A step, and what a token on the way to it brought.
fn row(point: &Point, below: Option<&Point>, budget: u64, out: &mut impl Write) -> io::Result<()> {
    let is_here = (point.cost..=point.budget).contains(&budget);
    let style = if is_here { style(true) } else { anstyle::Style::new() };
    let (from, to) = (grouped(point.cost), grouped(point.budget));
    let (utility, items) = (grouped(point.utility), grouped(point.items as u64));
    let price = below.map_or_else(String::new, |below| price(point, below));
    let here = if is_here { format!("  the budget, {}", grouped(budget)) } else { String::new() };
    let row = format!("  {from:>13} {to:>13} {utility:>17} {items:>9} {price:>15}{here}");
    writeln!(out, "{style}{}{style:#}", row.trim_end())
}

/// The utility for each token between two points, with two places, rounded down.
fn price(point: &Point, below: &Point) -> String {
    let utility = u128::from(point.utility.saturating_sub(below.utility)) * 100;
    let hundredths = utility / u128::from(point.cost.saturating_sub(below.cost).max(1));
    let whole = u64::try_from(hundredths / 100).unwrap_or(u64::MAX);
    format!("{}.{:02}", grouped(whole), hundredths % 100)
}

#[derive(Serialize)]
struct Report {
    complete: bool,
    budget: u64,
    points: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    from: u64,
    to: u64,
    utility: u64,
    items: usize,
    bound: u64,
    status: &'static str,
}

fn json(named: &NamedProblem, curve: &Curve, out: &mut impl Write) -> io::Result<()> {
    let row = |point: &Point| Row {
        from: point.cost,
        to: point.budget,
        utility: point.utility,
        items: point.items,
        bound: point.bound,
        status: status_name(point.status),
    };
    let points = curve.points.iter().map(row).collect();
    let report = Report { complete: curve.is_complete, budget: named.problem.budget(), points };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}
