//! Writes in a scenario file or from a host, and their conversion to the kernel's writes and back.

use crate::format::is_default;
use crate::names::names_schema;
use crate::policy_file::EnumName;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{
    Audience, ConstraintType, FactSource, Identity, MemoryType, Rank, Scope, SupersessionRule,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write};
use orchestrion_yaml::StrictText;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A write to the semantic state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteFile {
    /// A fact, which outlives the session.
    Fact(FactFile),
    /// A constraint.
    Constraint(ConstraintFile),
    /// An item of the session's working set.
    Working(WorkingFile),
    /// A signal from the environment.
    Signal(SignalFile),
    /// The current time.
    Time(ClockFile),
    /// The identity of the session user; at most once per session.
    Identity(IdentityFile),
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactFile {
    /// The key of the fact.
    pub key: StrictText,
    /// The text of the fact.
    pub text: StrictText,
    /// The source of the fact. Default: unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: StrictText,
    /// The rank of the source. Default: unverified.
    #[serde(default = "unverified", skip_serializing_if = "is_unverified")]
    pub rank: EnumName<Rank>,
    /// The time when the fact was established, in milliseconds since 1970. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub established_at: u64,
    /// Whether `established_at`, not the order of writes, decides which of two facts is later. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub time_sensitive: bool,
    /// The memory: user, capability or organizational. Default: user.
    #[serde(default = "user_memory", skip_serializing_if = "is_user_memory")]
    #[schemars(schema_with = "memory_schema")]
    pub memory: MemoryType,
    /// The scope: global, session, or `task`, `hypothetical` or `draft` with a name. Default: global.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "scope_schema")]
    pub scope: Scope,
    /// The readers: everybody, `at_least` with a rank, or `permitted` with a permission. Default: everybody.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "audience_schema")]
    pub audience: Audience,
    /// The key of the fact that this fact supersedes. Default: at most the fact with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<StrictText>,
    /// The supersession rule that was detected in a text: authority, explicit, temporal or implicit. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "rule_schema")]
    pub detected_rule: Option<SupersessionRule>,
    /// The keys of the facts that this fact depends on. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<StrictText>,
}

/// A constraint: a fact that plans must respect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintFile {
    /// The type of the constraint: budget, deadline, capacity or policy. Default: none.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "constraint_schema")]
    pub constraint_type: Option<ConstraintType>,
    /// The fact.
    pub fact: FactFile,
}

/// An item of the working set. It overwrites the item with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkingFile {
    /// The key of the item.
    pub key: StrictText,
    /// The text of the item.
    pub text: StrictText,
    /// The time when the item expires, in milliseconds since 1970. Default: the end of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The keys of the facts that the item depends on. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<StrictText>,
}

/// A signal. It overwrites the signal with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalFile {
    /// The key of the signal.
    pub key: StrictText,
    /// The text of the signal.
    pub text: StrictText,
    /// The key of the signal that this signal supersedes. Default: at most the signal with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<StrictText>,
}

/// The current time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockFile {
    /// The time, in milliseconds since 1970.
    pub now: u64,
    /// The time in words.
    pub text: StrictText,
}

/// The identity of the session user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    /// The user's name.
    pub name: StrictText,
    /// The authority in words, such as a title.
    pub authority: StrictText,
    /// The rank.
    pub rank: EnumName<Rank>,
    /// The department.
    #[serde(default, skip_serializing_if = "is_default")]
    pub department: StrictText,
    /// The organization.
    #[serde(default, skip_serializing_if = "is_default")]
    pub organization: StrictText,
    /// The names of the granted permissions. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<StrictText>,
}

fn memory_schema(_: &mut SchemaGenerator) -> Schema {
    names_schema(&[MemoryType::User, MemoryType::Capability, MemoryType::Organizational])
}

fn constraint_schema(_: &mut SchemaGenerator) -> Schema {
    names_schema(&[
        ConstraintType::Budget,
        ConstraintType::Deadline,
        ConstraintType::Capacity,
        ConstraintType::Policy,
    ])
}

fn rule_schema(_: &mut SchemaGenerator) -> Schema {
    names_schema(&[
        SupersessionRule::Authority,
        SupersessionRule::Explicit,
        SupersessionRule::Temporal,
        SupersessionRule::Implicit,
    ])
}

fn scope_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [
        {"type": "string", "enum": ["global", "session"]},
        {
            "type": "object",
            "properties": {
                "task": {"type": "string"}, "hypothetical": {"type": "string"}, "draft": {"type": "string"},
            },
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
        },
    ]})
}

fn audience_schema(generator: &mut SchemaGenerator) -> Schema {
    let rank = generator.subschema_for::<EnumName<Rank>>();
    json_schema!({"anyOf": [
        {"type": "string", "enum": ["everybody"]},
        {
            "type": "object",
            "properties": {"at_least": rank, "permitted": {"type": "string"}},
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
        },
    ]})
}

const fn unverified() -> EnumName<Rank> {
    EnumName(Rank::Unverified)
}

fn is_unverified(rank: &EnumName<Rank>) -> bool {
    *rank == unverified()
}

const fn user_memory() -> MemoryType {
    MemoryType::User
}

fn is_user_memory(memory: &MemoryType) -> bool {
    *memory == MemoryType::User
}

impl WriteFile {
    /// Returns the kernel's write.
    #[must_use]
    pub fn to_kernel(&self) -> Write {
        match self {
            Self::Fact(fact) => Write::Fact(fact.to_kernel(FactKind::Fact)),
            Self::Constraint(ConstraintFile { constraint_type, fact }) => {
                Write::Fact(fact.to_kernel(FactKind::Constraint(*constraint_type)))
            }
            Self::Working(WorkingFile { key, text, expires_at, depends_on }) => Write::Working {
                key: key.text(),
                text: text.text(),
                expires_at: expires_at.map(Timestamp::from_millis),
                depends_on: depends_on.iter().map(reference).collect(),
            },
            Self::Signal(SignalFile { key, text, supersedes }) => Write::Environment {
                key: key.text(),
                text: text.text(),
                supersedes: supersedes.as_ref().map(reference),
            },
            Self::Time(ClockFile { now, text }) => {
                Write::Clock { now: Timestamp::from_millis(*now), text: text.text() }
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

    /// Returns the file that means this write; `None` if it names an item by its id, which a scenario cannot.
    #[must_use]
    pub fn from_kernel(write: &Write) -> Option<Self> {
        Some(match write {
            Write::Fact(new) => {
                let fact = FactFile::from_kernel(new)?;
                match new.kind {
                    FactKind::Fact => Self::Fact(fact),
                    FactKind::Constraint(constraint_type) => {
                        Self::Constraint(ConstraintFile { constraint_type, fact })
                    }
                }
            }
            Write::Working { key, text, expires_at, depends_on } => Self::Working(WorkingFile {
                key: key.clone().into(),
                text: text.clone().into(),
                expires_at: expires_at.map(Timestamp::millis),
                depends_on: keys(depends_on)?,
            }),
            Write::Environment { key, text, supersedes } => Self::Signal(SignalFile {
                key: key.clone().into(),
                text: text.clone().into(),
                supersedes: optional_key(supersedes.as_ref())?,
            }),
            Write::Clock { now, text } => {
                Self::Time(ClockFile { now: now.millis(), text: text.clone().into() })
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
    fn to_kernel(&self, kind: FactKind) -> NewFact {
        NewFact {
            kind,
            key: self.key.text(),
            text: self.text.text(),
            source: FactSource { name: self.source.text(), rank: self.rank.0 },
            established_at: Timestamp::from_millis(self.established_at),
            memory: self.memory,
            scope: self.scope.clone(),
            audience: self.audience.clone(),
            time_sensitive: self.time_sensitive,
            supersedes: self.supersedes.as_ref().map(reference),
            detected_rule: self.detected_rule,
            depends_on: self.depends_on.iter().map(reference).collect(),
        }
    }

    fn from_kernel(new: &NewFact) -> Option<Self> {
        Some(Self {
            key: new.key.clone().into(),
            text: new.text.clone().into(),
            source: new.source.name.clone().into(),
            rank: EnumName(new.source.rank),
            established_at: new.established_at.millis(),
            time_sensitive: new.time_sensitive,
            memory: new.memory,
            scope: new.scope.clone(),
            audience: new.audience.clone(),
            supersedes: optional_key(new.supersedes.as_ref())?,
            detected_rule: new.detected_rule,
            depends_on: keys(&new.depends_on)?,
        })
    }
}

fn reference(key: &StrictText) -> Reference {
    Reference::Key(key.text())
}

fn key(reference: &Reference) -> Option<StrictText> {
    match reference {
        Reference::Key(key) => Some(key.clone().into()),
        Reference::Id(_) => None,
    }
}

fn keys(references: &[Reference]) -> Option<Vec<StrictText>> {
    references.iter().map(key).collect()
}

/// Returns the key of an optional reference; the outer `None` means that the reference is an id.
fn optional_key(reference: Option<&Reference>) -> Option<Option<StrictText>> {
    match reference {
        None => Some(None),
        Some(reference) => key(reference).map(Some),
    }
}
