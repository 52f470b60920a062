//! `run`: play scenarios.

mod stdio;

use super::files::{self, open_trace};
use super::{ExitStatus, GlobalArgs, targets};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_report::show::{Style, View, show};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::run_scenario;
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
  orchestrion run mine.yaml --out traces                 the trace in traces/mine.trace.ndjson

Exit codes: 0 all were played as they say; 1 one halted, or a write was refused (or taken) and the scenario does not say so;
2 one could not be played; 3 something in one never came.

A host in another language, which answers on its standard output what it reads on its standard input:
  mkfifo answers
  orchestrion run --stdio mine.yaml < answers | python3 host.py > answers
The lines are described by `orchestrion export schema --of stdio`.")]
pub(super) struct Args {
    /// The scenarios.
    #[arg(value_name = "SCENARIO", conflicts_with = "config")]
    scenarios: Vec<PathBuf>,
    /// Ask the program at the other end of standard input and output, one line of JSON for each call, instead of the
    /// scripted modules. Of a scenario, the requests are asked, and what is written as they begin is written; of a policy, what that program says.
    #[arg(long, value_name = "SCENARIO|POLICY", conflicts_with_all = ["scenarios", "config", "fail_fast"])]
    stdio: Option<String>,
    /// With --stdio: keep the conversation here, and go on with it if it is here already.
    #[arg(long, value_name = "FILE", requires = "stdio")]
    journal: Option<PathBuf>,
    /// Stop at the first scenario that cannot be played to its end.
    #[arg(long)]
    fail_fast: bool,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    if let Some(subject) = &args.stdio {
        return stdio::run(subject, args.journal.as_deref(), global);
    }
    let scenarios = targets::scenarios(&args.scenarios, global)?;
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
                ExitStatus::Error
            }
        };
        outcomes.push(outcome);
        if args.fail_fast && outcome != ExitStatus::Success {
            break;
        }
    }
    Ok(ExitStatus::of(&outcomes))
}

fn one(path: &Path, alone: bool, global: &GlobalArgs) -> Result<ExitStatus> {
    let scenario = Scenario::read(path)?;
    let trace = global.out_dir.join(format!("{}.trace.ndjson", scenario.name));
    let played = run_scenario(scenario)?;
    files::replace_trace(&trace, &played.trace)?;
    let mut out = files::out();
    if alone && !global.quiet {
        show(open_trace(&trace).into_diagnostic()?, &View { at: None, style: Style::Colour }, &mut out)
            .into_diagnostic()?;
        writeln!(out).into_diagnostic()?;
    }
    drop(out);
    let mut out = files::plain();
    if let Some(refusal) = &played.halted {
        writeln!(out, "{}: HALTED after {} steps: {refusal}", path.display(), played.steps)
            .into_diagnostic()?;
    } else if !global.quiet {
        writeln!(out, "{}: played to its end, {} steps", path.display(), played.steps).into_diagnostic()?;
    }
    if !global.quiet {
        writeln!(out, "  trace  {}", trace.display()).into_diagnostic()?;
    }
    for unused in &played.unused_events {
        writeln!(out, "{}: NOT PLAYED: {unused}", path.display()).into_diagnostic()?;
    }
    drop(out);
    let is_failure = played.halted.is_some() || !played.unexpected_writes.is_empty();
    for surprise in played.unexpected_writes {
        files::complain_drawn(&surprise.into());
    }
    Ok(if is_failure {
        ExitStatus::Failure
    } else if played.unused_events.is_empty() {
        ExitStatus::Success
    } else {
        ExitStatus::Incomplete
    })
}
