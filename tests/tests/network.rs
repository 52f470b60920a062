//! Properties of the trust network on its real integers, with extreme inputs, and a comparison with the naive implementation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::network::convergence::{
    Position, Variance, agree_to_disagree, convergence_score, deliberate,
};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::{
    Capability, CapabilityState, Connection, Connections, Contribution, Exchange, Interaction, Millionths,
    Network, Node, NodeStatus, Requirements, RoutingResult, TaskConstraints, ThreatBelief, TrustPolicy,
    compute_trust, explain_route, route, route_ensemble,
};
use orchestrion_kernel::{CapabilityId, ClusterId, NodeId, Score, Timestamp};
use orchestrion_tests::network_oracle::{OracleConnection, OracleInteraction, OracleNode, rank};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

fn any_score() -> impl Strategy<Value = Score> {
    let millionths = prop_oneof![0..=1_000_000_u32, Just(0), Just(1_000_000), Just(950_000), Just(950_001)];
    millionths.prop_map(|millionths| Score::from_millionths(millionths).unwrap())
}

fn extreme() -> impl Strategy<Value = Millionths> {
    let millionths = prop_oneof![
        -2_000_000..2_000_000_i64,
        any::<i64>(),
        select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
    ];
    millionths.prop_map(Millionths::new)
}

prop_compose! {
    fn any_interaction()(
        at in any::<u64>(), quality in any_score(), tone in extreme(), volume in extreme(), given in extreme(),
        received in extreme(), threat in any_score(), is_flagged in any::<bool>(),
    ) -> Interaction {
        Interaction { at: Timestamp::from_millis(at), quality, tone, volume, given, received, threat, is_flagged }
    }
}

fn node_id(number: usize) -> NodeId {
    NodeId::new(number.to_string())
}

fn capability(
    number: usize,
    quality: Score,
    available: bool,
    current_tasks: u32,
    max: u32,
) -> CapabilityState {
    let capability = Capability::new(CapabilityId::new(number.to_string()), max);
    CapabilityState { available, current_tasks, ..CapabilityState::new(capability, quality) }
}

prop_compose! {
    fn any_node()(
        trust in any_score(), status in select(NodeStatus::ALL.to_vec()), qualities in [any_score(), any_score()],
        held in subsequence(vec![0_usize, 1], 0..=2), available in proptest::array::uniform2(prop::bool::weighted(0.8)),
        tasks in [0..5_u32, 0..5_u32], max in 0..6_u32,
        connections in prop::collection::btree_map(0..8_usize, any_score(), 0..5),
        threats in prop::collection::btree_map(0..8_usize, any_score(), 0..3), cluster in 0..3_usize,
    ) -> Node {
        let policy = TrustPolicy::default();
        let mut node = Node::new(&policy.start, node_id(0));
        (node.trust, node.status) = (trust, status);
        node.cluster = (cluster > 0).then(|| ClusterId::new(cluster.to_string()));
        for i in held {
            node.add_capability(capability(i, qualities[i], available[i], tasks[i], max));
        }
        let fresh = Connection::new(&policy.connection, Timestamp::default());
        let connection = |(id, weight)| (node_id(id), Connection { weight, ..fresh.clone() });
        node.connections = connections.into_iter().map(connection).collect();
        for (id, level) in threats {
            node.threat_beliefs.insert_mut(node_id(id), ThreatBelief { level, ..ThreatBelief::default() });
        }
        node
    }
}

fn any_network() -> impl Strategy<Value = Network> {
    prop::collection::vec(any_node(), 0..8).prop_map(|nodes| {
        nodes.into_iter().enumerate().map(|(i, node)| Node { id: node_id(i), ..node }).collect()
    })
}

prop_compose! {
    fn any_requirements()(
        count in 0..3_usize, min_trust in prop_oneof![3 => Just(Score::ZERO), 1 => any_score()],
        min_quality in prop_oneof![3 => Just(Score::ZERO), 1 => any_score()],
        preferred in subsequence((0..8_usize).collect::<Vec<_>>(), 0..4),
        excluded in subsequence((0..8_usize).collect::<Vec<_>>(), 0..3),
    ) -> Requirements {
        Requirements {
            required_capabilities: (0..count).map(|i| CapabilityId::new(i.to_string())).collect(),
            constraints: TaskConstraints {
                min_trust,
                min_quality,
                preferred_nodes: preferred.into_iter().map(node_id).collect(),
                excluded_nodes: excluded.into_iter().map(node_id).collect(),
                ..TaskConstraints::default()
            },
            ..Requirements::default()
        }
    }
}

prop_compose! {
    fn any_contribution()(quality in any_score(), is_rated: bool, tone in extreme(), tokens in extreme()) -> Contribution {
        Contribution { quality, is_rated, tone, tokens }
    }
}

prop_compose! {
    fn any_exchange()(
        at in any::<u64>(), sender in 0..8_usize, receiver in 0..8_usize, used in 0..3_usize,
        task in any_contribution(), result in any_contribution(), volume in extreme(),
    ) -> Exchange {
        let capability = CapabilityId::new(used.to_string());
        let at = Timestamp::from_millis(at);
        Exchange { at, sender: node_id(sender), receiver: node_id(receiver), capability, task, result, volume }
    }
}

fn check_bounds(policy: &TrustPolicy, node: &Node) {
    let (min, max) = (policy.connection.min_weight, policy.connection.max_weight);
    for (_, connection) in node.connections.iter().filter(|(_, c)| c.interactions > 0) {
        assert!((min..=max).contains(&connection.weight), "weight {}", connection.weight);
        assert!(connection.tone.get().abs() <= 1_000_000, "tone {}", connection.tone);
    }
    let trust = compute_trust(&policy.trust, node);
    let most = trust.diversity.millionths() + policy.trust.diversity_margin.millionths();
    assert!(trust.trust.millionths() <= most, "trust {} with diversity {}", trust.trust, trust.diversity);
    let recomputed: Connections = node.connections.iter().map(|(id, c)| (id.clone(), c.clone())).collect();
    assert_eq!(recomputed, node.connections, "cached sums");
}

proptest! {
    #[test]
    fn interactions_keep_bounds(interactions in prop::collection::vec(any_interaction(), 1..40)) {
        let policy = TrustPolicy::default();
        let mut connection = Connection::new(&policy.connection, Timestamp::default());
        for interaction in &interactions {
            connection.record(&policy.connection, interaction);
            prop_assert!(connection.weight >= policy.connection.min_weight);
            prop_assert!(connection.weight <= policy.connection.max_weight);
            prop_assert!(connection.tone.get().abs() <= 1_000_000);
        }
    }

    #[test]
    fn exchanges_keep_bounds_and_caches(
        mut network in any_network(), exchanges in prop::collection::vec(any_exchange(), 0..60), now in any::<u64>(),
        signals in prop::collection::vec((0..8_usize, 0..8_usize, 0..8_usize, any_score(), any::<u32>()), 0..20),
    ) {
        let policy = TrustPolicy::default();
        for exchange in &exchanges {
            network.record_exchange(&policy, exchange);
        }
        for (receiver, sender, subject, confidence, hops) in signals {
            let (sender, subject) = (node_id(sender), node_id(subject));
            let signal = Signal { origin: sender.clone(), sender, subject, confidence, hops };
            network.receive_signal(&policy, &node_id(receiver), &signal);
        }
        let ids: Vec<_> = network.iter().map(|node| node.id.clone()).collect();
        for id in &ids {
            network.update(id, |node| node.tick(&policy, Timestamp::from_millis(now)));
            check_bounds(&policy, network.node(id).unwrap());
        }
        let rebuilt: Network = network.iter().cloned().collect();
        prop_assert_eq!(&rebuilt, &network, "the directory follows from the nodes");
    }

    #[test]
    fn route_agrees_with_its_explanation(
        network in any_network(), requirements in any_requirements(), from in 0..9_usize, size in 0..9_u32,
        local_preference in any::<bool>(), all_capabilities in any::<bool>(),
        order in select(&RoutingOrder::ALL),
    ) {
        let mut policy = TrustPolicy::default();
        policy.routing.order = order;
        policy.routing.local_preference = local_preference;
        policy.routing.all_capabilities = all_capabilities;
        let from = node_id(from);
        let explanation = explain_route(&policy, &network, &from, &requirements);
        prop_assert_eq!(&route(&policy, &network, &from, &requirements), &explanation.result);
        let executes = usize::from(explanation.result == RoutingResult::Local && local_preference);
        let listed = explanation.candidates.len() + explanation.filtered.len() + executes;
        prop_assert_eq!(listed, network.len());
        if let Ok(ensemble) = route_ensemble(&policy, &network, &from, &requirements, size) {
            prop_assert!(!ensemble.members.is_empty() && ensemble.members.len() <= size.max(1) as usize);
        }
    }

    #[test]
    fn convergence_is_total(values in prop::collection::vec((extreme(), any_score(), any_score()), 0..10), max in extreme()) {
        let policy = TrustPolicy::default().convergence;
        let position = |(value, trust, quality)| Position { node: node_id(0), value, trust: Some(trust), quality };
        let mut positions: Vec<_> = values.into_iter().map(position).collect();
        let _ = convergence_score(&positions, Variance::from_millionths(max));
        let _ = agree_to_disagree(&policy, &positions);
        deliberate(&policy, &mut positions);
    }

    #[test]
    fn routing_agrees_with_the_oracle(network in any_network(), requirements in any_requirements(), from in 0..8_usize) {
        let mut policy = TrustPolicy::default();
        policy.routing.local_preference = false;
        let from = node_id(from);
        let float = |score: Score| f64::from(score.millionths()) / 1e6;
        let router = network.node(&from);
        let constraints = &requirements.constraints;
        let capability = |node: &Node, i: usize| {
            node.capabilities.get(&CapabilityId::new(i.to_string())).map(|state| {
                let max = state.capability.max_capacity;
                let load = if max == 0 { 1.0 } else { f64::from(state.current_tasks) / f64::from(max) };
                (float(state.quality), state.available, load.min(1.0))
            })
        };
        let seen = |node: &Node| OracleNode {
            id: node.id.to_string(),
            is_expelled: node.status == NodeStatus::Expelled,
            trust: float(node.trust),
            capabilities: [capability(node, 0), capability(node, 1)],
            connection: router.and_then(|router| router.connections.get(&node.id)).map(|c| float(c.weight)),
            threat: router.and_then(|router| router.threat_beliefs.get(&node.id)).map_or(0.0, |b| float(b.level)),
            is_preferred: constraints.preferred_nodes.contains(&node.id),
            is_excluded: constraints.excluded_nodes.contains(&node.id),
        };
        let nodes: Vec<_> = network.iter().map(seen).collect();
        let count = requirements.required_capabilities.len();
        let ranked = if count == 0 { vec![] } else {
            rank(&nodes, count > 1, float(constraints.min_trust), float(constraints.min_quality))
        };
        let found = explain_route(&policy, &network, &from, &requirements).candidates;
        prop_assert_eq!(found.len(), ranked.len());
        for (candidate, (id, expected)) in found.iter().zip(&ranked) {
            let score = f64::from(candidate.score.millionths()) / 1e6;
            prop_assert!((score - expected).abs() <= 1e-5, "score {score}, oracle {expected}");
            // Floats cannot order scores that are almost equal.
            let is_close = ranked.iter().filter(|(_, other)| (other - expected).abs() <= 2e-6).count() > 1;
            prop_assert!(is_close || candidate.node.as_str() == id, "{} ranks where the oracle has {id}", candidate.node);
        }
    }

    #[test]
    fn interactions_agree_with_the_oracle(
        steps in prop::collection::vec(
            (any_score(), -1_000_000..=1_000_000_i64, -100_000_000..100_000_000_i64, 0..9_000_000_i64, 0..9_000_000_i64, 0..400_000_u32),
            1..60,
        ),
    ) {
        let policy = TrustPolicy::default().connection;
        let mut connection = Connection::new(&policy, Timestamp::default());
        let mut oracle = OracleConnection::fresh();
        let float = |millionths: i64| millionths as f64 / 1e6;
        for (quality, tone, volume, given, received, threat) in steps {
            let number = Millionths::new;
            connection.record(&policy, &Interaction {
                quality,
                tone: number(tone),
                volume: number(volume),
                given: number(given),
                received: number(received),
                threat: Score::from_millionths(threat).unwrap(),
                ..Interaction::default()
            });
            oracle = oracle.after(OracleInteraction {
                quality: float(quality.millionths().into()),
                tone: float(tone),
                volume: float(volume),
                given: float(given),
                received: float(received),
                threat: float(threat.into()),
            });
            prop_assert!((float(connection.weight.millionths().into()) - oracle.weight).abs() <= 1e-4);
            prop_assert!((float(connection.reciprocity.get()) - oracle.reciprocity).abs() <= 1e-5);
            prop_assert!((float(connection.quality.millionths().into()) - oracle.quality).abs() <= 1e-5);
            prop_assert!((float(connection.tone.get()) - oracle.tone).abs() <= 1e-5);
        }
    }
}
