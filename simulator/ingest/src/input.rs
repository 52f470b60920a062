//! Typed inputs of a [`Session`](crate::Session): facts, signals, notes and turns with parsed texts.

use crate::conversation::Speaker;
use crate::source::SourceLabel;
use crate::tagged_text::TaggedText;
use orchestrion_kernel::Timestamp;
use orchestrion_kernel::item::{MemoryType, Scope};
use orchestrion_kernel::knowledge::FactKind;

/// A persistent fact (003 layer 2). References are ids or keys; neither is unique.
#[derive(Clone, Debug)]
pub struct FactInput {
    /// The id that references may use; empty without one.
    pub id: String,
    /// The key.
    pub key: String,
    /// The text.
    pub text: TaggedText,
    /// A fact or a constraint.
    pub kind: FactKind,
    /// The source.
    pub source: SourceLabel,
    /// The memory type; `None` for the memory type of the source.
    pub memory: Option<MemoryType>,
    /// The scope.
    pub scope: Scope,
    /// The time of the fact.
    pub established_at: Timestamp,
    /// The time from which the fact is invalid.
    pub expires_at: Option<Timestamp>,
    /// Whether the later of two times counts; `None` to detect this in key and text.
    pub time_sensitive: Option<bool>,
    /// A reference to the superseded fact.
    pub supersedes: Option<String>,
    /// A reference to the successor.
    pub superseded_by: Option<String>,
    /// References to dependencies.
    pub depends_on: Vec<String>,
    /// References to dependents. A later write may define them.
    pub derived_facts: Vec<String>,
    /// Whether the fact is valid by its own record.
    pub is_valid: bool,
    /// Whether the fact needs review by its own record.
    pub needs_review: bool,
    /// Whether the fact is written in this session rather than known before.
    pub is_from_session: bool,
}

impl FactInput {
    /// Creates a valid fact of this session in the scope of its text, without id, expiry and references.
    #[must_use]
    pub fn new(key: &str, text: &str, source: SourceLabel, at: Timestamp) -> Self {
        let text = TaggedText::parse(text);
        Self {
            id: String::new(),
            key: key.to_string(),
            kind: FactKind::Fact,
            source,
            memory: None,
            scope: text.scope.clone().unwrap_or_default(),
            established_at: at,
            expires_at: None,
            time_sensitive: None,
            supersedes: None,
            superseded_by: None,
            depends_on: Vec::new(),
            derived_facts: Vec::new(),
            is_valid: true,
            needs_review: false,
            is_from_session: true,
            text,
        }
    }

    /// Whether the record marks its fact as invalid or superseded.
    pub(crate) fn is_withdrawn(&self) -> bool {
        !self.is_valid || self.superseded_by.as_ref().is_some_and(|by| !by.is_empty())
    }
}

/// A signal from the environment (003 layer 4).
#[derive(Clone, Debug)]
pub struct SignalInput {
    /// The key.
    pub key: String,
    /// The text.
    pub text: TaggedText,
    /// The time of the signal.
    pub at: Timestamp,
    /// The time from which the signal is invalid.
    pub expires_at: Option<Timestamp>,
}

/// A note in the working set (003 layer 3).
#[derive(Clone, Debug)]
pub struct NoteInput {
    /// The key.
    pub key: String,
    /// The text.
    pub text: TaggedText,
    /// The time of the note.
    pub at: Timestamp,
    /// The time from which the note is invalid.
    pub expires_at: Option<Timestamp>,
}

/// A turn of the conversation.
#[derive(Clone, Debug)]
pub struct TurnInput {
    /// The speaker.
    pub speaker: Speaker,
    /// The text.
    pub text: TaggedText,
    /// The time of the turn.
    pub at: Timestamp,
}
