//! The tree of a YAML text.
//!
//! The parser is instantiated once, for this tree. File types deserialize from the tree, because an instance of the parser per
//! type multiplies compile time and code size.

use super::location::byte_span;
use miette::SourceSpan;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// A value and its location.
pub(crate) struct Node {
    pub(crate) span: SourceSpan,
    pub(crate) value: Value,
}

/// A value. A plain scalar is a number, a boolean or nothing if YAML 1.2 reads it so; its text is in the source.
pub(crate) enum Value {
    Nothing,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_saphyr::Spanned::<Value>::deserialize(deserializer)?;
        // A text source has byte offsets.
        let span = byte_span(spanned.referenced).unwrap_or_else(|| SourceSpan::new(0.into(), 0));
        Ok(Self { span, value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

macro_rules! visit_scalars {
    ($($visit:ident $scalar:ty => $variant:ident;)*) => {$(
        fn $visit<E>(self, value: $scalar) -> Result<Value, E> {
            Ok(Value::$variant(value.into()))
        }
    )*};
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    visit_scalars! {
        visit_bool bool => Bool;
        visit_u64 u64 => Unsigned;
        visit_i64 i64 => Signed;
        visit_f64 f64 => Float;
        visit_str &str => Text;
        visit_string String => Text;
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = seq.next_element()? {
            list.push(node);
        }
        Ok(Value::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Mapping(entries))
    }
}
