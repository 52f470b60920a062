//! Routing among 100 to 10,000 nodes with cached trust, and one interaction.

#![allow(missing_docs, clippy::expect_used, reason = "a bench stops where it cannot go on")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use orchestrion_kernel::network::{
    Capability, CapabilityState, Connection, Contribution, Exchange, Interaction, Millionths, Network, Node,
    Requirements, RoutingResult, ThreatBelief, TrustPolicy, route,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Timestamp};
use std::hint::black_box;

const SIZES: [u32; 3] = [100, 1_000, 10_000];

fn score(thousandths: u32) -> Score {
    Score::from_millionths(thousandths % 1_001 * 1_000).expect("at most 1")
}

fn node_id(number: u32) -> NodeId {
    NodeId::new(format!("node-{number:05}"))
}

fn capability(number: u32) -> CapabilityState {
    let id = CapabilityId::new(format!("capability-{number}"));
    CapabilityState::new(Capability::new(id, 8), score(500))
}

/// Each node has two of three capabilities and 20 connections; the first node, which routes, has none of the task's capability
/// and is connected to every second node.
fn network(policy: &TrustPolicy, size: u32) -> Network {
    let node = |number: u32| {
        let mut node = Node::new(&policy.start, node_id(number));
        for i in [number % 3, (number + 1) % 3] {
            let mut state = capability(if number == 0 { 9 } else { i });
            state.quality = score(number * 37);
            state.current_tasks = number % 5;
            node.add_capability(state);
        }
        node.trust = score(number * 61);
        let fresh = Connection::new(&policy.connection, Timestamp::default());
        let partners = if number == 0 { 1..size } else { number + 1..(number + 21).min(size) };
        for partner in partners.step_by(if number == 0 { 2 } else { 1 }) {
            node.connections
                .insert(node_id(partner), Connection { weight: score(partner * 13), ..fresh.clone() });
            if number == 0 && partner % 10 == 1 {
                let belief = ThreatBelief { level: score(partner * 7), ..ThreatBelief::default() };
                node.threat_beliefs.insert_mut(node_id(partner), belief);
            }
        }
        node
    };
    (0..size).map(node).collect()
}

fn benches(c: &mut Criterion) {
    let policy = TrustPolicy::default();
    let required_capabilities = vec![CapabilityId::new("capability-1")];
    let requirements = Requirements { required_capabilities, ..Requirements::default() };
    let mut group = c.benchmark_group("network");
    for size in SIZES {
        let network = network(&policy, size);
        let from = node_id(0);
        assert!(matches!(route(&policy, &network, &from, &requirements), RoutingResult::Selected(_)));
        group.bench_function(BenchmarkId::new("route", size), |b| {
            b.iter(|| black_box(route(&policy, &network, &from, &requirements)));
        });
        group.bench_function(BenchmarkId::new("clone", size), |b| b.iter(|| black_box(network.clone())));
        let contribution = |quality, tokens| Contribution {
            quality: score(quality),
            is_rated: true,
            tone: Millionths::ZERO,
            tokens: Millionths::new(tokens),
        };
        let exchange = Exchange {
            at: Timestamp::from_millis(1),
            sender: node_id(0),
            receiver: node_id(size / 2 + 1),
            capability: CapabilityId::new("capability-1"),
            task: contribution(500, 900_000_000),
            result: contribution(800, 1_100_000_000),
            volume: Millionths::new(2_000_000),
        };
        let mut changed = network;
        group.bench_function(BenchmarkId::new("exchange, both ends", size), |b| {
            b.iter(|| black_box(changed.record_exchange(&policy, &exchange)));
        });
    }
    let interaction = Interaction {
        quality: score(800),
        tone: Millionths::new(100_000),
        volume: Millionths::new(2_000_000),
        given: Millionths::new(900_000_000),
        received: Millionths::new(1_100_000_000),
        ..Interaction::default()
    };
    let mut connection = Connection::new(&policy.connection, Timestamp::default());
    group.bench_function("interaction at a connection", |b| {
        b.iter(|| black_box(connection.record(&policy.connection, black_box(&interaction))));
    });
    let mut node = Node::new(&policy.start, node_id(0));
    let partners: Vec<_> = (1..31).map(node_id).collect();
    let mut next = partners.iter().cycle();
    group.bench_function("interaction at a node", |b| {
        b.iter(|| {
            let partner = next.next().expect("a cycle has no end");
            black_box(node.record_interaction(&policy, partner, &interaction, Some(score(800))))
        });
    });
    group.finish();
}

criterion_group!(network_benches, benches);
criterion_main!(network_benches);
