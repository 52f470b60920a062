//! A handoff with its signature, as it is sent.

use super::handoff::Handoff;
use super::signature::Signature;
use serde::{Deserialize, Serialize};

/// A handoff with the signature of its sender (001 §6.1). [`verify`](super::verify) says whether the signature is valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `handoff` and `signature`")]
pub struct SignedHandoff {
    /// The handoff.
    pub handoff: Handoff,
    /// The signature of the [encoded](super::encode) handoff.
    pub signature: Signature,
}
