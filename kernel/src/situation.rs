//! The situation summary (002): five texts that modules update with their replies.
//!
//! Updates are merged by field. Action records are kept for diagnosis. Contexts are built from both. Deliberately absent:
//! interpretation of the texts, and compression of single tool calls or iterations, which the summary replaces.

mod action;
mod context;
mod schema;
mod state_mapping;

pub use action::{ActionRecord, Mode, ToolCall, ToolOutcome};
pub use context::{
    NO_ATTEMPTS, NO_CONTEXT, NO_RESULTS, build_reasoning_context, compress_actions,
    format_actions_for_fast_mode, format_latest_results_detailed, get_compressed_attempts, has_content,
};
pub use schema::{FieldSchema, SummarySchema};
pub use state_mapping::{FieldMapping, OBSOLETE_KEYS, STATE_FIELDS, StateField};

use crate::ids::Text;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

/// One of the five fields of the summary; their order is that of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SummaryField {
    /// What the request is to achieve.
    Goal,
    /// What is done so far.
    Progress,
    /// The strategy in use.
    CurrentApproach,
    /// The findings that matter.
    KeyFindings,
    /// What comes next.
    NextFocus,
}

impl SummaryField {
    /// Every field, in the document's order.
    pub const ALL: [Self; 5] =
        [Self::Goal, Self::Progress, Self::CurrentApproach, Self::KeyFindings, Self::NextFocus];

    /// Returns the field's key in the document.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Progress => "progress",
            Self::CurrentApproach => "current_approach",
            Self::KeyFindings => "key_findings",
            Self::NextFocus => "next_focus",
        }
    }

    /// Returns the question that the field's text answers, in calls and in schemas (002, "LLM Schema Extension").
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Goal => "What is the request to achieve?",
            Self::Progress => "What is done so far?",
            Self::CurrentApproach => "Which strategy is in use?",
            Self::KeyFindings => "Which findings matter for the request?",
            Self::NextFocus => "What comes next?",
        }
    }
}

impl fmt::Display for SummaryField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A module's update of the summary: texts by key, unfiltered (002, "LLM Schema Extension").
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct SummaryUpdate(pub BTreeMap<String, Text>);

impl SummaryUpdate {
    /// Returns the changed fields, in the document's order, each truncated to this number of characters. Unknown keys and blank
    /// values are ignored; other values are not trimmed.
    pub fn changes(&self, chars_max: u32) -> impl Iterator<Item = (SummaryField, Text)> {
        let value = move |field: SummaryField| Some((field, truncate(self.0.get(field.name())?, chars_max)));
        SummaryField::ALL.into_iter().filter_map(value).filter(|(_, text)| !is_blank(text.as_str()))
    }
}

/// The five texts of the summary. A field without an update is empty; no other field is blank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SituationSummary(BTreeMap<SummaryField, Text>);

impl SituationSummary {
    /// Returns the text of a field; empty before its first update.
    #[must_use]
    pub fn get(&self, field: SummaryField) -> &str {
        self.0.get(&field).map_or("", Text::as_str)
    }

    /// Returns the fields that have a text, in the document's order.
    pub fn fields(&self) -> impl Iterator<Item = (SummaryField, &Text)> {
        self.0.iter().map(|(field, text)| (*field, text))
    }

    /// Merges an update, with texts of at most this number of characters (002, "State Update Logic").
    pub fn merge(&mut self, update: &SummaryUpdate, chars_max: u32) {
        self.extend(update.changes(chars_max));
    }
}

impl Extend<(SummaryField, Text)> for SituationSummary {
    fn extend<T: IntoIterator<Item = (SummaryField, Text)>>(&mut self, texts: T) {
        self.0.extend(texts.into_iter().filter(|(_, text)| !is_blank(text.as_str())));
    }
}

impl FromIterator<(SummaryField, Text)> for SituationSummary {
    fn from_iter<T: IntoIterator<Item = (SummaryField, Text)>>(texts: T) -> Self {
        let mut summary = Self::default();
        summary.extend(texts);
        summary
    }
}

/// Returns whether the document's `strip` yields an empty text. Unlike Unicode, it treats the four information separators as
/// white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}

/// Returns the text, truncated to this number of characters without a marker. A character is a Unicode scalar value.
fn truncate(text: &Text, chars_max: u32) -> Text {
    truncated_len(text.as_str(), chars_max)
        .and_then(|len| text.as_str().get(..len))
        .map_or_else(|| text.clone(), Text::from)
}

/// Returns the length in bytes of the first characters of a text; `None` if it has no more.
fn truncated_len(text: &str, chars_max: u32) -> Option<usize> {
    let chars_max = usize::try_from(chars_max).unwrap_or(usize::MAX);
    text.char_indices().nth(chars_max).map(|(len_bytes, _)| len_bytes)
}
