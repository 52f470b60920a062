//! `journal rotate`: moves the lines of a journal to a segment of their own.

use super::write_rotated;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output;
use miette::{IntoDiagnostic, Result};
use orchestrion_runtime::rotate;
use orchestrion_text::StandardContexts;
use std::path::PathBuf;

/// Move the lines of a journal to a segment, and continue the journal with the state at its end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion journal rotate office.ndjson          to office.1520.ndjson, after
                                                    step 1520
  orchestrion journal rotate office.ndjson --to archive/spring.ndjson

Every line is verified first. The journal changes by one rename, after the
segment is durable: a crash leaves it as before, and the command can be run
again. The chain of the journal continues that of the segment.

Exit codes: 0 success; 2 error, for example a journal that a program has open. The
journal is unchanged, unless the error is one of standard output or of the disk
after the rename.")]
pub(super) struct Args {
    /// Rotate this journal.
    #[arg(value_name = "JOURNAL")]
    journal: PathBuf,
    /// Move the lines to this file [default: JOURNAL with the number of steps before its extension].
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let Args { journal, to } = args;
    let rotated = rotate(journal, to.as_deref(), &StandardContexts).into_diagnostic()?;
    write_rotated(journal, &rotated, &mut output::plain_stdout()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}
