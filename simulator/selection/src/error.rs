//! Errors in problem and certificate files, with location and help.
//!
//! Locations are computed only after an error; a valid file is parsed without them.

use super::id::Id;
use miette::Diagnostic;
use orchestrion_report::text::sanitize;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

/// Error in a problem or certificate file.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("{location}: {message}")]
#[diagnostic(help("{help}"))]
pub struct ProblemFileError {
    /// File, with line and column where they are known.
    location: String,
    message: String,
    help: String,
}

impl ProblemFileError {
    /// Returns the error for a file that cannot be read.
    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self {
            location: sanitize(file),
            message: format!("cannot read the file: {error}"),
            help: "check the path and the permissions".into(),
        }
    }

    /// Adds file, line and column to an error.
    pub(super) fn in_file(file: &str, bytes: &[u8], error: LocatedError) -> Self {
        let LocatedError { offset, message, help } = error;
        let file = sanitize(file);
        let location = match offset {
            Some(offset) => format!("{file}:{}", line_and_column(bytes, offset)),
            None => file,
        };
        Self { location, message, help }
    }
}

/// Error at a byte offset of the text.
pub(super) struct LocatedError {
    pub(super) offset: Option<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

/// Error in an item of a well-formed problem, by its index in the list.
pub(super) struct ItemError {
    pub(super) item: Option<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

impl ItemError {
    pub(super) fn new(item: usize, message: String, help: impl Into<String>) -> Self {
        Self { item: Some(item), message, help: help.into() }
    }

    /// Adds the item's offset in the text.
    pub(super) fn located(self, text: &str) -> LocatedError {
        let item = self.item.and_then(|item| raw_items(text).get(item).copied());
        let offset = item.map(|item| offset_in(text, item.get()));
        LocatedError { offset, message: self.message, help: self.help }
    }
}

/// Converts an error of the JSON parser, with the item in which it is.
pub(super) fn problem_error(text: &str, error: &serde_json::Error) -> LocatedError {
    let (offset, message) = locate_json_error(text, error);
    if !error.is_data() {
        let help = r#"expected JSON such as {"budget": 100, "items": [{"id": "a", "utility": 5, "cost": 30, "deps": []}]}"#;
        return LocatedError {
            offset: Some(offset),
            message: format!("invalid JSON: {message}"),
            help: help.into(),
        };
    }
    let enclosing = raw_items(text).into_iter().enumerate().find(|(_, item)| {
        let start = offset_in(text, item.get());
        (start..=start + item.get().len()).contains(&offset)
    });
    let item = enclosing.map_or_else(String::new, |(index, item)| {
        match serde_json::from_str::<IdOnly<'_>>(item.get()) {
            Ok(item) => format!("item {}: ", quoted(&item.id)),
            Err(_) => format!("item {} of the list: ", index + 1),
        }
    });
    let help = if message.starts_with("unknown field `mark`") {
        "`mark` was renamed in version 0.2; rename the key to `inclusion`"
    } else {
        "the schema: orchestrion export schema --schema problem"
    };
    LocatedError { offset: Some(offset), message: format!("{item}{message}"), help: help.into() }
}

/// Returns the byte offset and the message of an error of the JSON parser.
pub(super) fn locate_json_error(text: &str, error: &serde_json::Error) -> (usize, String) {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let line_start = lines.map(str::len).sum::<usize>();
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&message[..], |(message, _)| message).to_owned();
    (offset, message)
}

/// Returns the unparsed items; none if the text is not well-formed.
fn raw_items(text: &str) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Items<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
    }
    serde_json::from_str::<Items<'_>>(text).map_or_else(|_| Vec::new(), |parsed| parsed.items)
}

#[derive(Deserialize)]
struct IdOnly<'a> {
    #[serde(borrow)]
    id: Id<'a>,
}

/// Returns the byte offset of a slice of the text.
fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn line_and_column(bytes: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(bytes.get(..offset).unwrap_or(bytes));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

/// Returns an id for a message.
pub(super) fn quoted(id: &Id<'_>) -> String {
    format!("`{}`", sanitize(&id.to_string()))
}
