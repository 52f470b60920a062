//! A project file, as it is written. Every key may be left out.

use jiff::civil::Date;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_model::scopes::{SCOPES, Scope};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, nearest, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// A project: what `check`, `run` and `replay` are about when nothing else is named. Paths are relative to this
/// file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The policies under which `check` holds the claims: built-in ones (as-drawn, hardened), or paths of policy
    /// files. Left out: hardened.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub policies: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// How large the models of `check` grow. Left out: the first of these.
    #[serde(default, deserialize_with = "required_value")]
    pub scope: Option<ScopeName>,
    /// The scenarios that `run` plays: files, or folders; of a folder, every *.yaml in it and below it that is no
    /// *.policy.yaml.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub scenarios: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// The recorded traces that `replay` decides again: files, or folders; of a folder, every *.ndjson in it and
    /// below it.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub traces: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Claims that are known to fail or to be vacuous, and may until a day.
    #[serde(default, deserialize_with = "required_value")]
    pub waivers: Option<Vec<Spanned<WaiverFile>>>,
}

/// A claim that is known to fail or to be vacuous, and may until a day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiverFile {
    /// The claim, such as C-06.
    pub claim: Spanned<ClaimId>,
    /// The policy under which it may, by its name. Left out: each of this file.
    #[serde(default, deserialize_with = "required_value")]
    pub policy: Option<Spanned<StrictText>>,
    /// Why it may, as a sentence.
    pub reason: Spanned<StrictText>,
    /// The last day on which it may, such as 2027-01-31. Days begin and end as in UTC.
    pub until: Day,
}

/// A scope of the models, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeName(pub Scope);

impl<'de> Deserialize<'de> for ScopeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Spanned::<StrictText>::deserialize(deserializer)?;
        let text = name.value.as_str();
        Scope::by_name(text).map(Self).ok_or_else(|| {
            let names = SCOPES.map(|scope| scope.name);
            LabeledError::new(
                format!("no scope is called `{}`", text.escape_debug()),
                format!("{}the scopes are {}", nearest(text, names), names.join(", ")),
            )
            .at(name.span(), "not a scope")
            .into_serde_error()
        })
    }
}

impl JsonSchema for ScopeName {
    fn schema_name() -> Cow<'static, str> {
        "Scope".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": SCOPES.map(|scope| scope.name)})
    }
}

/// A claim of the catalogue, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimId(pub &'static str);

impl<'de> Deserialize<'de> for ClaimId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Spanned::<StrictText>::deserialize(deserializer)?;
        let text = id.value.as_str();
        let known: Option<&Claim> = CLAIMS.iter().find(|claim| claim.id == text);
        known.map(|claim| Self(claim.id)).ok_or_else(|| {
            LabeledError::new(
                format!("there is no claim `{}`", text.escape_debug()),
                format!(
                    "{}see them all with: orchestrion export claims",
                    nearest(text, CLAIMS.iter().map(|claim| claim.id))
                ),
            )
            .at(id.span(), "unknown")
            .into_serde_error()
        })
    }
}

impl JsonSchema for ClaimId {
    fn schema_name() -> Cow<'static, str> {
        "Claim".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ids: Vec<_> = CLAIMS.iter().map(|claim| claim.id).collect();
        json_schema!({"description": "A claim of the catalogue.", "type": "string", "enum": ids})
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day(pub Date);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        let read: Option<Date> = text.value.parse().ok();
        // The library reads other ways of writing a day as well; a file has one.
        read.filter(|day| day.to_string() == text.value).map(Self).ok_or_else(|| {
            LabeledError::new(
                format!("expected a day of the calendar, found `{}`", text.value.escape_debug()),
                "write year, month and day, as in 2027-01-31",
            )
            .at(text.span(), "no such day")
            .into_serde_error()
        })
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}
