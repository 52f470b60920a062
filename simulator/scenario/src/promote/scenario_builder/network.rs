//! The recorded inputs about the network.

use super::{ScenarioBuilder, place};
use crate::promote::PromoteError;
use orchestrion_kernel::network::{
    HandoffReceipt, HandoffRefusal, NetworkEvent, NetworkInput, SignatureStatus,
};
use orchestrion_kernel::state::Assignment;
use orchestrion_kernel::{CallId, Event, Input};
use orchestrion_trace::Step;

impl ScenarioBuilder<'_> {
    /// Adds an input about the network. The runtime delivers handoffs, so a scenario does not script them.
    pub(super) fn add_network_input(
        &mut self,
        step: &Step,
        input: &NetworkInput,
    ) -> Result<(), PromoteError> {
        const REPLAY: &str = "keep the trace itself; it can be replayed";
        let inexpressible =
            |why, help| PromoteError::Inexpressible { file: self.file.to_string(), n: step.n, why, help };
        match input {
            NetworkInput::Create { .. } if self.first_user.is_some() => {
                return Err(inexpressible("a network that is created after the first session", REPLAY));
            }
            NetworkInput::Create { .. } => self.network.create(step.n, input),
            NetworkInput::Handoff(_) => {
                if step.events.iter().any(is_unexpected_handoff) {
                    return Err(inexpressible(
                        "a forged, replayed or duplicated handoff",
                        "script the fault under `handoffs` in a scenario of your own, or keep the trace itself",
                    ));
                }
            }
            NetworkInput::Join { .. }
            | NetworkInput::Leave { .. }
            | NetworkInput::SetAvailable { .. }
            | NetworkInput::ReportLoad { .. }
            | NetworkInput::RotateKey { .. }
            | NetworkInput::Signal { .. }
            | NetworkInput::ResolveThreat { .. }
            | NetworkInput::Tick => {
                // Between two requests a scenario has no point for it.
                let now = self.phase_visit().filter(|now| !now.phase.0.is_quiescent());
                let (Some(now), Some(request)) = (now, self.requests.len().checked_sub(1)) else {
                    return Err(inexpressible("a change of the network outside of a request", REPLAY));
                };
                self.network.push(step.n, request, place(now), input);
            }
        }
        Ok(())
    }

    /// Returns the handoff for which a pending call waits, if it waits for one.
    pub(super) fn expected_handoff(&self, call: CallId) -> Option<Input> {
        let assignment = self.fold.state().network()?.assignment(call)?;
        let Assignment { from, to, .. } = assignment;
        let (from, to, signature) = (from.clone(), to.clone(), SignatureStatus::Valid);
        let receipt = HandoffReceipt { call, from, to, signature };
        (!assignment.is_running()).then(|| Input::Network(Box::new(NetworkInput::Handoff(receipt))))
    }
}

/// Returns whether a handoff was refused because of what happened on its way. The run of a scenario repeats the other refusals.
fn is_unexpected_handoff(event: &Event) -> bool {
    let Event::Network(NetworkEvent::HandoffRefused { refusal, .. }) = event else { return false };
    match refusal {
        HandoffRefusal::InvalidSignature | HandoffRefusal::NotExpected => true,
        HandoffRefusal::MissingCapability | HandoffRefusal::Unavailable | HandoffRefusal::Overloaded => false,
    }
}
