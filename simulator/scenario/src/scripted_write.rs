//! A write in a scenario, with the phase in which it occurs, and `refused: true` where the kernel must refuse it.

use crate::format::PhaseVisitFile;
use crate::names::{Count, PhaseName};
use crate::reply_keys::deserialize_with_key;
use crate::writes::WriteFile;
use orchestrion_yaml::{LabeledError, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// A write in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScriptedWriteFile {
    /// The write.
    #[serde(flatten)]
    pub write: WriteFile,
    /// The point in the request at which the write occurs. Default: the start of the request.
    #[serde(flatten)]
    pub at: Option<PhaseVisitFile>,
    /// Whether the kernel must refuse the write. Default: false.
    #[serde(skip_serializing_if = "crate::is_default::is_default")]
    pub refused: bool,
}

impl From<WriteFile> for ScriptedWriteFile {
    fn from(write: WriteFile) -> Self {
        Self { write, at: None, refused: false }
    }
}

const REFUSED: &str = "refused";
const PHASE: &str = "phase";
const VISIT: &str = "visit";

impl<'de> Deserialize<'de> for ScriptedWriteFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ScriptedWriteVisitor)
    }
}

struct ScriptedWriteVisitor;

impl<'de> Visitor<'de> for ScriptedWriteVisitor {
    type Value = ScriptedWriteFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a write: one key with a mapping, and optionally `phase`, `visit` and `refused`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut refused = false;
        let (mut phase, mut visit): (Option<PhaseName>, Option<Spanned<Count>>) = (None, None);
        let mut write: Option<WriteFile> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.value == REFUSED {
                refused = map.next_value()?;
            } else if key.value == PHASE {
                phase = Some(map.next_value()?);
            } else if key.value == VISIT {
                visit = Some(map.next_value()?);
            } else if write.is_some() {
                return Err(LabeledError::new(
                    format!("expected one write, found a second key `{}`", key.value.escape_debug()),
                    "write several writes as a list; only `phase`, `visit` and `refused` may be beside a write",
                )
                .with_label(key.span(), "one key too many")
                .into_serde_error());
            } else {
                write = Some(deserialize_with_key(&key.value, &mut map)?);
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
        match write {
            Some(write) => Ok(ScriptedWriteFile { write, at, refused }),
            None => Err(LabeledError::new(
                "expected a write, found none",
                "write `fact: …`, `constraint: …`, `working: …`, `signal: …` or `promote: …`",
            )
            .into_serde_error()),
        }
    }
}

impl JsonSchema for ScriptedWriteFile {
    fn schema_name() -> Cow<'static, str> {
        "ScriptedWriteFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let refused = json!({
            "description": "Whether the kernel must refuse the write. Default: false. If the kernel decides otherwise, \
                            `run` prints the place and exits with code 1.",
            "type": "boolean",
        });
        let described = |mut schema: Schema, description: &str| {
            schema.insert("description".to_owned(), description.into());
            schema
        };
        let phase = generator.subschema_for::<PhaseName>();
        let phase = json!(described(
            phase,
            "The phase in which the write occurs. Default: the start of the request."
        ));
        let visit = generator.subschema_for::<Count>();
        let visit = json!(described(visit, "The number of the visit in this request, from 1. Default: 1."));
        let mut schema = WriteFile::json_schema(generator);
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
