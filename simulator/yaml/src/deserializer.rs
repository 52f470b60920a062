//! Deserializes a type from the tree of a YAML text. Every error has the location of its value.

use super::node::{Node, Value};
use super::spanned::{SPANNED, SpannedAccess};
use super::type_error::TypeError;
use miette::SourceSpan;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// A node and the text that it was read from.
#[derive(Clone, Copy)]
pub(crate) struct NodeDeserializer<'n> {
    node: &'n Node,
    text: &'n str,
}

impl<'n> NodeDeserializer<'n> {
    pub(crate) const fn new(node: &'n Node, text: &'n str) -> Self {
        Self { node, text }
    }

    pub(crate) const fn span(self) -> SourceSpan {
        self.node.span
    }

    /// Returns the text of a scalar: the content of a quoted text, and what the file has for a number or a boolean.
    fn scalar(self) -> Option<&'n str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            Value::Nothing | Value::Bool(_) | Value::Unsigned(_) | Value::Signed(_) | Value::Float(_) => {
                let start = self.node.span.offset();
                self.text.get(start..start.saturating_add(self.node.span.len()))
            }
            Value::List(_) | Value::Mapping(_) => None,
        }
    }

    fn visit_list<'de, V: Visitor<'de>>(self, list: &'n [Node], visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_seq(SeqDeserializer::new(list.iter().map(|node| Self { node, ..self })))
    }

    fn visit_mapping<'de, V: Visitor<'de>>(
        self,
        entries: &'n [(Node, Node)],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        // The location of a mapping is its first key.
        let start = entries.first().map_or(self.node.span, |(key, _)| key.span);
        let entries =
            entries.iter().map(|(key, value)| (Self { node: key, ..self }, Self { node: value, ..self }));
        visitor.visit_map(MapDeserializer::new(entries)).map_err(|error| error.at(start))
    }

    fn visit_text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match (&self.node.value, self.scalar()) {
            (Value::Nothing, _) => Err(TypeError::no_value()),
            (_, Some(text)) => visitor.visit_str(text),
            (_, None) => Err(self.unexpected("a single value")),
        }
    }

    fn visit_variant<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match &self.node.value {
            Value::Mapping(entries) => match &entries[..] {
                [(key, value)] => {
                    let value = Some(Self { node: value, ..self });
                    visitor.visit_enum(Variant { key: Self { node: key, ..self }, value })
                }
                [] => Err(self.unexpected("one key")),
                [first, (second, _), ..] => {
                    let key = |node| Self { node, ..self }.scalar().unwrap_or_default();
                    Err(TypeError::second_key(key(&first.0), key(second)).at(second.span))
                }
            },
            _ => visitor.visit_enum(Variant { key: self, value: None }),
        }
    }

    fn unexpected(self, expected: &'static str) -> TypeError {
        TypeError::invalid_type(self.as_unexpected(), &expected)
    }

    const fn as_unexpected(self) -> Unexpected<'n> {
        match &self.node.value {
            Value::Nothing => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Unsigned(value) => Unexpected::Unsigned(*value),
            Value::Signed(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Text(text) => Unexpected::Str(text.as_str()),
            Value::List(_) => Unexpected::Seq,
            Value::Mapping(_) => Unexpected::Map,
        }
    }
}

impl<'de> IntoDeserializer<'de, TypeError> for NodeDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = TypeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match &self.node.value {
            Value::Nothing => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Unsigned(value) => visitor.visit_u64(*value),
            Value::Signed(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(list) => self.visit_list(list, visitor),
            Value::Mapping(entries) => self.visit_mapping(entries, visitor),
        }
        .map_err(|error| error.at(self.node.span))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.visit_text(visitor).map_err(|error| error.at(self.node.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.node.value {
            Value::Nothing => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// A key without a value is an empty list.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match &self.node.value {
            Value::List(list) => self.visit_list(list, visitor),
            Value::Nothing => self.visit_list(&[], visitor),
            _ => Err(self.unexpected("a list (`- …` or `[…]`)")),
        }
        .map_err(|error| error.at(self.node.span))
    }

    /// A key without a value is an empty mapping.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match &self.node.value {
            Value::Mapping(entries) => self.visit_mapping(entries, visitor),
            Value::Nothing => self.visit_mapping(&[], visitor),
            _ => Err(self.unexpected("a mapping (`key: value`)")),
        }
        .map_err(|error| error.at(self.node.span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.visit_variant(visitor).map_err(|error| error.at(self.node.span))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        if name == SPANNED {
            visitor.visit_seq(SpannedAccess::new(self))
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct
    }
}

/// A variant of an enum: its name alone, or a mapping from the name to the value.
struct Variant<'n> {
    key: NodeDeserializer<'n>,
    value: Option<NodeDeserializer<'n>>,
}

impl Variant<'_> {
    fn no_value(&self) -> TypeError {
        TypeError::no_value_of(self.key.scalar().unwrap_or_default()).at(self.key.span())
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = TypeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), TypeError> {
        Ok((seed.deserialize(self.key)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = TypeError;

    fn unit_variant(self) -> Result<(), TypeError> {
        match self.value {
            None => Ok(()),
            Some(value) => <()>::deserialize(value),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, TypeError> {
        match self.value {
            None => Err(self.no_value()),
            Some(value) => seed.deserialize(value),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TypeError> {
        match self.value {
            None => Err(self.no_value()),
            Some(value) => value.deserialize_seq(visitor),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        match self.value {
            None => Err(self.no_value()),
            Some(value) => value.deserialize_map(visitor),
        }
    }
}
