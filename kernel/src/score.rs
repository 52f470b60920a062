//! Fixed-point numbers in millionths, used in every decision.
//!
//! A [`Score`] is in 0..=1, a [`Weight`] in 0..=1000. Both parse exactly from decimal text; a decimal with more than six
//! places is an error, not rounded. Deliberately absent: floats.

use alloc::string::String;
use core::fmt;

/// One, in millionths.
const ONE: u32 = 1_000_000;

/// A number from 0 to 1, in millionths: a confidence, a consensus, a threshold, a similarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u32", into = "u32"))]
pub struct Score(u32);

/// A factor from 0 to 1000, in millionths, such as the weight of a role's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u32", into = "u32"))]
pub struct Weight(u32);

/// Why a number is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberError {
    /// The text is not a plain decimal such as `0.85`.
    NotDecimal,
    /// More than six decimal places.
    TooPrecise,
    /// Outside the range of its type.
    OutOfRange {
        /// The maximum, in millionths.
        max_millionths: u32,
    },
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDecimal => f.write_str("expected a plain decimal such as 0.85"),
            Self::TooPrecise => f.write_str("expected at most six decimal places"),
            Self::OutOfRange { max_millionths } => {
                write!(f, "expected a number from 0 to {}", Decimal(*max_millionths))
            }
        }
    }
}

impl core::error::Error for NumberError {}

macro_rules! millionths {
    ($name:ident, $max:expr) => {
        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self(ONE);
            /// The largest value.
            pub const MAX: Self = Self($max);

            /// Creates the number from millionths; `None` above [`Self::MAX`].
            #[must_use]
            pub const fn from_millionths(millionths: u32) -> Option<Self> {
                if millionths <= $max { Some(Self(millionths)) } else { None }
            }

            /// Returns the value in millionths.
            #[must_use]
            pub const fn millionths(self) -> u32 {
                self.0
            }

            /// Parses a decimal exactly.
            ///
            /// # Errors
            /// [`NumberError`] for anything but a plain decimal of at most six places within the range.
            pub fn from_decimal(text: &str) -> Result<Self, NumberError> {
                let millionths = parse_millionths(text, $max)?;
                Self::from_millionths(millionths).ok_or(NumberError::OutOfRange { max_millionths: $max })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&Decimal(self.0), f)
            }
        }

        impl TryFrom<u32> for $name {
            type Error = NumberError;
            fn try_from(millionths: u32) -> Result<Self, NumberError> {
                Self::from_millionths(millionths).ok_or(NumberError::OutOfRange { max_millionths: $max })
            }
        }

        impl From<$name> for u32 {
            fn from(number: $name) -> u32 {
                number.0
            }
        }
    };
}

millionths!(Score, ONE);
millionths!(Weight, 1_000 * ONE);

/// Prints millionths as the shortest exact decimal with at least two places.
struct Decimal(u32);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = String::new();
        fmt::write(&mut digits, format_args!("{}.{:06}", self.0 / ONE, self.0 % ONE))?;
        let significant = digits.trim_end_matches('0').len();
        let two_places = digits.find('.').unwrap_or(0).saturating_add(3);
        f.pad(digits.get(..significant.max(two_places)).unwrap_or(&digits))
    }
}

/// Parses a decimal; `max_millionths` is only reported in errors.
fn parse_millionths(text: &str, max_millionths: u32) -> Result<u32, NumberError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(NumberError::NotDecimal);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 6 {
        return Err(NumberError::TooPrecise);
    }
    let out_of_range = NumberError::OutOfRange { max_millionths };
    let mut millionths: u32 = 0;
    let padded = fraction.bytes().chain(core::iter::repeat(b'0')).take(6);
    for byte in whole.bytes().chain(padded) {
        millionths = millionths
            .checked_mul(10)
            .and_then(|m| m.checked_add(u32::from(byte.saturating_sub(b'0'))))
            .ok_or_else(|| out_of_range.clone())?;
    }
    Ok(millionths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn decimal_parsing_is_exact_or_fails() {
        let cases: &[(&str, Result<u32, NumberError>)] = &[
            ("0", Ok(0)),
            ("1", Ok(1_000_000)),
            ("0.8", Ok(800_000)),
            ("0.699999", Ok(699_999)),
            ("0.1000000000", Ok(100_000)),
            ("0.0000001", Err(NumberError::TooPrecise)),
            ("1.000001", Err(NumberError::OutOfRange { max_millionths: ONE })),
            ("99999999999999999999", Err(NumberError::OutOfRange { max_millionths: ONE })),
            ("", Err(NumberError::NotDecimal)),
            (".5", Err(NumberError::NotDecimal)),
            ("-0.5", Err(NumberError::NotDecimal)),
            ("1e-3", Err(NumberError::NotDecimal)),
        ];
        for (text, expected) in cases {
            assert_eq!(&Score::from_decimal(text).map(Score::millionths), expected, "{text:?}");
        }
    }

    #[test]
    fn display_is_exact_and_parses_back() {
        for (millionths, expected) in
            [(0, "0.00"), (800_000, "0.80"), (790_356, "0.790356"), (1_000_000, "1.00")]
        {
            let score = Score::from_millionths(millionths).unwrap();
            assert_eq!(score.to_string(), expected);
            assert_eq!(Score::from_decimal(expected), Ok(score));
        }
    }
}
