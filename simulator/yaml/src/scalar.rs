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
        parse_scalar(deserializer, "invalid number", |text| parse(text, text).map(Self))
    }
}

/// Parses a decimal; the error quotes the text of the file.
fn parse<N: Millionths>(decimal: &str, written: &str) -> Result<N, LabeledError> {
    N::parse(decimal).map_err(|error| {
        LabeledError::new(
            format!("{error}, found `{}`", written.escape_debug()),
            format!("write {}, with at most six places", N::RANGE),
        )
    })
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
    "pattern": "^[0-9]+(\\.[0-9]{1,6})?$",
}));

/// A score that a module measured, rounded to six places: programs print computed numbers with more, or with an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeasuredScore(pub Score);

impl<'de> Deserialize<'de> for MeasuredScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "invalid number", |text| {
            let rounded = round_to_millionths(text);
            parse(rounded.as_deref().unwrap_or(text), text).map(Self)
        })
    }
}

impl Serialize for MeasuredScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Decimal(self.0).serialize(serializer)
    }
}

inline_schema!(MeasuredScore; _ => json_schema!({
    "type": ["number", "string"],
    "minimum": 0,
    "maximum": 1,
    "pattern": "^[0-9]+(\\.[0-9]+)?([eE](-[0-9]+|\\+?0+))?$",
}));

/// Rounds a number in the notation of JSON to six places, half up. Returns `None` for another notation, or a positive exponent.
fn round_to_millionths(text: &str) -> Option<String> {
    const PLACES: usize = 6;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (decimal, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    if !is_digits(whole) || !is_digits(fraction) || exponent > 0 {
        return None;
    }
    let shift = usize::try_from(exponent.unsigned_abs()).ok()?.min(text.len() + PLACES + 1);
    // The point stays behind the same number of digits, and at least six follow it.
    let digits = format!("{}{whole}{fraction:0<PLACES$}", "0".repeat(shift));
    let (whole, fraction) = digits.split_at_checked(whole.len())?;
    let (kept, rest) = fraction.split_at_checked(PLACES)?;
    let millionths: u64 = format!("{whole}{kept}").parse().ok()?;
    let rounded = millionths.checked_add(u64::from(rest.bytes().next().is_some_and(|next| next >= b'5')))?;
    Some(format!("{}.{:06}", rounded / 1_000_000, rounded % 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_number_is_rounded_to_six_places() {
        for (text, expected) in [
            ("0.30000000000000004", Some("0.300000")),
            ("0.9999995", Some("1.000000")),
            ("0.99999949999", Some("0.999999")),
            ("1e-05", Some("0.000010")),
            ("8.5E-1", Some("0.850000")),
            ("4.9e-7", Some("0.000000")),
            ("5e-7", Some("0.000001")),
            ("1e-400", Some("0.000000")),
            ("1.0000001", Some("1.000000")),
            ("1.1e-999999999999", None),
            ("0.85", Some("0.850000")),
            ("1", Some("1.000000")),
            ("1e3", None),
            ("-0.1", None),
            ("1.e-2", None),
            (".5", None),
            ("one", None),
        ] {
            assert_eq!(round_to_millionths(text).as_deref(), expected, "{text}");
        }
    }
}
