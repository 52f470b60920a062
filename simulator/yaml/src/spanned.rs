//! Values with their source locations.

use super::deserializer::NodeDeserializer;
use super::type_error::TypeError;
use miette::SourceSpan;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeSeed, Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A value with its source location. Equality ignores the location, so that a built file equals a parsed one.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    span: Option<SourceSpan>,
}

impl<T> Spanned<T> {
    /// The location; `None` for a value that was not read from a file.
    #[must_use]
    pub const fn span(&self) -> Option<SourceSpan> {
        self.span
    }

    /// Creates a value with its location.
    pub const fn new(value: T, span: Option<SourceSpan>) -> Self {
        Self { value, span }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, span: None }
    }
}

impl<T: Default> Default for Spanned<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// The name of the newtype struct for which [`NodeDeserializer`] adds the location.
pub(crate) const SPANNED: &str = "orchestrion_yaml::Spanned";

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its location")
    }
    /// A deserializer without locations.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        T::deserialize(deserializer).map(Spanned::from)
    }
    /// The start, the length and the value, from a [`SpannedAccess`].
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut offset = || seq.next_element::<usize>();
        let span = offset()?.zip(offset()?).map(|(start, len)| SourceSpan::new(start.into(), len));
        let value = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(2, &self))?;
        Ok(Spanned::new(value, span))
    }
}

/// The start and the length of a node, and then the node.
pub(crate) struct SpannedAccess<'n> {
    node: NodeDeserializer<'n>,
    offsets: std::array::IntoIter<usize, 2>,
}

impl<'n> SpannedAccess<'n> {
    pub(crate) fn new(node: NodeDeserializer<'n>) -> Self {
        let span = node.span();
        Self { node, offsets: [span.offset(), span.len()].into_iter() }
    }
}

impl<'de> SeqAccess<'de> for SpannedAccess<'_> {
    type Error = TypeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, TypeError> {
        match self.offsets.next() {
            Some(offset) => seed.deserialize(offset.into_deserializer()).map(Some),
            None => seed.deserialize(self.node).map(Some),
        }
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
