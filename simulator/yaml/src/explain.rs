//! Converts errors of the YAML library into messages with expected and found values, and help texts.

use super::error::{LabeledError, suggest_nearest};
use super::limits::DEPTH_MAX;
use super::renamed::new_name;
use super::spanned::byte_span_in;
use miette::SourceSpan;
use serde_saphyr::{Error, MessageFormatter, UserMessageFormatter, budget::BudgetBreach};

/// Converts an error of the library.
pub(super) fn explain(error: &Error, text: &str) -> LabeledError {
    let error = error.without_snippet();
    let span = error.location().and_then(|location| byte_span_in(text, location));
    match error {
        Error::Message { msg, .. } => match LabeledError::from_serde_message(msg) {
            Some(error) if error.has_label() => error,
            Some(error) => error.with_label(span, "here"),
            None => LabeledError::new(msg.as_str(), NOT_YAML).with_label(span, "here"),
        },
        Error::SerdeUnknownField { field, expected, .. } => {
            unknown_key(field, expected).with_label(span, "unknown")
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            unknown_value_error(variant, expected).with_label(span, "unknown")
        }
        Error::SerdeMissingField { field, .. } => {
            let is_top_level = error.location().is_some_and(|location| location.column() == 1);
            let error = LabeledError::new(
                format!("missing key `{field}`"),
                format!("add `{field}: …` to this mapping"),
            );
            match span.filter(|_| is_top_level) {
                // For the top-level mapping, the library reports its last key.
                Some(_) => error.with_label(
                    first_key(text),
                    format!("expected `{field}` in the mapping that begins here"),
                ),
                None => error.with_label(span, format!("expected `{field}` in this mapping")),
            }
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_ref().map_or_else(String::new, |key| format!(" `{}`", key.escape_debug()));
            LabeledError::new(format!("duplicate key{key}"), "remove one of the two")
                .with_label(span, "second occurrence")
        }
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            wrong_value(&format!("{expected}, found {unexpected}"), expected).with_label(span, "found here")
        }
        Error::Unexpected { expected, .. } | Error::InvalidScalar { ty: expected, .. } => {
            let expected = describe_type(expected);
            wrong_value(expected, expected).with_label(span, "found another value")
        }
        Error::InvalidBooleanStrict { .. } => {
            wrong_value("true or false", "true or false").with_label(span, "neither true nor false")
        }
        Error::NullIntoString { .. } => {
            LabeledError::new("expected a value, found nothing", "write the value after the colon")
                .with_label(span, "no value")
        }
        Error::Eof { .. } => LabeledError::new(
            "expected a mapping, found an empty file",
            "see `orchestrion export schema` for its keys",
        )
        .with_label(span, "end of file"),
        Error::MultipleDocuments { .. } => LabeledError::new(
            "expected one document, found a second one",
            "remove the line `---`, or use two files",
        )
        .with_label(span, "a second document"),
        Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            LabeledError::new(
                "anchors (`&name`) and aliases (`*name`) are not supported",
                "write the value at each place",
            )
            .with_label(span, "here")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => LabeledError::new(
            format!("nesting too deep: expected at most {DEPTH_MAX} levels, found more"),
            "check the brackets and the indentation",
        )
        .with_label(span, "here"),
        Error::UnknownAnchor { .. } => LabeledError::new(
            "aliases (`*name`) are not supported",
            "write the value at each place; quote a text that starts with *",
        )
        .with_label(span, "here"),
        other => {
            LabeledError::new(UserMessageFormatter.format_message(other), NOT_YAML).with_label(span, "here")
        }
    }
}

/// Returns the location of the first key in the file.
fn first_key(text: &str) -> SourceSpan {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') && content != "---" {
            let key = content.split(':').next().unwrap_or(content);
            let indent = line.len() - line.trim_start().len();
            return SourceSpan::new((start + indent).into(), key.len());
        }
        start += line.len();
    }
    SourceSpan::new(0.into(), 0)
}

const NOT_YAML: &str = "check the indentation, the quotes and the brackets here";

/// Creates the error of an unknown key.
fn unknown_key(key: &str, known: &[&'static str]) -> LabeledError {
    if key == "plan" && known == ["confidence", "text"] {
        return LabeledError::new(
            "unknown key `plan`: this role cannot propose a plan",
            "only `solution` and `optimizer` can propose a plan; move it there, or remove it",
        );
    }
    if key.contains(' ') {
        return LabeledError::new(
            format!("unknown key `{}`", key.escape_debug()),
            "inside { } a comma begins the next key; quote a text that contains a comma",
        );
    }
    unknown_word("key", key, known)
}

/// Creates the error of an unknown value.
pub fn unknown_value_error(word: &str, known: &[&'static str]) -> LabeledError {
    unknown_word("value", word, known)
}

fn unknown_word(kind: &str, word: &str, known: &[&'static str]) -> LabeledError {
    match new_name(word, known) {
        Some(new) => LabeledError::new(
            format!("{kind} `{word}` of an earlier format: renamed to `{new}`"),
            format!("write `{new}`; the changelog lists all renamed keys"),
        ),
        None => LabeledError::new(
            format!("unknown {kind} `{}`", word.escape_debug()),
            format!("{}expected one of {}", suggest_nearest(word, known.iter().copied()), known.join(", ")),
        ),
    }
}

fn wrong_value(message: &str, expected: &str) -> LabeledError {
    LabeledError::new(format!("expected {message}"), format!("write {expected}"))
}

/// Translates a type name of the library for users.
fn describe_type(expected: &'static str) -> &'static str {
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
