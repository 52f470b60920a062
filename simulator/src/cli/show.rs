//! `show`: a trace as a timeline, as a page for a browser, or without its texts.

use super::ExitStatus;
use super::files::{self, open_trace};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_report::show::{self, PAGE_BEGINS, ShowError, Style, View};
use orchestrion_text::StandardContexts;
use orchestrion_trace::redact::{Redacted, Salt, redact};
use orchestrion_trace::{Reader, TraceError};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Show a trace: phases, the debate, the decision and why, tasks, audit; or write it without its texts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion show specs/scenarios/veto-in-pass-one.ndjson
  orchestrion show mine.ndjson --at 11                 one step, with the state after it
  orchestrion show mine.ndjson --item 12               one item: what became of it, and what it stands for
  orchestrion show mine.ndjson --html mine.html        a page: all of it, every state, the claims
  orchestrion show mine.ndjson --redact public.ndjson  without its texts, to be given away

What --redact leaves out: every text, and every name of a user, a conversation and an own policy,
becomes its length and a digest whose salt is kept nowhere. Scenario and date are left out.
What it keeps: numbers, by which was decided, so that it replays as before: confidences, ratings,
exit codes, the policy's settings; and the times from the first step on.")]
pub(super) struct Args {
    /// The trace.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Only this step, with its events, the state after it, and what the called module was shown.
    #[arg(long, value_name = "STEP")]
    step: Option<u64>,
    /// Only this item, by its number: when it was added, changed, superseded or forgotten; and, if it is a summary, the same of
    /// everything that it stands for.
    #[arg(long, value_name = "ITEM", conflicts_with_all = ["at", "html", "redact"])]
    item: Option<u64>,
    /// Write one page that needs nothing else, over an earlier one if there is one.
    #[arg(long, value_name = "FILE", conflicts_with = "at")]
    html: Option<PathBuf>,
    /// Write the trace without its texts, over an earlier trace if there is one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "html"])]
    redact: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let reader = match open_trace(&args.trace) {
        Ok(reader) => reader,
        Err(error) => {
            files::print_error(&error);
            return Ok(ExitStatus::Error);
        }
    };
    match (&args.html, &args.redact) {
        (Some(path), _) => html(reader, &args.trace, path),
        (None, Some(path)) => redacted(reader, &args.trace, path),
        (None, None) => shown(match args.item {
            Some(item) => show::provenance(reader, item, Style::Colour, &mut files::out()),
            // Colour is always written; the stream takes it out where it does not belong.
            None => {
                show::show(reader, &View { at: args.step, style: Style::Colour }, &mut files::out()).map(drop)
            }
        }),
    }
}

fn shown(ended: Result<(), ShowError>) -> Result<ExitStatus> {
    match ended {
        Ok(()) => Ok(ExitStatus::Success),
        Err(error @ ShowError::Trace(_)) => {
            files::print_error(&error);
            Ok(ExitStatus::Incomplete)
        }
        Err(ShowError::Io(error)) => Err(error).into_diagnostic(),
        Err(error @ (ShowError::NoSuchStep { .. } | ShowError::NoSuchItem { .. })) => Err(miette!("{error}")),
    }
}

/// Writes the page of the trace, as far as the trace goes.
fn html(reader: Reader<BufReader<File>>, trace: &Path, path: &Path) -> Result<ExitStatus> {
    let help = "choose another file for the page, or move this one away";
    files::ensure_overwritable(path, PAGE_BEGINS, "no page of a trace", help)?;
    let page = show::html(reader, &trace.file_name().unwrap_or_default().to_string_lossy());
    files::replace_by(path, |file| file.write_all(page.text.as_bytes()))?;
    let mut out = files::plain();
    writeln!(out, "shown: {} steps, the state after each, and the claims", page.shown.steps)
        .into_diagnostic()?;
    writeln!(out, "  page   {}", path.display()).into_diagnostic()?;
    Ok(stopped(page.unread))
}

/// Writes the trace without its texts.
fn redacted(reader: Reader<BufReader<File>>, trace: &Path, path: &Path) -> Result<ExitStatus> {
    files::ensure_overwritable(
        path,
        orchestrion_trace::TRACE_PREFIX,
        "no trace",
        "choose another file, or move this one away",
    )?;
    if path.exists() && path.canonicalize().into_diagnostic()? == trace.canonicalize().into_diagnostic()? {
        return Err(miette!(
            help = "choose another file; the texts could not be brought back",
            "{} is the trace itself, and is not overwritten",
            path.display()
        ));
    }
    let salt = Salt::random().into_diagnostic().wrap_err("no random salt is to be had")?;
    let mut made = None;
    let written = files::replace_by(path, |file| {
        let mut out = BufWriter::new(file);
        let result = redact(reader, &salt, &StandardContexts, &mut out);
        let is_whole = result.is_ok();
        made = Some(result);
        if is_whole { out.flush() } else { Err(io::Error::other("not redacted")) }
    });
    let Redacted { steps, incomplete: open } = match (made, written) {
        (Some(Err(error)), _) => {
            return Err(miette::Report::new(error)
                .wrap_err(format!("{} is not redacted, nothing was written", trace.display())));
        }
        (Some(Ok(redacted)), Ok(())) => redacted,
        (_, written) => return written.map(|()| ExitStatus::Error),
    };
    let mut out = files::plain();
    writeln!(out, "redacted: {steps} steps, decided as before").into_diagnostic()?;
    writeln!(out, "  trace  {}", path.display()).into_diagnostic()?;
    Ok(stopped(open))
}

/// Says why a trace was not gone through to its end, if it was not.
fn stopped(why: Option<TraceError>) -> ExitStatus {
    match why {
        None => ExitStatus::Success,
        Some(error) => {
            files::print_error(&error);
            ExitStatus::Incomplete
        }
    }
}
