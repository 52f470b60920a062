//! `show`: a trace as a timeline, as base events, as an HTML page, or without its texts.

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::files::{self, open_trace};
use super::output;
use super::user_claims::{TraceVerdicts, project_claims};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_files::FileKind;
use orchestrion_report::show::{self, PAGE_PREFIX, ShowError, Style, View};
use orchestrion_text::StandardContexts;
use orchestrion_trace::redact::{Redacted, Salt, redact};
use orchestrion_trace::{EVENT_TRACE_FILE, Reader, TraceError, TraceErrorKind};
use orchestrion_user_claims::UserClaim;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Show a trace: phases, the debate, the decision and its reasons, tasks, audit; or write it without its texts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion show specs/scenarios/veto-in-pass-one.ndjson
  orchestrion show mine.ndjson --step 11               one step, with the state
                                                       after it
  orchestrion show mine.ndjson --item 12               the history of one item
  orchestrion show mine.ndjson --key discount_v1       the current fact of a key,
                                                       under any key
  orchestrion show mine.ndjson --base                  000's trace: the base
                                                       events with their texts
  orchestrion show mine.ndjson --base --step 11        those of one step, with
                                                       full texts
  orchestrion show mine.ndjson --html mine.html        a page with every state
                                                       and the claims
  orchestrion show mine.ndjson --redact public.ndjson  the trace without texts

--base prints the projection of the log to 000's base alphabet (UserMsg,
ToolCall, ToolResult, AddItem, UpdateItem, ForgetItems, FinalAnswer). The text
of a call is its context, built anew and compared with the recorded digest. A
call over its budget was not made, and has no text. `export base` prints the
same events as NDJSON.

--redact replaces every text and the names of users, conversations and custom
policies by a salted digest and the length, rounded up to a power of two. The
salt is not stored, so that no reader can test a guessed text. It removes the
scenario. Times become relative to the first step, which gets 2000-01-01. A
trace in which a decision depends on what is replaced, as when a budget depends
on the length of a text, is refused, and no file is written.

The reader of a redacted trace still learns: the decisions, phases and numbers
that affect them (confidences, ratings, exit codes, policy settings); the time
between steps; the length class of each text; which texts are equal; built-in
titles; and how many requests, facts and tasks there are. --redact-equality
hides which messages, arguments and outputs of different steps are equal, and is
refused where a decision compares two of them, as when a module repeats its
argument; keys, facts and plans stay comparable. With a network, the names of
nodes, capabilities, clusters and types, the keys of the metadata of tasks,
public keys, and the exact lengths and the equality of texts remain, because
nodes count tokens and compare results.
Redaction does not protect against a reader who has the original of a part.

Exit codes: 0 success; 2 the trace cannot be opened, or has no such step, item
or key; 3 the trace is incomplete or damaged, and is shown as far as it is
valid; or --base shows a text that the trace does not confirm.")]
pub(super) struct Args {
    /// Read this trace.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Show the base events of document 000, with the text of each.
    #[arg(long, conflicts_with_all = ["item", "html", "redact"])]
    base: bool,
    /// Show only this step: its events, the state after it, and the context of the call.
    #[arg(long, value_name = "STEP")]
    step: Option<u64>,
    /// Show only this item, by its number: when it was added, changed, superseded or forgotten. For a summary, include the
    /// items that it summarizes.
    #[arg(long, value_name = "ITEM", conflicts_with_all = ["step", "html", "redact"])]
    item: Option<u64>,
    /// Show only this key of a fact: its current value, and the facts that it, or a successor under another key, had.
    #[arg(long, value_name = "KEY", conflicts_with_all = ["step", "item", "html", "redact"])]
    key: Option<String>,
    /// Write one self-contained HTML page to this file; an earlier page is overwritten.
    #[arg(long, value_name = "FILE", conflicts_with = "step")]
    html: Option<PathBuf>,
    /// Write the trace without its texts to this file; an earlier trace is overwritten.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["step", "html"])]
    redact: Option<PathBuf>,
    /// Also hide which messages, arguments and outputs of different steps are equal.
    #[arg(long)]
    redact_equality: bool,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let reader = match open_trace(&args.trace) {
        Ok(reader) => reader,
        Err(error) => {
            output::print_error(&error);
            return Ok(ExitStatus::Error);
        }
    };
    match (&args.html, &args.redact) {
        (Some(path), _) => write_html(reader, &args.trace, path, &project_claims(global)?),
        (None, Some(path)) => write_redacted(reader, args, path),
        // Colors are always written; standard output removes them where they are disabled.
        (None, None) => {
            let style = Style { colors: true, columns: output::width() };
            let view = View { step: args.step, style };
            if args.base {
                return show_base(reader, &view);
            }
            show_status(match (args.item, &args.key) {
                (Some(item), _) => show::item_history(reader, item, style, &mut output::stdout()),
                (None, Some(key)) => show::key_history(reader, key, style, &mut output::stdout()),
                (None, None) => show::show(reader, &view, &mut output::stdout()).map(drop),
            })
        }
    }
}

fn show_base(reader: Reader<BufReader<File>>, view: &View) -> Result<ExitStatus> {
    match show::show_base(reader, view, &mut output::stdout()) {
        Ok(summary) if summary.unconfirmed > 0 => Ok(ExitStatus::Incomplete),
        // Nothing was shown.
        Err(ShowError::Trace(error)) if matches!(error.kind, TraceErrorKind::Tokenizer(_)) => {
            output::print_error(&error);
            Ok(ExitStatus::Error)
        }
        result => show_status(result.map(drop)),
    }
}

fn show_status(result: Result<(), ShowError>) -> Result<ExitStatus> {
    match result {
        Ok(()) => Ok(ExitStatus::Success),
        Err(error @ ShowError::Trace(_)) => {
            output::print_error(&error);
            Ok(ExitStatus::Incomplete)
        }
        Err(ShowError::Io(error)) => Err(error).into_diagnostic(),
        Err(
            error @ (ShowError::NoSuchStep { .. }
            | ShowError::NoSuchItem { .. }
            | ShowError::NoSuchKey { .. }),
        ) => Err(miette!("{error}")),
    }
}

const PAGE: FileKind = FileKind {
    name: "a page of a trace",
    is_start: |start| start.starts_with(PAGE_PREFIX.as_bytes()),
    last_line: None,
};

/// Writes the HTML page of the valid part of a trace.
fn write_html(
    reader: Reader<BufReader<File>>,
    trace: &Path,
    path: &Path,
    claims: &[UserClaim],
) -> Result<ExitStatus> {
    let target = files::open_target(path, &PAGE)?;
    let verdicts = TraceVerdicts::of_trace(|| open_trace(trace), claims).into_diagnostic()?;
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let page = show::html(reader, &name, &verdicts.on_page(claims));
    files::replace(target, |file| file.write_all(page.text.as_bytes()))?;
    let mut out = output::plain_stdout();
    writeln!(out, "shown: {} steps, the state after each, and the claims", page.summary.steps)
        .into_diagnostic()?;
    writeln!(out, "  page     {}", path.display()).into_diagnostic()?;
    Ok(read_status(page.unread))
}

/// Writes the trace without its texts.
fn write_redacted(reader: Reader<BufReader<File>>, args: &Args, path: &Path) -> Result<ExitStatus> {
    let trace = &args.trace;
    files::ensure_not_input(path, trace)?;
    let salt = Salt::generate().into_diagnostic().wrap_err("no random salt is available")?;
    let salt = if args.redact_equality { salt.by_step() } else { salt };
    let mut redaction = None;
    let target = files::open_target(path, &EVENT_TRACE_FILE)?;
    let written = files::replace(target, |file| {
        let mut out = BufWriter::new(file);
        let result = redact(reader, &salt, &StandardContexts, &mut out);
        let is_complete = result.is_ok();
        redaction = Some(result);
        if is_complete { out.flush() } else { Err(io::Error::other("not redacted")) }
    });
    let Redacted { steps, incomplete } = match (redaction, written) {
        (Some(Err(error)), _) => {
            return Err(miette::Report::new(error)
                .wrap_err(format!("{} was not redacted, no file was written", trace.display())));
        }
        (Some(Ok(redacted)), Ok(())) => redacted,
        (_, written) => return written.map(|()| ExitStatus::Error),
    };
    let mut out = output::plain_stdout();
    writeln!(out, "redacted: {steps} steps, with unchanged decisions").into_diagnostic()?;
    writeln!(out, "  trace    {}", path.display()).into_diagnostic()?;
    Ok(read_status(incomplete))
}

/// Prints the error that ended a trace early, if any.
fn read_status(error: Option<TraceError>) -> ExitStatus {
    match error {
        None => ExitStatus::Success,
        Some(error) => {
            output::print_error(&error);
            ExitStatus::Incomplete
        }
    }
}
