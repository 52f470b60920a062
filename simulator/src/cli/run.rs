//! `run`: executes scenarios.

mod stdio;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::files::{self, open_trace};
use super::{output, targets};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_report::show::{Style, View, show};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::run_scenario;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Run scenarios with their scripted modules, record a trace of each, and show it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion run                              scenarios of the project file
  orchestrion run specs/scenarios/happy.yaml   the timeline; the trace is in
                                               .orchestrion/
  orchestrion run specs/scenarios/*.yaml --quiet        only failures
  orchestrion run mine.yaml --out-dir traces            traces/mine.trace.ndjson

A host in another language reads calls from its standard input and writes
replies to its standard output, one line of JSON each (see `orchestrion export
schema --schema stdio`):
  mkfifo replies
  orchestrion run --stdio mine.yaml < replies | python3 host.py > replies

Exit codes: 0 every scenario ran as scripted; 1 one halted, or a write was
refused or accepted against its script; 2 no scenario could be run; 3 a scenario
could not be run, or a scripted event or reply was not used.")]
pub(super) struct Args {
    /// Run these scenarios [default: those of the project file].
    #[arg(value_name = "SCENARIO", conflicts_with = "config")]
    scenarios: Vec<PathBuf>,
    /// Use the program at standard input and output as host, instead of scripted modules. A scenario supplies the requests
    /// and their writes; with a policy, the host supplies them.
    #[arg(long, value_name = "SCENARIO|POLICY", conflicts_with_all = ["scenarios", "config", "fail_fast"])]
    stdio: Option<String>,
    /// Store the conversation in this journal, and resume it if the file exists. Needs --stdio.
    #[arg(long, value_name = "FILE", requires = "stdio")]
    journal: Option<PathBuf>,
    /// Stop at the first scenario that does not succeed.
    #[arg(long)]
    fail_fast: bool,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    if let Some(subject) = &args.stdio {
        return stdio::run(subject, args.journal.as_deref(), global);
    }
    let scenarios = targets::scenarios(&args.scenarios, global)?;
    ensure_distinct_traces(&scenarios)?;
    let mut statuses = Vec::new();
    for path in &scenarios {
        let status = run_file(path, scenarios.len() == 1, global).unwrap_or_else(|error| {
            output::print_diagnostic(&error);
            ExitStatus::Error
        });
        statuses.push(status);
        if args.fail_fast && status != ExitStatus::Success {
            break;
        }
    }
    Ok(ExitStatus::combine(&statuses))
}

/// Returns an error if two scenarios would write the same trace file.
fn ensure_distinct_traces(scenarios: &[PathBuf]) -> Result<()> {
    let mut names = std::collections::BTreeMap::new();
    for path in scenarios {
        if let Some(other) = names.insert(path.file_stem(), path) {
            return Err(miette!(
                help = "run them one after the other, each with its own --out-dir",
                "{} and {} write the same trace file",
                other.display(),
                path.display()
            ));
        }
    }
    Ok(())
}

fn run_file(path: &Path, is_single: bool, global: &GlobalArgs) -> Result<ExitStatus> {
    let scenario = Scenario::read(path)?;
    let trace = global.out_dir.join(format!("{}.trace.ndjson", scenario.name));
    let result = run_scenario(scenario)?;
    files::replace_trace(&trace, &result.trace)?;
    if is_single && !global.quiet {
        let mut out = output::stdout();
        let view = View { step: None, style: Style { colors: true, columns: output::width() } };
        show(open_trace(&trace).into_diagnostic()?, &view, &mut out).into_diagnostic()?;
        writeln!(out).into_diagnostic()?;
    }
    let mut out = output::plain_stdout();
    let mut print =
        |text: String| output::write_hanging(0, "", &text, output::width(), &mut out).into_diagnostic();
    let file = path.display();
    if let Some(refusal) = &result.halted {
        print(format!("{file}: HALTED after {} steps: {refusal}", result.steps))?;
    } else if !global.quiet {
        print(format!("{file}: completed in {} steps", result.steps))?;
    }
    if !global.quiet {
        print(format!("  trace    {}", trace.display()))?;
    }
    for unused in &result.unused_events {
        print(format!("{file}: {unused}"))?;
    }
    drop(out);
    let is_failure = result.halted.is_some() || !result.unexpected_writes.is_empty();
    let is_incomplete = !result.unused_events.is_empty();
    for unexpected in result.unexpected_writes {
        output::print_diagnostic(&unexpected.into());
    }
    Ok(match (is_failure, is_incomplete) {
        (true, _) => ExitStatus::Failure,
        (false, true) => ExitStatus::Incomplete,
        (false, false) => ExitStatus::Success,
    })
}
