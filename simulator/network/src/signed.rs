//! Signed numbers, parsed exactly from their decimal text.

use orchestrion_kernel::network::Millionths;
use orchestrion_kernel::{Score, Weight};
use orchestrion_yaml::{LabeledError, inline_schema, parse_scalar};
use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

macro_rules! signed {
    ($($(#[$doc:meta])* $name:ident: $magnitude:ident, $max:literal, $example:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub Millionths);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse_scalar(deserializer, "invalid number", |text| {
                    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
                    let magnitude = $magnitude::from_decimal(digits).map_err(|_| {
                        LabeledError::new(
                            format!(
                                concat!("expected a decimal from -", $max, " to ", $max, ", found `{}`"),
                                text.escape_debug()
                            ),
                            concat!("write a number such as ", $example, ", with at most six places"),
                        )
                    })?;
                    let value = Millionths::from(magnitude);
                    Ok(Self(if is_negative { Millionths::ZERO - value } else { value }))
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_millionths(self.0, serializer)
            }
        }

        inline_schema!($name; _ => json_schema!({
            "type": ["number", "string"],
            "minimum": -$max,
            "maximum": $max,
            "pattern": "^-?[0-9]+(\\.[0-9]+)?$",
        }));
    )*};
}

signed! {
    /// A reciprocity, from −1000 to 1000.
    Reciprocity: Weight, 1000, "-1.5";
    /// A tone, from −1 to 1.
    Tone: Score, 1, "-0.5";
}

/// A number with at most six places, as the output of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub Millionths);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "invalid number", |text| {
            parse_number(text).map(|number| Self(Millionths::new(number))).ok_or_else(|| {
                LabeledError::new(
                    format!("expected a decimal with at most six places, found `{}`", text.escape_debug()),
                    "write a number such as -12.5, at most 9223372036854 in size",
                )
            })
        })
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_millionths(self.0, serializer)
    }
}

impl fmt::Display for Number {
    /// Formats the shortest exact decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

inline_schema!(Number; _ => json_schema!({
    "type": ["number", "string"],
    "pattern": "^-?[0-9]+(\\.[0-9]{1,6})?$",
}));

/// Returns a decimal in millionths; `None` for anything else.
fn parse_number(text: &str) -> Option<i64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole = whole.parse::<i64>().ok()?.checked_mul(1_000_000)?;
    let magnitude = whole.checked_add(format!("{fraction:0<6}").parse().ok()?)?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Serializes as a plain number. Near zero a float would be printed with an exponent, and a large one would lose digits, so the
/// digits are then serialized as text.
fn serialize_millionths<S: Serializer>(number: Millionths, serializer: S) -> Result<S::Ok, S::Error> {
    match i32::try_from(number.get()) {
        Ok(count) if count == 0 || count.unsigned_abs() >= 1_000 => {
            serializer.serialize_f64(f64::from(count) / 1e6)
        }
        Ok(_) | Err(_) => serializer.collect_str(&Number(number)),
    }
}
