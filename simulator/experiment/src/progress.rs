//! The next input of a conversation: what the runtime would submit.

use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::{HandoffReceipt, NetworkInput, SignatureStatus};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Input, Policy, State, can_step};

/// What happens next in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An input that follows from the state alone.
    Input(Input),
    /// A call is sent to its module.
    Send(Call),
    /// The conversation waits for the calls that were sent.
    Wait,
}

/// Returns what happens next. `is_sent` says of a pending call whether it was sent. As in the runtime, calls are sent before an internal
/// step, and a handoff reaches its receiver at once.
pub(crate) fn next(policy: &Policy, state: &State, is_sent: impl Fn(CallId) -> bool) -> Next {
    let pending = state.control().pending_calls();
    if let Some(call) = pending.iter().find(|call| !is_sent(call.id)) {
        if let Some(failure) = call.not_made {
            return Next::Input(Input::CallFailed { call: call.id, failure });
        }
        return match unaccepted_handoff(state, call.id) {
            Some(receipt) => Next::Input(Input::Network(Box::new(NetworkInput::Handoff(receipt)))),
            None => Next::Send(*call),
        };
    }
    if pending.is_empty() || can_step(policy, state) {
        return Next::Input(Input::Step);
    }
    Next::Wait
}

/// Returns the handoff that a node has not accepted yet.
fn unaccepted_handoff(state: &State, call: CallId) -> Option<HandoffReceipt> {
    let assignment = state.network()?.assignment(call).filter(|assignment| !assignment.is_running())?;
    let (from, to) = (assignment.from.clone(), assignment.to.clone());
    Some(HandoffReceipt { call, from, to, signature: SignatureStatus::Valid })
}

/// Returns the input that ends a call without a reply.
pub(crate) const fn failed(call: CallId, failure: Failure) -> Input {
    Input::CallFailed { call, failure }
}
