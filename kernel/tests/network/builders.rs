//! Nodes, capabilities and connections for the tests.

use orchestrion_kernel::network::policy::ConnectionPolicy;
use orchestrion_kernel::network::{
    Capability, CapabilityState, Connection, Interaction, Millionths, Node, TrustPolicy,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Timestamp};

pub(crate) fn score(millionths: u32) -> Score {
    Score::from_millionths(millionths).unwrap()
}

pub(crate) const fn millionths(number: i64) -> Millionths {
    Millionths::new(number)
}

/// A node on probation, without a capability.
pub(crate) fn node(id: &str) -> Node {
    Node::new(&TrustPolicy::default().start, NodeId::new(id))
}

/// A capability for up to 4 tasks, without limits.
pub(crate) fn capability(id: &str) -> Capability {
    Capability::new(CapabilityId::new(id), 4)
}

/// A capability of this quality, used this often.
pub(crate) fn used(id: &str, quality: u32, volume: u32) -> CapabilityState {
    CapabilityState { volume, ..CapabilityState::new(capability(id), score(quality)) }
}

/// A fresh connection with this weight.
pub(crate) fn connection(weight: u32) -> Connection {
    let fresh = Connection::new(&ConnectionPolicy::default(), Timestamp::from_millis(0));
    Connection { weight: score(weight), ..fresh }
}

/// An interaction of high quality and tone.
pub(crate) fn interaction() -> Interaction {
    Interaction {
        at: Timestamp::from_millis(7),
        quality: score(900_000),
        tone: millionths(800_000),
        volume: millionths(4_000_000),
        given: millionths(2_000_000),
        received: millionths(4_000_000),
        threat: Score::ZERO,
        is_flagged: false,
    }
}
