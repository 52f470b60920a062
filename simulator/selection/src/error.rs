//! What is wrong in a problem file, or a certificate: where, what was expected, and what to do.
//!
//! Places are looked for only once something is wrong. Until then nothing is kept that reading does not need.

use super::format::Id;
use miette::Diagnostic;
use orchestrion_report::show::sanitize;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

/// What is wrong with a problem file, or a certificate: where, what was expected, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("{place}: {what}")]
#[diagnostic(help("{help}"))]
pub struct ProblemFileError {
    /// The file, with line and column where they are known.
    place: String,
    what: String,
    help: String,
}

impl ProblemFileError {
    /// Of a file that could not even be read.
    pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self {
            place: sanitize(file),
            what: format!("the file could not be read: {error}"),
            help: "check that the path is right, and that it is a file which you may read".into(),
        }
    }

    pub(super) fn in_file(file: &str, bytes: &[u8], fault: LocatedError) -> Self {
        let LocatedError { at, what, help } = fault;
        let file = sanitize(file);
        let place = at.map_or_else(|| file.clone(), |at| format!("{file}:{}", line_and_column(bytes, at)));
        Self { place, what, help }
    }
}

/// What is wrong, and where in the text.
pub(super) struct LocatedError {
    pub(super) at: Option<usize>,
    pub(super) what: String,
    pub(super) help: String,
}

/// What does not fit in a file whose form is right, and in which item of the list.
pub(super) struct ItemError {
    pub(super) item: Option<usize>,
    pub(super) what: String,
    pub(super) help: String,
}

impl ItemError {
    pub(super) fn at(item: usize, what: String, help: impl Into<String>) -> Self {
        Self { item: Some(item), what, help: help.into() }
    }

    /// The same, with its place in the text.
    pub(super) fn located(self, text: &str) -> LocatedError {
        let item = self.item.and_then(|item| outline(text).get(item).map(|item| offset(text, item.get())));
        LocatedError { at: item, what: self.what, help: self.help }
    }
}

/// What JSON, or the form of the file, was broken by; with the item in which it stands.
pub(super) fn unparsed(text: &str, error: &serde_json::Error) -> LocatedError {
    let (at, told) = locate_json_error(text, error);
    if !error.is_data() {
        let help = r#"expected JSON such as {"budget": 100, "items": [{"id": "a", "utility": 5, "cost": 30, "deps": []}]}"#;
        return LocatedError { at: Some(at), what: format!("no JSON: {told}"), help: help.into() };
    }
    let within = outline(text).into_iter().enumerate().find(|(_, item)| {
        let start = offset(text, item.get());
        (start..=start + item.get().len()).contains(&at)
    });
    let item = within.map_or_else(String::new, |(index, item)| {
        let id = serde_json::from_str::<IdAlone<'_>>(item.get()).ok();
        id.map_or_else(
            || format!("item {} of the list: ", index + 1),
            |alone| format!("item {}: ", quoted(&alone.id)),
        )
    });
    LocatedError {
        at: Some(at),
        what: format!("{item}{told}"),
        help: "orchestrion export schema --of problem says what a problem is".into(),
    }
}

/// Where JSON, or the form of a file, was broken, and by what.
pub(super) fn locate_json_error(text: &str, error: &serde_json::Error) -> (usize, String) {
    let line_start =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    let told = error.to_string();
    let told = told.rsplit_once(" at line ").map_or(&told[..], |(told, _)| told).to_owned();
    (at, told)
}

/// The items as they stand in the text, each whole; nothing if the text is not sound.
fn outline(text: &str) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Outline<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
    }
    serde_json::from_str::<Outline<'_>>(text).map_or_else(|_| Vec::new(), |outline| outline.items)
}

#[derive(Deserialize)]
struct IdAlone<'a> {
    #[serde(borrow)]
    id: Id<'a>,
}

/// Where a part of a text begins.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn line_and_column(bytes: &[u8], at: usize) -> String {
    let before = String::from_utf8_lossy(bytes.get(..at).unwrap_or(bytes));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

/// An id within a sentence.
pub(super) fn quoted(id: &Id<'_>) -> String {
    format!("`{}`", sanitize(&id.to_string()))
}
