//! A write in a scenario, with `refused: true` where the kernel must refuse it.

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
    /// Whether the kernel must refuse the write. Default: false.
    #[serde(skip_serializing_if = "crate::is_default::is_default")]
    pub refused: bool,
}

impl From<WriteFile> for ScriptedWriteFile {
    fn from(write: WriteFile) -> Self {
        Self { write, refused: false }
    }
}

const REFUSED: &str = "refused";

impl<'de> Deserialize<'de> for ScriptedWriteFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ScriptedWriteVisitor)
    }
}

struct ScriptedWriteVisitor;

impl<'de> Visitor<'de> for ScriptedWriteVisitor {
    type Value = ScriptedWriteFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a write: one key with a mapping, and optionally `refused`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut refused = false;
        let mut write: Option<WriteFile> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.value == REFUSED {
                refused = map.next_value()?;
            } else if write.is_some() {
                return Err(LabeledError::new(
                    format!("expected one write, found a second key `{}`", key.value.escape_debug()),
                    "write several writes as a list; only `refused` may be beside a write",
                )
                .with_label(key.span(), "one key too many")
                .into_serde_error());
            } else {
                write = Some(deserialize_with_key(&key.value, &mut map)?);
            }
        }
        match write {
            Some(write) => Ok(ScriptedWriteFile { write, refused }),
            None => Err(LabeledError::new(
                "expected a write, found none",
                "write `fact: …`, `constraint: …`, `working: …` or `signal: …`",
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
        let mut schema = WriteFile::json_schema(generator);
        for variant in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(Value::Object(properties)) = variant.get_mut("properties") {
                properties.insert(REFUSED.to_owned(), refused.clone());
            }
        }
        schema
    }
}
