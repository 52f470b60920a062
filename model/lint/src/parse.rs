//! Machines that somebody else made, read to be criticised: a table in a YAML file, or state diagrams in Mermaid's language,
//! alone in a file or in a page of Markdown.
//!
//! What is not understood is a fault with its place: a machine that was read wrongly would be judged wrongly.

mod mermaid;
mod table;

pub use table::{MachineFile, RowFile, Sources, StateKindFile};

use crate::{Machine, SourceLocation};
use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, ReadError, Source, schema_of};
use std::path::Path;

/// A machine, and where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedMachine {
    /// What it was read from, in words.
    pub form: &'static str,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its first line and its last one.
    pub lines: (usize, usize),
    /// The machine.
    pub machine: Machine,
    /// What was guessed, as a sentence; nothing if all was said.
    pub guessed: Option<String>,
}

/// Reads the machines in a file: one of a table, all of a page.
///
/// # Errors
/// [`ReadError`] for a file that cannot be opened, is too large, or has something in it that is not understood.
pub fn read(path: &Path) -> Result<Vec<ParsedMachine>, ReadError> {
    read_source(&Source::read(path)?)
}

/// Reads the machines in a text. `name` is the file name that errors show, and by which a table is told from a page.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, text: &str) -> Result<Vec<ParsedMachine>, ReadError> {
    read_source(&Source::from_text(name, text)?)
}

fn read_source(source: &Source) -> Result<Vec<ParsedMachine>, ReadError> {
    let is_table = [".yaml", ".yml", ".json"].iter().any(|end| source.name().ends_with(end));
    if is_table { Ok(vec![table::read(source)?]) } else { mermaid::read(source) }
}

/// The JSON Schema of machine files.
#[must_use]
pub fn machine_schema() -> serde_json::Value {
    schema_of::<MachineFile>("Orchestrion machine")
}

/// The place in a text that a byte stands at.
fn place(text: &str, offset: usize) -> SourceLocation {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    SourceLocation {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// The same, of a span that may be unknown.
fn place_of(text: &str, span: Option<SourceSpan>) -> SourceLocation {
    span.map_or_else(SourceLocation::default, |span| place(text, span.offset()))
}

/// A fault at some bytes.
fn fault_at(
    span: (usize, usize),
    message: impl Into<String>,
    help: impl Into<String>,
    label: &str,
) -> LabeledError {
    LabeledError::new(message, help).at(SourceSpan::new(span.0.into(), span.1 - span.0), label)
}

#[cfg(test)]
mod tests;
