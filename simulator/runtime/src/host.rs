//! The interface between a conversation and its application.

use crate::call::{Call, CallResult, RecoveryResult};
use crate::idempotency_key::Acknowledgement;
use crate::refused_handoff::RefusedHandoff;
use orchestrion_handoff::SignedHandoff;
use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Executes the calls of a conversation and provides time.
pub trait Host: Send + Sync {
    /// Executes a call. If the future is not ready by the call's deadline, the call fails. It is polled further while the
    /// request runs; a late reply is recorded and refused.
    fn execute(&self, call: &Call) -> impl Future<Output = CallResult> + Send;

    /// Recovers the outcome of an effectful call ([`is_effectful`](orchestrion_kernel::module::Operation::is_effectful)): one that was in
    /// flight when the runtime crashed, or one that a lost end of the journal may have contained
    /// ([`Conversation::recovers_first`](crate::Conversation::recovers_first)). The host looks whether it executed the call, and must
    /// not execute it here.
    fn recover(&self, call: &Call) -> impl Future<Output = RecoveryResult> + Send;

    /// Sends a handoff to its receiver, and returns what receivers got since, in order (001 §6.2). By default the handoff arrives
    /// once. A handoff that arrives later is sent to the [`Mailbox`](crate::Mailbox).
    fn transmit(&self, handoff: SignedHandoff) -> Vec<SignedHandoff> {
        vec![handoff]
    }

    /// Receives the notice that a receiver refused a handoff (001 §11.3). The kernel has already decided what follows. By default
    /// the notice is ignored.
    fn receive_refusal(&self, _: &RefusedHandoff) {}

    /// Receives the notice that an input with an idempotency key is durable, or that its key belongs to another input. By default the
    /// notice is ignored.
    fn acknowledge(&self, _: &Acknowledgement) {}

    /// Waits for this time.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// The time in milliseconds since 1970. Each input is decided at this time; if it is earlier than that of the input before, at
    /// that time.
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
