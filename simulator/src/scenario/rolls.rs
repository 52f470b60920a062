//! The answers of a module: one that repeats, a list in order, some by lot, or some for each case.
//!
//! Serde's own ways to read one of several shapes lose the places, so the visitor is written out here.

use super::names::{Count, Seed};
use super::one_key;
use super::time::AfterFile;
use crate::yaml::{At, Fault, Words, given};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

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

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AnswersFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = At::<Shape<T>>::deserialize(deserializer)?;
        let span = shape.span();
        match shape.value {
            Shape::Cases(cases) if cases.is_empty() => Err(Fault::new(
                "expected at least one case, found an empty list",
                "add a case, as in `- {when: {pass: 1}, answer: {fail: timeout}}`",
            )
            .at(span, "no case")
            .raise()),
            Shape::Cases(cases) => Ok(Self::Cases(At::with_span(cases, span))),
            other => roll(At::with_span(other, span)).map(Self::Always),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RollFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        roll(At::<Shape<T>>::deserialize(deserializer)?)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TimedFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        single(At::<Shape<T>>::deserialize(deserializer)?, "write one answer, as in `fail: timeout`")
    }
}

fn roll<T, E: Error>(shape: At<Shape<T>>) -> Result<RollFile<T>, E> {
    let span = shape.span();
    let fault = match shape.value {
        Shape::Answer(answer) => return Ok(RollFile::One(At::with_span(answer, span))),
        Shape::List(answers) if answers.is_empty() => Fault::new(
            "expected at least one answer, found an empty list",
            "write an answer, or leave the key out",
        )
        .at(span, "no answer"),
        Shape::List(answers) => return Ok(RollFile::Many(At::with_span(answers, span))),
        Shape::Draw(draw) => return Ok(RollFile::Draw(At::with_span(draw, span))),
        Shape::Cases(_) => Fault::new(
            "expected the answers of a case, found cases in a case",
            "name all that must hold under one `when`",
        )
        .at(span, "not an answer"),
        Shape::Other(found) => Fault::new(
            format!("expected an answer or a list of answers, found {found}"),
            "write one answer, as in `fail: timeout`, or a list of them",
        )
        .at(span, "not an answer"),
    };
    Err(fault.raise())
}

fn single<T, E: Error>(shape: At<Shape<T>>, help: &str) -> Result<TimedFile<T>, E> {
    let span = shape.span();
    let found = match shape.value {
        Shape::Answer(answer) => return Ok(answer),
        Shape::List(_) => "a list",
        Shape::Draw(_) => "a draw",
        Shape::Cases(_) => "cases",
        Shape::Other(found) => found,
    };
    Err(Fault::new(format!("expected one answer, found {found}"), help).at(span, "not one answer").raise())
}

/// What stands where answers are expected.
enum Shape<T> {
    Answer(TimedFile<T>),
    List(Vec<At<TimedFile<T>>>),
    Draw(DrawFile<T>),
    Cases(Vec<At<CaseFile<T>>>),
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
        one_key::word(word).map(|answer: T| Shape::Answer(answer.into()))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut first: Option<(At<String>, Shape<T>)> = None;
        let mut after: Option<(At<String>, At<AfterFile>)> = None;
        while let Some(key) = map.next_key::<At<String>>()? {
            if key.value == "after" {
                after = Some((key, map.next_value()?));
                continue;
            }
            if let Some((first, _)) = &first {
                return Err(two_in_one(&first.value, &key).raise());
            }
            let shape = match key.value.as_str() {
                "draw" => Shape::Draw(map.next_value()?),
                "cases" => Shape::Cases(map.next_value()?),
                _ => Shape::Answer(one_key::keyed::<T, A>(Some(&key), &mut map)?.into()),
            };
            first = Some((key, shape));
        }
        match (first, after) {
            (Some((_, shape)), None) => Ok(shape),
            (Some((_, Shape::Answer(TimedFile { answer, .. }))), Some((_, after))) => {
                Ok(Shape::Answer(TimedFile { answer, after: Some(after) }))
            }
            (Some((first, _)), Some((key, _))) => Err(Fault::new(
                format!("`after` stands beside an answer, found it beside `{}`", first.value.escape_debug()),
                "write it inside, beside each answer that takes its time, as in `{fail: error, after: 5s}`",
            )
            .at(key.span(), "not here")
            .raise()),
            (None, _) => match one_key::keyed::<T, A>(None, &mut map) {
                Ok(answer) => Ok(Shape::Answer(answer.into())),
                Err(error) => Err(error),
            },
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(shape) = seq.next_element::<At<Self::Value>>()? {
            let span = shape.span();
            let answer = single(shape, "write one answer behind each dash, as in `- fail: timeout`")?;
            answers.push(At::with_span(answer, span));
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

fn two_in_one(first: &str, second: &At<String>) -> Fault {
    Fault::new(
        format!(
            "expected one answer, found `{}` and `{}` in one",
            first.escape_debug(),
            second.value.escape_debug()
        ),
        "an answer has one key, and perhaps `after`; write several as a list, one behind each dash",
    )
    .at(second.span(), "one too many")
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
