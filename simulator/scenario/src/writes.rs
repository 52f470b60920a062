//! What a scenario writes by name, and what that means in the kernel's words; and back.

use super::format::is_default;
use crate::policy_file::EnumName;
use orchestrion_kernel::Text;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{
    Audience, ConstraintType, FactSource, Identity, MemoryType, Rank, Scope, SupersessionRule,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write};
use orchestrion_yaml::StrictText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is to be known, though no module was asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteFile {
    /// A fact, which outlives the session.
    Fact(FactFile),
    /// Something to be kept to.
    Constraint(ConstraintFile),
    /// An item of the session's working set.
    Working(WorkingFile),
    /// A signal from outside.
    Signal(SignalFile),
    /// What time it is.
    Time(ClockFile),
    /// Who speaks; once a session.
    Identity(IdentityFile),
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactFile {
    /// What it speaks of.
    pub key: StrictText,
    /// What it says.
    pub says: StrictText,
    /// Who says it. Left out: nobody knows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: StrictText,
    /// The rank of whoever says it. Left out: unverified, for nobody knows.
    #[serde(default = "unverified", skip_serializing_if = "is_unverified")]
    pub rank: EnumName<Rank>,
    /// When it was established, in milliseconds since 1970. Left out: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: u64,
    /// Whether the later of two is told by that. Left out: no, by which is written last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time_sensitive: bool,
    /// Which memory it belongs to. Left out: the user's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: MemoryFile,
    /// Where it counts. Left out: everywhere.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: ScopeFile,
    /// Whom it is for. Left out: everybody.
    #[serde(default, skip_serializing_if = "is_default")]
    pub audience: AudienceFile,
    /// The key of the fact whose place it takes. Left out: at most that of its own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<StrictText>,
    /// The rule by which that was detected in a text. Left out: it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected: Option<RuleFile>,
    /// The keys of the facts that it rests on. Left out: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<StrictText>,
}

/// A constraint: a fact to be kept to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintFile {
    /// What it limits. Left out: that is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitFile>,
    /// The fact.
    pub fact: FactFile,
}

/// An item of the working set. One of the same key is overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkingFile {
    /// What it speaks of.
    pub key: StrictText,
    /// What it says.
    pub says: StrictText,
    /// When it expires, in milliseconds since 1970. Left out: with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The keys of the facts that it rests on. Left out: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<StrictText>,
}

/// A signal. One of the same key is overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalFile {
    /// What it speaks of.
    pub key: StrictText,
    /// What it says.
    pub says: StrictText,
    /// The key of an older signal on the same matter. Left out: at most that of its own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<StrictText>,
}

/// What time it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockFile {
    /// The moment, in milliseconds since 1970.
    pub now: u64,
    /// How it is said.
    pub says: StrictText,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    /// The user's name.
    pub name: StrictText,
    /// The authority in words, such as a title.
    pub authority: StrictText,
    /// The rank that this gives.
    pub rank: EnumName<Rank>,
    /// The department.
    #[serde(default, skip_serializing_if = "is_default")]
    pub department: StrictText,
    /// The organization.
    #[serde(default, skip_serializing_if = "is_default")]
    pub organization: StrictText,
    /// What was granted by name. Left out: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<StrictText>,
}

/// Declares a word of a file for each of the kernel's, and the ways between them.
macro_rules! words {
    ($($(#[$doc:meta])* $file:ident for $kernel:ident { $($(#[$one:meta])* $variant:ident),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $file {
            $($(#[$one])* $variant,)*
        }

        impl From<$file> for $kernel {
            fn from(file: $file) -> Self {
                match file { $($file::$variant => Self::$variant,)* }
            }
        }

        impl From<$kernel> for $file {
            fn from(kernel: $kernel) -> Self {
                match kernel { $($kernel::$variant => Self::$variant,)* }
            }
        }
    )*};
}
pub(super) use words;

words! {
    /// What a constraint limits.
    LimitFile for ConstraintType {
        /// What may be spent.
        Budget,
        /// By when.
        Deadline,
        /// How much there is room for.
        Capacity,
        /// What is allowed.
        Policy,
    }
    /// A memory.
    #[derive(Default)]
    MemoryFile for MemoryType {
        /// Preferences, corrections, decisions.
        #[default]
        User,
        /// What was learnt.
        Capability,
        /// Policies, data of systems, documents.
        Organizational,
    }
    /// A rule of supersession.
    RuleFile for SupersessionRule {
        /// Its source has a higher rank.
        Authority,
        /// It says so.
        Explicit,
        /// It is later.
        Temporal,
        /// It speaks of the same, and says something else.
        Implicit,
    }
}

/// Where a fact counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeFile {
    /// Everywhere.
    #[default]
    Global,
    /// In this session.
    Session,
    /// In the task of this name.
    Task(StrictText),
    /// Under the supposition of this name.
    Hypothetical(StrictText),
    /// In the draft of this name.
    Draft(StrictText),
}

/// Whom a fact is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AudienceFile {
    /// Everybody.
    #[default]
    Everybody,
    /// Whoever has this rank or a higher one.
    AtLeast(EnumName<Rank>),
    /// Whoever was granted this by name.
    Permitted(StrictText),
}

const fn unverified() -> EnumName<Rank> {
    EnumName(Rank::Unverified)
}

fn is_unverified(rank: &EnumName<Rank>) -> bool {
    *rank == unverified()
}

impl WriteFile {
    /// What it means.
    #[must_use]
    pub fn means(&self) -> Write {
        match self {
            Self::Fact(fact) => Write::Fact(fact.means(FactKind::Fact)),
            Self::Constraint(ConstraintFile { limits, fact }) => {
                Write::Fact(fact.means(FactKind::Constraint(limits.map(Into::into))))
            }
            Self::Working(WorkingFile { key, says, expires_at, rests_on }) => Write::Working {
                key: key.text(),
                text: says.text(),
                expires_at: expires_at.map(Timestamp::from_millis),
                rests_on: rests_on.iter().map(named).collect(),
            },
            Self::Signal(SignalFile { key, says, supersedes }) => Write::Environment {
                key: key.text(),
                text: says.text(),
                supersedes: supersedes.as_ref().map(named),
            },
            Self::Time(ClockFile { now, says }) => {
                Write::Clock { now: Timestamp::from_millis(*now), text: says.text() }
            }
            Self::Identity(file) => Write::Identity {
                name: file.name.text(),
                identity: Identity {
                    authority: file.authority.text(),
                    rank: file.rank.0,
                    department: file.department.text(),
                    organization: file.organization.text(),
                    permissions: file.permissions.iter().map(StrictText::text).collect(),
                },
            },
        }
    }

    /// The file that means this; none if it names an item by its id, for a scenario knows no ids.
    #[must_use]
    pub fn of(write: &Write) -> Option<Self> {
        Some(match write {
            Write::Fact(new) => {
                let fact = FactFile::of(new)?;
                match new.kind {
                    FactKind::Fact => Self::Fact(fact),
                    FactKind::Constraint(limits) => {
                        Self::Constraint(ConstraintFile { limits: limits.map(Into::into), fact })
                    }
                }
            }
            Write::Working { key, text, expires_at, rests_on } => Self::Working(WorkingFile {
                key: key.clone().into(),
                says: text.clone().into(),
                expires_at: expires_at.map(Timestamp::millis),
                rests_on: rests_on.iter().map(name).collect::<Option<_>>()?,
            }),
            Write::Environment { key, text, supersedes } => Self::Signal(SignalFile {
                key: key.clone().into(),
                says: text.clone().into(),
                supersedes: supersedes.as_ref().map(|one| name(one).ok_or(())).transpose().ok()?,
            }),
            Write::Clock { now, text } => {
                Self::Time(ClockFile { now: now.millis(), says: text.clone().into() })
            }
            Write::Identity { name, identity } => Self::Identity(IdentityFile {
                name: name.clone().into(),
                authority: identity.authority.clone().into(),
                rank: EnumName(identity.rank),
                department: identity.department.clone().into(),
                organization: identity.organization.clone().into(),
                permissions: identity.permissions.iter().cloned().map(StrictText::from).collect(),
            }),
        })
    }
}

impl FactFile {
    fn means(&self, kind: FactKind) -> NewFact {
        NewFact {
            kind,
            key: self.key.text(),
            text: self.says.text(),
            source: FactSource { name: self.by.text(), rank: self.rank.0 },
            established_at: Timestamp::from_millis(self.at),
            memory: self.memory.into(),
            scope: match &self.scope {
                ScopeFile::Global => Scope::Global,
                ScopeFile::Session => Scope::Session,
                ScopeFile::Task(of) => Scope::Task(of.text()),
                ScopeFile::Hypothetical(of) => Scope::Hypothetical(of.text()),
                ScopeFile::Draft(of) => Scope::Draft(of.text()),
            },
            audience: match &self.audience {
                AudienceFile::Everybody => Audience::Everybody,
                AudienceFile::AtLeast(rank) => Audience::AtLeast(rank.0),
                AudienceFile::Permitted(name) => Audience::Permitted(name.text()),
            },
            time_sensitive: self.time_sensitive,
            supersedes: self.supersedes.as_ref().map(named),
            detected_rule: self.detected.map(Into::into),
            depends_on: self.rests_on.iter().map(named).collect(),
        }
    }

    fn of(new: &NewFact) -> Option<Self> {
        let words = |text: &Text| StrictText::from(text.clone());
        Some(Self {
            key: words(&new.key),
            says: words(&new.text),
            by: words(&new.source.name),
            rank: EnumName(new.source.rank),
            at: new.established_at.millis(),
            time_sensitive: new.time_sensitive,
            memory: new.memory.into(),
            scope: match &new.scope {
                Scope::Global => ScopeFile::Global,
                Scope::Session => ScopeFile::Session,
                Scope::Task(of) => ScopeFile::Task(words(of)),
                Scope::Hypothetical(of) => ScopeFile::Hypothetical(words(of)),
                Scope::Draft(of) => ScopeFile::Draft(words(of)),
            },
            audience: match &new.audience {
                Audience::Everybody => AudienceFile::Everybody,
                Audience::AtLeast(rank) => AudienceFile::AtLeast(EnumName(*rank)),
                Audience::Permitted(name) => AudienceFile::Permitted(words(name)),
            },
            supersedes: new.supersedes.as_ref().map(|one| name(one).ok_or(())).transpose().ok()?,
            detected: new.detected_rule.map(Into::into),
            rests_on: new.depends_on.iter().map(name).collect::<Option<_>>()?,
        })
    }
}

fn named(key: &StrictText) -> Reference {
    Reference::Key(key.text())
}

fn name(reference: &Reference) -> Option<StrictText> {
    match reference {
        Reference::Key(key) => Some(key.clone().into()),
        Reference::Id(_) => None,
    }
}
