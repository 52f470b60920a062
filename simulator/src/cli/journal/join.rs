//! `journal join`: replays the segments of a journal as one conversation.

use crate::cli::exit_status::ExitStatus;
use crate::cli::{files, output};
use miette::{IntoDiagnostic, Result};
use orchestrion_report::text::count;
use orchestrion_text::StandardContexts;
use orchestrion_trace::EVENT_TRACE_FILE;
use orchestrion_trace::segments::{JoinError, Joined, join};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Replay the segments of a journal as one conversation, and write it as a trace with all events.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion journal join office.1520.ndjson office.ndjson
  orchestrion journal join office.ndjson --out office.trace.ndjson
                                        a trace for `show`, `promote` and others

Each segment must continue the one before it, by steps and chain, and start in
the state at its end. A journal that was never rotated is one segment. After an
upgrade, steps are decided under the policy of their segment; a trace has one
policy, so only the segments before the first upgrade can be written as one.
A trace has every text, so segments with erased texts cannot be written as one.

Exit codes: 0 every step is equal; 1 a step differs; 2 error, for example a
wrong segment; 3 erased texts leave steps unverified.")]
pub(super) struct Args {
    /// Read these segments, from the first one on.
    #[arg(value_name = "SEGMENT", required = true)]
    segments: Vec<PathBuf>,
    /// Write the trace to this file. An older trace is overwritten.
    #[arg(long, value_name = "TRACE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let Args { segments, out } = args;
    let result = match out {
        None => join_to(segments, None::<io::Sink>),
        Some(path) => {
            let target = files::open_target(path, &EVENT_TRACE_FILE)?;
            let mut result = None;
            let written = files::replace(target, |file| {
                let joined = join_to(segments, Some(BufWriter::new(file)));
                let is_joined = joined.is_ok();
                result = Some(joined);
                if is_joined { Ok(()) } else { Err(io::Error::other("the segments were not joined")) }
            });
            match result {
                Some(Ok(joined)) => written.map(|()| Ok(joined))?,
                Some(Err(error)) => Err(error),
                None => return written.map(|()| ExitStatus::Success),
            }
        }
    };
    let joined = match result {
        Ok(joined) => joined,
        Err(error @ JoinError::Differs { .. }) => {
            output::print_error(&error.to_string());
            return Ok(ExitStatus::Failure);
        }
        Err(error) => return Err(error).into_diagnostic(),
    };
    let Joined { steps, upgrades, erased_texts, unverified_steps, is_open } = joined;
    let mut page = output::plain_stdout();
    let state = if is_open { "open" } else { "ended" };
    let (segments, steps) = (count(segments.len(), "segment"), count(steps, "step"));
    writeln!(page, "  joined   {segments}, {steps}, {state}").into_diagnostic()?;
    if upgrades > 0 {
        writeln!(page, "  upgraded at {}", count(upgrades, "segment")).into_diagnostic()?;
    }
    if erased_texts > 0 {
        let (texts, steps) = (count(erased_texts, "text"), count(unverified_steps, "step"));
        writeln!(page, "  erased   {texts}; not verified: {steps}").into_diagnostic()?;
    }
    Ok(if unverified_steps > 0 { ExitStatus::Incomplete } else { ExitStatus::Success })
}

fn join_to(segments: &[PathBuf], out: Option<impl Write>) -> Result<Joined, JoinError> {
    let mut readers = Vec::new();
    for path in segments {
        readers.push(files::open_segment(path)?);
    }
    let mut readers = readers.into_iter();
    let first = readers.next().ok_or_else(|| io::Error::other("expected a segment"))?;
    join(first, readers, &StandardContexts, out)
}
