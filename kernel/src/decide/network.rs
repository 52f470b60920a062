//! Inputs about the network: nodes, signals and handoffs (001 §6, §7.2; decision 0042).

use super::batch::Batch;
use crate::event::{Event, Events};
use crate::ids::NodeId;
use crate::network::defense::{ForwardedSignal, Signal, SignalOutcome};
use crate::network::{
    ConnectionStatus, HandoffReceipt, HandoffRefusal, NetworkError, NetworkEvent, NetworkInput, Node,
    SignatureStatus,
};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::state::{NetworkState, State};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

/// Returns the events of an input about the network. It takes no transition.
///
/// # Errors
/// A [`Refusal`] if the input does not fit the network.
pub(super) fn decide_network(
    policy: &Policy,
    state: &State,
    input: &NetworkInput,
) -> Result<Events, Refusal> {
    validate(state.network(), input)?;
    let mut batch = Batch::new(policy, state);
    match input {
        NetworkInput::Create { .. }
        | NetworkInput::Join { .. }
        | NetworkInput::Leave { .. }
        | NetworkInput::SetAvailable { .. }
        | NetworkInput::ReportLoad { .. }
        | NetworkInput::RotateKey { .. }
        | NetworkInput::ResolveThreat { .. }
        | NetworkInput::Tick => {
            batch.emit(Event::Network(NetworkEvent::Changed(Box::new(input.clone()))));
        }
        NetworkInput::Signal { receiver, signal } => {
            let sent = ForwardedSignal { to: receiver.clone(), signal: signal.clone() };
            batch.deliver_signals(VecDeque::from([sent]));
        }
        NetworkInput::Handoff(receipt) => batch.receive_handoff(receipt),
    }
    Ok(batch.into_events())
}

fn validate(network: Option<&NetworkState>, input: &NetworkInput) -> Result<(), NetworkError> {
    if let NetworkInput::Create { orchestrator, policy, nodes } = input {
        if network.is_some() {
            return Err(NetworkError::AlreadyCreated);
        }
        policy.validate().map_err(NetworkError::InvalidPolicy)?;
        let mut ids = BTreeSet::new();
        if let Some(Node { id, .. }) = nodes.iter().find(|node| !ids.insert(&node.id)) {
            return Err(NetworkError::DuplicateNode { node: id.clone() });
        }
        if !ids.contains(orchestrator) {
            return Err(NetworkError::OrchestratorMissing { orchestrator: orchestrator.clone() });
        }
        return Ok(());
    }
    let network = network.ok_or(NetworkError::NoNetwork)?;
    let find = |id: &NodeId| network.node(id).ok_or_else(|| NetworkError::UnknownNode { node: id.clone() });
    match input {
        NetworkInput::Join { node } if network.node(&node.id).is_some() => {
            Err(NetworkError::DuplicateNode { node: node.id.clone() })
        }
        NetworkInput::Leave { node } if node == network.orchestrator() => {
            Err(NetworkError::OrchestratorLeaves { orchestrator: node.clone() })
        }
        NetworkInput::SetAvailable { node, capability, .. }
            if !find(node)?.capabilities.contains_key(capability) =>
        {
            Err(NetworkError::UnknownCapability { node: node.clone(), capability: capability.clone() })
        }
        NetworkInput::Leave { node }
        | NetworkInput::ReportLoad { node, .. }
        | NetworkInput::RotateKey { node, .. }
        | NetworkInput::ResolveThreat { node, .. }
        | NetworkInput::Signal { receiver: node, .. } => find(node).map(drop),
        NetworkInput::Create { .. }
        | NetworkInput::Join { .. }
        | NetworkInput::SetAvailable { .. }
        | NetworkInput::Tick
        | NetworkInput::Handoff(_) => Ok(()),
    }
}

impl Batch<'_> {
    /// Emits the signals and those that their receivers forward, breadth first. A node receives one signal of a batch once, so
    /// that a dense network cannot multiply it.
    pub(super) fn deliver_signals(&mut self, mut queue: VecDeque<ForwardedSignal>) {
        let mut received = BTreeSet::new();
        while let Some(ForwardedSignal { to, signal }) = queue.pop_front() {
            let Some(network) = &self.network else { return };
            if !received.insert((to.clone(), signal.origin.clone(), signal.subject.clone())) {
                continue;
            }
            let outcome = network.nodes().clone().receive_signal(network.policy(), &to, &signal);
            match outcome {
                Some(SignalOutcome::Received { forwarded, .. }) => {
                    self.emit(Event::Network(NetworkEvent::SignalReceived { receiver: to, signal }));
                    queue.extend(forwarded);
                }
                Some(SignalOutcome::Ignored) | None => {}
            }
        }
    }

    /// Returns a node's signal, addressed to each of its partners but the subject.
    pub(super) fn address_signal(&self, signal: &Signal) -> Vec<ForwardedSignal> {
        let sender = self.network.as_ref().and_then(|network| network.node(&signal.origin));
        let partners = sender.into_iter().flat_map(|node| node.connections.iter());
        partners
            .filter(|(partner, connection)| {
                **partner != signal.subject && connection.status != ConnectionStatus::Removed
            })
            .map(|(partner, _)| ForwardedSignal { to: partner.clone(), signal: signal.clone() })
            .collect()
    }

    /// Accepts or refuses a handoff, in the order of 001 §6.3. A refusal by an honest receiver ends the attempt.
    fn receive_handoff(&mut self, receipt: &HandoffReceipt) {
        match self.check_receipt(receipt) {
            Ok(()) => self.emit(Event::Network(NetworkEvent::HandoffAccepted { call: receipt.call })),
            Err(refusal) => {
                self.emit(Event::Network(NetworkEvent::HandoffRefused { receipt: receipt.clone(), refusal }));
                match refusal {
                    // The expected handoff can still arrive.
                    HandoffRefusal::InvalidSignature | HandoffRefusal::NotExpected => {}
                    HandoffRefusal::MissingCapability
                    | HandoffRefusal::Unavailable
                    | HandoffRefusal::Overloaded => self.repeat_refused(receipt.call),
                }
            }
        }
    }

    fn check_receipt(&self, receipt: &HandoffReceipt) -> Result<(), HandoffRefusal> {
        let HandoffReceipt { call, from, to, signature } = receipt;
        match signature {
            SignatureStatus::Valid => {}
            SignatureStatus::Invalid => return Err(HandoffRefusal::InvalidSignature),
        }
        let network = self.network.as_ref().ok_or(HandoffRefusal::NotExpected)?;
        let expected = network.assignment(*call).filter(|assignment| {
            !assignment.is_running() && assignment.from == *from && assignment.to == *to
        });
        let assignment = expected.ok_or(HandoffRefusal::NotExpected)?;
        let receiver = network.node(to).ok_or(HandoffRefusal::MissingCapability)?;
        receiver.check_handoff(&network.policy().routing, &assignment.capability)
    }
}
