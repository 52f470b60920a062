//! Single values: texts that are texts, and decimals that are read exactly.

use super::error::LabeledError;
use super::spanned::Spanned;
use orchestrion_kernel::{Score, Text, Weight};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A text. What YAML would take for a number or a boolean is refused rather than turned into a text: it is
/// more often a slip than meant, and quotes say that it is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrictText(Text);

impl StrictText {
    /// The text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The text as the kernel has it.
    #[must_use]
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl Default for StrictText {
    fn default() -> Self {
        Self(Text::from(""))
    }
}

impl<T: Into<Text>> From<T> for StrictText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for StrictText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for StrictText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for StrictText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Spanned::<Raw>::deserialize(deserializer)?;
        let span = raw.span();
        let (found, help) = match raw.value {
            Raw::Text(text) => return Ok(Self::from(text)),
            Raw::Scalar(found) => (found, "put it in quotes if it is meant as text, as in \"3\""),
            Raw::Nothing => ("nothing", "write the text behind the colon; \"\" is the empty text"),
            Raw::Compound(found) => (found, "write one text; put it in quotes if it starts with [ or {"),
        };
        Err(LabeledError::new(format!("expected text, found {found}"), help)
            .at(span, format!("{found}, not text"))
            .into_serde_error())
    }
}

impl JsonSchema for StrictText {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

/// Whatever stands there, so that its place is known before it is refused.
enum Raw {
    Text(String),
    Scalar(&'static str),
    Nothing,
    Compound(&'static str),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }
    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar("a boolean"))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar("a number"))
    }
    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar("a number"))
    }
    fn visit_i128<E>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Scalar("a number"))
    }
    fn visit_u128<E>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Scalar("a number"))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar("a number"))
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Raw::Compound("a list"))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Raw::Compound("a mapping"))
    }
}

/// A number that decides: written as a decimal, read exactly, never through a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<N>(pub N);

/// A number of the kernel that has a decimal form.
pub trait Millionths: Sized + Copy {
    const RANGE: &'static str;
    const MAX: u32;
    fn read(text: &str) -> Result<Self, orchestrion_kernel::score::NumberError>;
    fn count(self) -> u32;
}

impl Millionths for Score {
    const RANGE: &'static str = "a decimal from 0 to 1, such as 0.85";
    const MAX: u32 = 1;
    fn read(text: &str) -> Result<Self, orchestrion_kernel::score::NumberError> {
        Self::from_decimal(text)
    }
    fn count(self) -> u32 {
        self.millionths()
    }
}

impl Millionths for Weight {
    const RANGE: &'static str = "a decimal from 0 to 1000, such as 1.5";
    const MAX: u32 = 1000;
    fn read(text: &str) -> Result<Self, orchestrion_kernel::score::NumberError> {
        Self::from_decimal(text)
    }
    fn count(self) -> u32 {
        self.millionths()
    }
}

impl<'de, N: Millionths> Deserialize<'de> for Decimal<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        N::read(&text.value).map(Self).map_err(|error| {
            LabeledError::new(
                format!("{error}, found `{}`", text.value.escape_debug()),
                format!("write {}, with at most six places", N::RANGE),
            )
            .at(text.span(), "not such a number")
            .into_serde_error()
        })
    }
}

impl<N: Millionths> Serialize for Decimal<N> {
    /// As a plain number. Below a thousandth a float would be printed with an exponent, which is no plain
    /// decimal: there it is the same digits as text, which reads back just as well.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.count() {
            count @ 1..1000 => serializer.collect_str(&format_args!("0.{count:06}")),
            // Exact: below 2^53 both are whole, and the shortest text of the quotient has these digits.
            count => serializer.serialize_f64(f64::from(count) / 1e6),
        }
    }
}

impl<N: Millionths> JsonSchema for Decimal<N> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("DecimalTo{}", N::MAX).into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "minimum": 0,
            "maximum": N::MAX,
            "pattern": "^[0-9]+(\\.[0-9]+)?$",
        })
    }
}
