//! The check of a signature (001 §6.3, "Validate signature").

use super::encoding::encode;
use super::node_key::PublicKey;
use super::signature::SIGNATURE_BYTES;
use super::signed::SignedHandoff;
use ed25519_dalek::{Signature, VerifyingKey};
use thiserror::Error;

/// Whether a signature is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureStatus {
    /// The owner of the public key signed exactly this handoff.
    Valid,
    /// The receiver refuses the handoff.
    Invalid(InvalidSignature),
}

impl SignatureStatus {
    /// Whether the signature is valid.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        match self {
            Self::Valid => true,
            Self::Invalid(_) => false,
        }
    }
}

/// The reason why a signature is invalid, for logs. Every reason has the same effect.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidSignature {
    /// The public key has another length. That of a node without a key is empty.
    #[error(
        "malformed public key: expected {} bytes, found {found}; set `public_key` of the sender", size_of::<PublicKey>()
    )]
    PublicKeyLength {
        /// The length in bytes.
        found: usize,
    },
    /// The bytes are no public key.
    #[error(
        "malformed public key: expected a point of the curve, found other bytes; correct `public_key` of the sender"
    )]
    PublicKeyPoint,
    /// With this public key, a signature would be valid for several messages.
    #[error(
        "weak public key: expected a key of large order, found one of small order; replace the key of the sender"
    )]
    WeakPublicKey,
    /// The text of the signature is malformed.
    #[error(
        "malformed signature: expected {} lower-case hexadecimal digits, found {found}; send the handoff as signed",
        2 * SIGNATURE_BYTES
    )]
    Malformed {
        /// What is found instead.
        found: String,
    },
    /// The handoff was changed, or another key signed it.
    #[error(
        "signature mismatch: expected the signature of this handoff by the sender, found another; sign the handoff again"
    )]
    Mismatch,
}

/// Checks the signature of a handoff with the public key of its sender (001 §6.3). `public_key` has 32 bytes; any other value,
/// such as the empty key of a node without one, gives an invalid signature. The caller looks the key up by `from_node`.
///
/// The check is strict: it refuses keys of small order and signatures with a second form.
#[must_use]
pub fn verify(signed: &SignedHandoff, public_key: &[u8]) -> SignatureStatus {
    match check(signed, public_key) {
        Ok(()) => SignatureStatus::Valid,
        Err(reason) => SignatureStatus::Invalid(reason),
    }
}

fn check(signed: &SignedHandoff, public_key: &[u8]) -> Result<(), InvalidSignature> {
    let bytes = PublicKey::try_from(public_key)
        .map_err(|_| InvalidSignature::PublicKeyLength { found: public_key.len() })?;
    let key = VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidSignature::PublicKeyPoint)?;
    if key.is_weak() {
        return Err(InvalidSignature::WeakPublicKey);
    }
    let signature = signed.signature.to_bytes();
    let signature = signature.map_err(|found| InvalidSignature::Malformed { found: found.to_string() })?;
    key.verify_strict(&encode(&signed.handoff), &Signature::from_bytes(&signature))
        .map_err(|_| InvalidSignature::Mismatch)
}
