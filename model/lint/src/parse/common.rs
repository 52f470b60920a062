//! What both formats share: the result, and locations.

use crate::{Machine, SourceLocation};
use miette::SourceSpan;
use orchestrion_yaml::LabeledError;

/// The maximum number of states and edges of a machine. Each name is compared with each other one.
pub(super) const PARTS_MAX: usize = 1_000;

/// The maximum number of lines of all diagrams of a file.
pub(super) const FILE_LINES_MAX: usize = 5_000;

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

/// Returns the location of a byte offset in a text.
pub(super) fn location_at(text: &str, offset: usize) -> SourceLocation {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    SourceLocation {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// Returns the location of a span; the default location if it is unknown.
pub(super) fn location_of_span(text: &str, span: Option<SourceSpan>) -> SourceLocation {
    span.map_or_else(SourceLocation::default, |span| location_at(text, span.offset()))
}

/// Returns an error with a label at a byte span.
pub(super) fn labeled_error(
    span: (usize, usize),
    message: impl Into<String>,
    help: impl Into<String>,
    label: &str,
) -> LabeledError {
    LabeledError::new(message, help).with_label(SourceSpan::new(span.0.into(), span.1 - span.0), label)
}
