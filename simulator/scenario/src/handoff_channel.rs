//! The channel between the nodes of a scenario, with its scripted faults.

use crate::handoffs::{HandoffFault, HandoffScript};
use orchestrion_handoff::{NodeKey, SignedHandoff};
use orchestrion_kernel::NodeId;
use std::collections::BTreeMap;

/// Delivers each handoff once, except where the script has a fault.
#[derive(Debug)]
pub(crate) struct HandoffChannel {
    script: HandoffScript,
    /// The first handoff to each receiver, which a replay repeats.
    first: BTreeMap<NodeId, SignedHandoff>,
}

impl HandoffChannel {
    pub(crate) const fn new(script: HandoffScript) -> Self {
        Self { script, first: BTreeMap::new() }
    }

    /// Returns what receivers get of a handoff, in order.
    pub(crate) fn transmit(&mut self, handoff: SignedHandoff) -> Vec<SignedHandoff> {
        let to = handoff.handoff.to_node.clone();
        let first = self.first.entry(to.clone()).or_insert_with(|| handoff.clone()).clone();
        match self.script.next(&to) {
            None => vec![handoff],
            Some(HandoffFault::Lost) => Vec::new(),
            Some(HandoffFault::Duplicated) => vec![handoff.clone(), handoff],
            Some(HandoffFault::Forged) => vec![forged(&handoff), handoff],
            Some(HandoffFault::Replayed) => vec![first, handoff],
        }
    }

    /// Returns a sentence for each fault of a handoff that was not sent.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.script.unused()
    }
}

/// Returns a handoff in the name of its sender, with the signature of another node.
fn forged(handoff: &SignedHandoff) -> SignedHandoff {
    NodeKey::for_simulation(&handoff.handoff.to_node).sign(handoff.handoff.clone())
}
