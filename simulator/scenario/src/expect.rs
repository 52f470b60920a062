//! The serialized form of expectations: what a run of the scenario must give.

use crate::is_default::is_default;
use crate::one_or_many::OneOrMany;
use crate::policy_file::{ByName, EnumName, NamedEnum};
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionId};
use orchestrion_kernel::event::DecisionLabel;
use orchestrion_kernel::module::{ConclusionKind, Module};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value, suggest_nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// What a request must give. `run` fails with what was expected and found if the request gives something else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestExpectFile {
    /// The kind of its conclusion.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Spanned<EnumName<ConclusionKind>>>,
    /// The latest decision of its debate.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub decision: Option<Spanned<EnumName<DecisionName>>>,
    /// The label of that decision, which contains its reason.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub label: Option<Spanned<EnumName<DecisionLabel>>>,
    /// The number of passes of its debate.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub passes: Option<Spanned<u32>>,
    /// Transitions that it takes, each at least once, in any order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub taken: Vec<Spanned<TransitionName>>,
    /// Transitions that it does not take.
    #[serde(default, skip_serializing_if = "is_default")]
    pub not_taken: Vec<Spanned<TransitionName>>,
    /// The number of calls of a module that are made, by its name. A call over its budget, without a node, or forbidden by a claim is not made. Modules without an entry may have any number.
    #[serde(default, skip_serializing_if = "is_default", serialize_with = "serialize_calls")]
    pub calls: ByName<Module, Spanned<u32>>,
    /// What the context of a module contains or lacks; one, or a list.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contexts: OneOrMany<ContextExpectFile>,
}

/// Serializes the numbers of calls. The type itself is only read, as a part of policy files.
fn serialize_calls<S: Serializer>(
    calls: &ByName<Module, Spanned<u32>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(&calls.0)
}

/// What the contexts of a module contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextExpectFile {
    /// The module, which receives contexts.
    pub module: EnumName<Module>,
    /// A text that at least one context of the module contains.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub contains: Option<StrictText>,
    /// A text that no context of the module contains.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub lacks: Option<StrictText>,
}

/// What the whole run must give.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioExpectFile {
    /// Claims that hold in every step, of the catalog or of the project.
    #[serde(default, skip_serializing_if = "is_default")]
    pub holds: Vec<Spanned<ExpectedClaim>>,
    /// Claims that fail in some step, of the catalog or of the project.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fails: Vec<Spanned<ExpectedClaim>>,
}

/// How far the script determines the replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptForm {
    /// Every scripted reply and event is used, and every call of a scripted module has a reply.
    #[default]
    Exact,
    /// Replies and events may remain unused, and a call after the last reply succeeds: modules succeed, and debaters agree.
    Partial,
}

/// The decision of a debate, without its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionName {
    /// The plan may run.
    Proceed,
    /// The consensus is too low.
    Reject,
    /// Security vetoes the plan.
    Veto,
    /// Facts of the plan changed.
    Outdated,
}

impl From<DecisionLabel> for DecisionName {
    fn from(label: DecisionLabel) -> Self {
        match label {
            DecisionLabel::ConsensusReached | DecisionLabel::ProceedBelowThreshold => Self::Proceed,
            DecisionLabel::Rejected => Self::Reject,
            DecisionLabel::Vetoed => Self::Veto,
            DecisionLabel::Outdated => Self::Outdated,
        }
    }
}

macro_rules! named_enums {
    ($($enum:ident $kind:literal { $($value:ident $name:literal,)* })*) => {$(
        impl NamedEnum for $enum {
            const ALL: &'static [Self] = &[$(Self::$value),*];
            const KIND: &'static str = $kind;

            fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }
    )*};
}

named_enums! {
    ScriptForm "form of a script" {
        Exact "exact",
        Partial "partial",
    }
    DecisionName "decision" {
        Proceed "proceed",
        Reject "reject",
        Veto "veto",
        Outdated "outdated",
    }
    DecisionLabel "label" {
        ConsensusReached "consensus_reached",
        ProceedBelowThreshold "proceed_below_threshold",
        Rejected "rejected",
        Vetoed "vetoed",
        Outdated "outdated",
    }
    ConclusionKind "outcome" {
        Outcome "outcome",
        Blocked "blocked",
        RolledBack "rolled_back",
        Aborted "aborted",
    }
}

/// A transition, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionName(pub TransitionId);

impl Serialize for TransitionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.transition().id)
    }
}

impl<'de> Deserialize<'de> for TransitionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Spanned::<StrictText>::deserialize(deserializer)?;
        let text = id.value.as_str();
        let row = TRANSITIONS.iter().find(|row| row.id == text);
        row.map(|row| Self(TransitionId::from_transition(row))).ok_or_else(|| {
            LabeledError::new(
                format!(
                    "unknown transition `{}`: expected the id of a row of the table",
                    text.escape_debug()
                ),
                format!(
                    "{}list the transitions with: orchestrion export table",
                    suggest_nearest(text, TRANSITIONS.iter().map(|row| row.id))
                ),
            )
            .with_label(id.span(), "unknown")
            .into_serde_error()
        })
    }
}

impl JsonSchema for TransitionName {
    fn schema_name() -> Cow<'static, str> {
        "Transition".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ids: Vec<_> = TRANSITIONS.iter().map(|row| row.id).collect();
        json_schema!({"description": "A row of the transition table.", "type": "string", "enum": ids})
    }
}

/// Claim of the catalog, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimId(pub &'static str);

impl Serialize for ClaimId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for ClaimId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Spanned::<StrictText>::deserialize(deserializer)?;
        Self::of(&id, "; change or remove a claim of the project instead of waiving it")
            .map_err(LabeledError::into_serde_error)
    }
}

impl ClaimId {
    /// The claim with this id. The remedy continues the help for an unknown one.
    fn of(id: &Spanned<StrictText>, remedy: &str) -> Result<Self, LabeledError> {
        let text = id.value.as_str();
        let known: Option<&Claim> = CLAIMS.iter().find(|claim| claim.id == text);
        known.map(|claim| Self(claim.id)).ok_or_else(|| {
            LabeledError::new(
                format!("unknown claim `{}`", text.escape_debug()),
                format!(
                    "{}list the claims with: orchestrion export claims{remedy}",
                    suggest_nearest(text, CLAIMS.iter().map(|claim| claim.id))
                ),
            )
            .with_label(id.span(), "unknown")
        })
    }
}

impl JsonSchema for ClaimId {
    fn schema_name() -> Cow<'static, str> {
        "Claim".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ids: Vec<_> = CLAIMS.iter().map(|claim| claim.id).collect();
        json_schema!({"description": "Claim of the catalog.", "type": "string", "enum": ids})
    }
}

/// Claim that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedClaim {
    /// Of the catalog.
    Catalog(ClaimId),
    /// Of the project: its id has lower-case letters.
    Project(String),
}

impl ExpectedClaim {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Catalog(ClaimId(id)) => id,
            Self::Project(id) => id,
        }
    }
}

impl Serialize for ExpectedClaim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for ExpectedClaim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Spanned::<StrictText>::deserialize(deserializer)?;
        let text = id.value.as_str();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_first = |byte: &u8| byte.is_ascii_lowercase();
        if text.as_bytes().first().is_some_and(is_first) && text.len() <= 64 && text.bytes().all(is_plain) {
            return Ok(Self::Project(text.to_owned()));
        }
        ClaimId::of(&id, "").map(Self::Catalog).map_err(LabeledError::into_serde_error)
    }
}

impl JsonSchema for ExpectedClaim {
    fn schema_name() -> Cow<'static, str> {
        "ExpectedClaim".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let of_catalog = generator.subschema_for::<ClaimId>();
        let of_project = json_schema!({"description": "Claim of the project.", "type": "string", "pattern": "^[a-z][a-z0-9-]{0,63}$"});
        json_schema!({"anyOf": [of_catalog, of_project]})
    }
}
