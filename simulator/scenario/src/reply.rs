//! The replies of a module in a scenario file: one for all calls, a list in order, a random choice, or cases.
//!
//! Serde's untagged enums lose the places of errors, so a visitor selects the form by the first key.

use crate::action::{ActionFile, SummaryUpdateFile, summary_update_schema};
use crate::interaction::InteractionFile;
use crate::is_default::is_default;
use crate::names::{Count, Seed};
use crate::replies::ReplyKind;
use crate::reply_keys::{deserialize_with_key, keys, takes_value, two_keys, unknown_key};
use crate::time::DelayFile;
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// The replies of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Replies_{T}", deny_unknown_fields)]
pub enum RepliesFile<T> {
    /// Replies for every call.
    Always(ReplyListFile<T>),
    /// Replies by case.
    Cases {
        /// Replies by case. The first case whose condition holds supplies the reply; a call without such a case is an error.
        #[schemars(length(min = 1))]
        cases: Spanned<Vec<Spanned<CaseFile<T>>>>,
    },
}

/// Replies, and the order in which they are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ReplyList_{T}", deny_unknown_fields)]
pub enum ReplyListFile<T> {
    /// One reply for every call.
    One(Spanned<ReplyFile<T>>),
    /// Replies in order. A call after the last one is an error.
    List(#[schemars(length(min = 1))] Spanned<Vec<Spanned<ReplyFile<T>>>>),
    /// A random reply for each call.
    Random {
        /// A random reply for each call.
        random: Spanned<RandomReplyFile<T>>,
    },
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Reply_{T}")]
pub enum ReplyFile<T> {
    /// The reply alone.
    Short(T),
    /// The reply with a delay, a summary update, an action record or the judgement of the interaction.
    Extended(ExtendedReplyFile<T>),
}

/// A reply with a delay, a summary update, an action record or the judgement of the interaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "ExtendedReply_{T}")]
pub struct ExtendedReplyFile<T> {
    /// The reply.
    #[serde(deserialize_with = "deserialize_plain")]
    pub reply: T,
    /// The delay in simulated time, in a scenario only. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub after: Option<Spanned<DelayFile>>,
    /// Changes of the situation summary (002).
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "summary_update_schema")]
    pub summary_update: Option<Spanned<SummaryUpdateFile>>,
    /// The action record of the iteration (002).
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub action: Option<Box<Spanned<ActionFile>>>,
    /// Judgement of the interaction, if a node of a network executes the call (001). Default: the middle ratings.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Box<Spanned<InteractionFile>>>,
}

/// Replies for one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "Case_{T}")]
pub struct CaseFile<T> {
    /// The condition. Default, in the last case only: always.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub when: Option<Spanned<WhenFile>>,
    /// The replies: one, a list in order, or a random choice.
    pub reply: ReplyListFile<T>,
}

/// The condition of a case. All given parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct WhenFile {
    /// The number of the current or latest debate pass, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub pass: Option<Count>,
    /// The number of the request in the scenario, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub request: Option<Count>,
    /// The user of the request.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// A substring of the request text, case-sensitive.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub text: Option<StrictText>,
    /// The node that executes the call, in a network.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub node: Option<Spanned<StrictText>>,
    /// A substring of the module's context, case-sensitive.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub context: Option<StrictText>,
}

/// A random choice of replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "Random_{T}")]
pub struct RandomReplyFile<T> {
    /// The name of the random stream. Equal names share one stream.
    pub seed: Seed,
    /// The possible replies.
    #[schemars(length(min = 1))]
    pub choices: Spanned<Vec<WeightedReplyFile<T>>>,
}

/// A reply with its weight in a random choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "WeightedReply_{T}")]
pub struct WeightedReplyFile<T> {
    /// The weight relative to the other choices. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weight: Count,
    /// The reply.
    pub reply: Spanned<ReplyFile<T>>,
}

impl<T> From<T> for ReplyFile<T> {
    fn from(reply: T) -> Self {
        Self::Short(reply)
    }
}

impl<T> RepliesFile<T> {
    /// Returns the same reply for every call.
    pub fn one(reply: impl Into<ReplyFile<T>>) -> Self {
        Self::Always(ReplyListFile::One(reply.into().into()))
    }

    /// Returns replies in order.
    pub fn list(replies: impl IntoIterator<Item = impl Into<ReplyFile<T>>>) -> Self {
        let replies: Vec<_> = replies.into_iter().map(|reply| reply.into().into()).collect();
        Self::Always(ReplyListFile::List(replies.into()))
    }
}

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
        deserializer.deserialize_any(NodeVisitor::<T> { is_single: true, kind: PhantomData }).and_then(single)
    }
}

/// Deserializes the `reply` of an extended reply.
fn deserialize_plain<'de, T: ReplyKind, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let node = Spanned::<ReplyFile<T>>::deserialize(deserializer)?;
    let span = node.span();
    match node.value {
        ReplyFile::Short(reply) => Ok(reply),
        ReplyFile::Extended(_) => Err(LabeledError::new(
            "expected a reply, found an extended reply",
            "write `after`, `summary_update`, `action` and `interaction` once, beside the outer `reply`",
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

/// The reply of a node where only one can be: elsewhere the visitor also returns the others.
fn single<T, E: Error>(node: Node<T>) -> Result<ReplyFile<T>, E> {
    match node {
        Node::Reply(reply) => Ok(reply),
        Node::List(_) | Node::Random(_) | Node::Cases(_) => Err(not_one_reply()),
    }
}

fn not_one_reply<E: Error>() -> E {
    LabeledError::new("expected one reply, found a list", "write one reply, as in `fail: timeout`")
        .into_serde_error()
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
        deserializer.deserialize_any(NodeVisitor { is_single: false, kind: PhantomData })
    }
}

struct NodeVisitor<T> {
    /// Whether only one reply can be in this place, so that errors suggest no list, random choice or cases.
    is_single: bool,
    kind: PhantomData<T>,
}

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
            None => Err(unknown_key::<T>(word, self.is_single).into_serde_error()),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        if self.is_single {
            return Err(not_one_reply());
        }
        let mut replies = Vec::new();
        while let Some(reply) = seq.next_element()? {
            replies.push(reply);
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
            "random" if !self.is_single => Node::Random(map.next_value()?),
            "cases" if !self.is_single => Node::Cases(map.next_value()?),
            "reply" | "after" | "summary_update" | "action" | "interaction" => {
                Node::Reply(ReplyFile::Extended(deserialize_with_key(key, &mut map)?))
            }
            _ => match takes_value::<T>(key) {
                Some(true) => Node::Reply(ReplyFile::Short(deserialize_with_key(key, &mut map)?)),
                Some(false) => {
                    let help = match self.is_single {
                        true => format!("write `{key}` alone"),
                        false => format!("write `{key}` alone, or `{{reply: {key}, after: 5s}}`"),
                    };
                    return Err(LabeledError::new(format!("`{key}` takes no value"), help)
                        .with_label(first.span(), "not a key")
                        .into_serde_error());
                }
                None => {
                    let error = unknown_key::<T>(key, self.is_single);
                    return Err(error.with_label(first.span(), "unknown").into_serde_error());
                }
            },
        };
        match map.next_key::<Spanned<String>>()? {
            None => Ok(node),
            Some(second) => Err(two_keys(key, &second, self.is_single).into_serde_error()),
        }
    }
}
