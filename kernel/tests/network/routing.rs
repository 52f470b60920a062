//! Routing and handoffs of the trust network, by example (001 §4 and §6).

use crate::builders::{capability, score};
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::routing::{Factors, Filter};
use orchestrion_kernel::network::{
    Capability, CapabilityConstraints, CapabilityState, Connection, HandoffRefusal, Network, Node,
    NodeStatus, Requirements, RoutingResult, TaskConstraints, ThreatBelief, TrustPolicy, explain_route,
    route, route_ensemble,
};
use orchestrion_kernel::{CapabilityId, ClusterId, NodeId, Score, Timestamp, Weight};
use std::sync::Arc;

/// A capability that fits [`requirements`] exactly.
fn fitting(id: &str) -> CapabilityState {
    let capability = Capability {
        input_types: vec!["text".into()],
        output_types: vec!["list".into()],
        constraints: CapabilityConstraints { max_input_size: Some(100), timeout_ms: Some(1_000) },
        ..capability(id)
    };
    CapabilityState::new(capability, score(800_000))
}

/// A node that passes every filter, with this trust.
fn node(id: &str, trust: u32) -> Node {
    let mut node = Node::new(&TrustPolicy::default().start, NodeId::new(id));
    node.trust = score(trust);
    node.add_capability(fitting("read"));
    node.add_capability(fitting("sum"));
    node
}

fn network(nodes: impl IntoIterator<Item = Node>) -> Network {
    let mut network = Network::default();
    nodes.into_iter().for_each(|node| network.insert(node));
    network
}

fn requirements() -> Requirements {
    Requirements {
        required_capabilities: ["read", "sum"].map(CapabilityId::new).into(),
        input_type: Some("text".into()),
        output_type: Some("list".into()),
        input_size: 100,
        constraints: TaskConstraints {
            timeout_ms: Some(1_000),
            min_trust: score(500_000),
            min_quality: score(800_000),
            excluded_nodes: vec![NodeId::new("excluded")],
            ..TaskConstraints::default()
        },
    }
}

/// Changes the capability of a node.
fn with(mut node: Node, id: &str, change: impl FnOnce(&mut CapabilityState)) -> Node {
    change(node.capabilities.get_mut(&CapabilityId::new(id)).unwrap());
    node
}

/// 001-4.5, 001-4.6: each node but `good` fails one check, and `good` is at every limit.
#[test]
fn each_filter_removes_its_nodes() {
    let edit = |name: &str, change: fn(&mut Capability)| {
        with(node(name, 500_000), "read", |state| change(Arc::make_mut(&mut state.capability)))
    };
    let lacking = |name: &str, id: &str| {
        let mut node = node(name, 500_000);
        node.capabilities.remove(&CapabilityId::new(id));
        node
    };
    let mut expelled = node("expelled", 500_000);
    expelled.status = NodeStatus::Expelled;
    let cases = [
        (expelled, Filter::Expelled),
        (lacking("lacking", "read"), Filter::MissingCapability),
        (with(node("busy", 500_000), "read", |state| state.available = false), Filter::Unavailable),
        (node("excluded", 500_000), Filter::Excluded),
        (lacking("half", "sum"), Filter::MissingOtherCapability),
        (edit("deaf", |read| read.input_types = vec!["sound".into()]), Filter::InputType),
        (edit("dumb", |read| read.output_types = vec!["sound".into()]), Filter::OutputType),
        (edit("small", |read| read.constraints.max_input_size = Some(99)), Filter::InputSize),
        (edit("slow", |read| read.constraints.timeout_ms = Some(1_001)), Filter::Timeout),
        (node("strange", 499_999), Filter::MinTrust),
        (with(node("poor", 500_000), "read", |state| state.quality = score(799_999)), Filter::MinQuality),
    ];
    let policy = TrustPolicy::default();
    let from = NodeId::new("desk");
    let mut desk = node("desk", 500_000);
    desk.capabilities.clear();
    let all = cases.iter().map(|(node, _)| node.clone()).chain([node("good", 500_000), desk]);
    let explained = explain_route(&policy, &network(all), &from, &requirements());
    let found: Vec<_> = explained.candidates.iter().map(|candidate| candidate.node.to_string()).collect();
    assert_eq!(found, ["good"]);
    for (node, filter) in &cases {
        let removed = explained.filtered.iter().find(|filtered| filtered.node == node.id).unwrap();
        assert_eq!(removed.filter, *filter, "{}", node.id);
        // Alone in the network, it gives no candidate for this reason.
        let alone = route(&policy, &network([node.clone()]), &from, &requirements());
        let RoutingResult::NoCandidates(none) = alone else { panic!("{}: {alone:?}", node.id) };
        assert_eq!((none.emptied_by, none.removed.get(filter)), (Some(*filter), Some(&1)), "{}", node.id);
    }
    let desk = explained.filtered.iter().find(|filtered| filtered.node == from).unwrap();
    assert_eq!(desk.filter, Filter::RoutingNode);
}

/// The node that gets the task, with its score in millionths.
fn selected(policy: &TrustPolicy, network: &Network, requirements: &Requirements) -> (String, u32) {
    let result = route(policy, network, &NodeId::new("desk"), requirements);
    let RoutingResult::Selected(best) = result else { panic!("{result:?}") };
    (best.node.to_string(), best.score.millionths())
}

/// 001-4.1, 001-4.2, 001-4.3, 001-4.8: `T · q · (1 − load) · w · (1 − θ) · bonus`.
#[test]
fn score_is_the_product_of_six_factors() {
    let policy = TrustPolicy::default();
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    let mut desk = Node::new(&policy.start, NodeId::new("desk"));
    let read = |desk: Node, requirements: &Requirements| {
        let one = with(node("ana", 900_000), "read", |state| state.current_tasks = 1);
        selected(&policy, &network([desk, one, node("ben", 600_000)]), requirements)
    };
    // Strangers have the weight 0.3: 0.9 · 0.8 · 0.75 · 0.3 against 0.6 · 0.8 · 1 · 0.3.
    assert_eq!(read(desk.clone(), &requirements), ("ana".to_owned(), 162_000));
    // A preferred node: times 1.2.
    let constraints =
        TaskConstraints { preferred_nodes: vec![NodeId::new("ben")], ..TaskConstraints::default() };
    let preferring = Requirements { constraints, ..requirements.clone() };
    assert_eq!(read(desk.clone(), &preferring), ("ben".to_owned(), 172_800));
    let weighted = |weight| {
        let fresh = Connection::new(&policy.connection, Timestamp::from_millis(0));
        Connection { weight: score(weight), ..fresh }
    };
    desk.connections.insert(NodeId::new("ben"), weighted(500_000));
    assert_eq!(read(desk.clone(), &requirements), ("ben".to_owned(), 240_000));
    // A threat of one half.
    let belief = ThreatBelief { level: score(500_000), ..ThreatBelief::default() };
    desk.threat_beliefs.insert_mut(NodeId::new("ben"), belief);
    assert_eq!(read(desk, &requirements), ("ana".to_owned(), 162_000));
}

/// 001-4.1: a change of the trust alone counts from the next routing on.
#[test]
fn routing_reads_the_current_trust() {
    let policy = TrustPolicy::default();
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    let desk = Node::new(&policy.start, NodeId::new("desk"));
    let mut network = network([desk, node("ana", 900_000), node("ben", 600_000)]);
    assert_eq!(selected(&policy, &network, &requirements), ("ana".to_owned(), 216_000));
    network.update(&NodeId::new("ana"), |ana| ana.trust = score(500_000)).unwrap();
    assert_eq!(selected(&policy, &network, &requirements), ("ben".to_owned(), 144_000));
}

/// The orders of comparison read the quality, or the number of interactions, alone.
#[test]
fn other_orders_read_one_factor() {
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    let mut policy = TrustPolicy::default();
    let mut desk = Node::new(&policy.start, NodeId::new("desk"));
    let fresh = Connection::new(&policy.connection, Timestamp::from_millis(0));
    desk.connections.insert(NodeId::new("ana"), Connection { interactions: 2, ..fresh });
    let good = with(node("cid", 100_000), "read", |state| state.quality = score(900_000));
    let network = network([desk, node("ana", 900_000), node("ben", 500_000), good]);
    policy.routing.order = RoutingOrder::Quality;
    assert_eq!(selected(&policy, &network, &requirements), ("cid".to_owned(), 900_000));
    policy.routing.order = RoutingOrder::RoundRobin;
    assert_ne!(selected(&policy, &network, &requirements).0, "ana");
    assert_eq!(selected(&policy, &network, &requirements).1, Weight::ONE.millionths());
}

/// 001-4.4: the routing node executes what it can, unless it is overloaded.
#[test]
fn routing_node_executes_its_own_tasks() {
    let policy = TrustPolicy::default();
    let tasks = |current_tasks, max_capacity| {
        let desk = with(node("desk", 500_000), "read", |state| {
            state.current_tasks = current_tasks;
            Arc::make_mut(&mut state.capability).max_capacity = max_capacity;
        });
        route(&policy, &network([desk, node("ana", 900_000)]), &NodeId::new("desk"), &requirements())
    };
    // A load of exactly the limit is none above it.
    assert_eq!(tasks(19, 20), RoutingResult::Local);
    assert!(matches!(tasks(20, 20), RoutingResult::Selected(_)));
}

/// 001-6.4, 001-6.5: four tasks of a capability for four are a load of 1, which is above 0.95.
#[test]
fn handoff_is_refused_for_the_first_reason() {
    let policy = TrustPolicy::default();
    let check = |node: &Node, id: &str| node.check_handoff(&policy.routing, &CapabilityId::new(id));
    let mut ana = node("ana", 900_000);
    assert_eq!(check(&ana, "read"), Ok(()));
    assert_eq!(check(&ana, "write"), Err(HandoffRefusal::MissingCapability));
    (0..4).for_each(|_| ana.start_task(&CapabilityId::new("read")));
    assert_eq!(check(&ana, "read"), Err(HandoffRefusal::Overloaded));
    assert_eq!(check(&ana, "sum"), Ok(()));
    ana.end_task(&CapabilityId::new("read"));
    assert_eq!(check(&ana, "read"), Ok(()));
    let busy = with(ana.clone(), "read", |state| state.available = false);
    assert_eq!(check(&busy, "read"), Err(HandoffRefusal::Unavailable));
    ana.status = NodeStatus::Expelled;
    assert_eq!(check(&ana, "read"), Err(HandoffRefusal::Unavailable));
}

/// 001-6.2: a stranger gets a fresh connection, and the latest time stays.
#[test]
fn handoff_makes_its_connection_active() {
    let policy = TrustPolicy::default();
    let (mut ana, ben) = (node("ana", 900_000), NodeId::new("ben"));
    let mut send = |at| {
        ana.send_handoff(&policy, &ben, Timestamp::from_millis(at));
        let connection = ana.connections.get(&ben).unwrap();
        (connection.weight, connection.last_active.millis())
    };
    let weight = policy.connection.initial_weight;
    assert_eq!([send(5), send(9), send(7)], [(weight, 5), (weight, 9), (weight, 9)]);
}

/// A preferred node is found behind one with a higher trust, and of equal nodes the one with the smaller id.
#[test]
fn best_score_is_found_at_any_place() {
    let mut policy = TrustPolicy::default();
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    let mut desk = Node::new(&policy.start, NodeId::new("desk"));
    for partner in ["ana", "ben", "cid"] {
        let fresh = Connection::new(&policy.connection, Timestamp::from_millis(0));
        desk.connections.insert(NodeId::new(partner), Connection { weight: Score::ONE, ..fresh });
    }
    let trusted = network([desk.clone(), node("ana", 900_000), node("ben", 800_000), node("cid", 700_000)]);
    let constraints =
        TaskConstraints { preferred_nodes: vec![NodeId::new("ben")], ..TaskConstraints::default() };
    let preferring = Requirements { constraints, ..requirements.clone() };
    assert_eq!(selected(&policy, &trusted, &preferring), ("ben".to_owned(), 768_000));
    let equal = network([desk, node("ana", 900_000), node("ben", 900_000), node("cid", 900_000)]);
    assert_eq!(selected(&policy, &equal, &requirements).0, "ana");
    policy.routing.preference_bonus = Weight::ONE;
    assert_eq!(selected(&policy, &equal, &requirements).0, "ana");
}

/// 001-4.4: without local preference the routing node competes; with it, an overloaded one does not.
#[test]
fn routing_node_competes_or_not() {
    let mut policy = TrustPolicy::default();
    let desk = |current_tasks| {
        with(node("desk", 900_000), "read", |state| {
            state.current_tasks = current_tasks;
            Arc::make_mut(&mut state.capability).max_capacity = 25;
        })
    };
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    // A load of 0.96 is above the limit of 0.95; the score would still be the best.
    let overloaded = network([desk(24), node("ana", 10_000)]);
    assert_eq!(selected(&policy, &overloaded, &requirements).0, "ana");
    let explain = |policy: &TrustPolicy, network: &Network| {
        let explained = explain_route(policy, network, &NodeId::new("desk"), &requirements);
        let filtered: Vec<_> = explained.filtered.iter().map(|node| node.node.to_string()).collect();
        (explained.result, filtered)
    };
    let busy = with(node("ben", 900_000), "read", |state| state.available = false);
    let idle = network([desk(0), node("ana", 10_000), busy]);
    assert_eq!(explain(&policy, &idle), (RoutingResult::Local, vec!["ben".to_owned()]));
    policy.routing.local_preference = false;
    assert_eq!(explain(&policy, &idle), (RoutingResult::Local, vec!["ben".to_owned()]));
    assert_eq!(route(&policy, &idle, &NodeId::new("desk"), &requirements), RoutingResult::Local);
}

/// Half a millionth is rounded up.
#[test]
fn score_is_rounded() {
    let factors = |trust| Factors {
        trust: score(trust),
        quality: score(1),
        availability: Score::ONE,
        connection: Score::ONE,
        safety: Score::ONE,
        preference: Weight::ONE,
    };
    assert_eq!([499_999, 500_000].map(|trust| factors(trust).score().millionths()), [0, 1]);
}

/// 001-8.3: the best two are of one cluster, so the best node of another one replaces the second.
#[test]
fn ensemble_is_diversified_only_if_its_members_differ() {
    let policy = TrustPolicy::default();
    let of = |id, trust, cluster| Node { cluster: Some(ClusterId::new(cluster)), ..node(id, trust) };
    let requirements =
        Requirements { required_capabilities: vec![CapabilityId::new("read")], ..Requirements::default() };
    let members = |nodes: [Node; 3]| {
        let ensemble =
            route_ensemble(&policy, &network(nodes), &NodeId::new("desk"), &requirements, 2).unwrap();
        let names: Vec<_> = ensemble.members.iter().map(|member| member.node.to_string()).collect();
        (names.join(" "), ensemble.is_diversified)
    };
    let nodes = |cluster| [of("ana", 900_000, "a"), of("ben", 800_000, cluster), of("cid", 700_000, "c")];
    assert_eq!(members(nodes("a")), ("ana cid".to_owned(), true));
    assert_eq!(members(nodes("b")), ("ana ben".to_owned(), false));
}

/// 001-6.4: a load of exactly the limit is accepted.
#[test]
fn handoff_is_accepted_at_the_limit_of_the_load() {
    let check = |current_tasks| {
        let ana = with(node("ana", 900_000), "read", |state| {
            state.current_tasks = current_tasks;
            Arc::make_mut(&mut state.capability).max_capacity = 20;
        });
        ana.check_handoff(&TrustPolicy::default().routing, &CapabilityId::new("read"))
    };
    assert_eq!([check(19), check(20)], [Ok(()), Err(HandoffRefusal::Overloaded)]);
}
