//! Public keys of nodes.

use orchestrion_yaml::{LabeledError, inline_schema, parse_scalar};
use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The length of an Ed25519 key.
pub(super) const KEY_BYTES: usize = 32;

/// An Ed25519 public key as 64 hexadecimal digits. Only the form is checked: the boundary that verifies signatures decodes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKeyText(pub Vec<u8>);

impl PublicKeyText {
    /// Returns the key of these bytes; `None` if their number is not that of a key.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == KEY_BYTES).then(|| Self(bytes.to_vec()))
    }

    /// Returns the hexadecimal digits.
    pub(super) fn digits(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<'de> Deserialize<'de> for PublicKeyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "malformed", |text| {
            parse(text).map(Self).map_err(|found| {
                LabeledError::new(
                    format!(
                        "malformed public key: expected {} hexadecimal digits, found {found}",
                        2 * KEY_BYTES
                    ),
                    "write the 32 bytes of the Ed25519 key in hexadecimal, in quotes",
                )
            })
        })
    }
}

impl Serialize for PublicKeyText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.digits())
    }
}

/// Parses a key. The error describes what is found.
fn parse(text: &str) -> Result<Vec<u8>, String> {
    if let Some(other) = text.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("`{}`", other.escape_debug()));
    }
    if text.len() != 2 * KEY_BYTES {
        return Err(text.len().to_string());
    }
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let byte = |pair: &[u32]| pair.iter().fold(0, |byte, digit| byte * 16 + digit);
    Ok(digits.chunks(2).filter_map(|pair| u8::try_from(byte(pair)).ok()).collect())
}

inline_schema!(PublicKeyText; _ => json_schema!({"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}));
