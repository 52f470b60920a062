//! The outcome of a scripted call.

use orchestrion_kernel::module::Failure;
use orchestrion_runtime::Reply;
use std::time::Duration;

/// The outcome of a scripted call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedReply {
    /// A reply.
    Reply(Reply),
    /// A failure.
    Fail(Failure),
}

/// A scripted reply with its delay in simulated time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedReply {
    /// The reply.
    pub reply: ScriptedReply,
    /// The delay.
    pub after: Duration,
}
