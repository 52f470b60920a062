//! A write or a network event in a scenario, with the phase in which it occurs, and `refused: true` where the kernel must refuse it.

use crate::format::PhaseVisitFile;
use crate::names::{Count, PhaseName};
use crate::network_events::NetworkEventFile;
use crate::reply_keys::deserialize_with_key;
use crate::writes::WriteFile;
use orchestrion_yaml::{LabeledError, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// An input of a scenario at a point in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScriptedFile<T> {
    /// The input.
    #[serde(flatten)]
    pub input: T,
    /// The point in the request at which the input occurs. Default: the start of the request.
    #[serde(flatten)]
    pub at: Option<PhaseVisitFile>,
    /// Whether the kernel must refuse the input. Default: false.
    #[serde(skip_serializing_if = "crate::is_default::is_default")]
    pub refused: bool,
}

/// A write in a scenario.
pub type ScriptedWriteFile = ScriptedFile<WriteFile>;

/// A network event in a scenario.
pub type ScriptedNetworkEventFile = ScriptedFile<NetworkEventFile>;

/// An input that a scenario can script.
pub trait ScriptedKind: DeserializeOwned + JsonSchema {
    /// The name of the scripted form in the JSON Schema.
    const SCHEMA_NAME: &'static str;
    /// The input as a noun.
    const NOUN: &'static str;
    /// The help where the input is missing.
    const HELP: &'static str;
}

impl ScriptedKind for WriteFile {
    const SCHEMA_NAME: &'static str = "ScriptedWriteFile";
    const NOUN: &'static str = "write";
    const HELP: &'static str = "write `fact: …`, `constraint: …`, `working: …`, `signal: …` or `promote: …`";
}

impl ScriptedKind for NetworkEventFile {
    const SCHEMA_NAME: &'static str = "ScriptedNetworkEventFile";
    const NOUN: &'static str = "network event";
    const HELP: &'static str = "write `set_available: …`, `report_load: …`, `leave: …`, `join: …`, `rotate_key: …`, `signal: …`, `resolve_threat: …` or `tick: {}`";
}

impl<T> From<T> for ScriptedFile<T> {
    fn from(input: T) -> Self {
        Self { input, at: None, refused: false }
    }
}

const REFUSED: &str = "refused";
const PHASE: &str = "phase";
const VISIT: &str = "visit";

impl<'de, T: ScriptedKind> Deserialize<'de> for ScriptedFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ScriptedVisitor(PhantomData))
    }
}

struct ScriptedVisitor<T>(PhantomData<T>);

impl<'de, T: ScriptedKind> Visitor<'de> for ScriptedVisitor<T> {
    type Value = ScriptedFile<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}: one key with a value, and optionally `phase`, `visit` and `refused`", T::NOUN)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut refused = false;
        let (mut phase, mut visit): (Option<PhaseName>, Option<Spanned<Count>>) = (None, None);
        let mut input: Option<T> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.value == REFUSED {
                refused = map.next_value()?;
            } else if key.value == PHASE {
                phase = Some(map.next_value()?);
            } else if key.value == VISIT {
                visit = Some(map.next_value()?);
            } else if input.is_some() {
                return Err(LabeledError::new(
                    format!("expected one {}, found a second key `{}`", T::NOUN, key.value.escape_debug()),
                    format!(
                        "write several {0}s as a list; only `phase`, `visit` and `refused` may be beside a {0}",
                        T::NOUN
                    ),
                )
                .with_label(key.span(), "one key too many")
                .into_serde_error());
            } else {
                input = Some(deserialize_with_key(&key.value, &mut map)?);
            }
        }
        let at = match (phase, visit) {
            (Some(phase), visit) => {
                Some(PhaseVisitFile { phase, visit: visit.map(|visit| visit.value).unwrap_or_default() })
            }
            (None, Some(visit)) => {
                return Err(LabeledError::new(
                    "`visit` without `phase`: expected both or none",
                    "write the phase of the visit, as in `phase: RunningTasks`",
                )
                .with_label(visit.span(), "this visit")
                .into_serde_error());
            }
            (None, None) => None,
        };
        match input {
            Some(input) => Ok(ScriptedFile { input, at, refused }),
            None => {
                Err(LabeledError::new(format!("expected a {}, found none", T::NOUN), T::HELP)
                    .into_serde_error())
            }
        }
    }
}

impl<T: ScriptedKind> JsonSchema for ScriptedFile<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA_NAME.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let refused = json!({
            "description": format!(
                "Whether the kernel must refuse the {}. Default: false. If the kernel decides otherwise, \
                 `run` prints the place and exits with code 1.",
                T::NOUN,
            ),
            "type": "boolean",
        });
        let described = |mut schema: Schema, description: String| {
            schema.insert("description".to_owned(), description.into());
            schema
        };
        let phase = generator.subschema_for::<PhaseName>();
        let phase = json!(described(
            phase,
            format!("The phase in which the {} occurs. Default: the start of the request.", T::NOUN)
        ));
        let visit = generator.subschema_for::<Count>();
        let visit = json!(described(
            visit,
            "The number of the visit in this request, from 1. Default: 1.".to_owned()
        ));
        let mut schema = T::json_schema(generator);
        for variant in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::Object(properties)) = variant.get_mut("properties") {
                properties.insert(REFUSED.to_owned(), refused.clone());
                properties.insert(PHASE.to_owned(), phase.clone());
                properties.insert(VISIT.to_owned(), visit.clone());
            }
        }
        schema
    }
}
