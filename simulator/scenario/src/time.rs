//! Model time in a scenario: how long answers take.

use super::names::Seed;
use orchestrion_yaml::{LabeledError, Spanned};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The units, the longest first, and their milliseconds.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// The longest time that may be written.
const HOURS_MAX: u64 = 1000;

/// A stretch of time: a whole number and its unit, read exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationText(pub Duration);

impl DurationText {
    fn read(text: &str) -> Result<Self, LabeledError> {
        let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let number = text.strip_suffix(unit).unwrap_or("");
        let known = UNITS.iter().find(|(name, _)| *name == unit).filter(|_| !number.is_empty());
        let Some((_, unit_ms)) = known else {
            return Err(LabeledError::new(
                format!("expected a time, found `{}`", text.escape_debug()),
                "write a whole number and its unit, ms, s, m or h, as in 250ms or 5s",
            ));
        };
        let milliseconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*unit_ms));
        match milliseconds.filter(|milliseconds| *milliseconds <= HOURS_MAX * 3_600_000) {
            Some(milliseconds) => Ok(Self(Duration::from_millis(milliseconds))),
            None => Err(LabeledError::new(
                format!("expected a time of at most {HOURS_MAX}h, found `{text}`"),
                "write a shorter time",
            )),
        }
    }
}

impl fmt::Display for DurationText {
    /// In the longest unit of which it is a whole number.
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
        let text = Spanned::<String>::deserialize(deserializer)?;
        Self::read(&text.value).map_err(|fault| fault.at(text.span(), "not such a time").into_serde_error())
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": format!("A whole number and its unit, as in 250ms, 5s, 2m or 1h; at most {HOURS_MAX}h."),
            "type": "string",
            "pattern": "^[0-9]+(ms|s|m|h)$",
        })
    }
}

/// How long an answer takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DelayFile {
    /// Always this long.
    Exactly(DurationText),
    /// As long as is drawn.
    Drawn(DelayRangeFile),
}

/// How long an answer takes, drawn by lot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRangeFile {
    /// The name of the seed. Whatever has the same name is drawn from one stream.
    pub seed: Seed,
    /// The shortest time.
    pub least: Spanned<DurationText>,
    /// The longest. Every whole millisecond from the one to the other is as likely.
    pub most: Spanned<DurationText>,
}

impl<'de> Deserialize<'de> for DelayFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Spanned::<RawAfter>::deserialize(deserializer)?;
        let span = raw.span();
        match raw.value {
            RawAfter::Text(text) => DurationText::read(&text).map(Self::Exactly),
            RawAfter::Drawn(drawn) => return Ok(Self::Drawn(drawn)),
            RawAfter::Other(found) => Err(LabeledError::new(
                format!("expected a time, found {found}"),
                "write a whole number and its unit, ms, s, m or h, as in 250ms or 5s",
            )),
        }
        .map_err(|fault| fault.at(span, "not such a time").into_serde_error())
    }
}

enum RawAfter {
    Text(String),
    Drawn(DelayRangeFile),
    Other(&'static str),
}

impl<'de> Deserialize<'de> for RawAfter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawAfterVisitor)
    }
}

struct RawAfterVisitor;

impl<'de> Visitor<'de> for RawAfterVisitor {
    type Value = RawAfter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time, as in 5s")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<RawAfter, E> {
        Ok(RawAfter::Text(text.to_owned()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawAfter, A::Error> {
        DelayRangeFile::deserialize(MapAccessDeserializer::new(map)).map(RawAfter::Drawn)
    }
    fn visit_u64<E>(self, _: u64) -> Result<RawAfter, E> {
        Ok(RawAfter::Other("a number without a unit"))
    }
    fn visit_i64<E>(self, _: i64) -> Result<RawAfter, E> {
        Ok(RawAfter::Other("a number without a unit"))
    }
    fn visit_f64<E>(self, _: f64) -> Result<RawAfter, E> {
        Ok(RawAfter::Other("a number without a unit"))
    }
    fn visit_unit<E>(self) -> Result<RawAfter, E> {
        Ok(RawAfter::Other("nothing"))
    }
    fn visit_none<E>(self) -> Result<RawAfter, E> {
        Ok(RawAfter::Other("nothing"))
    }
}

impl JsonSchema for DelayFile {
    fn schema_name() -> Cow<'static, str> {
        "After".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (exactly, drawn) =
            (generator.subschema_for::<DurationText>(), generator.subschema_for::<DelayRangeFile>());
        json_schema!({"description": "How long it takes. Left out: no time.", "anyOf": [exactly, drawn]})
    }
}
