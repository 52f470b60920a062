//! Deserializes replies: a word, a mapping with one key, an extended reply, a list, a random choice, or cases.
//!
//! Serde's untagged enums lose the places of errors, so a visitor selects the form by the first key.

use crate::replies::ReplyKind;
use crate::reply::{CaseFile, RandomReplyFile, RepliesFile, ReplyFile, ReplyListFile};
use orchestrion_yaml::{LabeledError, Spanned, unknown_value_error};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use std::fmt;
use std::marker::PhantomData;

impl<'de, T: ReplyKind> Deserialize<'de> for RepliesFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Spanned::<Node<T>>::deserialize(deserializer)?;
        let span = node.span();
        match node.value {
            Node::Cases(cases) if cases.is_empty() => Err(LabeledError::new(
                "expected at least one case, found an empty list",
                "add a case, as in `- {when: {pass: 1}, reply: {fail: timeout}}`",
            )
            .with_label(span, "no case")
            .into_serde_error()),
            Node::Cases(cases) => Ok(Self::Cases { cases: Spanned::new(cases, span) }),
            other => reply_list(Spanned::new(other, span)).map(Self::Always),
        }
    }
}

impl<'de, T: ReplyKind> Deserialize<'de> for ReplyListFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        reply_list(Spanned::deserialize(deserializer)?)
    }
}

impl<'de, T: ReplyKind> Deserialize<'de> for ReplyFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        single(Spanned::deserialize(deserializer)?)
    }
}

/// Deserializes the `reply` of an extended reply.
pub(crate) fn deserialize_plain<'de, T: ReplyKind, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let node = Spanned::<Node<T>>::deserialize(deserializer)?;
    let span = node.span();
    match single(node)? {
        ReplyFile::Short(reply) => Ok(reply),
        ReplyFile::Extended(_) => Err(LabeledError::new(
            "expected a reply, found an extended reply",
            "write `after`, `summary_update` and `action` once, beside the outer `reply`",
        )
        .with_label(span, "nested")
        .into_serde_error()),
    }
}

fn reply_list<T, E: Error>(node: Spanned<Node<T>>) -> Result<ReplyListFile<T>, E> {
    let span = node.span();
    let error = match node.value {
        Node::Reply(reply) => return Ok(ReplyListFile::One(Spanned::new(reply, span))),
        Node::List(replies) if replies.is_empty() => LabeledError::new(
            "expected at least one reply, found an empty list",
            "add a reply, or remove the key",
        )
        .with_label(span, "no reply"),
        Node::List(replies) => return Ok(ReplyListFile::List(Spanned::new(replies, span))),
        Node::Random(random) => {
            return Ok(ReplyListFile::Random { random: Spanned::new(random, span) });
        }
        Node::Cases(_) => LabeledError::new(
            "expected the replies of a case, found nested cases",
            "write all conditions of a case under one `when`",
        )
        .with_label(span, "nested cases"),
    };
    Err(error.into_serde_error())
}

fn single<T, E: Error>(node: Spanned<Node<T>>) -> Result<ReplyFile<T>, E> {
    let span = node.span();
    let found = match node.value {
        Node::Reply(reply) => return Ok(reply),
        Node::List(_) => "a list",
        Node::Random(_) => "a random choice",
        Node::Cases(_) => "cases",
    };
    Err(LabeledError::new(
        format!("expected one reply, found {found}"),
        "write one reply, as in `fail: timeout`",
    )
    .with_label(span, "not one reply")
    .into_serde_error())
}

/// The node of a file where replies are expected.
enum Node<T> {
    Reply(ReplyFile<T>),
    List(Vec<Spanned<ReplyFile<T>>>),
    Random(RandomReplyFile<T>),
    Cases(Vec<Spanned<CaseFile<T>>>),
}

impl<'de, T: ReplyKind> Deserialize<'de> for Node<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor(PhantomData))
    }
}

struct NodeVisitor<T>(PhantomData<T>);

impl<'de, T: ReplyKind> Visitor<'de> for NodeVisitor<T> {
    type Value = Node<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reply or a list of replies")
    }
    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        match takes_value::<T>(word) {
            Some(false) => {
                let word: StrDeserializer<'_, E> = word.into_deserializer();
                T::deserialize(word).map(|reply| Node::Reply(ReplyFile::Short(reply)))
            }
            Some(true) => Err(LabeledError::new(
                format!("`{word}` has no value: expected a mapping"),
                format!("write `{word}: …`"),
            )
            .into_serde_error()),
            None => Err(unknown_key::<T>(word).into_serde_error()),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut replies = Vec::new();
        while let Some(node) = seq.next_element::<Spanned<Self::Value>>()? {
            let span = node.span();
            replies.push(Spanned::new(single(node)?, span));
        }
        Ok(Node::List(replies))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some(first) = map.next_key::<Spanned<String>>()? else {
            return Err(LabeledError::new(
                "expected a reply, found an empty mapping",
                format!("write one of {}", keys::<T>().join(", ")),
            )
            .into_serde_error());
        };
        let key = first.value.as_str();
        let node = match key {
            "random" => Node::Random(map.next_value()?),
            "cases" => Node::Cases(map.next_value()?),
            "reply" | "after" | "summary_update" | "action" => {
                Node::Reply(ReplyFile::Extended(deserialize_with_key(key, &mut map)?))
            }
            _ => match takes_value::<T>(key) {
                Some(true) => Node::Reply(ReplyFile::Short(deserialize_with_key(key, &mut map)?)),
                Some(false) => {
                    return Err(LabeledError::new(
                        format!("`{key}` takes no value"),
                        format!("write `{key}` alone, or `{{reply: {key}, after: 5s}}`"),
                    )
                    .with_label(first.span(), "not a key")
                    .into_serde_error());
                }
                None => {
                    return Err(unknown_key::<T>(key).with_label(first.span(), "unknown").into_serde_error());
                }
            },
        };
        match map.next_key::<Spanned<String>>()? {
            None => Ok(node),
            Some(second) => Err(two_keys(key, &second).into_serde_error()),
        }
    }
}

fn two_keys(first: &str, second: &Spanned<String>) -> LabeledError {
    let found = format!("expected one key, found `{first}` and `{}`", second.value.escape_debug());
    let error = match second.value.as_str() {
        key @ ("after" | "summary_update" | "action") => match first {
            "random" | "cases" => LabeledError::new(
                found,
                format!("write `{key}` beside each `reply`, as in `{{reply: {{fail: error}}, {key}: …}}`"),
            ),
            _ => LabeledError::new(found, format!("write `{{reply: {{{first}: …}}, {key}: …}}`")),
        },
        _ => LabeledError::new(found, "a reply has one key; write several replies as a list"),
    };
    error.with_label(second.span(), "one key too many")
}

/// Returns whether this key of a reply takes a value; `None` if there is no such key.
fn takes_value<T: ReplyKind>(key: &str) -> Option<bool> {
    T::KEYS.iter().find(|(known, _)| *known == key).map(|(_, takes_value)| *takes_value)
}

fn keys<T: ReplyKind>() -> Vec<&'static str> {
    T::KEYS.iter().map(|(key, _)| *key).collect()
}

fn unknown_key<T: ReplyKind>(key: &str) -> LabeledError {
    unknown_value_error(key, &[&keys::<T>()[..], &["reply", "random", "cases"]].concat())
}

/// Deserializes a value from a mapping whose first key is already read.
pub(crate) fn deserialize_with_key<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    key: &str,
    rest: A,
) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(WithFirstKey { first: Some(key), rest }))
}

struct WithFirstKey<'a, A> {
    first: Option<&'a str>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithFirstKey<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}
