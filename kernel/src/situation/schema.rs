//! The summary update for which a call asks (002, "LLM Schema Extension").

use super::SummaryField;
use alloc::vec::Vec;

/// The summary update for which a call asks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SummarySchema {
    /// The fields, in the document's order. A reply may update any of them.
    pub fields: Vec<FieldSchema>,
}

/// A field for which a call asks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FieldSchema {
    /// The field, by its key in the update.
    pub name: SummaryField,
    /// The question that its text answers.
    pub question: &'static str,
    /// The maximum number of characters of its text. A longer text is truncated.
    pub chars_max: u32,
}

impl SummarySchema {
    pub(crate) fn new(chars_max: u32) -> Self {
        let field = |name: SummaryField| FieldSchema { name, question: name.question(), chars_max };
        Self { fields: SummaryField::ALL.into_iter().map(field).collect() }
    }
}
