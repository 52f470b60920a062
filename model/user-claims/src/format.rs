//! The format of claim files.

use crate::matcher::EXAMPLE;
use miette::SourceSpan;
use orchestrion_yaml::{LabeledError, Spanned, inline_schema, required_value};
use schemars::{JsonSchema, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Claims that a project states about its conversations.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimsFormat {
    /// Claims, at most 64.
    #[schemars(length(min = 1, max = 64))]
    pub claims: Spanned<Vec<Spanned<ClaimFormat>>>,
}

/// One claim. Exactly one of never, always, precedes, responds, at_most, at_least and until.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimFormat {
    /// Unique name: lower-case letters, digits and hyphens.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]{0,63}$"))]
    pub id: Spanned<String>,
    /// Reason for readers.
    #[serde(default, deserialize_with = "required_value")]
    pub why: Option<String>,
    /// A call that would violate the claim is not made: it fails as forbidden.
    #[serde(default, deserialize_with = "required_value")]
    pub enforce: Option<Spanned<bool>>,
    /// A call that `enforce` would forbid is made, and reported.
    #[serde(default, deserialize_with = "required_value")]
    pub shadow: Option<Spanned<bool>>,
    /// Events that the claim is about: of one request (default), of one session, or of the whole conversation.
    #[serde(default, deserialize_with = "required_value")]
    pub within: Option<WindowFormat>,
    /// The claim counts from the event after the first match.
    #[serde(default, deserialize_with = "required_value")]
    pub after: Option<MatcherFormat>,
    /// The claim counts up to the event before the first match.
    #[serde(default, deserialize_with = "required_value")]
    pub before: Option<MatcherFormat>,
    /// The claim counts between a start and its end, and only if the end occurs.
    #[serde(default, deserialize_with = "required_value")]
    pub between: Option<BetweenFormat>,
    /// Assumption: the claim counts only where this pattern holds.
    #[serde(default, deserialize_with = "required_value")]
    pub assume: Option<PatternFormat>,
    /// No event matches.
    #[serde(default, deserialize_with = "required_value")]
    pub never: Option<MatcherFormat>,
    /// A condition holds at every matching event.
    #[serde(default, deserialize_with = "required_value")]
    pub always: Option<AlwaysFormat>,
    /// Every match of `then` is preceded by a match of `first`.
    #[serde(default, deserialize_with = "required_value")]
    pub precedes: Option<PrecedesFormat>,
    /// Every match of `to` is followed by a match of `with`.
    #[serde(default, deserialize_with = "required_value")]
    pub responds: Option<RespondsFormat>,
    /// At most this many events match, or the sum of a field is at most this.
    #[serde(default, deserialize_with = "required_value")]
    pub at_most: Option<AtMostFormat>,
    /// At least this many events match.
    #[serde(default, deserialize_with = "required_value")]
    pub at_least: Option<AtLeastFormat>,
    /// A condition holds at every event until an event matches, which occurs.
    #[serde(default, deserialize_with = "required_value")]
    pub until: Option<UntilFormat>,
}

/// A pattern.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PatternFormat {
    /// No event matches.
    Never(MatcherFormat),
    /// A condition holds at every matching event.
    Always(AlwaysFormat),
    /// Every match of `then` is preceded by a match of `first`.
    Precedes(PrecedesFormat),
    /// Every match of `to` is followed by a match of `with`.
    Responds(RespondsFormat),
    /// At most this many events match, or the sum of a field is at most this.
    AtMost(AtMostFormat),
    /// At least this many events match.
    AtLeast(AtLeastFormat),
    /// A condition holds at every event until an event matches, which occurs.
    Until(UntilFormat),
}

/// Which events a claim is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WindowFormat {
    /// Those of each request: from its message to its final answer.
    #[default]
    Request,
    /// Those of each session, from its start to its end.
    Session,
    /// All.
    Conversation,
}

/// A start and an end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BetweenFormat {
    /// The claim counts from the event after it.
    pub start: MatcherFormat,
    /// The claim counts up to the event before it.
    pub end: MatcherFormat,
}

/// A condition at certain events.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlwaysFormat {
    /// The events. Default: all.
    #[serde(default, deserialize_with = "required_value")]
    pub at: Option<MatcherFormat>,
    /// What holds at them.
    pub holds: MatcherFormat,
}

/// An event before another one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrecedesFormat {
    /// The earlier event.
    pub first: MatcherFormat,
    /// The later event.
    pub then: MatcherFormat,
    /// Fields that have the same values in both.
    #[serde(default)]
    pub same: Vec<Spanned<String>>,
}

/// An event after another one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RespondsFormat {
    /// The event that needs a response.
    pub to: MatcherFormat,
    /// The response.
    pub with: MatcherFormat,
    /// Fields that have the same values in both.
    #[serde(default)]
    pub same: Vec<Spanned<String>>,
}

/// An upper bound.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtMostFormat {
    /// The bound.
    #[schemars(with = "f64", range(min = 0))]
    pub limit: Spanned<String>,
    /// The counted events.
    pub of: MatcherFormat,
    /// Count each combination of values of these fields on its own.
    #[serde(default)]
    pub each: Vec<Spanned<String>>,
    /// Add the values of this field instead of counting events.
    #[serde(default, deserialize_with = "required_value")]
    pub sum: Option<Spanned<String>>,
}

/// A lower bound.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtLeastFormat {
    /// The bound.
    #[schemars(range(min = 1))]
    pub count: Spanned<u32>,
    /// The counted events.
    pub of: MatcherFormat,
}

/// A condition that holds for a while.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UntilFormat {
    /// What holds at every event before the end.
    pub holds: MatcherFormat,
    /// The end.
    pub end: MatcherFormat,
}

/// A matcher: `event` names one or several kinds of events, every other key is a field with a condition.
#[derive(Clone, Debug)]
pub(crate) struct MatcherFormat {
    /// The entries, in the order of the file; at least one.
    pub entries: Vec<(Spanned<String>, Spanned<ConditionFormat>)>,
}

impl MatcherFormat {
    /// The place of its first key.
    pub(crate) fn span(&self) -> Option<SourceSpan> {
        self.entries.first().and_then(|(key, _)| key.span())
    }
}

inline_schema!(MatcherFormat; generator => {
    let condition = generator.subschema_for::<ConditionFormat>();
    json_schema!({
        "type": "object",
        "minProperties": 1,
        "description": "event: one or several kinds of events; every other key is a field with a condition",
        "additionalProperties": condition,
    })
});

impl<'de> Deserialize<'de> for MatcherFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = MatcherFormat;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping from fields to conditions")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MatcherFormat, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                if entries.is_empty() {
                    let message = "expected an event or a field, found an empty mapping";
                    return Err(LabeledError::new(message, EXAMPLE).into_serde_error());
                }
                Ok(MatcherFormat { entries })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A condition on a field.
#[derive(Clone, Debug)]
pub(crate) enum ConditionFormat {
    /// One of these values.
    OneOf(Vec<Spanned<String>>),
    /// Comparisons, all of which hold.
    Operators(Box<OperatorsFormat>),
}

/// Comparisons of a field.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorsFormat {
    /// None of these values.
    #[serde(default, deserialize_with = "required_value")]
    pub not: Option<Spanned<ConditionFormat>>,
    /// Lower bound, included.
    #[serde(default, deserialize_with = "required_value")]
    pub at_least: Option<Spanned<String>>,
    /// Upper bound, included.
    #[serde(default, deserialize_with = "required_value")]
    pub at_most: Option<Spanned<String>>,
    /// The text contains this.
    #[serde(default, deserialize_with = "required_value")]
    pub contains: Option<Spanned<String>>,
    /// The text starts with this.
    #[serde(default, deserialize_with = "required_value")]
    pub starts_with: Option<Spanned<String>>,
}

inline_schema!(ConditionFormat; _ => json_schema!({
    "description": "a value, a list of values, or comparisons: not, at_least, at_most, contains, starts_with",
    "anyOf": [
        { "type": ["string", "number", "boolean"] },
        { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"] } },
        {
            "type": "object",
            "additionalProperties": false,
            "minProperties": 1,
            "properties": {
                "not": { "type": ["string", "number", "boolean", "array"] },
                "at_least": { "type": "number" },
                "at_most": { "type": "number" },
                "contains": { "type": "string" },
                "starts_with": { "type": "string" },
            },
        },
    ],
}));

impl<'de> Deserialize<'de> for ConditionFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Condition;
        impl Condition {
            fn one(text: impl fmt::Display) -> ConditionFormat {
                ConditionFormat::OneOf(vec![Spanned::from(text.to_string())])
            }
        }
        impl<'de> Visitor<'de> for Condition {
            type Value = ConditionFormat;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, a list of values, or comparisons (`at_least: …`)")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<ConditionFormat, E> {
                Ok(Self::one(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<ConditionFormat, E> {
                Ok(Self::one(value))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<ConditionFormat, E> {
                Ok(Self::one(value))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<ConditionFormat, E> {
                Ok(Self::one(value))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<ConditionFormat, E> {
                Ok(Self::one(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ConditionFormat, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(ConditionFormat::OneOf(values))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ConditionFormat, A::Error> {
                let operators = OperatorsFormat::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ConditionFormat::Operators(Box::new(operators)))
            }
        }
        deserializer.deserialize_any(Condition)
    }
}
