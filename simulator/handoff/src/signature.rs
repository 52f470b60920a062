//! The text of a signature.

use super::hex::{self, HexError};
use orchestrion_kernel::Text;
use serde::{Deserialize, Serialize};

/// The length of an Ed25519 signature, in bytes.
pub(crate) const SIGNATURE_BYTES: usize = 64;

/// An Ed25519 signature as 128 lower-case hexadecimal digits. A received text may be malformed: [`verify`](super::verify) then
/// reports an invalid signature, because a receiver answers it as any other invalid signature (001 §6.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(Text);

impl Signature {
    /// Creates a signature from its text, which may be malformed.
    pub fn from_text(text: impl Into<Text>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn from_bytes(bytes: &[u8; SIGNATURE_BYTES]) -> Self {
        let mut text = String::with_capacity(2 * SIGNATURE_BYTES);
        hex::push_digits(bytes, &mut text);
        Self(text.into())
    }

    pub(crate) fn to_bytes(&self) -> Result<[u8; SIGNATURE_BYTES], HexError> {
        let mut bytes = [0; SIGNATURE_BYTES];
        hex::decode(self.as_str().as_bytes(), &mut bytes)?;
        Ok(bytes)
    }
}
