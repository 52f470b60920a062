//! A write as a scenario has it: what is written, and whether the kernel is to refuse it.

use super::reply_extras::with_beside;
use super::tagged;
use super::writes::WriteFile;
use orchestrion_yaml::{LabeledError, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, json};
use std::borrow::Cow;
use std::fmt;

/// What is written, and `refused: true` beside it where the scenario shows that it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// What is written.
    pub write: WriteFile,
    /// Whether the kernel is to refuse it. Left out: it is not; a refusal that nobody announced is told with its place.
    pub refused: bool,
}

impl From<WriteFile> for WrittenFile {
    fn from(write: WriteFile) -> Self {
        Self { write, refused: false }
    }
}

const REFUSED: &str = "refused";

impl Serialize for WrittenFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        tagged::write_beside(&self.write, &mut map)?;
        if self.refused {
            map.serialize_entry(REFUSED, &true)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for WrittenFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = WrittenFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("something to be written: one key with a mapping, and perhaps `refused`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut refused = false;
        let mut write: Option<WriteFile> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.value == REFUSED {
                refused = map.next_value()?;
            } else if write.is_some() {
                return Err(LabeledError::new(
                    format!("expected one write, found `{}` beside another", key.value.escape_debug()),
                    "a write has one key, and perhaps `refused`; write several as a list, one behind each dash",
                )
                .at(key.span(), "one too many")
                .into_serde_error());
            } else {
                write = Some(tagged::keyed(Some(&key), &mut map, &[REFUSED])?);
            }
        }
        match write {
            Some(write) => Ok(WrittenFile { write, refused }),
            None => Err(LabeledError::new(
                "expected something to be written, found nothing",
                "write `fact: …`, `constraint: …`, `working: …`, `signal: …`, `time: …` or `identity: …`",
            )
            .into_serde_error()),
        }
    }
}

impl JsonSchema for WrittenFile {
    fn schema_name() -> Cow<'static, str> {
        "WrittenFile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let refused = json!({
            "description": "Whether the kernel is to refuse it. Left out: it is not; a refusal that nobody announced is told with \
                            its place, and `run` ends with exit code 1.",
            "type": "boolean",
        });
        with_beside::<WriteFile>(generator, &Map::from_iter([(REFUSED.to_owned(), refused)]))
    }
}
