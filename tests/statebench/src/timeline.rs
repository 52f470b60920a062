//! The file format of a timeline, without its ground truth, its id and its track.

use crate::time;
use orchestrion_ingest::Speaker;
use orchestrion_ingest::source::SourceLabel;
use orchestrion_kernel::Timestamp;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;
use std::collections::BTreeMap;

/// An initial state and the events after it.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The initial state.
    pub initial: InitialState,
    /// The events in order, independent of their times.
    pub events: Vec<Event>,
}

/// The initial state.
#[derive(Clone, Debug)]
pub struct InitialState {
    /// The session user.
    pub identity_role: IdentityRecord,
    /// The facts.
    pub persistent_facts: Vec<WriteRecord>,
    /// The notes.
    pub working_set: Vec<NoteRecord>,
    /// The signals; `now` is the clock.
    pub environment: BTreeMap<String, AnyText>,
    /// The names of unknown layers.
    pub unknown_layers: Vec<String>,
}

/// The session user.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with user_name and authority")]
pub struct IdentityRecord {
    /// The name.
    pub user_name: String,
    /// The title, or a rank.
    pub authority: String,
    /// The department.
    #[serde(default, deserialize_with = "or_default")]
    pub department: String,
    /// The organization.
    #[serde(default, deserialize_with = "or_default")]
    pub organization: String,
    /// The grants by name.
    #[serde(default, deserialize_with = "or_default")]
    pub permissions: Vec<String>,
}

/// A note of the initial working set.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with content")]
pub struct NoteRecord {
    /// The text.
    pub content: String,
    /// The time.
    pub ts: Option<Time>,
    /// The time of expiry.
    pub expires_at: Option<Time>,
    /// The kind of the scope.
    #[serde(default = "global")]
    pub scope: String,
    /// The name of the scope.
    pub scope_id: Option<String>,
    /// Whether the note is valid.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// The id or key of the successor.
    pub superseded_by: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// A write to a layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with key and value")]
pub struct WriteRecord {
    /// The id that references may use; not unique.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The layer.
    #[serde(default = "persistent")]
    pub layer: String,
    /// The key, trimmed.
    #[serde(deserialize_with = "trimmed")]
    pub key: String,
    /// The text.
    pub value: AnyText,
    /// The source.
    #[serde(default, deserialize_with = "source")]
    pub source: SourceLabel,
    /// The time; `None` for the time of the event.
    #[serde(alias = "timestamp")]
    pub ts: Option<Time>,
    /// The kind of the scope.
    #[serde(default = "global")]
    pub scope: String,
    /// The name of the scope.
    pub scope_id: Option<String>,
    /// The memory type; `None` for that of the source.
    pub memory_type: Option<String>,
    /// The id or key of the superseded fact.
    pub supersedes: Option<String>,
    /// The id or key of the successor.
    pub superseded_by: Option<String>,
    /// Whether the item is valid.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// The ids or keys of the dependencies.
    #[serde(default, deserialize_with = "or_default")]
    pub depends_on: Vec<String>,
    /// The ids or keys of the dependents.
    #[serde(default, deserialize_with = "or_default")]
    pub derived_facts: Vec<String>,
    /// Whether the fact needs review.
    #[serde(default)]
    pub needs_review: bool,
    /// Whether the later of two times counts; `None` to detect this in the text.
    pub time_sensitive: Option<bool>,
    /// Whether the fact is a constraint.
    #[serde(default)]
    pub is_constraint: bool,
    /// The kind of the constraint.
    pub constraint_type: Option<String>,
    /// The time of expiry.
    pub expires_at: Option<Time>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// The fields of scope and validity that every record has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidityFields<'a> {
    pub(crate) scope: &'a str,
    pub(crate) scope_id: Option<&'a str>,
    is_valid: bool,
    superseded_by: Option<&'a str>,
}

impl ValidityFields<'_> {
    /// Whether the record marks itself as invalid or superseded.
    pub(crate) fn is_withdrawn(&self) -> bool {
        !self.is_valid || self.superseded_by.is_some_and(|by| !by.is_empty())
    }
}

macro_rules! validity_fields {
    ($($record:ty),+) => {$(
        impl $record {
            /// The fields of scope and validity.
            pub(crate) fn validity_fields(&self) -> ValidityFields<'_> {
                ValidityFields {
                    scope: &self.scope,
                    scope_id: self.scope_id.as_deref(),
                    is_valid: self.is_valid,
                    superseded_by: self.superseded_by.as_deref(),
                }
            }
        }
    )+};
}

validity_fields!(WriteRecord, NoteRecord, TurnRecord);

/// An event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A turn of the conversation.
    Turn(TurnRecord),
    /// Writes.
    Writes {
        /// The time.
        at: Time,
        /// The writes.
        writes: Vec<WriteRecord>,
    },
    /// A query that needs a context.
    Query {
        /// The time.
        at: Time,
        /// The query.
        prompt: String,
    },
}

impl Event {
    /// The time.
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Turn(turn) => turn.at.0,
            Self::Writes { at, .. } | Self::Query { at, .. } => at.0,
        }
    }
}

/// A turn of the conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with ts, speaker and text")]
pub struct TurnRecord {
    /// The time.
    #[serde(rename = "ts")]
    pub at: Time,
    /// The speaker.
    #[serde(with = "SpeakerName")]
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// The kind of the scope.
    #[serde(default = "global")]
    pub scope: String,
    /// The name of the scope.
    pub scope_id: Option<String>,
    /// Whether the turn is valid.
    #[serde(default = "yes")]
    pub is_valid: bool,
    /// The id or key of the successor.
    pub superseded_by: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// The names of the speakers.
#[derive(Deserialize)]
#[serde(remote = "Speaker", rename_all = "snake_case")]
enum SpeakerName {
    User,
    Assistant,
}

/// A time in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Timestamp);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        time::parse(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid time: expected one from 1970 on, such as 2025-11-25T12:00:00, found `{text}`"
            ))
        })
    }
}

/// A text; any other JSON value in its JSON form (003: `value: any`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyText(pub String);

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Null => "None".to_string(),
            other => other.to_string(),
        }))
    }
}

/// Deserializes a source: an object with type and authority, or one word for both (003 `source: string`).
fn source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SourceLabel, D::Error> {
    #[derive(Deserialize)]
    #[serde(expecting = "a word, or an object with type and authority")]
    struct Fields {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default, deserialize_with = "or_default")]
        authority: String,
    }
    match Value::deserialize(deserializer)? {
        Value::String(word) => Ok(SourceLabel::from_word(&word)),
        other => {
            let Fields { kind, authority } = Fields::deserialize(other).map_err(de::Error::custom)?;
            let authority = if authority.is_empty() { kind.clone() } else { authority };
            Ok(SourceLabel { kind, authority })
        }
    }
}

/// Deserializes `null` as the default value.
pub(crate) fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn trimmed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|text| text.trim().to_string())
}

fn persistent() -> String {
    "persistent_facts".to_string()
}

fn global() -> String {
    "global".to_string()
}

const fn yes() -> bool {
    true
}
