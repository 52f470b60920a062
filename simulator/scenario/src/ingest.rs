//! Texts in a scenario file or from a host, from which facts are derived (decision 0032).

use crate::timestamp::TimeText;
use orchestrion_ingest::{KeywordDetector, SourceText, derive_writes};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::{Policy, State, Text};
use orchestrion_yaml::{ReadError, Source, StrictText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text from which facts are derived: the fact that it states under a key, or the facts that it supersedes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IngestFile {
    /// The text. Default: the text of the request, in a scenario only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<StrictText>,
    /// The key of the fact that the text states. Default: the keys of the facts that the text supersedes by its wording and values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<StrictText>,
    /// The source of the text, which also determines the memory of the facts. Default: the session user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StrictText>,
    /// The time of the text. Default: the time of its writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub established_at: Option<TimeText>,
}

impl IngestFile {
    /// Returns the text with its source. `request_text` is the text of the request.
    pub(crate) fn to_source_text(&self, request_text: &Text) -> SourceText {
        SourceText {
            text: self.text.as_ref().map_or_else(|| request_text.clone(), StrictText::text),
            key: self.key.as_ref().map(StrictText::text),
            source: self.source.as_ref().map(StrictText::text),
            established_at: self.established_at.map(|at| at.0),
        }
    }
}

/// Parses a text with its source from a host.
///
/// # Errors
/// The place and what was expected, as a sentence.
pub fn parse_ingest(text: &str) -> Result<SourceText, String> {
    let parsed = Source::from_text("the text", text).and_then(|source| source.parse::<IngestFile>());
    let file = parsed.map_err(|error: ReadError| format!("{error}; {}", error.help_text()))?;
    match &file.text {
        Some(text) => Ok(file.to_source_text(&text.text())),
        None => Err("expected `text`, found none; a host sends the text".to_owned()),
    }
}

/// Returns the writes of the facts that a text states in this state.
#[must_use]
pub fn ingest(policy: &Policy, state: &State, text: &SourceText) -> Vec<Write> {
    derive_writes(&KeywordDetector, policy, state, text)
}
