//! `run`: play scenarios.

use super::files::{self, open_trace};
use super::{Global, Outcome, named};
use crate::play::play;
use crate::scenario::Scenario;
use crate::show::{Style, View, show};
use miette::{IntoDiagnostic, Result, miette};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Play scenarios with their scripted modules, record each as a trace, and show what happened. Without SCENARIO,
/// those that the project file names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion run                                        the scenarios that orchestrion.yaml names
  orchestrion run specs/scenarios/happy.yaml             the timeline, and the trace in .orchestrion/
  orchestrion run specs/scenarios/*.yaml --quiet         only what does not end
  orchestrion run mine.yaml --out traces                 the trace in traces/mine.trace.ndjson")]
pub(super) struct Args {
    /// The scenarios.
    #[arg(value_name = "SCENARIO", conflicts_with = "config")]
    scenarios: Vec<PathBuf>,
    /// Stop at the first scenario that cannot be played to its end.
    #[arg(long)]
    fail_fast: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<Outcome> {
    let scenarios = named::scenarios(&args.scenarios, global)?;
    let mut names = std::collections::BTreeMap::new();
    for path in &scenarios {
        if let Some(other) = names.insert(path.file_stem(), path) {
            return Err(miette!(
                help = "play them one after the other, with another --out for each",
                "{} and {} would write the same trace",
                other.display(),
                path.display()
            ));
        }
    }
    let mut outcomes = Vec::new();
    for path in &scenarios {
        let outcome = match one(path, scenarios.len() == 1, global) {
            Ok(outcome) => outcome,
            Err(error) => {
                eprintln!("{error:?}");
                Outcome::Nothing
            }
        };
        outcomes.push(outcome);
        if args.fail_fast && outcome != Outcome::Fine {
            break;
        }
    }
    Ok(Outcome::of(&outcomes))
}

fn one(path: &Path, alone: bool, global: &Global) -> Result<Outcome> {
    let scenario = Scenario::read(path)?;
    let trace = global.out.join(format!("{}.trace.ndjson", scenario.name));
    let played = play(scenario)?;
    files::replace_trace(&trace, &played.trace)?;
    let mut out = super::files::out();
    if alone && !global.quiet {
        show(open_trace(&trace).into_diagnostic()?, &View { at: None, style: Style::Colour }, &mut out)
            .into_diagnostic()?;
        writeln!(out).into_diagnostic()?;
    }
    if let Some(refusal) = &played.halted {
        writeln!(out, "{}: HALTED after {} steps: {refusal}", path.display(), played.steps)
            .into_diagnostic()?;
    } else if !global.quiet {
        writeln!(out, "{}: played to its end, {} steps", path.display(), played.steps).into_diagnostic()?;
    }
    if !global.quiet {
        writeln!(out, "  trace  {}", trace.display()).into_diagnostic()?;
    }
    for unused in &played.unused {
        writeln!(out, "{}: NOT PLAYED: {unused}", path.display()).into_diagnostic()?;
    }
    Ok(if played.halted.is_some() {
        Outcome::Failure
    } else if played.unused.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Unread
    })
}
