//! The pending call.

use crate::ids::CallId;
use crate::module::Operation;

/// A module call that awaits its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The id; also the idempotency key.
    pub id: CallId,
    /// The operation.
    pub operation: Operation,
}
