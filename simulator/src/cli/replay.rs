//! `replay`: decide recorded traces again.

mod queue;
mod report;
mod traces;
mod update;

use super::{ExitStatus, GlobalArgs, files, targets};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_scenario::policy_file;
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::{Replay, Update, replay};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use traces::{ProgressReader, TraceInput};

/// Send the recorded inputs of traces through the kernel again, and report the first difference. Without TRACE,
/// those that the project file names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion replay                                   the traces that orchestrion.yaml names
  orchestrion replay specs/scenarios/happy.ndjson
  orchestrion replay specs/scenarios --quiet           every *.ndjson in the folder and below it
  orchestrion replay veto.ndjson --policy as-drawn     what would another policy decide?
  orchestrion replay --update veto.ndjson              show what would be decided now, ask, write it
  orchestrion replay --update --yes traces             the same for a whole folder, without asking")]
pub(super) struct Args {
    /// The traces; of a folder, every *.ndjson in it and below it.
    #[arg(value_name = "TRACE", conflicts_with = "config")]
    traces: Vec<PathBuf>,
    /// Decide under this policy, a built-in name or a file, instead of the recorded one.
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Stop at the first trace that does not replay equal.
    #[arg(long)]
    fail_fast: bool,
    /// Traces replayed side by side; without it, as many as there are processors.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Show what would change if the recorded inputs were decided now, and write it once you say so.
    #[arg(long)]
    update: bool,
    /// Write updates without asking.
    #[arg(long, requires = "update")]
    yes: bool,
}

/// What was found of one trace.
enum TraceResult {
    /// It could not even be opened, or there is none.
    Nothing(String),
    Replayed(Box<Replay>),
    Compared(Box<Update>),
}

/// What replaying came to, trace by trace.
#[derive(Default)]
struct ReplaySummary {
    outcomes: Vec<ExitStatus>,
    updated: usize,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let policy = match &args.policy {
        Some(policy) => Some(policy_file::resolve(policy, Path::new("."))?),
        None => None,
    };
    let policy = policy.as_ref();
    let given = traces::given(&targets::traces(&args.traces, global)?);
    let jobs = args.jobs.or(std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = progress(&given);
    let stop = AtomicBool::new(false);
    let mut out = files::plain();
    let mut tally = ReplaySummary::default();
    let find = |given: &TraceInput| found(given, args.update, policy, &bar, &stop);
    queue::in_order(&given, jobs, &stop, find, |one, found| {
        let outcome =
            bar.suspend(|| print_result(&one.path, &found, args, policy, global, &mut tally, &mut out))?;
        tally.outcomes.push(outcome);
        bar.set_message(format!("{} of {}", tally.outcomes.len(), given.len()));
        Ok(match outcome {
            ExitStatus::Success => ControlFlow::Continue(()),
            _ if args.fail_fast => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    })?;
    bar.finish_and_clear();
    report::last_line(&tally, given.len(), &mut out).into_diagnostic()?;
    Ok(ExitStatus::of(&tally.outcomes))
}

/// How far all of it is, in bytes, while somebody watches.
fn progress(given: &[TraceInput]) -> ProgressBar {
    let size = |given: &TraceInput| given.path.metadata().map_or(0, |metadata| metadata.len());
    let bar = ProgressBar::new(given.iter().map(size).sum());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} of {total_bytes}  {msg}  {elapsed}") {
        bar.set_style(style);
    }
    bar
}

fn found(
    given: &TraceInput,
    to_update: bool,
    policy: Option<&Policy>,
    bar: &ProgressBar,
    stop: &AtomicBool,
) -> TraceResult {
    if let Some(why) = &given.missing {
        return TraceResult::Nothing(why.clone());
    }
    let reader = match files::open_trace_as(&given.path, |file| ProgressReader { file, bar, stop }) {
        Ok(reader) => reader,
        Err(error) => return TraceResult::Nothing(error.to_string()),
    };
    if to_update {
        // Nothing is written before somebody has seen it.
        match orchestrion_trace::replay::update(reader, policy, &StandardContexts, io::sink()) {
            Ok(update) => TraceResult::Compared(Box::new(update)),
            Err(error) => TraceResult::Nothing(error.to_string()),
        }
    } else {
        TraceResult::Replayed(Box::new(replay(reader, policy, &StandardContexts)))
    }
}

/// Tells what was found of one trace, and does what is to be done about it.
fn print_result(
    path: &Path,
    found: &TraceResult,
    args: &Args,
    policy: Option<&Policy>,
    global: &GlobalArgs,
    tally: &mut ReplaySummary,
    out: &mut impl io::Write,
) -> Result<ExitStatus> {
    match found {
        TraceResult::Nothing(why) => {
            files::print_error(why);
            Ok(ExitStatus::Error)
        }
        TraceResult::Replayed(found) => report::replayed(path, found, global.quiet, out).into_diagnostic(),
        TraceResult::Compared(found) => {
            let (outcome, written) = update::settle(path, found, args, policy, global.quiet, out)?;
            tally.updated += usize::from(written);
            Ok(outcome)
        }
    }
}
