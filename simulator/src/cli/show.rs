//! `show`: a trace as a timeline.

use super::Outcome;
use super::files::open_trace;
use crate::show::{ShowError, Style, View, show};
use miette::{IntoDiagnostic, Result, miette};
use std::path::PathBuf;

/// Show a trace as a timeline: phases, the debate, the decision and why, tasks, audit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion show specs/scenarios/veto-in-pass-one.ndjson
  orchestrion show specs/scenarios/veto-in-pass-one.ndjson --at 11     one step, with the state after it")]
pub(super) struct Args {
    /// The trace.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Only this step, with its events, the state after it, and what the called module was shown.
    #[arg(long, value_name = "STEP")]
    at: Option<u64>,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let reader = match open_trace(&args.trace) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("{error}");
            return Ok(Outcome::Nothing);
        }
    };
    // Colour is always written; the stream takes it out where it does not belong.
    let view = View { at: args.at, style: Style::Colour };
    match show(reader, &view, &mut super::files::out()) {
        Ok(_) => Ok(Outcome::Fine),
        Err(error @ ShowError::Trace(_)) => {
            eprintln!("{error}");
            Ok(Outcome::Unread)
        }
        Err(ShowError::Io(error)) => Err(error).into_diagnostic(),
        Err(error @ ShowError::NoSuchStep { .. }) => Err(miette!("{error}")),
    }
}
