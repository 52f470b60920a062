//! Parsers for foreign state machines: a YAML table, or Mermaid state diagrams, alone in a file or in a Markdown page.
//!
//! Unsupported input is an error with its location, because a misread machine would be checked incorrectly.

mod common;
mod mermaid;
mod table;

pub use common::ParsedMachine;
pub use table::{MachineFile, RowFile, Sources, StateKindFile};

use orchestrion_yaml::{ReadError, Source, schema_of};
use std::path::Path;

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

#[cfg(test)]
mod tests;
