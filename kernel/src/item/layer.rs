//! The four layers of context (003), and what a persistent fact carries beside its text.
//!
//! Every field of 003's schema has one place here, and what contradicts itself cannot be written down: an item is not both
//! superseded and valid, and not superseded without a rule. `depends_on` are the item's dependencies, `derived_facts` those
//! that depend on it, `is_constraint` and `constraint_type` its variant.

use crate::ids::{ItemId, Text, Timestamp, UserId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Where an item belongs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Layer {
    /// What a request leaves. Its key says whether it outlives the session (decision 0004).
    Request {
        /// Whose request it was. Nobody else is shown it.
        user: UserId,
    },
    /// Layer 1: who speaks. Set once, at the start of the session.
    Identity(Box<Identity>),
    /// Layer 2: a fact that outlives the session, and may be superseded.
    Fact(Box<FactRecord>),
    /// Layer 3: the working set of the session.
    Working {
        /// When it was written.
        created_at: Timestamp,
        /// From when on it is not shown any more, if ever.
        expires_at: Option<Timestamp>,
    },
    /// Layer 4: what comes from outside, whatever is said in the conversation.
    Environment,
    /// Layer 4 too: what time it is. The text is the border's way of saying it.
    Clock {
        /// The moment.
        now: Timestamp,
    },
}

impl Layer {
    /// Whether it comes from outside (003 layer 4): what others know does not change by it.
    #[must_use]
    pub const fn is_signal(&self) -> bool {
        matches!(self, Self::Environment | Self::Clock { .. })
    }
}

/// Who speaks (003 `IdentityRole`); the text of the item is the user's name, and the session says the user's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Identity {
    /// The authority in words, such as a title.
    pub authority: Text,
    /// The rank that the border reads from these words.
    pub rank: Rank,
    /// The department.
    pub department: Text,
    /// The organization.
    pub organization: Text,
    /// What was granted by name.
    pub permissions: Vec<Text>,
}

/// What a persistent fact carries beside its text (003 `PersistentFact`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FactRecord {
    /// Where it comes from.
    pub source: FactSource,
    /// When it was established.
    pub established_at: Timestamp,
    /// Which memory it belongs to.
    pub memory: MemoryType,
    /// Where it counts.
    pub scope: Scope,
    /// The fact that it took the place of, or that it hides in its narrower scope; one that leaves before it is not named.
    pub supersedes: Option<ItemId>,
    /// Whether the later of two is told by their times, and not by which was written last (003 rule 4).
    pub time_sensitive: bool,
    /// Who may see it.
    pub audience: Audience,
    /// For a summary, the names of the facts that it stands for, in order (decision 0021); none for any other fact.
    #[cfg_attr(feature = "serde", serde(default))]
    pub summarized_keys: Vec<Text>,
}

impl FactRecord {
    /// Whether where it counts it stands for another that it is about: its scope is narrower, and its rank no lower; but
    /// anybody may suppose anything.
    #[must_use]
    pub fn can_shadow(&self, wider: &Self) -> bool {
        self.scope.specificity() > wider.scope.specificity()
            && (self.scope.is_tentative() || self.source.rank >= wider.source.rank)
    }
}

/// Where a fact comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct FactSource {
    /// Who or what said it.
    pub name: Text,
    /// The rank that the border gives to that.
    pub rank: Rank,
}

/// How much the word of somebody counts, lowest first (design §2; 003 has policy > manager > employee > guest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Rank {
    /// Nobody knows who it is.
    Unverified,
    /// A guest, or a subordinate.
    Guest,
    /// An employee, or a peer.
    Employee,
    /// A manager.
    Manager,
    /// An executive.
    Executive,
    /// The rules of the house.
    Policy,
}

impl Rank {
    /// Every rank, lowest first.
    pub const ALL: [Self; 6] =
        [Self::Unverified, Self::Guest, Self::Employee, Self::Manager, Self::Executive, Self::Policy];

    /// Its name in a policy file.
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

/// Which memory a fact belongs to (003, tri-partite memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MemoryType {
    /// Preferences, corrections, decisions.
    User,
    /// What was learnt: patterns, heuristics.
    Capability,
    /// Policies, data of systems, documents.
    Organizational,
}

/// Where a fact counts (003 `scope` and `scope_id`). What does not count everywhere supersedes nothing that does.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Scope {
    /// Everywhere.
    #[default]
    Global,
    /// In this session, at whose end it is forgotten.
    Session,
    /// In one task.
    Task(Text),
    /// Under one supposition.
    Hypothetical(Text),
    /// In one draft.
    Draft(Text),
}

/// Who may see an item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Audience {
    /// Everybody.
    #[default]
    Everybody,
    /// Whoever has this rank or a higher one.
    AtLeast(Rank),
    /// Whoever was granted this by name.
    Permitted(Text),
}

impl Scope {
    /// Whether what has this scope counts in another: its own, and every one within it.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        matches!(self, Self::Global | Self::Session) || self == other
    }

    /// Whether what counts there is not claimed to be so.
    #[must_use]
    pub const fn is_tentative(&self) -> bool {
        matches!(self, Self::Hypothetical(_) | Self::Draft(_))
    }

    /// How narrow it is. In a narrower scope a fact hides what it would supersede in a wider one.
    #[must_use]
    pub const fn specificity(&self) -> u8 {
        match self {
            Self::Global => 0,
            Self::Session => 1,
            Self::Task(_) | Self::Hypothetical(_) | Self::Draft(_) => 2,
        }
    }
}

/// Whether an item is to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Validity {
    /// It is.
    Current,
    /// It is, but something that it rests on was superseded since.
    NeedsReview,
    /// Something else took its place.
    Superseded {
        /// What did; nothing once that was forgotten.
        superseded_by: Option<ItemId>,
        /// By which rule.
        rule: SupersessionRule,
    },
    /// Its source may not write such a thing. It is kept, and never shown.
    Denied,
}

/// Why something took the place of something else (003, supersession rules), the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SupersessionRule {
    /// Rule 3: its source has a higher rank.
    Authority,
    /// Rule 1: it says so.
    Explicit,
    /// Rule 4: it is later, and that counts here.
    Temporal,
    /// Rule 2: it speaks of the same, and says something else.
    Implicit,
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
