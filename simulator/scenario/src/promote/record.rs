//! The serialized form of a recorded debate of another system.
//!
//! Unknown keys are ignored. Values are raw JSON, so no number passes through a float and each error has a place.

use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// A recorded debate.
#[derive(Deserialize)]
#[serde(expecting = "a recorded debate, an object with `debates` and `arguments`")]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) debates: Vec<DebateRow<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Vec<ArgumentRow<'a>>,
    #[serde(borrow, default)]
    pub(super) execution_traces: Vec<ExecutionRow<'a>>,
}

/// The place of a missing value: the start of the record.
pub(super) const START: (usize, usize) = (0, 0);

/// A debate.
#[derive(Deserialize)]
#[serde(expecting = "a debate, an object with `id` and `objective`")]
pub(super) struct DebateRow<'a> {
    #[serde(borrow)]
    pub(super) id: &'a RawValue,
    #[serde(borrow)]
    pub(super) objective: &'a RawValue,
    #[serde(borrow)]
    pub(super) consensus_decision: Option<&'a RawValue>,
}

/// An argument of a role.
#[derive(Deserialize)]
#[serde(expecting = "an argument, an object with `agent_name`, `is_pro`, `confidence_score` and `argument`")]
pub(super) struct ArgumentRow<'a> {
    #[serde(borrow)]
    pub(super) debate_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) agent_name: &'a RawValue,
    #[serde(borrow)]
    pub(super) argument: &'a RawValue,
    #[serde(borrow)]
    pub(super) is_pro: &'a RawValue,
    #[serde(borrow)]
    pub(super) confidence_score: &'a RawValue,
}

/// An executed step.
#[derive(Deserialize)]
#[serde(expecting = "an execution trace, an object with `step_name` and `status`")]
pub(super) struct ExecutionRow<'a> {
    #[serde(borrow)]
    pub(super) step_name: &'a RawValue,
    #[serde(borrow)]
    pub(super) output_data: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) status: &'a RawValue,
}

/// The source text of a record, which gives the places of values.
#[derive(Clone, Copy)]
pub(super) struct Places<'a>(pub(super) &'a Source);

impl<'a> Places<'a> {
    /// Parses the record.
    pub(super) fn record(self) -> Result<Record<'a>, ReadError> {
        let text = self.0.text();
        if text.starts_with("{\"format\":\"orchestrion-trace/") {
            return Err(ReadError::for_file(
                format!("{}: expected a recorded debate, found a trace", self.0.name()),
                "promote it without --from debate",
            ));
        }
        serde_json::from_str(text).map_err(|error| {
            let full = error.to_string();
            let sentence = full.rsplit_once(" at line ").map_or(full.as_str(), |(sentence, _)| sentence);
            let (message, help) = match error.classify() {
                Category::Data => (
                    format!("invalid recorded debate: {sentence}"),
                    "write `debates` with `id` and `objective`, and `arguments` with `debate_id`, `agent_name`, \
                     `is_pro`, `confidence_score` and `argument`",
                ),
                _ => (
                    format!("invalid JSON: {sentence}"),
                    "write the recorded debate as JSON; promote a trace without --from debate",
                ),
            };
            self.error(LabeledError::new(message, help).with_label(place(text, error.line(), error.column()), "here"))
        })
    }

    /// Adds the source of the record to an error.
    pub(super) fn error(self, error: LabeledError) -> ReadError {
        ReadError::in_source(self.0, error)
    }

    /// Returns the place of a value, from its address in the text.
    pub(super) fn of(self, value: &RawValue) -> Option<SourceSpan> {
        let start = value.get().as_ptr().addr().checked_sub(self.0.text().as_ptr().addr())?;
        Some(SourceSpan::new(start.into(), value.get().len()))
    }

    /// Returns a value as text.
    pub(super) fn text(self, value: &RawValue) -> Result<String, ReadError> {
        self.value(value, "a text", "put it in double quotes")
    }

    fn value<T: DeserializeOwned>(
        self,
        value: &RawValue,
        expected: &str,
        help: &str,
    ) -> Result<T, ReadError> {
        serde_json::from_str(value.get()).map_err(|_| {
            let error = LabeledError::new(format!("expected {expected}, found {}", kind(value)), help);
            self.error(error.with_label(self.of(value), format!("not {expected}")))
        })
    }

    /// Returns a value as a boolean; databases write 1 and 0.
    pub(super) fn flag(self, value: &RawValue) -> Result<bool, ReadError> {
        match value.get() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => {
                let error = LabeledError::new(
                    format!("expected a boolean, found {}", value.get().escape_debug()),
                    "write 1 or true for an argument for the plan, 0 or false against it",
                );
                Err(self.error(error.with_label(self.of(value), "not a boolean")))
            }
        }
    }
}

fn kind(value: &RawValue) -> &'static str {
    match value.get().bytes().next() {
        Some(b'"') => "a text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Returns the place of a line and a byte column, both from 1; column 0 is the end of the previous line.
fn place(text: &str, line: usize, column: usize) -> SourceSpan {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let start = before.saturating_add(column).saturating_sub(1);
    SourceSpan::new(start.into(), 1)
}
