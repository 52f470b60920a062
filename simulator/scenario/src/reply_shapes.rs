//! Reads whatever stands where answers are expected: one, a list of them, a draw, or cases.
//!
//! Serde's own ways to read one of several shapes lose the places, so the visitor is written out here.

use super::reply_extras::{ReplyExtrasFile, ReplyFile, two_in_one};
use super::reply_lists::{CaseFile, DelayedReplyFile, RandomReplyFile, RepliesFile, ReplyListFile};
use super::tagged;
use super::time::DelayFile;
use orchestrion_yaml::{LabeledError, Spanned};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

impl<'de, T: Deserialize<'de>> Deserialize<'de> for RepliesFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = Spanned::<Shape<T>>::deserialize(deserializer)?;
        let span = shape.span();
        match shape.value {
            Shape::Cases(cases) if cases.is_empty() => Err(LabeledError::new(
                "expected at least one case, found an empty list",
                "add a case, as in `- {when: {pass: 1}, answer: {fail: timeout}}`",
            )
            .at(span, "no case")
            .into_serde_error()),
            Shape::Cases(cases) => Ok(Self::Cases(Spanned::with_span(cases, span))),
            other => roll(Spanned::with_span(other, span)).map(Self::Always),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ReplyListFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        roll(Spanned::<Shape<T>>::deserialize(deserializer)?)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for DelayedReplyFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        single(Spanned::<Shape<T>>::deserialize(deserializer)?, "write one answer, as in `fail: timeout`")
    }
}

fn roll<T, E: Error>(shape: Spanned<Shape<T>>) -> Result<ReplyListFile<T>, E> {
    let span = shape.span();
    let fault = match shape.value {
        Shape::Answer(answer) => return Ok(ReplyListFile::One(Spanned::with_span(answer, span))),
        Shape::List(answers) if answers.is_empty() => LabeledError::new(
            "expected at least one answer, found an empty list",
            "write an answer, or leave the key out",
        )
        .at(span, "no answer"),
        Shape::List(answers) => return Ok(ReplyListFile::Many(Spanned::with_span(answers, span))),
        Shape::Draw(draw) => return Ok(ReplyListFile::Draw(Spanned::with_span(draw, span))),
        Shape::Cases(_) => LabeledError::new(
            "expected the answers of a case, found cases in a case",
            "name all that must hold under one `when`",
        )
        .at(span, "not an answer"),
        Shape::Other(found) => LabeledError::new(
            format!("expected an answer or a list of answers, found {found}"),
            "write one answer, as in `fail: timeout`, or a list of them",
        )
        .at(span, "not an answer"),
    };
    Err(fault.into_serde_error())
}

fn single<T, E: Error>(shape: Spanned<Shape<T>>, help: &str) -> Result<DelayedReplyFile<T>, E> {
    let span = shape.span();
    let found = match shape.value {
        Shape::Answer(answer) => return Ok(answer),
        Shape::List(_) => "a list",
        Shape::Draw(_) => "a draw",
        Shape::Cases(_) => "cases",
        Shape::Other(found) => found,
    };
    Err(LabeledError::new(format!("expected one answer, found {found}"), help)
        .at(span, "not one answer")
        .into_serde_error())
}

/// What may stand in the place of an answer.
const INSTEAD: [&str; 2] = ["draw", "cases"];

/// What stands where answers are expected.
enum Shape<T> {
    Answer(DelayedReplyFile<T>),
    List(Vec<Spanned<DelayedReplyFile<T>>>),
    Draw(RandomReplyFile<T>),
    Cases(Vec<Spanned<CaseFile<T>>>),
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
        tagged::word(word, &INSTEAD).map(|answer: T| Shape::Answer(answer.into()))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut first: Option<(Spanned<String>, Shape<T>)> = None;
        let (mut after, mut beside) = (None, ReplyExtrasFile::default());
        // The first key that stands beside an answer.
        let mut second: Option<Spanned<String>> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.value == "after" {
                after = Some(map.next_value::<Spanned<DelayFile>>()?);
                second.get_or_insert(key);
                continue;
            }
            if beside.read(&key.value, &mut map)? {
                second.get_or_insert(key);
                continue;
            }
            if let Some((first, _)) = &first {
                return Err(two_in_one(&first.value, &key).into_serde_error());
            }
            let shape = match key.value.as_str() {
                "draw" => Shape::Draw(map.next_value()?),
                "cases" => Shape::Cases(map.next_value()?),
                _ => Shape::Answer(tagged::keyed::<T, A>(Some(&key), &mut map, &INSTEAD)?.into()),
            };
            first = Some((key, shape));
        }
        match (first, second) {
            (Some((_, shape)), None) => Ok(shape),
            (Some((_, Shape::Answer(DelayedReplyFile { said: ReplyFile { answer, .. }, .. }))), Some(_)) => {
                Ok(Shape::Answer(DelayedReplyFile { said: ReplyFile { answer, beside }, after }))
            }
            (Some((first, _)), Some(key)) => Err(LabeledError::new(
                format!(
                    "`{}` stands beside an answer, found it beside `{}`",
                    key.value,
                    first.value.escape_debug()
                ),
                "write it inside, beside each answer that it belongs to, as in `{fail: error, after: 5s}`",
            )
            .at(key.span(), "not here")
            .into_serde_error()),
            (None, _) => match tagged::keyed::<T, A>(None, &mut map, &INSTEAD) {
                Ok(answer) => Ok(Shape::Answer(answer.into())),
                Err(error) => Err(error),
            },
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(shape) = seq.next_element::<Spanned<Self::Value>>()? {
            let span = shape.span();
            let answer = single(shape, "write one answer behind each dash, as in `- fail: timeout`")?;
            answers.push(Spanned::with_span(answer, span));
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
