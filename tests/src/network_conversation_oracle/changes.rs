//! Inputs about nodes: who joins and leaves, loads, signals, and handoffs.

use super::cursor::Cursor;
use super::nodes::{ONE, OracleNetwork, OracleNode, TOLERANCE};
use super::{NetworkConversationOracle, PendingCall};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    HandoffReceipt, HandoffRefusal, NetworkEvent, NetworkInput, NodeStatus, SignatureStatus,
};
use orchestrion_kernel::{CallId, NodeId};
use std::collections::BTreeSet;

/// Reads these signals, in order.
pub(super) fn expect_signals(cursor: &mut Cursor, signals: Vec<(NodeId, Signal)>) -> Result<(), String> {
    for (receiver, signal) in signals {
        let expected = NetworkEvent::SignalReceived { receiver: receiver.clone(), signal: signal.clone() };
        let found = cursor.network(&format!("{expected:?}"))?;
        let NetworkEvent::SignalReceived { receiver: to, signal: received } = &found else {
            return Err(format!("expected {expected:?}, found {found:?}"));
        };
        let confidences = [&signal, received].map(|signal| i64::from(signal.confidence.millionths()));
        let is_close = (confidences[0] - confidences[1]).abs() <= TOLERANCE;
        let same = Signal { confidence: signal.confidence, ..received.clone() };
        if !is_close || same != signal || *to != receiver {
            return Err(format!("expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}

impl NetworkConversationOracle {
    /// Returns whether an input about the network must be refused.
    pub(super) fn is_refused(&self, input: &NetworkInput) -> bool {
        let Some(network) = &self.network else {
            return match input {
                NetworkInput::Create { orchestrator, nodes, .. } => {
                    let ids: BTreeSet<&NodeId> = nodes.iter().map(|node| &node.id).collect();
                    ids.len() < nodes.len() || !ids.contains(orchestrator)
                }
                NetworkInput::Join { .. }
                | NetworkInput::Leave { .. }
                | NetworkInput::SetAvailable { .. }
                | NetworkInput::ReportLoad { .. }
                | NetworkInput::RotateKey { .. }
                | NetworkInput::Signal { .. }
                | NetworkInput::ResolveThreat { .. }
                | NetworkInput::Tick
                | NetworkInput::Handoff(_) => true,
            };
        };
        let is_unknown = |node: &NodeId| !network.nodes.contains_key(node);
        match input {
            NetworkInput::Create { .. } => true,
            NetworkInput::Join { node } => !is_unknown(&node.id),
            NetworkInput::Leave { node } => is_unknown(node) || *node == network.orchestrator,
            NetworkInput::SetAvailable { node, capability, .. } => {
                network.nodes.get(node).is_none_or(|node| !node.capabilities.contains_key(capability))
            }
            NetworkInput::ReportLoad { node, .. }
            | NetworkInput::RotateKey { node, .. }
            | NetworkInput::ResolveThreat { node, .. } => is_unknown(node),
            NetworkInput::Signal { receiver, .. } => is_unknown(receiver),
            NetworkInput::Tick | NetworkInput::Handoff(_) => false,
        }
    }

    /// Takes an accepted input about the network.
    pub(super) fn take_network_input(
        &mut self,
        input: &NetworkInput,
        cursor: &mut Cursor,
    ) -> Result<(), String> {
        let changed = NetworkEvent::Changed(Box::new(input.clone()));
        if let NetworkInput::Create { orchestrator, policy, nodes } = input {
            cursor.expect(&changed)?;
            let nodes = nodes.iter().map(|node| (node.id.clone(), OracleNode::read(node))).collect();
            self.network = Some(OracleNetwork { policy: *policy, orchestrator: orchestrator.clone(), nodes });
            return Ok(());
        }
        let now = self.now;
        let Some(network) = &mut self.network else { return Ok(()) };
        match input {
            NetworkInput::Create { .. } => {}
            NetworkInput::Join { node } => {
                cursor.expect(&changed)?;
                network.nodes.insert(node.id.clone(), OracleNode::read(node));
            }
            NetworkInput::Leave { node } => {
                cursor.expect(&changed)?;
                network.nodes.remove(node);
            }
            NetworkInput::SetAvailable { node, capability, available } => {
                cursor.expect(&changed)?;
                let held = network.nodes.get_mut(node).and_then(|node| node.capabilities.get_mut(capability));
                if let Some(held) = held {
                    held.available = *available;
                }
            }
            NetworkInput::ReportLoad { node, load } => {
                cursor.expect(&changed)?;
                if let Some(node) = network.nodes.get_mut(node) {
                    node.reported_load = load.map(|load| i64::from(load.millionths()).min(ONE));
                }
            }
            NetworkInput::RotateKey { .. } => cursor.expect(&changed)?,
            NetworkInput::Signal { receiver, signal } => {
                let delivered = network.deliver(vec![(receiver.clone(), signal.clone())]);
                expect_signals(cursor, delivered)?;
            }
            NetworkInput::ResolveThreat { node, subject } => {
                cursor.expect(&changed)?;
                if let Some(node) = network.nodes.get_mut(node) {
                    node.resolve(subject);
                }
            }
            NetworkInput::Tick => {
                cursor.expect(&changed)?;
                for node in network.nodes.values_mut() {
                    node.tick(now);
                }
            }
            NetworkInput::Handoff(receipt) => self.take_handoff(receipt, cursor)?,
        }
        Ok(())
    }

    /// Returns why a receiver refuses a handoff: signature, expectation, capability, availability, load, in this order.
    fn handoff_refusal(&self, receipt: &HandoffReceipt) -> Option<HandoffRefusal> {
        match receipt.signature {
            SignatureStatus::Invalid => return Some(HandoffRefusal::InvalidSignature),
            SignatureStatus::Valid => {}
        }
        let pending = self.pending.get(&receipt.call).and_then(|call| call.assignment.as_ref());
        let Some(call) = pending.filter(|call| {
            !call.is_running && !call.is_local() && call.from == receipt.from && call.to == receipt.to
        }) else {
            return Some(HandoffRefusal::NotExpected);
        };
        let node = self.network.as_ref().and_then(|network| network.nodes.get(&call.to));
        // An expelled node is excluded from every task.
        let is_expelled = node.is_some_and(|node| node.status == NodeStatus::Expelled);
        match node.and_then(|node| node.capabilities.get(&call.capability)) {
            None => Some(HandoffRefusal::MissingCapability),
            Some(held) if is_expelled || !held.available => Some(HandoffRefusal::Unavailable),
            Some(held) if held.load() > 950_000 => Some(HandoffRefusal::Overloaded),
            Some(_) => None,
        }
    }

    fn take_handoff(&mut self, receipt: &HandoffReceipt, cursor: &mut Cursor) -> Result<(), String> {
        let Some(refusal) = self.handoff_refusal(receipt) else {
            cursor.expect(&NetworkEvent::HandoffAccepted { call: receipt.call })?;
            self.start_at_node(receipt.call);
            return Ok(());
        };
        cursor.expect(&NetworkEvent::HandoffRefused { receipt: receipt.clone(), refusal })?;
        match refusal {
            HandoffRefusal::InvalidSignature | HandoffRefusal::NotExpected => Ok(()),
            HandoffRefusal::MissingCapability | HandoffRefusal::Unavailable | HandoffRefusal::Overloaded => {
                self.end_refused_attempt(receipt.call, cursor)
            }
        }
    }

    /// A refusal ended the attempt: the next-best node gets the call, or the call must fail without candidates.
    fn end_refused_attempt(&mut self, call: CallId, cursor: &mut Cursor) -> Result<(), String> {
        let Some(pending) = self.pending.remove(&call) else { return Ok(()) };
        if let Some(tried) = self.next_attempt(&pending) {
            // Document 000 requires a result of each call, so a failed attempt is recorded.
            let (module, failure) = (pending.operation.module(), Failure::Error);
            cursor.expect(&NetworkEvent::AttemptFailed { module, call, failure })?;
            return self.read_call(cursor, Some((pending.operation, tried)));
        }
        if let Some(NetworkEvent::NoCandidates { call: named, .. }) = cursor.peek_network() {
            if *named != call {
                return Err(format!("expected no candidates for call {call}, found {named}"));
            }
            cursor.next();
        }
        let not_made = Some(Failure::NoCandidates);
        self.pending.insert(call, PendingCall { assignment: None, not_made, ..pending });
        Ok(())
    }
}
