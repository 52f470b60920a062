//! A reader of raw traces by the published format: JSON lines with text references.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// A JSON value whose keys keep their order, because text references count texts in order of appearance.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Scalar(Value),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// A step of a trace.
pub(crate) struct RawStep {
    pub(crate) number: u64,
    pub(crate) events: Vec<Json>,
    /// The recorded digest of the context of its call.
    pub(crate) digest: Option<String>,
}

/// A string value of at least this many bytes, with quotes and escapes, is a text.
const TEXT_BYTES_MIN: usize = 35;

/// Reads the steps of a complete trace that is smaller than the window of its texts.
pub(crate) fn read_steps(trace: &str) -> Vec<RawStep> {
    let lines: Vec<&str> = trace.lines().collect();
    let mut texts = Vec::new();
    let step = |line: &&str| {
        let line = serde_json::from_str::<Json>(line).unwrap().expand(&mut texts);
        let list = |value: Json| if let Json::List(values) = value { values } else { Vec::new() };
        RawStep {
            number: line.get("n").unwrap().to_value().as_u64().unwrap(),
            events: line.get("events").cloned().map_or(Vec::new(), list),
            digest: line
                .get("context")
                .map(|context| context.get("digest").unwrap().to_value().as_str().unwrap().to_owned()),
        }
    };
    // The first line is the header, the last one the end.
    lines[1..lines.len() - 1].iter().map(step).collect()
}

impl Json {
    /// Replaces text references by their texts.
    fn expand(self, texts: &mut Vec<String>) -> Self {
        match self {
            Self::Object(fields) if fields.len() == 1 && fields[0].0 == "$text" => {
                let number = fields[0].1.to_value().as_u64().unwrap();
                Self::Scalar(texts[usize::try_from(number).unwrap()].clone().into())
            }
            Self::Object(fields) => {
                Self::Object(fields.into_iter().map(|(key, value)| (key, value.expand(texts))).collect())
            }
            Self::List(values) => Self::List(values.into_iter().map(|value| value.expand(texts)).collect()),
            Self::Scalar(value) => {
                if let Some(text) = value.as_str()
                    && serde_json::to_string(text).unwrap().len() >= TEXT_BYTES_MIN
                {
                    texts.push(text.to_owned());
                }
                Self::Scalar(value)
            }
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().find(|(found, _)| found == key).map(|(_, value)| value)
    }

    /// Returns the tag of an event, and its fields if it has any.
    pub(crate) fn variant(&self) -> (&str, Option<&Self>) {
        match self {
            Self::Scalar(tag) => (tag.as_str().unwrap(), None),
            Self::Object(fields) => (&fields[0].0, Some(&fields[0].1)),
            Self::List(_) => panic!("an event is no list"),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        serde_json::from_str(&self.to_text()).unwrap()
    }

    /// Returns the value as JSON without spaces.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Scalar(value) => value.to_string(),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(Self::to_text).collect();
                format!("[{}]", values.join(","))
            }
            Self::Object(fields) => {
                let key = |key: &str| serde_json::to_string(key).unwrap();
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{}:{}", key(name), value.to_text())).collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonVisitor;

        impl<'de> Visitor<'de> for JsonVisitor {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Scalar(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Scalar(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Scalar(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Scalar(value.into()))
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Scalar(Value::Null))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = values.next_element()? {
                    list.push(value);
                }
                Ok(Json::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    fields.push(entry);
                }
                Ok(Json::Object(fields))
            }
        }

        deserializer.deserialize_any(JsonVisitor)
    }
}
