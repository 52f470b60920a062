//! Conditions on one field.

use crate::fields::{Field, FieldKind, Moment};
use crate::format::ConditionFormat;
use crate::value::{KeptValue, Value};
use miette::SourceSpan;
use orchestrion_kernel::{Score, Text};
use orchestrion_yaml::{LabeledError, Spanned, suggest_nearest};

/// A field and what its value must be. A condition on a field without a value does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) field: &'static Field,
    pub(crate) tests: Vec<Test>,
}

/// A test of a value.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// It is one of these.
    OneOf(Vec<KeptValue>),
    /// It is none of these.
    NoneOf(Vec<KeptValue>),
    /// It is at least this.
    AtLeast(i64),
    /// It is at most this.
    AtMost(i64),
    /// The text contains this.
    Contains(String),
    /// The text starts with this.
    StartsWith(String),
}

impl Condition {
    /// Whether the condition holds at an event.
    pub(crate) fn holds(&self, moment: &Moment<'_>) -> bool {
        (self.field.read)(moment).is_some_and(|value| self.tests.iter().all(|test| test.holds(value)))
    }

    /// Builds the condition of a field.
    pub(crate) fn build(
        field: &'static Field,
        name: &Spanned<String>,
        condition: &Spanned<ConditionFormat>,
    ) -> Result<Self, LabeledError> {
        let span = condition.span();
        let mut tests = Vec::new();
        match &condition.value {
            ConditionFormat::OneOf(values) => tests.push(Test::OneOf(values_of(field, values, span)?)),
            ConditionFormat::Operators(operators) => {
                if let Some(not) = &operators.not {
                    let ConditionFormat::OneOf(values) = &not.value else {
                        let error = LabeledError::new(
                            "expected a value or a list of values after `not`, found a mapping",
                            "exclude values with `not: [a, b]`; turn a bound around instead",
                        );
                        return Err(error.with_label(not.span(), "a mapping"));
                    };
                    tests.push(Test::NoneOf(values_of(field, values, not.span())?));
                }
                for (bound, test) in [
                    (&operators.at_least, Test::AtLeast as fn(i64) -> Test),
                    (&operators.at_most, Test::AtMost),
                ] {
                    if let Some(bound) = bound {
                        tests.push(test(number(field, bound, bound.span())?));
                    }
                }
                for (part, test) in [
                    (&operators.contains, Test::Contains as fn(String) -> Test),
                    (&operators.starts_with, Test::StartsWith),
                ] {
                    if let Some(part) = part {
                        if !matches!(field.kind, FieldKind::Text) {
                            return Err(wrong_kind(field, "no text", part.span()));
                        }
                        tests.push(test(part.value.clone()));
                    }
                }
                if tests.is_empty() {
                    let error = LabeledError::new(
                        format!("expected a comparison of `{}`, found none", field.name),
                        "write a value, or one of not, at_least, at_most, contains, starts_with",
                    );
                    return Err(error.with_label(name.span(), "no comparison"));
                }
            }
        }
        Ok(Self { field, tests })
    }
}

impl Test {
    fn holds(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::OneOf(values), value) => values.iter().any(|known| is_equal(known, value)),
            (Self::NoneOf(values), value) => !values.iter().any(|known| is_equal(known, value)),
            (Self::AtLeast(least), Value::Number(number)) => number >= *least,
            (Self::AtMost(most), Value::Number(number)) => number <= *most,
            (Self::Contains(part), Value::Text(text)) => text.contains(part.as_str()),
            (Self::StartsWith(part), Value::Text(text)) => text.starts_with(part.as_str()),
            // `build` refuses these.
            (Self::AtLeast(_) | Self::AtMost(_), Value::Flag(_) | Value::Name(_) | Value::Text(_))
            | (Self::Contains(_) | Self::StartsWith(_), Value::Flag(_) | Value::Number(_) | Value::Name(_)) => {
                false
            }
        }
    }
}

fn is_equal(known: &KeptValue, value: Value<'_>) -> bool {
    match (known, value) {
        (KeptValue::Flag(known), Value::Flag(flag)) => *known == flag,
        (KeptValue::Number(known), Value::Number(number)) => *known == number,
        // Both are of the same list of names.
        (KeptValue::Name(known), Value::Name(name)) => *known == name,
        (KeptValue::Text(known), Value::Text(text)) => known.as_str() == text,
        (
            KeptValue::Absent
            | KeptValue::Flag(_)
            | KeptValue::Number(_)
            | KeptValue::Name(_)
            | KeptValue::Text(_),
            _,
        ) => false,
    }
}

fn values_of(
    field: &'static Field,
    values: &[Spanned<String>],
    span: Option<SourceSpan>,
) -> Result<Vec<KeptValue>, LabeledError> {
    if values.is_empty() {
        let error = LabeledError::new(
            format!("expected at least one value of `{}`, found an empty list", field.name),
            "list the values, or remove the condition",
        );
        return Err(error.with_label(span, "empty"));
    }
    values.iter().map(|value| value_of(field, value, value.span().or(span))).collect()
}

fn value_of(
    field: &'static Field,
    text: &Spanned<String>,
    span: Option<SourceSpan>,
) -> Result<KeptValue, LabeledError> {
    match field.kind {
        FieldKind::Flag => match text.value.as_str() {
            "true" => Ok(KeptValue::Flag(true)),
            "false" => Ok(KeptValue::Flag(false)),
            _ => Err(wrong_kind(field, "neither true nor false", span)),
        },
        FieldKind::Number | FieldKind::Score => Ok(KeptValue::Number(number(field, text, span)?)),
        FieldKind::Text => Ok(KeptValue::Text(Text::from(text.value.as_str()))),
        FieldKind::Name(names) => {
            let names = names();
            let known = names.iter().find(|name| **name == text.value).copied();
            known.map(KeptValue::Name).ok_or_else(|| {
                let near = suggest_nearest(&text.value, names.iter().copied());
                LabeledError::new(
                    format!("unknown value `{}` of `{}`", text.value.escape_debug(), field.name),
                    format!("{near}expected one of {}", names.join(", ")),
                )
                .with_label(span, "unknown")
            })
        }
    }
}

/// Reads a number in the unit of a field.
pub(crate) fn number(
    field: &'static Field,
    text: &Spanned<String>,
    span: Option<SourceSpan>,
) -> Result<i64, LabeledError> {
    match field.kind {
        FieldKind::Number => text.value.parse().map_err(|_| wrong_kind(field, "no whole number", span)),
        FieldKind::Score => {
            let score = Score::from_decimal(&text.value);
            score.map(|score| i64::from(score.millionths())).map_err(|_| wrong_kind(field, "no score", span))
        }
        FieldKind::Flag | FieldKind::Name(_) | FieldKind::Text => {
            Err(wrong_kind(field, "no comparison of order", span))
        }
    }
}

fn wrong_kind(field: &Field, label: &str, span: Option<SourceSpan>) -> LabeledError {
    LabeledError::new(
        format!("wrong condition on `{}`", field.name),
        format!("`{}` is {}", field.name, field.kind.describe()),
    )
    .with_label(span, label)
}
