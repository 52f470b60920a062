//! What a task of a plan requires: capabilities alone, or everything that a task file can have.

use crate::convert::FileValue;
use orchestrion_kernel::network::Requirements;
use orchestrion_network::{RequirementsFile, TaskConstraintsFile};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, inline_schema};
use schemars::json_schema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Requirements of a task: a capability, a list of capabilities, or a mapping as in a task file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiresFile(pub RequirementsFile);

impl RequiresFile {
    /// Returns the requirement of these capabilities alone.
    fn capabilities(ids: Spanned<Vec<Spanned<StrictText>>>) -> Self {
        Self(RequirementsFile {
            required_capabilities: ids,
            input_type: None,
            output_type: None,
            input_size: 0,
            constraints: TaskConstraintsFile::default(),
        })
    }
}

impl Serialize for RequiresFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = &self.0.required_capabilities;
        match &ids.value[..] {
            _ if *self != Self::capabilities(ids.clone()) => self.0.serialize(serializer),
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RequiresFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Spanned::<Node>::deserialize(deserializer)?;
        let span = node.span();
        Ok(match node.value {
            Node::One(id) => Self::capabilities(vec![Spanned::new(id, span)].into()),
            Node::List(ids) => Self::capabilities(Spanned::new(ids, span)),
            Node::Full(file) => Self(file),
        })
    }
}

enum Node {
    One(StrictText),
    List(Vec<Spanned<StrictText>>),
    Full(RequirementsFile),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a capability, a list of capabilities, or a mapping with `required_capabilities`")
    }
    fn visit_str<E: Error>(self, id: &str) -> Result<Node, E> {
        Ok(Node::One(id.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut ids = Vec::new();
        while let Some(id) = seq.next_element()? {
            ids.push(id);
        }
        Ok(Node::List(ids))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Node, A::Error> {
        RequirementsFile::deserialize(MapAccessDeserializer::new(map)).map(Node::Full)
    }
}

inline_schema!(RequiresFile; generator => {
    let file = generator.subschema_for::<RequirementsFile>();
    json_schema!({"anyOf": [
        {"type": "string"},
        {"type": "array", "minItems": 1, "items": {"type": "string"}},
        file,
    ]})
});

impl FileValue<Arc<Requirements>> for RequiresFile {
    fn to_kernel(&self) -> Result<Arc<Requirements>, LabeledError> {
        self.0.to_kernel().map(Arc::new)
    }

    fn from_kernel(requirements: &Arc<Requirements>) -> Option<Self> {
        RequirementsFile::from_kernel(requirements).map(Self)
    }
}
