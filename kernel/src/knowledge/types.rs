//! Writes: the facts, session items and signals that a caller adds to the semantic state (003).

use crate::ids::{ItemId, Text, Timestamp};
use crate::item::{
    Audience, ConstraintType, Derivation, ItemKind, MemoryType, Rank, Scope, SupersessionRule,
};
use alloc::vec::Vec;
use core::fmt;

/// A write to the semantic state. The boundary supplies texts, sources and times, and detects supersession wording.
///
/// ```
/// use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
/// use orchestrion_kernel::{ConversationId, Input, Policy, State, Timestamp, decide};
///
/// let source = WriteSource::declared("finance_system".into());
/// let write = Write::Fact(NewFact::global("price".into(), "$100".into(), source));
/// let mut state = State::new(ConversationId::new("demo"));
/// for event in decide(&Policy::hardened(), &state, Timestamp::default(), &Input::Write(Box::new(write)))? {
///     state.apply(&event);
/// }
/// let principal = state.session_principal();
/// let item = state.semantic().get_current_value(&"price".into(), &principal);
/// assert_eq!(item.map(|item| item.text.as_str()), Some("$100"));
/// # Ok::<(), orchestrion_kernel::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Write {
    /// A persistent fact (003 layer 2).
    Fact(NewFact),
    /// An item of the session's working set (003 layer 3). It overwrites the item with the same key.
    Working {
        /// The key.
        key: Text,
        /// The content.
        text: Text,
        /// The time from which the item is expired; `None` if it does not expire.
        expires_at: Option<Timestamp>,
        /// The items that it depends on.
        depends_on: Vec<Reference>,
    },
    /// A promotion: a fact of another scope becomes a global fact of this source (decision 0037). It competes as a global fact with
    /// the same content, time, audience and dependencies.
    Promote {
        /// The key of the fact.
        key: Text,
        /// The scope of the fact.
        scope: Scope,
        /// The source of the promotion.
        source: WriteSource,
    },
    /// A signal (003 layer 4). It overwrites the signal with the same key.
    Environment {
        /// The key.
        key: Text,
        /// The content.
        text: Text,
        /// An older signal under another key that this one supersedes.
        supersedes: Option<Reference>,
    },
}

impl Write {
    /// Returns whether the write requires an open session.
    #[must_use]
    pub fn requires_session(&self) -> bool {
        match self {
            Self::Working { .. } => true,
            Self::Fact(new) => new.scope == Scope::Session || new.source.name.is_none(),
            Self::Promote { scope, source, .. } => *scope == Scope::Session || source.name.is_none(),
            Self::Environment { .. } => false,
        }
    }
}

/// A fact in a write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewFact {
    /// A fact or a constraint.
    pub kind: FactKind,
    /// The key.
    pub key: Text,
    /// The content.
    pub text: Text,
    /// The source.
    pub source: WriteSource,
    /// When it was established; `None` for the time of the write.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub established_at: Option<Timestamp>,
    /// The memory that the fact belongs to.
    pub memory: MemoryType,
    /// The scope in which the fact is valid.
    pub scope: Scope,
    /// Who may read the fact.
    pub audience: Audience,
    /// Whether timestamps, not the order of writes, decide which of two facts is later (003 rule 4).
    pub time_sensitive: bool,
    /// The item that this fact supersedes.
    pub supersedes: Option<Reference>,
    /// The rule by which the boundary detected `supersedes`; `None` if the write states it explicitly (003 rule 1).
    pub detected_rule: Option<SupersessionRule>,
    /// The items that it depends on.
    pub depends_on: Vec<Reference>,
    /// Whether the boundary derived the fact from a text (decision 0032).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub is_from_text: bool,
}

impl NewFact {
    /// Creates a fact in user memory with global scope, unrestricted audience, the time of the write, and no references.
    #[must_use]
    pub const fn global(key: Text, text: Text, source: WriteSource) -> Self {
        Self {
            kind: FactKind::Fact,
            key,
            text,
            source,
            established_at: None,
            memory: MemoryType::User,
            scope: Scope::Global,
            audience: Audience::Everybody,
            time_sensitive: false,
            supersedes: None,
            detected_rule: None,
            depends_on: Vec::new(),
            is_from_text: false,
        }
    }

    /// Returns how the fact was derived from a text, if it was.
    #[must_use]
    pub fn derivation(&self) -> Option<Derivation> {
        self.is_from_text.then(|| self.detected_rule.map_or(Derivation::Statement, Derivation::Supersession))
    }
}

/// The identity of a session user, as the host states it at the start of the session (003 `IdentityRole`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NewIdentity {
    /// The user's name.
    pub name: Text,
    /// The authority as text, such as a title.
    pub authority: Text,
    /// The rank; `None` for that of the authority in the policy's table.
    pub rank: Option<Rank>,
    /// The department.
    pub department: Text,
    /// The organization.
    pub organization: Text,
    /// The granted permissions.
    pub permissions: Vec<Text>,
}

/// The source of a write. The policy and the session's identity limit its rank (decision 0028).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct WriteSource {
    /// The name; `None` for the session user.
    pub name: Option<Text>,
    /// The rank; `None` for the highest that the source has in this session.
    pub rank: Option<Rank>,
    /// Whether the source was derived from a text. Such a source has at most the rank of the session's identity.
    pub is_derived: bool,
}

impl WriteSource {
    /// Creates a source that the host declares, with the highest rank that it has.
    #[must_use]
    pub const fn declared(name: Text) -> Self {
        Self { name: Some(name), rank: None, is_derived: false }
    }
}

/// A reference from a write to an existing item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Reference {
    /// The item with this id.
    Id(ItemId),
    /// The latest valid fact with this key, else the latest fact; for signals, the signal with this key.
    Key(Text),
}

/// The kinds of item that a fact can be (000 §2.1). Subtasks come from plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum FactKind {
    /// A fact.
    Fact,
    /// A constraint (003 `is_constraint`), with its type if known.
    Constraint(Option<ConstraintType>),
}

impl From<FactKind> for ItemKind {
    fn from(kind: FactKind) -> Self {
        match kind {
            FactKind::Fact => Self::Fact,
            FactKind::Constraint(constraint) => Self::Constraint(constraint),
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
