//! The table of 001 §7.3 with the equations of the trust network: which rows hold for reciprocity alone, and finding G1.
//!
//! | row of 001 §7.3 | reciprocity at the node itself | routing effect |
//! |---|---|---|
//! | overloaded | falls | its own weights fall; the weight by which others route to it rises (G1) |
//! | underutilized | rises | its own weights rise; the weight by which others route to it falls |
//! | balanced | stays about 0 | the weights stay |
//!
//! G1: 001 §7.1 claims that the score of an overloaded node falls through reciprocity. The node that routes is the other end of the
//! connection. It receives more than it gives, so its weight rises. Only the factor 1 − load relieves the overloaded node.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::network::policy::ConnectionPolicy;
use orchestrion_kernel::network::{Capability, CapabilityState, Network, Node};
use orchestrion_kernel::network::{
    Connection, Interaction, Millionths, Requirements, RoutingResult, TrustPolicy, route,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Timestamp};

fn tokens(number: i64) -> Millionths {
    Millionths::new(number * 1_000_000)
}

/// Both ends of a connection after each of these exchanges: the end of A, which routes, and that of B.
fn exchange(times: usize, a_gives: i64, b_gives: i64) -> Vec<(Connection, Connection)> {
    let policy = ConnectionPolicy::default();
    let fresh = || Connection::new(&policy, Timestamp::default());
    let (mut a, mut b) = (fresh(), fresh());
    let interaction = |given, received| Interaction {
        quality: Score::from_millionths(500_000).unwrap(),
        volume: Millionths::ONE,
        given: tokens(given),
        received: tokens(received),
        ..Interaction::default()
    };
    let after = (0..times).map(|_| {
        a.record(&policy, &interaction(a_gives, b_gives));
        b.record(&policy, &interaction(b_gives, a_gives));
        (a.clone(), b.clone())
    });
    after.collect()
}

/// 001-7.2, and the counterexample of G1: while B gives twice what it receives, the weight by which A routes to B rises from 0.30 to 1.00.
#[test]
fn g1_overloaded_node_gets_more_work() {
    let after = exchange(100, 500, 1_000);
    let mut before = ConnectionPolicy::default().initial_weight;
    for (a, _) in &after {
        assert!(a.weight >= before, "expected a weight of at least {before}, found {}", a.weight);
        before = a.weight;
    }
    let (a, b) = after.last().unwrap();
    assert_eq!(a.weight, Score::ONE);
    assert!(a.reciprocity > Millionths::ZERO && b.reciprocity < Millionths::ZERO);
    assert!(b.weight < ConnectionPolicy::default().initial_weight, "found {}", b.weight);
}

/// 001-7.1, 001-7.7.
#[test]
fn overloaded_node_loses_reciprocity() {
    let mut before = Millionths::ZERO;
    for (_, b) in exchange(20, 500, 1_000) {
        assert!(b.reciprocity < before);
        before = b.reciprocity;
    }
}

/// 001-7.7.
#[test]
fn underutilized_node_gains_reciprocity() {
    let mut before = Millionths::ZERO;
    for (_, b) in exchange(20, 1_000, 500) {
        assert!(b.reciprocity > before);
        before = b.reciprocity;
    }
}

/// 001-7.7.
#[test]
fn balanced_node_keeps_reciprocity_near_zero() {
    for (a, b) in exchange(100, 1_000, 1_000) {
        assert!(a.reciprocity.get().abs() < 1_000 && b.reciprocity.get().abs() < 1_000);
    }
}

/// 001-7.3, 001-7.6, the relief that 001 §7.2 states: a node that reports its load loses the call to another one.
#[test]
fn explicit_load_moves_work_away() {
    let policy = TrustPolicy::default();
    let capability = Capability::new(CapabilityId::new("c"), 1);
    let node = |name: &str, trust: u32| {
        let mut node = Node::new(&policy.start, NodeId::new(name));
        node.trust = Score::from_millionths(trust).unwrap();
        node.add_capability(CapabilityState::new(capability.clone(), Score::ONE));
        node
    };
    let mut network: Network = [node("b", 900_000), node("c", 500_000)].into_iter().collect();
    let task =
        Requirements { required_capabilities: vec![CapabilityId::new("c")], ..Requirements::default() };
    let selected = |network: &Network| match route(&policy, network, &NodeId::new("a"), &task) {
        RoutingResult::Selected(candidate) => Some(candidate.node),
        _ => None,
    };
    assert_eq!(selected(&network), Some(NodeId::new("b")));
    network.update(&NodeId::new("b"), |b| b.reported_load = Score::from_millionths(500_000));
    assert_eq!(selected(&network), Some(NodeId::new("c")));
}
