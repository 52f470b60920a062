//! Turns what the YAML library says into what was expected, what came, and what to do.

use super::error::{LabeledError, nearest};
use super::spanned::bytes_in;
use miette::SourceSpan;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter, budget::BudgetBreach};

/// The fault in a text that an error of the library means.
pub(super) fn explain(error: &Error, text: &str) -> LabeledError {
    let error = error.without_snippet();
    let place = error.location().and_then(|location| bytes_in(text, location));
    match error {
        Error::Message { msg, .. } => match LabeledError::from_serde_message(msg) {
            Some(fault) if fault.has_place() => fault,
            Some(fault) => fault.at(place, "here"),
            None => LabeledError::new(msg.as_str(), NOT_YAML).at(place, "here"),
        },
        Error::SerdeUnknownField { field, expected, .. } => unknown_key(field, expected).at(place, "unknown"),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            unknown_word(variant, expected).at(place, "unknown")
        }
        Error::SerdeMissingField { field, .. } => {
            let fault = LabeledError::new(
                format!("the key `{field}` is missing"),
                format!("add `{field}: …` to this mapping"),
            );
            match place.filter(|_| error.location().is_some_and(|location| location.column() == 1)) {
                // The library names the last key, which is far from where a file begins.
                Some(_) => {
                    fault.at(first_key(text), format!("expected `{field}` in the mapping that begins here"))
                }
                None => fault.at(place, format!("expected `{field}` in this mapping")),
            }
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_ref().map_or_else(String::new, |key| format!(" `{}`", key.escape_debug()));
            LabeledError::new(format!("the key{key} is given twice"), "keep one of the two")
                .at(place, "given a second time")
        }
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            wrong(&format!("{expected}, found {unexpected}"), expected).at(place, "found here")
        }
        Error::Unexpected { expected, .. } => {
            let expected = in_words(expected);
            wrong(expected, expected).at(place, "found something else")
        }
        Error::InvalidScalar { ty, .. } => {
            let expected = in_words(ty);
            wrong(expected, expected).at(place, "not that")
        }
        Error::InvalidBooleanStrict { .. } => {
            wrong("true or false", "true or false").at(place, "neither true nor false")
        }
        Error::NullIntoString { .. } => {
            LabeledError::new("expected a value, found nothing", "write the value behind the colon")
                .at(place, "nothing here")
        }
        Error::Eof { .. } => LabeledError::new(
            "the file ends before it says anything",
            "see `orchestrion export schema` for the keys that belong in it",
        )
        .at(place, "the end"),
        Error::MultipleDocuments { .. } => LabeledError::new(
            "expected one document, found another one",
            "remove the line `---`, or use two files",
        )
        .at(place, "a second document"),
        Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            LabeledError::new(
                "anchors (`&name`) and aliases (`*name`) are not read here",
                "write the value out",
            )
            .at(place, "here")
        }
        Error::UnknownAnchor { .. } => LabeledError::new(
            "aliases (`*name`) are not read here",
            "write the value out; quote a text that starts with *",
        )
        .at(place, "here"),
        other => LabeledError::new(UserMessageFormatter.format_message(other), NOT_YAML).at(place, "here"),
    }
}

/// The first key of the file.
fn first_key(text: &str) -> SourceSpan {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if !words.is_empty() && !words.starts_with('#') && words != "---" {
            let key = words.split(':').next().unwrap_or(words);
            let indent = line.len() - line.trim_start().len();
            return SourceSpan::new((start + indent).into(), key.len());
        }
        start += line.len();
    }
    SourceSpan::new(0.into(), 0)
}

const NOT_YAML: &str = "check the indentation, the quotes and the brackets around this place";

/// A key that a mapping does not have.
fn unknown_key(key: &str, known: &[&'static str]) -> LabeledError {
    if key == "plan" && known == ["confidence", "says"] {
        return LabeledError::new(
            "unknown key `plan`: this role brings no plan",
            "only `solution` and `optimizer` may bring a new plan; move it there, or remove it",
        );
    }
    if key.contains(' ') {
        return LabeledError::new(
            format!("unknown key `{}`", key.escape_debug()),
            "inside { } a comma begins the next key; a text with a comma in it must be quoted",
        );
    }
    LabeledError::new(
        format!("unknown key `{}`", key.escape_debug()),
        format!("{}the keys here are {}", nearest(key, known.iter().copied()), known.join(", ")),
    )
}

/// A word that is none of those which may stand here.
pub fn unknown_word(word: &str, known: &[&'static str]) -> LabeledError {
    LabeledError::new(
        format!("unknown word `{}`", word.escape_debug()),
        format!("{}expected one of {}", nearest(word, known.iter().copied()), known.join(", ")),
    )
}

fn wrong(message: &str, expected: &str) -> LabeledError {
    LabeledError::new(format!("expected {message}"), format!("write {expected}"))
}

/// What the library calls a thing, as its user would.
fn in_words(expected: &'static str) -> &'static str {
    match expected {
        "mapping start" => "a mapping (`key: value`)",
        "sequence start" => "a list (`- …` or `[…]`)",
        "string scalar" | "scalar" => "a single value",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 to 18446744073709551615",
        "i32" => "a whole number",
        "bool" | "boolean" => "true or false",
        other => other,
    }
}
