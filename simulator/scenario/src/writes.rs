//! Writes in a scenario file or from a host, and their conversion to the kernel's writes and back.

use crate::convert::{FileValue, convert};
use crate::is_default::is_default;
use crate::names::{constraint_schema, memory_schema, rule_schema};
use crate::policy_file::EnumName;
use crate::timestamp::TimeText;
use orchestrion_kernel::item::{Audience, ConstraintType, MemoryType, Rank, Scope, SupersessionRule};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Write, WriteSource};
use orchestrion_yaml::{LabeledError, StrictText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    /// A promotion: a fact of another scope becomes a global fact.
    Promote(PromoteFile),
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactFile {
    /// The key of the fact.
    pub key: StrictText,
    /// The text of the fact.
    pub text: StrictText,
    /// The source of the fact. Default: the session user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StrictText>,
    /// The rank of the source, at most the rank that it has in this session. Default: that rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<EnumName<Rank>>,
    /// Whether the source was derived from a text, so that the rank of the session's identity limits its rank. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub derived: bool,
    /// The time when the fact was established. Default: the time of the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub established_at: Option<TimeText>,
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
    /// Whether the fact was derived from a text, which its record then says. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from_text: bool,
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
    /// The time when the item expires. Default: the end of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<TimeText>,
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

/// A promotion. It competes as a global fact with the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromoteFile {
    /// The key of the fact.
    pub key: StrictText,
    /// The scope of the fact: session, or `task`, `hypothetical` or `draft` with a name.
    #[schemars(schema_with = "scope_schema")]
    pub scope: Scope,
    /// The source of the promotion. Default: the session user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StrictText>,
    /// The rank of the source, at most the rank that it has in this session. Default: that rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<EnumName<Rank>>,
    /// Whether the source was derived from a text, so that the rank of the session's identity limits its rank. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub derived: bool,
}

/// The identity of a session user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    /// The user's name.
    pub name: StrictText,
    /// The authority in words, such as a title.
    pub authority: StrictText,
    /// The rank. Default: that of the authority in the policy's `ranks`; outside of them unverified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<EnumName<Rank>>,
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

fn scope_schema(_: &mut SchemaGenerator) -> Schema {
    word_or_key_schema(&["global", "session"], scope_names())
}

/// Returns the schema of a scope in which a request or a task can run.
pub fn request_scope_schema(_: &mut SchemaGenerator) -> Schema {
    word_or_key_schema(&["global"], scope_names())
}

fn scope_names() -> Value {
    let text = json!({"type": "string"});
    json!({"task": text, "hypothetical": text, "draft": text})
}

fn audience_schema(generator: &mut SchemaGenerator) -> Schema {
    let rank = generator.subschema_for::<EnumName<Rank>>();
    word_or_key_schema(&["everybody"], json!({"at_least": rank, "permitted": {"type": "string"}}))
}

/// Returns the schema of one of these words, or a mapping with one of these keys.
fn word_or_key_schema(words: &[&str], keys: Value) -> Schema {
    json_schema!({"anyOf": [
        {"type": "string", "enum": words},
        {
            "type": "object",
            "properties": keys,
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
        },
    ]})
}

const fn user_memory() -> MemoryType {
    MemoryType::User
}

fn is_user_memory(memory: &MemoryType) -> bool {
    *memory == MemoryType::User
}

convert! {
    WorkingFile { key, text, expires_at, depends_on }
        = Write::Working { key, text, expires_at, depends_on } else None;
    SignalFile { key, text, supersedes } = Write::Environment { key, text, supersedes } else None;
    PromoteFile { key, scope, source, rank, derived }
        = Write::Promote { key, scope, source: WriteSource { name: source, rank, is_derived: derived } } else None;
    FactFile {
        key, text, source, rank, derived, established_at, time_sensitive, memory, scope, audience, supersedes,
        detected_rule, depends_on, from_text
    } = NewFact {
        kind: FactKind::Fact, key, text, source: WriteSource { name: source, rank, is_derived: derived }, established_at, memory, scope,
        audience, time_sensitive, supersedes, detected_rule, depends_on, is_from_text: from_text
    } else None;
}

impl IdentityFile {
    /// Returns the kernel's identity.
    #[must_use]
    pub fn to_kernel(&self) -> NewIdentity {
        NewIdentity {
            name: self.name.text(),
            authority: self.authority.text(),
            rank: self.rank.as_ref().map(|rank| rank.0),
            department: self.department.text(),
            organization: self.organization.text(),
            permissions: self.permissions.iter().map(StrictText::text).collect(),
        }
    }

    /// Returns the file that means this identity.
    #[must_use]
    pub fn from_kernel(new: &NewIdentity) -> Self {
        Self {
            name: new.name.clone().into(),
            authority: new.authority.clone().into(),
            rank: new.rank.map(EnumName),
            department: new.department.clone().into(),
            organization: new.organization.clone().into(),
            permissions: new.permissions.iter().cloned().map(StrictText::from).collect(),
        }
    }
}

impl WriteFile {
    pub(crate) fn to_kernel(&self) -> Result<Write, LabeledError> {
        match self {
            Self::Fact(fact) => fact.to_kernel().map(Write::Fact),
            Self::Constraint(ConstraintFile { constraint_type, fact }) => {
                let kind = FactKind::Constraint(*constraint_type);
                Ok(Write::Fact(NewFact { kind, ..fact.to_kernel()? }))
            }
            Self::Working(file) => file.to_kernel(),
            Self::Signal(file) => file.to_kernel(),
            Self::Promote(file) => file.to_kernel(),
        }
    }

    /// Returns the file that means this write; `None` if it names an item by its id, which a scenario cannot.
    #[must_use]
    pub fn from_kernel(write: &Write) -> Option<Self> {
        Some(match write {
            Write::Fact(new) => match new.kind {
                FactKind::Fact => Self::Fact(FactFile::from_kernel(new)?),
                FactKind::Constraint(constraint_type) => {
                    let fact = FactFile::from_kernel(&NewFact { kind: FactKind::Fact, ..new.clone() })?;
                    Self::Constraint(ConstraintFile { constraint_type, fact })
                }
            },
            Write::Working { .. } => Self::Working(FileValue::from_kernel(write)?),
            Write::Environment { .. } => Self::Signal(FileValue::from_kernel(write)?),
            Write::Promote { .. } => Self::Promote(FileValue::from_kernel(write)?),
        })
    }
}
