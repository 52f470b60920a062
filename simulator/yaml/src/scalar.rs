//! Scalar values: strict texts and exact decimals.

use super::error::LabeledError;
use super::spanned::Spanned;
use orchestrion_kernel::score::NumberError;
use orchestrion_kernel::{Score, Text, Weight};
use schemars::json_schema;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Deserializes a value from the text of a scalar. The label of an error describes the text.
///
/// # Errors
/// The value is not a scalar, or `parse` refuses it.
pub fn parse_scalar<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    label: &str,
    parse: impl FnOnce(&str) -> Result<T, LabeledError>,
) -> Result<T, D::Error> {
    let text = Spanned::<String>::deserialize(deserializer)?;
    parse(&text.value).map_err(|error| error.with_label(text.span(), label).into_serde_error())
}

/// Implements `JsonSchema` for a type whose schema is repeated wherever the type is used.
#[macro_export]
macro_rules! inline_schema {
    ($name:ty $(where $($param:ident: $bound:path),*)?; $generator:pat => $schema:expr) => {
        impl $(<$($param: $bound),*>)? ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema($generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $schema
            }
        }
    };
}

/// A text. An unquoted number or boolean is an error, because it is usually a mistake; quotes make it a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrictText(Text);

impl StrictText {
    /// The text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The text as a kernel type.
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
            Raw::Scalar(found) => (found, "quote it to use it as text, as in \"3\""),
            Raw::Nothing => ("nothing", "write the text after the colon; \"\" is the empty text"),
            Raw::Compound(found) => (found, "write one text; quote it if it starts with [ or {"),
        };
        Err(LabeledError::new(format!("expected text, found {found}"), help)
            .with_label(span, format!("{found}, not text"))
            .into_serde_error())
    }
}

inline_schema!(StrictText; _ => json_schema!({"type": "string"}));

/// Any value, so that its location is known before it is refused.
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

macro_rules! refused_scalars {
    ($($visit:ident $scalar:ident $found:literal;)*) => {$(
        fn $visit<E>(self, _: $scalar) -> Result<Raw, E> {
            Ok(Raw::Scalar($found))
        }
    )*};
}

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }
    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }
    refused_scalars! {
        visit_bool bool "a boolean";
        visit_i64 i64 "a number";
        visit_u64 u64 "a number";
        visit_i128 i128 "a number";
        visit_u128 u128 "a number";
        visit_f64 f64 "a number";
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

/// A fixed-point number, parsed exactly from its decimal text, never through a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<N>(pub N);

/// A fixed-point number of the kernel, in millionths.
pub trait Millionths: Sized + Copy {
    /// The range and an example, for messages.
    const RANGE: &'static str;
    /// The largest whole number.
    const MAX: u32;
    /// Parses a decimal.
    ///
    /// # Errors
    /// The text is not a decimal in the range.
    fn parse(text: &str) -> Result<Self, NumberError>;
    /// The number in millionths.
    fn millionths(self) -> u32;
}

macro_rules! millionths {
    ($($number:ty, $max:literal, $range:literal;)*) => {$(
        impl Millionths for $number {
            const RANGE: &'static str = $range;
            const MAX: u32 = $max;
            fn parse(text: &str) -> Result<Self, NumberError> {
                Self::from_decimal(text)
            }
            fn millionths(self) -> u32 {
                Self::millionths(self)
            }
        }
    )*};
}

millionths! {
    Score, 1, "a decimal from 0 to 1, such as 0.85";
    Weight, 1000, "a decimal from 0 to 1000, such as 1.5";
}

impl<'de, N: Millionths> Deserialize<'de> for Decimal<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "invalid number", |text| {
            N::parse(text).map(Self).map_err(|error| {
                LabeledError::new(
                    format!("{error}, found `{}`", text.escape_debug()),
                    format!("write {}, with at most six places", N::RANGE),
                )
            })
        })
    }
}

impl<N: Millionths> Serialize for Decimal<N> {
    /// Serializes as a plain number. Below a thousandth a float would be printed with an exponent, so the digits are serialized as
    /// text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.millionths() {
            count @ 1..1000 => serializer.collect_str(&format_args!("0.{count:06}")),
            // Exact: both numbers are whole and below 2^53, so the shortest decimal of the quotient has these digits.
            count => serializer.serialize_f64(f64::from(count) / 1e6),
        }
    }
}

inline_schema!(Decimal<N> where N: Millionths; _ => json_schema!({
    "type": ["number", "string"],
    "minimum": 0,
    "maximum": N::MAX,
    "pattern": "^[0-9]+(\\.[0-9]+)?$",
}));
