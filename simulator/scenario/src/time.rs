//! Durations in simulated time: delays of replies and deadlines.

use crate::names::Seed;
use orchestrion_yaml::{LabeledError, Spanned, parse_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// The units, longest first, with their milliseconds.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// The maximum duration.
const HOURS_MAX: u64 = 1000;

/// A duration: a whole number and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationText(pub Duration);

impl DurationText {
    fn parse(text: &str) -> Result<Self, LabeledError> {
        let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = text.strip_suffix(unit).unwrap_or("");
        let known = UNITS.iter().find(|(name, _)| *name == unit).filter(|_| !number.is_empty());
        let Some((_, unit_ms)) = known else {
            return Err(LabeledError::new(
                format!("expected a duration, found `{}`", text.escape_debug()),
                "write a whole number and its unit, ms, s, m or h, as in 250ms or 5s",
            ));
        };
        let milliseconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*unit_ms));
        match milliseconds.filter(|milliseconds| *milliseconds <= HOURS_MAX * 3_600_000) {
            Some(milliseconds) => Ok(Self(Duration::from_millis(milliseconds))),
            None => Err(LabeledError::new(
                format!("expected a duration of at most {HOURS_MAX}h, found `{text}`"),
                "write a shorter duration",
            )),
        }
    }
}

impl fmt::Display for DurationText {
    /// Formats the duration in the longest unit of which it is a whole multiple.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        let fits = |(_, unit_ms): &&(&str, u64)| {
            milliseconds > 0 && milliseconds.is_multiple_of(u128::from(*unit_ms))
        };
        match UNITS.iter().find(fits) {
            Some((unit, unit_ms)) => write!(f, "{}{unit}", milliseconds / u128::from(*unit_ms)),
            None => f.write_str("0s"),
        }
    }
}

impl Serialize for DurationText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "not a valid duration", Self::parse)
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": format!("A whole number and its unit, as in 250ms, 5s, 2m or 1h; at most {HOURS_MAX}h."),
            "type": "string",
            "pattern": "^[0-9]+(ms|s|m|h)$",
        })
    }
}

/// A delay in simulated time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Delay")]
pub enum DelayFile {
    /// A fixed delay.
    Fixed(DurationText),
    /// A random delay.
    Random(DelayRangeFile),
}

/// A random delay: each whole millisecond of the range is equally likely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRangeFile {
    /// The name of the random stream. Equal names share one stream.
    pub seed: Seed,
    /// The minimum delay.
    pub min: Spanned<DurationText>,
    /// The maximum delay.
    pub max: Spanned<DurationText>,
}

impl DelayRangeFile {
    /// Returns the number of possible delays; `None` if the minimum exceeds the maximum.
    pub(crate) fn choices(&self) -> Option<NonZeroU32> {
        let more_ms = self.max.value.0.checked_sub(self.min.value.0)?.as_millis();
        // The maximum duration in milliseconds fits into 32 bits.
        NonZeroU32::new(u32::try_from(more_ms).ok()?.saturating_add(1))
    }
}

impl<'de> Deserialize<'de> for DelayFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Spanned::<DelayNode>::deserialize(deserializer)?;
        let span = node.span();
        match node.value {
            DelayNode::Text(text) => DurationText::parse(&text)
                .map(Self::Fixed)
                .map_err(|error| error.with_label(span, "not a valid duration").into_serde_error()),
            DelayNode::Range(range) => Ok(Self::Random(range)),
        }
    }
}

/// The node of a file where a delay is expected.
enum DelayNode {
    Text(String),
    Range(DelayRangeFile),
}

impl<'de> Deserialize<'de> for DelayNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayVisitor)
    }
}

struct DelayVisitor;

impl<'de> Visitor<'de> for DelayVisitor {
    type Value = DelayNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration with its unit, as in 5s")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<DelayNode, E> {
        Ok(DelayNode::Text(text.to_owned()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DelayNode, A::Error> {
        DelayRangeFile::deserialize(MapAccessDeserializer::new(map)).map(DelayNode::Range)
    }
}
