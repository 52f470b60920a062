//! The key with which a node signs.

use super::encoding::encode;
use super::handoff::Handoff;
use super::hex::{self, HexError};
use super::signature::Signature;
use super::signed::SignedHandoff;
use ed25519_dalek::{Signer as _, SigningKey};
use orchestrion_kernel::NodeId;
use std::{fmt, io};
use zeroize::Zeroizing;

/// The length of the secret of a key, in bytes.
pub(crate) const SECRET_BYTES: usize = 32;

/// The context of the derivation of keys for simulations. No other derivation has it.
const SIMULATION_CONTEXT: &str = "orchestrion-handoff/1 key of a node in a simulation";

/// An Ed25519 public key.
pub type PublicKey = [u8; 32];

/// The secret key of a node (001 §6.2, "Sign with private key"). It has no serialized form, its `Debug` shows the public key only,
/// and its memory is overwritten when it is dropped.
pub struct NodeKey(SigningKey);

impl NodeKey {
    /// Creates a key from the system's source of randomness.
    ///
    /// # Errors
    /// The source of randomness fails.
    pub fn generate() -> io::Result<Self> {
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        getrandom::fill(secret.as_mut_slice()).map_err(io::Error::other)?;
        Ok(Self::from_secret(&secret))
    }

    /// Derives the key of a node in a simulation from the id of the node.
    ///
    /// The key is no secret: everyone who knows the id can compute it. Use it in scenarios, so that they are reproducible, and
    /// never elsewhere.
    #[must_use]
    pub fn for_simulation(node: &NodeId) -> Self {
        Self::from_secret(&blake3::derive_key(SIMULATION_CONTEXT, node.as_str().as_bytes()))
    }

    /// Returns the public key: 32 bytes, as [`verify`](super::verify) expects them.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        self.0.verifying_key().to_bytes()
    }

    /// Signs a handoff (001 §6.3). The caller ensures that `from_node` is the node of this key; otherwise no receiver accepts the
    /// signature.
    #[must_use]
    pub fn sign(&self, handoff: Handoff) -> SignedHandoff {
        let signature = self.0.sign(&encode(&handoff));
        SignedHandoff { handoff, signature: Signature::from_bytes(&signature.to_bytes()) }
    }

    fn from_secret(secret: &[u8; SECRET_BYTES]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    pub(crate) fn from_hex(text: &[u8]) -> Result<Self, HexError> {
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        hex::decode(text, secret.as_mut_slice())?;
        Ok(Self::from_secret(&secret))
    }

    pub(crate) fn push_hex(&self, text: &mut String) {
        hex::push_digits(self.0.as_bytes(), text);
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut public_key = String::new();
        hex::push_digits(&self.public_key(), &mut public_key);
        f.debug_struct("NodeKey").field("public_key", &public_key).finish_non_exhaustive()
    }
}
