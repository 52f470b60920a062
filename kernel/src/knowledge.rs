//! What is written into the semantic state by name, and what may be read from it (003).
//!
//! [`decide_write`] says what a write means: which item it adds or overwrites, what it supersedes and by which rule, and what
//! must be looked at again for that. Like `decide` it only reads; [`Semantic::apply`] writes the events. [`Reader`] says who
//! reads, and the reads leave out what is not for them.

pub mod compaction;
mod error;
mod read;
mod write;

pub use error::{KnowledgeError, validate_event};
pub use read::Principal;
pub use write::decide_write;

use crate::ids::{ItemId, Text, Timestamp};
use crate::item::{
    Audience, ConstraintType, FactSource, Identity, ItemKey, ItemKind, Layer, MemoryType, Scope,
    SupersessionRule, Validity,
};
use crate::semantic::{Entry, SemanticState};
use crate::situation::SituationSummary;
use alloc::vec::Vec;
use core::fmt;

/// Something to be written. Texts, ranks, times and what was detected in the text are the border's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Write {
    /// Who speaks (003 layer 1); once a session.
    Identity {
        /// The user's name.
        name: Text,
        /// Who that is.
        identity: Identity,
    },
    /// A persistent fact (003 layer 2).
    Fact(NewFact),
    /// An item of the session's working set (003 layer 3). One of the same key is overwritten.
    Working {
        /// What it speaks of.
        key: Text,
        /// What it says.
        text: Text,
        /// When it expires, if ever.
        expires_at: Option<Timestamp>,
        /// What it rests on.
        rests_on: Vec<Reference>,
    },
    /// A signal from outside (003 layer 4). One of the same key is overwritten.
    Environment {
        /// What it speaks of.
        key: Text,
        /// What it says.
        text: Text,
        /// An older signal on the same matter, under another key.
        supersedes: Option<Reference>,
    },
    /// What time it is (003 layer 4). What expires by it is forgotten.
    Clock {
        /// The moment; never an earlier one than before.
        now: Timestamp,
        /// How it is said.
        text: Text,
    },
}

impl Write {
    /// Whether it is about the session, and so needs one.
    #[must_use]
    pub fn requires_session(&self) -> bool {
        match self {
            Self::Identity { .. } | Self::Working { .. } => true,
            Self::Fact(new) => new.scope == Scope::Session,
            Self::Environment { .. } | Self::Clock { .. } => false,
        }
    }
}

/// A fact to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewFact {
    /// A fact or a constraint.
    pub kind: FactKind,
    /// What it speaks of.
    pub key: Text,
    /// What it says.
    pub text: Text,
    /// Where it comes from.
    pub source: FactSource,
    /// When it was established.
    pub established_at: Timestamp,
    /// Which memory it belongs to.
    pub memory: MemoryType,
    /// Where it counts.
    pub scope: Scope,
    /// Who may see it.
    pub audience: Audience,
    /// Whether its time tells which of two is later.
    pub time_sensitive: bool,
    /// What it is to take the place of.
    pub supersedes: Option<Reference>,
    /// The rule by which that was detected; nothing if it was said with the write (003 rule 1).
    pub detected_rule: Option<SupersessionRule>,
    /// What it rests on.
    pub depends_on: Vec<Reference>,
}

impl NewFact {
    /// A fact of the user's memory that counts everywhere, for everybody, from the beginning of time, and names nothing.
    #[must_use]
    pub const fn global(key: Text, text: Text, source: FactSource) -> Self {
        Self {
            kind: FactKind::Fact,
            key,
            text,
            source,
            established_at: Timestamp::from_millis(0),
            memory: MemoryType::User,
            scope: Scope::Global,
            audience: Audience::Everybody,
            time_sensitive: false,
            supersedes: None,
            detected_rule: None,
            depends_on: Vec::new(),
        }
    }
}

/// What is named by an item that is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reference {
    /// The item with this id.
    Id(ItemId),
    /// The latest valid fact, or else the latest fact, of this key; for signals, the signal.
    Key(Text),
}

/// Which items a fact may be (000 §2.1); subtasks come with plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum FactKind {
    /// Something known.
    Fact,
    /// Something to be kept to (003 `is_constraint`).
    Constraint(Option<ConstraintType>),
}

impl From<FactKind> for ItemKind {
    fn from(kind: FactKind) -> Self {
        match kind {
            FactKind::Fact => Self::Fact,
            FactKind::Constraint(of) => Self::Constraint(of),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "item {id}"),
            Self::Key(key) => write!(f, "`{key}`"),
        }
    }
}

impl SemanticState {
    /// What time it is; the beginning of 1970 before anybody said.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self.latest_by_key(&ItemKey::Clock).map(|entry| &entry.item.layer) {
            Some(Layer::Clock { now }) => *now,
            _ => Timestamp::default(),
        }
    }

    /// Who speaks, if that was said.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        match &self.latest_by_key(&ItemKey::Identity)?.item.layer {
            Layer::Identity(identity) => Some(identity),
            _ => None,
        }
    }

    /// Where things stand, as far as a module said (002 `situation_summary`).
    #[must_use]
    pub fn situation(&self) -> SituationSummary {
        self.situation_fields().collect()
    }

    /// What stands in the place of an item now: itself, or what superseded it, or what superseded that (003
    /// `get_current_value`). Nothing if that was forgotten.
    #[must_use]
    pub fn current_version(&self, id: ItemId) -> Option<&Entry> {
        let mut entry = self.get(id)?;
        // No chain is longer than there are items, and none has a loop unless somebody forged the log.
        for _ in 0..self.len() {
            match entry.item.validity {
                Validity::Superseded { superseded_by: by, .. } => entry = self.get(by?)?,
                _ => return Some(entry),
            }
        }
        None
    }
}
