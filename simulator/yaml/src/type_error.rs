//! Errors of values that do not have the type of their place.

use super::error::{LabeledError, shorten, suggest_nearest};
use super::renamed::new_name;
use miette::SourceSpan;
use serde::de::{Error, Expected, Unexpected};
use std::fmt;

/// An error of a value, without or with its location.
#[derive(Debug)]
pub(crate) struct TypeError {
    error: LabeledError,
    /// The label, for a location that is not known yet.
    label: String,
}

impl TypeError {
    fn new(error: LabeledError, label: impl Into<String>) -> Self {
        Self { error, label: label.into() }
    }

    /// Creates the error of a key without a value.
    pub(crate) fn no_value() -> Self {
        let error = LabeledError::new("expected a value, found nothing", "write the value after the colon");
        Self::new(error, "no value")
    }

    /// Creates the error of a word that requires a value.
    pub(crate) fn no_value_of(word: &str) -> Self {
        let word = word.escape_debug();
        let error = LabeledError::new(
            format!("`{word}` has no value: expected a mapping"),
            format!("write `{word}: …`"),
        );
        Self::new(error, "no value")
    }

    /// Creates the error of a second key where one is expected.
    pub(crate) fn second_key(first: &str, second: &str) -> Self {
        let error = LabeledError::new(
            format!("expected one key, found `{}` and `{}`", first.escape_debug(), second.escape_debug()),
            "keep one of the two",
        );
        Self::new(error, "one key too many")
    }

    /// Adds a location, unless the error has one.
    pub(crate) fn at(mut self, span: SourceSpan) -> Self {
        if !self.error.has_label() {
            self.error = self.error.with_label(span, std::mem::take(&mut self.label));
        }
        self
    }

    /// Returns the error, with a location if one was added.
    pub(crate) fn into_labeled(self) -> LabeledError {
        self.error
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error.message)
    }
}

impl std::error::Error for TypeError {}

impl Error for TypeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        let error = LabeledError::from_serde_message(&message)
            .unwrap_or_else(|| LabeledError::new(message, "write another value"));
        Self::new(error, "here")
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        let expected = describe_type(&expected);
        let error = LabeledError::new(
            format!("expected {expected}, found {}", Found(found)),
            format!("write {expected}"),
        );
        Self::new(error, "found here")
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown_key(key, known), "unknown")
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown_value_error(word, known), "unknown")
    }

    fn missing_field(key: &'static str) -> Self {
        let error =
            LabeledError::new(format!("missing key `{key}`"), format!("add `{key}: …` to this mapping"));
        Self::new(error, format!("expected `{key}` in the mapping that begins here"))
    }
}

/// A value that was found, in the words of a YAML file.
struct Found<'a>(Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit => f.write_str("nothing"),
            Unexpected::Bool(value) => write!(f, "the boolean {value}"),
            Unexpected::Unsigned(value) => write!(f, "the number {value}"),
            Unexpected::Signed(value) => write!(f, "the number {value}"),
            Unexpected::Float(value) => write!(f, "the number {value}"),
            Unexpected::Str(text) => write!(f, "the text `{}`", shorten(&text.escape_debug().to_string())),
            Unexpected::Seq => f.write_str("a list"),
            Unexpected::Map => f.write_str("a mapping"),
            other => other.fmt(f),
        }
    }
}

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
        None if known.is_empty() => LabeledError::new(
            format!("unknown {kind} `{}`", word.escape_debug()),
            format!("remove it; this mapping has no {kind}s"),
        ),
        None => LabeledError::new(
            format!("unknown {kind} `{}`", word.escape_debug()),
            format!("{}expected one of {}", suggest_nearest(word, known.iter().copied()), known.join(", ")),
        ),
    }
}

/// Describes a Rust type for users.
fn describe_type(expected: &str) -> &str {
    match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "u64" => "a whole number from 0 to 18446744073709551615",
        "a boolean" => "true or false",
        "a string" => "a single value",
        "unit" => "no value",
        other => other,
    }
}
