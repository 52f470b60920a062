//! A trace in the Informal Trace Format.

use crate::cli::{ExitStatus, files};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_model::export::itf::{ITF_PREFIX, itf};
use orchestrion_report::itf::of_trace;
use std::io::Write;
use std::path::Path;

/// Writes a trace as ITF, as far as it can be read.
pub(super) fn run(trace: Option<&Path>, to: Option<&Path>) -> Result<ExitStatus> {
    let trace = trace.ok_or_else(|| {
        miette!(
            help = "name it, as in: orchestrion export itf specs/scenarios/happy.ndjson",
            "which trace as ITF?"
        )
    })?;
    let reader = match files::open_trace(trace) {
        Ok(reader) => reader,
        Err(error) => {
            files::print_error(&error);
            return Ok(ExitStatus::Error);
        }
    };
    let policy = reader.header().policy.name.clone();
    let (shots, unread) = of_trace(reader);
    let about = format!("a conversation under the policy {policy}");
    let text = format!("{:#}\n", itf(&about, &shots, None));
    match to {
        None => files::out().write_all(text.as_bytes()).into_diagnostic()?,
        Some(path) => {
            let help = "choose another file for it, or move this one away";
            files::ensure_overwritable(path, ITF_PREFIX, "no ITF trace", help)?;
            files::replace_by(path, |file| file.write_all(text.as_bytes()))?;
            let mut out = files::plain();
            writeln!(out, "exported: {} states", shots.len()).into_diagnostic()?;
            writeln!(out, "  itf    {}", path.display()).into_diagnostic()?;
        }
    }
    Ok(match unread {
        None => ExitStatus::Success,
        Some(error) => {
            files::print_error(&error);
            ExitStatus::Incomplete
        }
    })
}
