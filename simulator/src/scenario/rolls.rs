//! The answers of a module: one that repeats, a list in order, some by lot, or some for each case.

use super::names::{Count, Seed};
use super::one_key;
use super::time::AfterFile;
use crate::yaml::{At, Words, given};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The answers of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswersFile<T> {
    /// The same in every case.
    Always(RollFile<T>),
    /// Those of the first case that fits.
    Cases(At<Vec<At<CaseFile<T>>>>),
}

/// Answers, and whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollFile<T> {
    /// One answer, given every time.
    One(At<TimedFile<T>>),
    /// Answers, given in order; there is none after the last.
    Many(At<Vec<At<TimedFile<T>>>>),
    /// Answers of which one is drawn every time.
    Draw(At<DrawFile<T>>),
}

/// An answer, and how long it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedFile<T> {
    /// The answer.
    pub answer: T,
    /// How long it takes.
    pub after: Option<At<AfterFile>>,
}

/// Answers, and when they are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CaseOf{T}")]
pub struct CaseFile<T> {
    /// When this case fits. Left out, in the last case: always.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub when: Option<At<WhenFile>>,
    /// What is answered then: one answer, a list in order, or a draw.
    pub answer: RollFile<T>,
}

/// When a case fits: everything that is named must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct WhenFile {
    /// The pass of the debate that runs, or ran last, from 1.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub pass: Option<Count>,
    /// Which request of the scenario it is, from 1.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub request: Option<Count>,
    /// Whose request it is.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub user: Option<Words>,
    /// A part of what the user asks for, letter by letter.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub says: Option<Words>,
    /// A part of what the module is shown, letter by letter.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub shown: Option<Words>,
}

/// Answers of which one is drawn every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DrawOf{T}")]
pub struct DrawFile<T> {
    /// The name of the seed. Whatever has the same name is drawn from one stream.
    pub seed: Seed,
    /// What is drawn from.
    #[schemars(length(min = 1))]
    pub from: At<Vec<ChoiceFile<T>>>,
}

/// An answer that may be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChoiceOf{T}")]
pub struct ChoiceFile<T> {
    /// How often it is drawn, against the weights of the others. Left out: 1.
    #[serde(default, skip_serializing_if = "super::format::is_default")]
    pub weight: Count,
    /// The answer.
    pub answer: At<TimedFile<T>>,
}

impl<T> From<T> for TimedFile<T> {
    fn from(answer: T) -> Self {
        Self { answer, after: None }
    }
}

impl<T> AnswersFile<T> {
    /// The same answer every time.
    pub fn one(answer: T) -> Self {
        Self::Always(RollFile::One(TimedFile::from(answer).into()))
    }

    /// These answers, in order.
    pub fn many(answers: impl IntoIterator<Item = T>) -> Self {
        let answers: Vec<_> = answers.into_iter().map(|answer| TimedFile::from(answer).into()).collect();
        Self::Always(RollFile::Many(answers.into()))
    }
}

impl<T: Serialize> Serialize for AnswersFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Always(roll) => roll.serialize(serializer),
            Self::Cases(cases) => serializer.collect_map([("cases", cases)]),
        }
    }
}

impl<T: Serialize> Serialize for RollFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(answer) => answer.serialize(serializer),
            Self::Many(answers) => answers.serialize(serializer),
            Self::Draw(draw) => serializer.collect_map([("draw", draw)]),
        }
    }
}

impl<T: Serialize> Serialize for TimedFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(after) = &self.after else { return self.answer.serialize(serializer) };
        let mut map = serializer.serialize_map(Some(2))?;
        one_key::write_beside(&self.answer, &mut map)?;
        map.serialize_entry("after", after)?;
        map.end()
    }
}

impl<T: JsonSchema> JsonSchema for AnswersFile<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Answers_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut shapes = shapes::<T>(generator);
        shapes.push(only_key("cases", &json!({
            "description": "Answers for each case. The first case that fits answers; if none does, that is an error.",
            "type": "array",
            "minItems": 1,
            "items": generator.subschema_for::<CaseFile<T>>(),
        })));
        json_schema!({"anyOf": shapes})
    }
}

impl<T: JsonSchema> JsonSchema for RollFile<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Roll_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": shapes::<T>(generator)})
    }
}

fn shapes<T: JsonSchema>(generator: &mut SchemaGenerator) -> Vec<Value> {
    let answer = generator.subschema_for::<TimedFile<T>>();
    let draw = generator.subschema_for::<DrawFile<T>>();
    vec![
        json!(answer),
        json!({"type": "array", "minItems": 1, "items": answer}),
        only_key("draw", &json!(draw)),
    ]
}

fn only_key(key: &str, value: &Value) -> Value {
    json!({"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": false})
}

/// The schema of the answer, in whose mappings `after` may stand as well.
impl<T: JsonSchema> JsonSchema for TimedFile<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let after = json!(generator.subschema_for::<AfterFile>());
        if let Some(Value::Array(ways)) = schema.get_mut("oneOf") {
            let words: Vec<Value> = ways.iter().filter_map(|way| beside_a_word(way, &after)).collect();
            for way in ways.iter_mut() {
                if let Some(Value::Object(properties)) = way.get_mut("properties") {
                    properties.insert("after".into(), after.clone());
                }
            }
            ways.extend(words);
        }
        schema
    }
}

/// A word beside which `after` stands: `{held, after: 5s}`.
fn beside_a_word(way: &Value, after: &Value) -> Option<Value> {
    let word = way.get("const")?.as_str()?;
    Some(json!({
        "type": "object",
        "properties": {word: {"type": "null"}, "after": after},
        "required": [word],
        "additionalProperties": false,
    }))
}
