//! `export base`: a trace as 000's base events with their texts, in NDJSON.

use super::open_trace;
use crate::cli::exit_status::ExitStatus;
use crate::cli::{files, output};
use miette::{IntoDiagnostic, Result};
use orchestrion_files::FileKind;
use orchestrion_report::show::BaseSummary;
use orchestrion_report::text::escape_json;
use orchestrion_text::StandardContexts;
use orchestrion_trace::base::{BaseProjection, PROJECTION_PREFIX};
use orchestrion_trace::{Reader, TraceError};
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;

const PROJECTION: FileKind = FileKind {
    name: "a projection of a trace",
    is_start: |start| start.starts_with(PROJECTION_PREFIX.as_bytes()),
    last_line: None,
};

/// Writes the base events of the valid part of a trace, to a file or to standard output.
pub(super) fn run(trace: Option<&Path>, file: Option<&Path>) -> Result<ExitStatus> {
    let Some(mut reader) = open_trace(trace, "base")? else { return Ok(ExitStatus::Error) };
    let mut projection = match BaseProjection::new(&reader, &StandardContexts) {
        Ok(projection) => projection,
        Err(error) => {
            output::print_error(&error);
            return Ok(ExitStatus::Error);
        }
    };
    let mut summary = BaseSummary::default();
    let mut unread = None;
    match file {
        None => {
            unread = write(&mut reader, &mut projection, &mut summary, &mut output::page_stdout())
                .into_diagnostic()?
        }
        Some(path) => {
            files::replace_with(path, &PROJECTION, |file| {
                let mut out = BufWriter::new(file);
                unread = write(&mut reader, &mut projection, &mut summary, &mut out)?;
                out.flush()
            })?;
            let mut out = output::plain_stdout();
            writeln!(out, "exported: {}", summary.sentence()).into_diagnostic()?;
            writeln!(out, "  base     {}", path.display()).into_diagnostic()?;
        }
    }
    Ok(match unread {
        Some(error) => {
            output::print_error(&error);
            ExitStatus::Incomplete
        }
        None if summary.unconfirmed > 0 => {
            output::print_error(&format!(
                "unconfirmed texts of calls: {}; the key `unconfirmed` marks them",
                summary.unconfirmed
            ));
            ExitStatus::Incomplete
        }
        None => ExitStatus::Success,
    })
}

/// Writes one line per base event. Returns the error that ended reading, if any.
fn write<R: BufRead>(
    reader: &mut Reader<R>,
    projection: &mut BaseProjection,
    summary: &mut BaseSummary,
    out: &mut impl Write,
) -> io::Result<Option<TraceError>> {
    for step in reader {
        let step = match step {
            Ok(step) => step,
            Err(error) => return Ok(Some(error)),
        };
        for event in projection.project(&step) {
            summary.add(&event.event);
            writeln!(out, "{}", escape_json(&serde_json::to_string(&event)?))?;
        }
    }
    Ok(None)
}
