//! Mappings whose keys are ids.

use orchestrion_files::limits::NETWORK_ENTRIES_MAX;
use orchestrion_yaml::{LabeledError, Spanned, StrictText, inline_schema};
use schemars::{JsonSchema, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Values by id, in the order of the file. An error can label the id. The YAML library refuses duplicate keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ById<V>(pub Vec<(Spanned<StrictText>, V)>);

impl<V> Default for ById<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> ById<V> {
    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V: Serialize> Serialize for ById<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, value)| (&id.value, value)))
    }
}

impl<K: Into<StrictText>, V> FromIterator<(K, V)> for ById<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        Self(values.into_iter().map(|(id, value)| (Spanned::from(id.into()), value)).collect())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for ById<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByIdVisitor(PhantomData))
    }
}

struct ByIdVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for ByIdVisitor<V> {
    type Value = ById<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping from ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ById<V>, A::Error> {
        let mut entries = Vec::with_capacity(map.size_hint().unwrap_or_default());
        while let Some((id, value)) = map.next_entry::<Spanned<StrictText>, V>()? {
            if id.value.as_str().trim().is_empty() {
                return Err(LabeledError::new("empty id", "write a name before the colon")
                    .with_label(id.span(), "empty")
                    .into_serde_error());
            }
            if entries.len() == NETWORK_ENTRIES_MAX {
                return Err(LabeledError::new(
                    format!("too many entries: expected at most {NETWORK_ENTRIES_MAX}, found more"),
                    "remove the nodes that cannot get the task",
                )
                .with_label(id.span(), "one too many")
                .into_serde_error());
            }
            entries.push((id, value));
        }
        Ok(ById(entries))
    }
}

inline_schema!(ById<V> where V: JsonSchema; generator => {
    let value = generator.subschema_for::<V>();
    json_schema!({"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": value})
});
