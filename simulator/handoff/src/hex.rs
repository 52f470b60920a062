//! Bytes as lower-case hexadecimal digits. One value has one text, so a text with upper-case digits is malformed.

use std::fmt::{self, Write as _};

/// A defect of a hexadecimal text. It contains no character of the text, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HexError {
    /// The text has another length.
    Length {
        /// The number of bytes in the text.
        found: usize,
    },
    /// A byte is no digit.
    Digit {
        /// The position of the byte, from 1.
        position: usize,
    },
}

impl fmt::Display for HexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found } => write!(f, "{found} bytes"),
            Self::Digit { position } => write!(f, "another character at position {position}"),
        }
    }
}

/// Appends the digits of bytes.
pub(crate) fn push_digits(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
}

/// Decodes a text of exactly `2 * bytes.len()` digits. After an error the content of `bytes` is unspecified.
pub(crate) fn decode(text: &[u8], bytes: &mut [u8]) -> Result<(), HexError> {
    if text.len() != bytes.len().saturating_mul(2) {
        return Err(HexError::Length { found: text.len() });
    }
    if let Some(position) = text.iter().position(|byte| digit(*byte).is_none()) {
        return Err(HexError::Digit { position: position.saturating_add(1) });
    }
    for (pair, byte) in text.chunks_exact(2).zip(bytes) {
        *byte = pair.iter().filter_map(|byte| digit(*byte)).fold(0, |value, digit| value << 4 | digit);
    }
    Ok(())
}

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}
