//! What mostly happens once in a request, but may happen several times.

use orchestrion_yaml::{LabeledError, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// How many times something may happen in one request. At every step all of them are looked at.
const LIST_LEN_MAX: usize = 1000;

/// Mappings, written as a list, or without one if there is only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<Spanned<T>>);

impl<T> OneOrMany<T> {
    /// None.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::none()
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<Read<T>>::deserialize(deserializer)?;
        let span = read.span();
        match read.value {
            Read::One(one) => Ok(Self(vec![Spanned::with_span(one, span)])),
            Read::List(list) if list.is_empty() => Err(LabeledError::new(
                "expected at least one, found an empty list",
                "write one behind a dash, or leave the key out",
            )
            .at(span, "none")
            .into_serde_error()),
            Read::List(list) if list.len() > LIST_LEN_MAX => Err(LabeledError::new(
                format!("expected at most {LIST_LEN_MAX}, found {}", list.len()),
                "write fewer, or another request",
            )
            .at(span, "too many")
            .into_serde_error()),
            Read::List(list) => Ok(Self(list)),
        }
    }
}

enum Read<T> {
    One(T),
    List(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor(PhantomData))
    }
}

struct ReadVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ReadVisitor<T> {
    type Value = Read<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping, or a list of them")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Read::One)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(one) = seq.next_element()? {
            list.push(one);
        }
        Ok(Read::List(list))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Several_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
    }
}
