//! The four context layers, and the record of a persistent fact (003).
//!
//! Each field of 003's schema has one place. Invalid combinations are not representable, such as a superseded item without a
//! rule. `depends_on` maps to the item's dependencies, `derived_facts` to its dependents, `is_constraint` and
//! `constraint_type` to [`ItemKind`](super::ItemKind).

use crate::ids::{ItemId, Text, Timestamp, UserId};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// The context layer of an item, with the layer's data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Layer {
    /// An item of a request. Its key determines whether it persists after the session (decision 0004).
    Request {
        /// The user of the request, who alone can read the item.
        user: UserId,
        /// The scope of the call or request that produced the item (decision 0037).
        #[cfg_attr(feature = "serde", serde(default))]
        scope: Scope,
    },
    /// Layer 1: the identity of the session user. Written at most once per session.
    Identity(Box<Identity>),
    /// Layer 2: a fact, which persists and may be superseded. A copy of the item shares the record.
    Fact(Arc<FactRecord>),
    /// Layer 3: the working set of the session.
    Working {
        /// The time of the write.
        created_at: Timestamp,
        /// The time from which it is expired; `None` if it does not expire.
        expires_at: Option<Timestamp>,
    },
    /// Layer 4: a signal.
    Environment,
}

impl Layer {
    /// Returns whether it is a signal (003 layer 4).
    #[must_use]
    pub const fn is_signal(&self) -> bool {
        matches!(self, Self::Environment)
    }
}

/// The identity of the session user (003 `IdentityRole`). The item's text is the user's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Identity {
    /// The authority as text, such as a title.
    pub authority: Text,
    /// The rank that the boundary derives from the authority.
    pub rank: Rank,
    /// The department.
    pub department: Text,
    /// The organization.
    pub organization: Text,
    /// The granted permissions.
    pub permissions: Vec<Text>,
}

/// The record of a persistent fact (003 `PersistentFact`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FactRecord {
    /// The source.
    pub source: FactSource,
    /// The time at which the fact was established.
    pub established_at: Timestamp,
    /// The memory that it belongs to.
    pub memory: MemoryType,
    /// The scope in which it is valid.
    pub scope: Scope,
    /// The fact that it supersedes, or shadows in its narrower scope. `None` if that fact ends earlier.
    pub supersedes: Option<ItemId>,
    /// Whether timestamps, not the order of writes, decide which of two facts is later (003 rule 4).
    pub time_sensitive: bool,
    /// Who may read it.
    pub audience: Audience,
    /// The keys that the fact covers besides its own, in order: for a summary those of the summarized facts (decision 0021),
    /// otherwise those that the fact took from a summary (decision 0027).
    #[cfg_attr(feature = "serde", serde(default))]
    pub summarized_keys: Vec<Text>,
}

impl FactRecord {
    /// Returns whether it can shadow a fact of a wider scope: its scope is narrower, and its rank is not lower unless it is
    /// tentative.
    #[must_use]
    pub fn can_shadow(&self, wider: &Self) -> bool {
        self.scope.specificity() > wider.scope.specificity()
            && (self.scope.is_tentative() || self.source.rank >= wider.source.rank)
    }
}

/// The source of a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FactSource {
    /// The name of the source.
    pub name: Text,
    /// The rank that the boundary assigns to the source.
    pub rank: Rank,
    /// How the boundary derived the fact from a text; `None` if the source states the fact itself.
    // Never skipped: the model packs states in an encoding without field names.
    pub derivation: Option<Derivation>,
}

/// How the boundary derived a fact from a text (decision 0032). The kernel records it; no decision reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Derivation {
    /// The text states the fact.
    Statement,
    /// The text supersedes another fact, as the boundary detected by this rule.
    Supersession(SupersessionRule),
}

/// The authority of a source or user, lowest first (design §2; 003 has policy > manager > employee > guest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Rank {
    /// Unknown.
    Unverified,
    /// A guest or a subordinate.
    Guest,
    /// An employee or a peer.
    Employee,
    /// A manager.
    Manager,
    /// An executive.
    Executive,
    /// A policy of the organization.
    Policy,
}

impl Rank {
    /// Every rank, lowest first.
    pub const ALL: [Self; 6] =
        [Self::Unverified, Self::Guest, Self::Employee, Self::Manager, Self::Executive, Self::Policy];

    /// Returns the name in a policy file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Guest => "guest",
            Self::Employee => "employee",
            Self::Manager => "manager",
            Self::Executive => "executive",
            Self::Policy => "policy",
        }
    }
}

/// The memory that a fact belongs to (003, tri-partite memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MemoryType {
    /// Preferences, corrections, decisions.
    User,
    /// Learned patterns and heuristics.
    Capability,
    /// Policies, system data, documents.
    Organizational,
}

/// The scope in which a fact is valid (003 `scope` and `scope_id`). A fact supersedes facts of its own scope only.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Scope {
    /// Every scope.
    #[default]
    Global,
    /// The session; the fact is forgotten at its end.
    Session,
    /// One task.
    Task(Text),
    /// One hypothesis.
    Hypothetical(Text),
    /// One draft.
    Draft(Text),
}

/// Who may read an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Audience {
    /// Every reader.
    #[default]
    Everybody,
    /// Readers of at least this rank.
    AtLeast(Rank),
    /// Readers with this permission.
    Permitted(Text),
}

impl Scope {
    /// Returns whether facts of this scope are valid in another scope: the same one, or one within it.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        matches!(self, Self::Global | Self::Session) || self == other
    }

    /// Returns whether it is the global scope.
    #[must_use]
    pub const fn is_global(&self) -> bool {
        matches!(self, Self::Global)
    }

    /// Returns the name of a task, hypothesis or draft. A request or a task can run in such a scope.
    #[must_use]
    pub const fn name(&self) -> Option<&Text> {
        match self {
            Self::Task(name) | Self::Hypothetical(name) | Self::Draft(name) => Some(name),
            Self::Global | Self::Session => None,
        }
    }

    /// Returns whether it is a hypothesis or a draft.
    #[must_use]
    pub const fn is_tentative(&self) -> bool {
        matches!(self, Self::Hypothetical(_) | Self::Draft(_))
    }

    /// Returns how narrow the scope is: 0 global, 1 session, 2 others. A fact shadows facts of lower specificity.
    #[must_use]
    pub const fn specificity(&self) -> u8 {
        match self {
            Self::Global => 0,
            Self::Session => 1,
            Self::Task(_) | Self::Hypothetical(_) | Self::Draft(_) => 2,
        }
    }
}

/// The validity of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Validity {
    /// Current.
    Current,
    /// Valid, but a dependency was superseded or overwritten.
    NeedsReview,
    /// Replaced by a successor.
    Superseded {
        /// The successor; `None` once it is forgotten.
        superseded_by: Option<ItemId>,
        /// The rule that applied.
        rule: SupersessionRule,
    },
    /// Rejected: the source's rank is too low. The item is kept, and no context contains it.
    Denied,
}

/// The rule by which an item superseded another (003, supersession rules), in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SupersessionRule {
    /// Rule 3: the source has a higher rank.
    Authority,
    /// Rule 1: the write names the superseded item.
    Explicit,
    /// Rule 4: a time-sensitive fact is later.
    Temporal,
    /// Rule 2: a different value for the same key.
    Implicit,
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement => f.write_str("derived from text"),
            Self::Supersession(rule) => write!(f, "derived from text, {rule} supersession"),
        }
    }
}

impl fmt::Display for SupersessionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authority => "authority",
            Self::Explicit => "explicit",
            Self::Temporal => "temporal",
            Self::Implicit => "implicit",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Session => f.write_str("session"),
            Self::Task(name) => write!(f, "task {name}"),
            Self::Hypothetical(name) => write!(f, "hypothetical {name}"),
            Self::Draft(name) => write!(f, "draft {name}"),
        }
    }
}
