//! Parsers for foreign state machines: a YAML table, or Mermaid state diagrams, alone in a file or in a Markdown page.
//!
//! Unsupported input is an error with its location, because a misread machine would be checked incorrectly.

mod mermaid;
mod table;

pub use table::{MachineFile, RowFile, Sources, StateKindFile};

use crate::{Machine, SourceLocation};
use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, ReadError, Source, schema_of};
use std::path::Path;

/// A machine with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedMachine {
    /// The name of the format.
    pub format: &'static str,
    /// The name, if it has one.
    pub name: Option<String>,
    /// Its first and its last line.
    pub lines: (usize, usize),
    /// The machine.
    pub machine: Machine,
    /// The assumptions of the parser, as a sentence; `None` for an explicit machine.
    pub assumptions: Option<String>,
}

/// Reads the machines of a file: one from a table, all from a page.
///
/// # Errors
///
/// [`ReadError`] for a file that cannot be opened, is too large, or contains unsupported syntax.
pub fn read(path: &Path) -> Result<Vec<ParsedMachine>, ReadError> {
    read_source(&Source::read(path)?)
}

/// Parses the machines of a text. `name` is the file name in errors; its extension selects the format.
///
/// # Errors
///
/// As [`read`].
pub fn parse(name: &str, text: &str) -> Result<Vec<ParsedMachine>, ReadError> {
    read_source(&Source::from_text(name, text)?)
}

fn read_source(source: &Source) -> Result<Vec<ParsedMachine>, ReadError> {
    let is_table = [".yaml", ".yml", ".json"].iter().any(|end| source.name().ends_with(end));
    if is_table { Ok(vec![table::read(source)?]) } else { mermaid::read(source) }
}

/// Returns the JSON Schema of machine files.
#[must_use]
pub fn machine_schema() -> serde_json::Value {
    schema_of::<MachineFile>("Orchestrion machine")
}

/// Returns the location of a byte offset in a text.
fn location_at(text: &str, offset: usize) -> SourceLocation {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    SourceLocation {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// Returns the location of a span; the default location if it is unknown.
fn location_of_span(text: &str, span: Option<SourceSpan>) -> SourceLocation {
    span.map_or_else(SourceLocation::default, |span| location_at(text, span.offset()))
}

/// Returns an error with a label at a byte span.
fn labeled_error(
    span: (usize, usize),
    message: impl Into<String>,
    help: impl Into<String>,
    label: &str,
) -> LabeledError {
    LabeledError::new(message, help).with_label(SourceSpan::new(span.0.into(), span.1 - span.0), label)
}

#[cfg(test)]
mod tests;
