//! The diagnostics as annotations of GitHub Actions: workflow commands, one line each.

use super::{Diagnostic, Level, Location, TestReport};
use orchestrion_report::text::sanitize;
use std::io::{self, Write};

pub(super) fn write(report: &TestReport, out: &mut impl Write) -> io::Result<()> {
    for Diagnostic { rule, level, message, help, location, .. } in report.diagnostics() {
        let Location { file, line, column } = location;
        let command = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        write!(out, "::{command} file={}", escape_property(file))?;
        if let Some(line) = line {
            write!(out, ",line={line}")?;
        }
        if let Some(column) = column {
            write!(out, ",col={column}")?;
        }
        let text = help.as_ref().map_or_else(|| message.clone(), |help| format!("{message}\n{help}"));
        writeln!(out, ",title={}::{}", escape_property(&rule.id), escape_message(&text))?;
    }
    Ok(())
}

/// Escapes the characters that end a message. The log of a workflow is a terminal: other control characters are made visible.
fn escape_message(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| sanitize(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Escapes the characters that end a property.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}
