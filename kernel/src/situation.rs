//! The situation summary (002): five texts in which a model says, again and again, where things stand.
//!
//! The summary is merged from what a model says, field by field; action records are kept beside it for whoever looks
//! for a mistake; the contexts are written from both. Deliberately absent: any judgement on what a text says, and
//! compression of single tools or iterations, which the summary replaces.

mod action;
mod context;
mod state_mapping;

pub use action::{ActionRecord, Mode, StoredResult, ToolCall, ToolOutcome};
pub use context::{
    HISTORY_ACTIONS, NO_ATTEMPTS, NO_CONTEXT, NO_RESULTS, build_reasoning_context, compress_actions,
    format_actions_for_fast_mode, format_latest_results_detailed, get_compressed_attempts, has_content,
};
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
    /// What is the main objective?
    Goal,
    /// What has been accomplished so far?
    Progress,
    /// What strategy is used?
    CurrentApproach,
    /// What important information was discovered?
    KeyFindings,
    /// What should be the next priority?
    NextFocus,
}

impl SummaryField {
    /// Every field, in the document's order.
    pub const ALL: [Self; 5] =
        [Self::Goal, Self::Progress, Self::CurrentApproach, Self::KeyFindings, Self::NextFocus];

    /// The field's key in the document.
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

    /// The question that it answers, as a model is asked it (002, "LLM Schema Extension").
    #[must_use]
    pub const fn question(self) -> &'static str {
        match self {
            Self::Goal => "What is the main objective?",
            Self::Progress => "What has been accomplished so far?",
            Self::CurrentApproach => "What strategy are we using?",
            Self::KeyFindings => "What important information have we discovered?",
            Self::NextFocus => "What should be the next priority?",
        }
    }
}

impl fmt::Display for SummaryField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a model says of the situation: texts by key, as they came (002, "LLM Schema Extension").
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct SummaryUpdate(pub BTreeMap<String, Text>);

impl SummaryUpdate {
    /// What the update changes, in the document's order. Keys that the summary does not have, and blank values, change
    /// nothing; every other value counts as it came, with the space around it.
    pub fn changes(&self) -> impl Iterator<Item = (SummaryField, &Text)> {
        let value = |field: SummaryField| Some((field, self.0.get(field.name())?));
        SummaryField::ALL.into_iter().filter_map(value).filter(|(_, text)| !is_blank(text.as_str()))
    }
}

/// The five texts. A field of which nothing was said yet is empty; none is ever blank otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SituationSummary(BTreeMap<SummaryField, Text>);

impl SituationSummary {
    /// What the field says; empty if nothing was said yet.
    #[must_use]
    pub fn get(&self, field: SummaryField) -> &str {
        self.0.get(&field).map_or("", Text::as_str)
    }

    /// The fields of which something was said, in the document's order.
    pub fn said(&self) -> impl Iterator<Item = (SummaryField, &Text)> {
        self.0.iter().map(|(field, text)| (*field, text))
    }

    /// Takes over what an update changes (002, "State Update Logic").
    pub fn merge(&mut self, update: &SummaryUpdate) {
        self.extend(update.changes().map(|(field, text)| (field, text.clone())));
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

/// Whether the document's `strip` leaves nothing. It takes the four information separators for space, which Unicode does
/// not.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'))
}
