//! An answer as a file has it: one word (`held`), or one key with a value (`fail: timeout`), with other keys beside it.
//!
//! Serde reads and writes such an enumeration if it stands alone. With another key beside it, it would lose the places.

use orchestrion_yaml::{LabeledError, Spanned, unknown_word};
use serde::de::value::{StrDeserializer, StringDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess,
    Visitor,
};
use serde::ser::{Impossible, SerializeMap};
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};
use std::fmt::Display;
use std::marker::PhantomData;

/// Words that may stand in the place of an answer's.
type Alternatives = &'static [&'static str];

/// Reads the answer that a word is.
pub(super) fn word<'de, T: Deserialize<'de>, E: Error>(word: &str, instead: Alternatives) -> Result<T, E> {
    T::deserialize(Word { word, instead, error: PhantomData })
}

/// Reads the answer whose key was read already. Without a key, says what was expected.
pub(super) fn keyed<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    key: Option<&Spanned<String>>,
    map: &mut A,
    instead: Alternatives,
) -> Result<T, A::Error> {
    T::deserialize(Keyed { key, map, instead })
}

/// Writes an answer into a mapping in which other keys stand beside it.
pub(super) fn write_beside<T: Serialize, M: SerializeMap>(answer: &T, map: &mut M) -> Result<(), M::Error> {
    answer.serialize(EntrySerializer { map })
}

fn unknown(word: &str, variants: &[&'static str], instead: Alternatives) -> LabeledError {
    unknown_word(word, &[variants, instead].concat())
}

/// An answer that is one word.
struct Word<'a, E> {
    word: &'a str,
    instead: Alternatives,
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
            return Err(unknown(self.word, variants, self.instead).into_serde_error());
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
        Err(LabeledError::new(format!("`{word}` says too little"), format!("write `{word}: …`"))
            .into_serde_error())
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, E> {
        self.deserialize_any(visitor)
    }
}

/// An answer that is one key with a value.
struct Keyed<'a, A> {
    key: Option<&'a Spanned<String>>,
    map: &'a mut A,
    instead: Alternatives,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Keyed<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.map)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let Some(key) = self.key else {
            return Err(LabeledError::new(
                "expected an answer, found none in this mapping",
                format!("write one of {}", variants.join(", ")),
            )
            .into_serde_error());
        };
        if !variants.contains(&key.value.as_str()) {
            return Err(unknown(&key.value, variants, self.instead)
                .at(key.span(), "unknown")
                .into_serde_error());
        }
        visitor.visit_enum(Variant { key, map: self.map })
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Variant<'a, A> {
    key: &'a Spanned<String>,
    map: &'a mut A,
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Variant<'_, A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), A::Error> {
        let variant: StringDeserializer<A::Error> = self.key.value.clone().into_deserializer();
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Variant<'_, A> {
    type Error = A::Error;

    /// A word with another key beside it, as in `{held, after: 5s}`: YAML gives it an empty value.
    fn unit_variant(self) -> Result<(), A::Error> {
        match self.map.next_value::<Option<IgnoredAny>>()? {
            None => Ok(()),
            Some(_) => {
                let word = &self.key.value;
                Err(LabeledError::new(
                    format!("`{word}` stands alone"),
                    format!("write `{word}` without a colon"),
                )
                .at(self.key.span(), "takes no value")
                .into_serde_error())
            }
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.map.next_value_seed(seed)
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

/// Writes an enumeration as one entry of a mapping.
struct EntrySerializer<'a, M> {
    map: &'a mut M,
}

macro_rules! refuse {
    ($($name:ident($($kind:ty),*) -> $out:ty;)*) => {$(
        fn $name(self, $(_: $kind),*) -> Result<$out, M::Error> {
            Err(no_answer())
        }
    )*};
}

fn no_answer<E: serde::ser::Error>() -> E {
    E::custom("an answer is one word, or one key with a value")
}

impl<M: SerializeMap> Serializer for EntrySerializer<'_, M> {
    type Ok = ();
    type Error = M::Error;
    type SerializeSeq = Impossible<(), M::Error>;
    type SerializeTuple = Impossible<(), M::Error>;
    type SerializeTupleStruct = Impossible<(), M::Error>;
    type SerializeTupleVariant = Impossible<(), M::Error>;
    type SerializeMap = Impossible<(), M::Error>;
    type SerializeStruct = Impossible<(), M::Error>;
    type SerializeStructVariant = Impossible<(), M::Error>;

    fn serialize_unit_variant(self, _: &'static str, _: u32, word: &'static str) -> Result<(), M::Error> {
        self.map.serialize_entry(word, &())
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        key: &'static str,
        value: &T,
    ) -> Result<(), M::Error> {
        self.map.serialize_entry(key, value)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<(), M::Error> {
        Err(no_answer())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), M::Error> {
        Err(no_answer())
    }
    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), M::Error> {
        Err(no_answer())
    }
    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}
