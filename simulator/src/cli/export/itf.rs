//! `export itf`: a trace in the Informal Trace Format.

use super::open_trace;
use crate::cli::exit_status::ExitStatus;
use crate::cli::{files, output};
use miette::{IntoDiagnostic, Result};
use orchestrion_files::FileKind;
use orchestrion_model::export::itf::{ITF_PREFIX, itf};
use orchestrion_report::itf::states_from_trace;
use orchestrion_report::text::escape_json;
use std::io::Write;
use std::path::Path;

/// A trace in the Informal Trace Format.
pub(in crate::cli) const ITF: FileKind = FileKind {
    name: "an ITF trace",
    is_start: |start| start.starts_with(ITF_PREFIX.as_bytes()),
    last_line: None,
};

/// Writes the valid part of a trace as ITF, to a file or to standard output.
pub(super) fn run(trace: Option<&Path>, file: Option<&Path>) -> Result<ExitStatus> {
    let Some(reader) = open_trace(trace, "itf")? else { return Ok(ExitStatus::Error) };
    let policy = reader.header().policy.name.clone();
    let (states, error) = states_from_trace(reader);
    let description = format!("a conversation under the policy {policy}");
    let text = escape_json(&format!("{:#}\n", itf(&description, &states, None)));
    match file {
        None => output::stdout().write_all(text.as_bytes()).into_diagnostic()?,
        Some(path) => {
            files::replace_with(path, &ITF, |file| file.write_all(text.as_bytes()))?;
            let mut out = output::plain_stdout();
            writeln!(out, "exported: {} states", states.len()).into_diagnostic()?;
            writeln!(out, "  itf      {}", path.display()).into_diagnostic()?;
        }
    }
    Ok(match error {
        None => ExitStatus::Success,
        Some(error) => {
            output::print_error(&error);
            ExitStatus::Incomplete
        }
    })
}
