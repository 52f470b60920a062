//! One answer that repeats, or a list of answers in order.
//!
//! Serde's own ways to read either of two shapes lose the places, so the visitor is written out here. Each
//! answer is one word (`held`) or one key with a value (`fail: timeout`).

use crate::yaml::{At, Fault, unknown_word};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{StrDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess};
use serde::de::{VariantAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The answers of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneOrMany<T> {
    /// One answer, given every time.
    One(At<T>),
    /// Answers, given in order; there is none after the last.
    Many(At<Vec<At<T>>>),
}

impl<T> OneOrMany<T> {
    /// The same answer every time.
    pub fn one(answer: T) -> Self {
        Self::One(answer.into())
    }

    /// These answers, in order.
    pub fn many(answers: impl IntoIterator<Item = T>) -> Self {
        Self::Many(answers.into_iter().map(At::from).collect::<Vec<_>>().into())
    }

    /// The answers as they are written.
    pub fn answers(&self) -> &[At<T>] {
        match self {
            Self::One(answer) => std::slice::from_ref(answer),
            Self::Many(answers) => &answers.value,
        }
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(answer) => answer.serialize(serializer),
            Self::Many(answers) => answers.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = At::<Shape<T>>::deserialize(deserializer)?;
        let span = shape.span();
        match shape.value {
            Shape::Answer(answer) => Ok(Self::One(At::with_span(answer, span))),
            Shape::List(answers) if answers.is_empty() => Err(Fault::new(
                "expected at least one answer, found an empty list",
                "write an answer, or leave the key out",
            )
            .at(span, "no answer")
            .raise()),
            Shape::List(answers) => Ok(Self::Many(At::with_span(answers, span))),
            Shape::Other(found) => Err(Fault::new(
                format!("expected an answer or a list of answers, found {found}"),
                "write one answer, as in `fail: timeout`, or a list of them",
            )
            .at(span, "not an answer")
            .raise()),
        }
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let answer = generator.subschema_for::<T>();
        json_schema!({
            "anyOf": [answer, {"type": "array", "minItems": 1, "items": answer}],
        })
    }
}

/// What stands where answers are expected.
enum Shape<T> {
    Answer(T),
    List(Vec<At<T>>),
    Other(&'static str),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shape<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

struct ShapeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ShapeVisitor<T> {
    type Value = Shape<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer or a list of answers")
    }
    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        T::deserialize(Word { word, error: PhantomData }).map(Shape::Answer)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(Entry { map }).map(Shape::Answer)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(shape) = seq.next_element::<At<Self::Value>>()? {
            let span = shape.span();
            let found = match shape.value {
                Shape::Answer(answer) => {
                    answers.push(At::with_span(answer, span));
                    continue;
                }
                Shape::List(_) => "a list in a list",
                Shape::Other(found) => found,
            };
            return Err(Fault::new(
                format!("expected an answer, found {found}"),
                "write one answer behind each dash, as in `- fail: timeout`",
            )
            .at(span, "not an answer")
            .raise());
        }
        Ok(Shape::List(answers))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Shape::Other("a boolean"))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Shape::Other("a number"))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Shape::Other("a number"))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Shape::Other("a number"))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Shape::Other("nothing"))
    }
    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Shape::Other("nothing"))
    }
}

/// An answer that is one word.
struct Word<'a, E> {
    word: &'a str,
    error: PhantomData<E>,
}

impl<'de, E: Error> Deserializer<'de> for Word<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.word)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        if !variants.contains(&self.word) {
            return Err(unknown_word(self.word, variants).raise());
        }
        visitor.visit_enum(self)
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de, E: Error> EnumAccess<'de> for Word<'_, E> {
    type Error = E;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), E> {
        let variant: StrDeserializer<'_, E> = self.word.into_deserializer();
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de, E: Error> VariantAccess<'de> for Word<'_, E> {
    type Error = E;

    fn unit_variant(self) -> Result<(), E> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, E> {
        let word = self.word;
        Err(Fault::new(format!("`{word}` says too little"), format!("write `{word}: …`")).raise())
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }
}

/// An answer that is one key with a value.
struct Entry<A> {
    map: A,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Entry<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let Some(key) = self.map.next_key::<At<String>>()? else {
            return Err(Fault::new(
                "expected an answer, found an empty mapping",
                format!("write one of {}", variants.join(", ")),
            )
            .raise());
        };
        if !variants.contains(&key.value.as_str()) {
            return Err(unknown_word(&key.value, variants).at(key.span(), "unknown").raise());
        }
        visitor.visit_enum(Keyed { key, map: self.map })
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Keyed<A> {
    key: At<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Keyed<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), A::Error> {
        let variant: StringDeserializer<A::Error> = self.key.value.clone().into_deserializer();
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Keyed<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        let word = &self.key.value;
        Err(Fault::new(format!("`{word}` stands alone"), format!("write `{word}` without a colon"))
            .at(self.key.span(), "takes no value")
            .raise())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, A::Error> {
        let value = self.map.next_value_seed(seed)?;
        match self.map.next_key::<At<String>>()? {
            None => Ok(value),
            Some(extra) => {
                let (first, second) = (&self.key.value, extra.value.escape_debug());
                Err(Fault::new(
                    format!("expected one answer, found `{first}` and `{second}` in one"),
                    "an answer has one key; write several as a list, one behind each dash",
                )
                .at(extra.span(), "one too many")
                .raise())
            }
        }
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }
}
