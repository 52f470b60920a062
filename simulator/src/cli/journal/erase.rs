//! `journal erase`: erases texts in a segment, and leaves its chain valid.

use crate::cli::exit_status::ExitStatus;
use crate::cli::{files, output};
use clap::builder::NonEmptyStringValueParser;
use miette::{Context, IntoDiagnostic, Result};
use orchestrion_files::Target;
use orchestrion_report::text::count;
use orchestrion_runtime::remove_snapshot;
use orchestrion_trace::TRACE_FILE;
use orchestrion_trace::segments::{Erasure, TextSelection, erase_texts};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::PathBuf;

/// Without `[OPTIONS]`, with which the line is too long.
const USAGE: &str = "orchestrion journal erase <--before <STEP>|--containing <TEXT>> <SEGMENT>";

/// Erase texts in a segment that rotation moved aside, or in the journal of a closed conversation.
#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE, after_help = "\
Examples:
  orchestrion journal erase office.1520.ndjson --before 800
                            every text of the steps before 800
  orchestrion journal erase office.1520.ndjson --containing \"Grace Hopper\"
                            the texts that contain this name, in every step

An erased text is replaced by its digest and length. The chain covers only this
digest, so it stays valid, and any other change of the file is still detected.
A person who guesses a text can compare its digest. Numbers, times, the names of
users, those in the rank table, idempotency keys, and names within objects stay.
A snapshot beside the journal is removed.

A replay decides the steps with placeholders, and counts the steps whose events
or context it can no longer compare. The journal that continues a segment keeps
the texts of its state: let the conversation forget them, and rotate again.

Exit codes: 0 success; 2 error, the segment is unchanged; 3 the texts were erased,
and the text of --containing is still in a key or a name.")]
pub(super) struct Args {
    /// Erase texts in this segment.
    #[arg(value_name = "SEGMENT")]
    segment: PathBuf,
    #[command(flatten)]
    texts: ErasedTexts,
}

/// The texts that are erased.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct ErasedTexts {
    /// Erase only texts of the steps before this one; --before, --containing or both are needed.
    #[arg(long, value_name = "STEP")]
    before: Option<u64>,
    /// Erase only texts that contain this text.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    containing: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let Args { segment, texts: ErasedTexts { before, containing } } = args;
    let name = segment.display().to_string();
    let cannot_read = || format!("cannot read {name}");
    // Locked before it is read, so that no other erasure is lost.
    let target = Target::open(segment, &TRACE_FILE);
    let input = orchestrion_files::open(segment).into_diagnostic().wrap_err_with(cannot_read)?;
    let input = BufReader::new(input);
    let selection = TextSelection { before: *before, containing: containing.as_deref() };
    let target = match target {
        Ok(target) => target,
        Err(error) => {
            // The error of reading says more about the segment.
            erase_texts(input, &name, selection, io::sink()).into_diagnostic()?;
            return Err(files::to_report(error));
        }
    };
    let mut erased = None;
    let written = files::replace(target, |file| {
        let result = erase_texts(input, &name, selection, BufWriter::new(file));
        let is_erased = result.is_ok();
        erased = Some(result);
        if is_erased { Ok(()) } else { Err(io::Error::other("no text was erased")) }
    });
    let Some(result) = erased else { return written.map(|()| ExitStatus::Success) };
    let Erasure { texts, steps, has_erased_state, kept_lines } = result.into_diagnostic()?;
    written?;
    // A snapshot contains texts too. The journal opens without it.
    remove_snapshot(segment)
        .into_diagnostic()
        .wrap_err("the texts were erased, but the snapshot cannot be removed, which contains them")?;
    let mut out = output::plain_stdout();
    let (texts, steps) = (count(texts, "text"), count(steps, "step"));
    writeln!(out, "  erased   {texts} in {steps} of {name}").into_diagnostic()?;
    if has_erased_state {
        writeln!(
            out,
            "  state    erased; read the segment after those before it, with `orchestrion journal join`"
        )
        .into_diagnostic()?;
    }
    if kept_lines > 0 {
        let lines = count(kept_lines, "line");
        writeln!(out, "  kept     {lines} with this text in a key, a name or a digest, which are not erased")
            .into_diagnostic()?;
        return Ok(ExitStatus::Incomplete);
    }
    Ok(ExitStatus::Success)
}
