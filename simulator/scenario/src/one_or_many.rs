//! One mapping or a list of mappings.

use orchestrion_yaml::{LabeledError, Spanned, inline_schema};
use schemars::{JsonSchema, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The maximum length; a scenario run scans the list at each step.
const LIST_LEN_MAX: usize = 1000;

/// One mapping or a list of mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<Spanned<T>>);

impl<T> OneOrMany<T> {
    /// Returns an empty list.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
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
            many => many.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Spanned::<Node<T>>::deserialize(deserializer)?;
        let span = node.span();
        let error = match node.value {
            Node::One(one) => return Ok(Self(vec![Spanned::new(one, span)])),
            Node::List(list) if list.is_empty() => LabeledError::new(
                "expected at least one entry, found an empty list",
                "add an entry, or remove the key",
            )
            .with_label(span, "empty"),
            Node::List(list) if list.len() > LIST_LEN_MAX => LabeledError::new(
                format!("expected at most {LIST_LEN_MAX} entries, found {}", list.len()),
                "remove entries, or add another request",
            )
            .with_label(span, "too many"),
            Node::List(list) => return Ok(Self(list)),
        };
        Err(error.into_serde_error())
    }
}

enum Node<T> {
    One(T),
    List(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Node<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor(PhantomData))
    }
}

struct NodeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NodeVisitor<T> {
    type Value = Node<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping, or a list of mappings")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Node::One)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(one) = seq.next_element()? {
            list.push(one);
        }
        Ok(Node::List(list))
    }
}

inline_schema!(OneOrMany<T> where T: JsonSchema; generator => {
    let one = generator.subschema_for::<T>();
    json_schema!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
});
