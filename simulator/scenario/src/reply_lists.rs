//! The answers of a module: one that repeats, a list in order, some by lot, or some for each case.

use super::names::{Count, Seed};
use super::reply_extras::{self, ReplyFile};
use super::tagged;
use super::time::DelayFile;
use orchestrion_yaml::{Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The answers of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepliesFile<T> {
    /// The same in every case.
    Always(ReplyListFile<T>),
    /// Those of the first case that fits.
    Cases(Spanned<Vec<Spanned<CaseFile<T>>>>),
}

/// Answers, and whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyListFile<T> {
    /// One answer, given every time.
    One(Spanned<DelayedReplyFile<T>>),
    /// Answers, given in order; there is none after the last.
    Many(Spanned<Vec<Spanned<DelayedReplyFile<T>>>>),
    /// Answers of which one is drawn every time.
    Draw(Spanned<RandomReplyFile<T>>),
}

/// An answer, and how long it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedReplyFile<T> {
    /// The answer, with what is said beside it.
    pub said: ReplyFile<T>,
    /// How long it takes.
    pub after: Option<Spanned<DelayFile>>,
}

/// Answers, and when they are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CaseOf{T}")]
pub struct CaseFile<T> {
    /// When this case fits. Left out, in the last case: always.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub when: Option<Spanned<WhenFile>>,
    /// What is answered then: one answer, a list in order, or a draw.
    pub answer: ReplyListFile<T>,
}

/// When a case fits: everything that is named must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct WhenFile {
    /// The pass of the debate that runs, or ran last, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub pass: Option<Count>,
    /// Which request of the scenario it is, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub request: Option<Count>,
    /// Whose request it is.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// A part of what the user asks for, letter by letter.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub says: Option<StrictText>,
    /// A part of what the module is shown, letter by letter.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub shown: Option<StrictText>,
}

/// Answers of which one is drawn every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DrawOf{T}")]
pub struct RandomReplyFile<T> {
    /// The name of the seed. Whatever has the same name is drawn from one stream.
    pub seed: Seed,
    /// What is drawn from.
    #[schemars(length(min = 1))]
    pub from: Spanned<Vec<WeightedReplyFile<T>>>,
}

/// An answer that may be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChoiceOf{T}")]
pub struct WeightedReplyFile<T> {
    /// How often it is drawn, against the weights of the others. Left out: 1.
    #[serde(default, skip_serializing_if = "super::format::is_default")]
    pub weight: Count,
    /// The answer.
    pub answer: Spanned<DelayedReplyFile<T>>,
}

impl<T> From<T> for DelayedReplyFile<T> {
    fn from(answer: T) -> Self {
        ReplyFile::from(answer).into()
    }
}

impl<T> From<ReplyFile<T>> for DelayedReplyFile<T> {
    fn from(said: ReplyFile<T>) -> Self {
        Self { said, after: None }
    }
}

impl<T> RepliesFile<T> {
    /// The same answer every time.
    pub fn one(answer: impl Into<DelayedReplyFile<T>>) -> Self {
        Self::Always(ReplyListFile::One(answer.into().into()))
    }

    /// These answers, in order.
    pub fn many<A: Into<DelayedReplyFile<T>>>(answers: impl IntoIterator<Item = A>) -> Self {
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.into().into()).collect();
        Self::Always(ReplyListFile::Many(answers.into()))
    }
}

impl<T: Serialize> Serialize for RepliesFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Always(roll) => roll.serialize(serializer),
            Self::Cases(cases) => serializer.collect_map([("cases", cases)]),
        }
    }
}

impl<T: Serialize> Serialize for ReplyListFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(answer) => answer.serialize(serializer),
            Self::Many(answers) => answers.serialize(serializer),
            Self::Draw(draw) => serializer.collect_map([("draw", draw)]),
        }
    }
}

impl<T: Serialize> Serialize for DelayedReplyFile<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { said: ReplyFile { answer, beside }, after } = self;
        if after.is_none() && beside.is_empty() {
            return answer.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        tagged::write_beside(answer, &mut map)?;
        if let Some(after) = after {
            map.serialize_entry("after", after)?;
        }
        if let Some(update) = &beside.summary_update {
            map.serialize_entry("summary_update", update)?;
        }
        if let Some(action) = &beside.action {
            map.serialize_entry("action", action)?;
        }
        map.end()
    }
}

impl<T: JsonSchema> JsonSchema for RepliesFile<T> {
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

impl<T: JsonSchema> JsonSchema for ReplyListFile<T> {
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
    let answer = generator.subschema_for::<DelayedReplyFile<T>>();
    let draw = generator.subschema_for::<RandomReplyFile<T>>();
    vec![
        json!(answer),
        json!({"type": "array", "minItems": 1, "items": answer}),
        only_key("draw", &json!(draw)),
    ]
}

fn only_key(key: &str, value: &Value) -> Value {
    json!({"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": false})
}

/// The schema of the answer, in whose mappings `after` may stand as well, and what is said beside it.
impl<T: JsonSchema> JsonSchema for DelayedReplyFile<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let after = json!(generator.subschema_for::<DelayFile>());
        let mut beside = reply_extras::beside(generator);
        beside.insert("after".into(), after);
        reply_extras::with_beside::<T>(generator, &beside)
    }
}
