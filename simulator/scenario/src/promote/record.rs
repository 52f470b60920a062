//! A recorded debate as it stands in its file, with the place of every value.
//!
//! The record is somebody else's: what it has beside these keys is no concern of ours. Values are kept as the
//! text that stands there, so that no number passes through a float, and an error can point at it.

use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The record.
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

/// The place of what is missing: the beginning of the record.
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

/// What a role said.
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

/// A step that was run.
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

/// A record's text, in which places are looked up.
#[derive(Clone, Copy)]
pub(super) struct Places<'a>(pub(super) &'a Source);

impl<'a> Places<'a> {
    /// Reads the record.
    pub(super) fn record(self) -> Result<Record<'a>, ReadError> {
        let text = self.0.text();
        if text.starts_with("{\"format\":\"orchestrion-trace/") {
            return Err(ReadError::for_file(
                format!("{}: this is a trace, no recorded debate", self.0.name()),
                "promote it without --as debate",
            ));
        }
        serde_json::from_str(text).map_err(|error| {
            let full = error.to_string();
            let sentence = full.rsplit_once(" at line ").map_or(full.as_str(), |(sentence, _)| sentence);
            let (message, help) = match error.classify() {
                Category::Data => (
                    format!("this is no recorded debate: {sentence}"),
                    "write `debates` with `id` and `objective`, and `arguments` with `debate_id`, `agent_name`, \
                     `is_pro`, `confidence_score` and `argument`",
                ),
                _ => (
                    format!("this is no JSON: {sentence}"),
                    "give a recorded debate as JSON; a trace is promoted without --as debate",
                ),
            };
            self.error(LabeledError::new(message, help).at(place(text, error.line(), error.column()), "here"))
        })
    }

    /// The fault, drawn in the record.
    pub(super) fn error(self, fault: LabeledError) -> ReadError {
        ReadError::in_source(self.0, fault)
    }

    /// Where a value of this record stands. A value borrows from the text, so its address tells.
    pub(super) fn of(self, value: &RawValue) -> Option<SourceSpan> {
        let start = value.get().as_ptr().addr().checked_sub(self.0.text().as_ptr().addr())?;
        Some(SourceSpan::new(start.into(), value.get().len()))
    }

    /// A value as text.
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
            let fault = LabeledError::new(format!("expected {expected}, found {}", kind(value)), help);
            self.error(fault.at(self.of(value), format!("not {expected}")))
        })
    }

    /// A value as yes or no: databases write 1 and 0.
    pub(super) fn flag(self, value: &RawValue) -> Result<bool, ReadError> {
        match value.get() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => {
                let fault = LabeledError::new(
                    "expected whether the argument is for the plan",
                    "write 1 or true, 0 or false",
                );
                Err(self.error(fault.at(self.of(value), "neither yes nor no")))
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

/// The byte at a line and a column in bytes, both from 1; a column of 0 is the end of the line before.
fn place(text: &str, line: usize, column: usize) -> SourceSpan {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let start = before.saturating_add(column).saturating_sub(1);
    SourceSpan::new(start.into(), 1)
}
