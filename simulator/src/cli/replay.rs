//! `replay`: decides the recorded inputs of traces again and compares.

mod case;
mod endings;
mod judge;
mod options;
mod report;
mod traces;
mod update;

pub(super) use judge::scenario_of;
pub(super) use options::Args;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::test_report::{TestReport, text_output};
use super::user_claims::TraceVerdicts;
use super::{files, output, queue, targets};
use endings::Endings;
use indicatif::{ProgressBar, ProgressStyle};
use judge::Judge;
use miette::{IntoDiagnostic, Result};
use options::Settings;
use orchestrion_kernel::Policy;
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::{Update, replay};
use report::{ReplaySummary, ReplayedTrace};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use traces::{ProgressReader, TraceInput};

/// Result of reading one trace.
enum TraceResult {
    /// The trace does not exist or cannot be opened.
    Unreadable(String),
    Replayed(Box<ReplayedTrace>, TraceVerdicts),
    /// With the policy of the update; `None` for the recorded one.
    Compared(Box<(Update, Option<Policy>)>),
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let judge = Judge::from_args(args, global)?;
    let claims = args.claims.read(global)?;
    let settings = Settings { args, judge, claims: &claims, quiet: global.quiet, width: output::width() };
    let inputs = traces::inputs(&targets::traces(&args.traces, global)?);
    let jobs = args.jobs.or(std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = progress_bar(&inputs);
    let stop = AtomicBool::new(false);
    let mut out = text_output(args.format, output::plain_stdout());
    let (mut summary, mut cases) = (ReplaySummary::default(), Vec::new());
    let work = |input: &TraceInput| read_trace(input, &settings, &bar, &stop);
    queue::in_order(&inputs, jobs, &stop, work, |input, result| {
        let status = bar.suspend(|| print_result(&input.path, &result, &settings, &mut summary, &mut out))?;
        summary.statuses.push(status);
        cases.push(case::of_trace(&input.path, &result, status, &claims));
        bar.set_message(format!("{} of {}", summary.statuses.len(), inputs.len()));
        Ok(if args.fail_fast && status != ExitStatus::Success {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    bar.finish_and_clear();
    report::summary(&summary, &settings.judge.sentence(), inputs.len(), settings.width, &mut out)
        .into_diagnostic()?;
    drop(out);
    let status = ExitStatus::combine(&summary.statuses);
    TestReport::new("replay", status, cases).print(args.format)?;
    Ok(status)
}

/// Returns a progress bar over the bytes of all traces.
fn progress_bar(inputs: &[TraceInput]) -> ProgressBar {
    let size = |input: &TraceInput| input.path.metadata().map_or(0, |metadata| metadata.len());
    let bar = ProgressBar::new(inputs.iter().map(size).sum());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} of {total_bytes}  {msg}  {elapsed}") {
        bar.set_style(style);
    }
    bar
}

fn read_trace(
    input: &TraceInput,
    settings: &Settings<'_>,
    bar: &ProgressBar,
    stop: &AtomicBool,
) -> TraceResult {
    if let Some(error) = &input.error {
        return TraceResult::Unreadable(error.clone());
    }
    let reader = match files::open_segment_with(&input.path, |file| ProgressReader { file, bar, stop }) {
        Ok(reader) => reader,
        Err(error) => return TraceResult::Unreadable(error.to_string()),
    };
    let header = reader.header().clone();
    let policy = match settings.judge.policy_of(&input.path, &header) {
        Ok(policy) => policy,
        Err(error) => {
            let (trace, scenario) =
                (input.path.display(), output::quoted(&input.path.with_extension("yaml")));
            return TraceResult::Unreadable(format!(
                "{trace}: no policy: its scenario is not valid: {error}; find the place with: orchestrion run {scenario}"
            ));
        }
    };
    if settings.args.update {
        // A dry run: the user sees the changes before anything is written.
        match orchestrion_trace::replay::update(reader, policy.as_ref(), &StandardContexts, io::sink()) {
            Ok(update) => TraceResult::Compared(Box::new((update, policy))),
            Err(error) => TraceResult::Unreadable(error.to_string()),
        }
    } else {
        let replay = replay(reader, policy.as_ref(), &StandardContexts);
        let policy = policy.as_ref().unwrap_or(&header.policy).clone();
        let changed = replay.difference.as_ref();
        let endings = changed.and_then(|_| Endings::find(&input.path, &header, &policy, settings.claims));
        let replayed = ReplayedTrace { replay, recorded: header.policy.clone(), policy, endings };
        // The claims judge what was recorded.
        let open = || files::open_segment_with(&input.path, |file| file);
        match TraceVerdicts::of_trace(open, settings.claims) {
            Ok(mut verdicts) => {
                // `run` judges whether such a claim fails.
                if !settings.claims.is_empty()
                    && let Some(expected) = settings.judge.expected_claims(&input.path, &header)
                {
                    let _unmet = verdicts.expect(settings.claims, &expected);
                }
                TraceResult::Replayed(Box::new(replayed), verdicts)
            }
            Err(error) => TraceResult::Unreadable(error.to_string()),
        }
    }
}

/// Prints the result of one trace, and updates the trace where requested.
fn print_result(
    path: &Path,
    result: &TraceResult,
    settings: &Settings<'_>,
    summary: &mut ReplaySummary,
    out: &mut impl io::Write,
) -> Result<ExitStatus> {
    match result {
        TraceResult::Unreadable(error) => {
            output::print_error(error);
            Ok(ExitStatus::Error)
        }
        TraceResult::Replayed(replay, verdicts) => {
            let status =
                report::replayed(path, replay, settings.quiet, settings.width, out).into_diagnostic()?;
            verdicts.report(settings.claims, path, settings.quiet, settings.width, out).into_diagnostic()?;
            Ok(match (status, verdicts.status()) {
                (ExitStatus::Success, of_claims) => {
                    summary.violating += usize::from(of_claims == ExitStatus::Failure);
                    of_claims
                }
                (status, _) => status,
            })
        }
        TraceResult::Compared(update) => {
            let (update, policy) = update.as_ref();
            let (status, is_written) = update::apply(path, update, policy.as_ref(), settings, out)?;
            summary.updated += usize::from(is_written);
            Ok(status)
        }
    }
}
