//! Format of project files. Every key is optional.

use jiff::civil::Date;
use orchestrion_scenario::ClaimId;
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// Project: the default inputs of `check`, `run`, `replay` and `lint`. Paths are relative to this file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// Policies of `check`: built-in names (as-drawn, hardened) or paths of policy files. Scenarios that name no policy run under the
    /// first one. A trace without a scenario is judged under the policy with its recorded name, or the first one. Default: hardened.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub policies: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Scope of the models of `check`: small, tiny, large, or the path of a scope file. Default: small.
    #[serde(default, deserialize_with = "required_value")]
    pub scope: Option<Spanned<StrictText>>,
    /// Scenarios of `run`: files or folders. A folder contributes every *.yaml file in or below it, except *.policy.yaml.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub scenarios: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Traces of `replay`: files or folders. A folder contributes every *.ndjson file in or below it. A trace beside a scenario of the
    /// same name is its golden trace; others, such as traces from production, need no scenario.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub traces: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Claim files of `check`, `run` and `replay`: what holds in every conversation of this project.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub claims: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Files of `lint`: state machines of other systems, as YAML tables or Mermaid diagrams.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub machines: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// Claims that may fail or be vacuous until a day.
    #[serde(default, deserialize_with = "required_value")]
    pub waivers: Option<Vec<Spanned<WaiverFile>>>,
}

/// Permission for a claim to fail or be vacuous until a day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiverFile {
    /// Id of the claim, such as C-06.
    pub claim: Spanned<ClaimId>,
    /// Name of the policy. Default: every policy of this file.
    #[serde(default, deserialize_with = "required_value")]
    pub policy: Option<Spanned<StrictText>>,
    /// Reason, as a sentence.
    pub reason: Spanned<StrictText>,
    /// Last day, such as 2027-01-31, in UTC.
    pub until: Day,
}

/// Calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day(pub Date);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        let read: Option<Date> = text.value.parse().ok();
        // The library accepts other notations of a day too.
        read.filter(|day| day.to_string() == text.value).map(Self).ok_or_else(|| {
            LabeledError::new(
                format!("expected a calendar day, found `{}`", text.value.escape_debug()),
                "write year, month and day, such as 2027-01-31",
            )
            .with_label(text.span(), "not a day")
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
