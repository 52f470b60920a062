//! Identifiers of items in files.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Identifier of an item. Numbers are ordered before texts; texts are ordered by bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id<'a> {
    /// A whole number.
    Number(u64),
    /// A text.
    Text(Cow<'a, str>),
}

impl Id<'_> {
    /// Returns a borrowed copy.
    #[must_use]
    pub fn borrowed(&self) -> Id<'_> {
        match self {
            Self::Number(number) => Id::Number(*number),
            Self::Text(text) => Id::Text(Cow::Borrowed(text)),
        }
    }

    /// Returns the number written as a text, or the text read as a number.
    pub(super) fn other_kind(&self) -> Option<Id<'static>> {
        match self {
            Self::Number(number) => Some(Id::Text(number.to_string().into())),
            Self::Text(text) => text.parse().ok().map(Id::Number),
        }
    }

    /// Returns an owned copy.
    #[must_use]
    pub fn into_owned(self) -> Id<'static> {
        match self {
            Self::Number(number) => Id::Number(number),
            Self::Text(text) => Id::Text(Cow::Owned(text.into_owned())),
        }
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            // The empty text and texts of digits are quoted.
            Self::Text(text) if text.is_empty() || text.parse::<u64>().is_ok() => write!(f, "\"{text}\""),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor).map(|id: Id<'de>| id)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = Id<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id: a text, or a whole number that is not negative")
    }
    fn visit_u64<E>(self, number: u64) -> Result<Id<'de>, E> {
        Ok(Id::Number(number))
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Id<'de>, E> {
        Ok(Id::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Id<'de>, E> {
        Ok(Id::Text(Cow::Owned(text.to_owned())))
    }
}

impl JsonSchema for Id<'_> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0, "maximum": u64::MAX}]})
    }
}
