//! Rules of the trust network, one example each.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::network::aggregation::{
    AggregateAnswer, AggregationError, AggregationStrategy, MemberResult, aggregate,
};
use orchestrion_kernel::network::convergence::may_disagree;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::routing::{Filter, NoCandidates};
use orchestrion_kernel::network::{
    Capability, CapabilityCategory, CapabilityConstraints, CapabilityState, Contribution, Exchange,
    HandoffRefusal, Interaction, Millionths, Network, Node, NodeStatus, Requirements, RoutingResult,
    TrustPolicy, explain_route, route, route_ensemble,
};
use orchestrion_kernel::{CapabilityId, ClusterId, NodeId, Score, Timestamp};

fn score(millionths: u32) -> Score {
    Score::from_millionths(millionths).unwrap()
}

fn capability(id: &str) -> CapabilityState {
    let declared = Capability {
        id: CapabilityId::new(id),
        name: id.into(),
        category: CapabilityCategory::Validation,
        input_types: vec!["text".into()],
        output_types: vec!["report".into()],
        constraints: CapabilityConstraints { max_input_size: Some(10), timeout_ms: Some(100) },
        max_capacity: 100,
    };
    CapabilityState::new(declared, score(500_000))
}

fn node(id: &str, trust: u32) -> Node {
    let mut node = Node::new(&TrustPolicy::default().start, NodeId::new(id));
    node.trust = score(trust);
    node.add_capability(capability("c"));
    node
}

fn task() -> Requirements {
    Requirements { required_capabilities: vec![CapabilityId::new("c")], ..Requirements::default() }
}

fn selected(result: RoutingResult) -> String {
    match result {
        RoutingResult::Selected(candidate) => candidate.node.to_string(),
        other => panic!("no selected node: {other:?}"),
    }
}

/// 001-4.4, 001-6.4.
#[test]
fn node_executes_locally_up_to_the_overload_limit() {
    let policy = TrustPolicy::default();
    let (a, c) = (NodeId::new("a"), CapabilityId::new("c"));
    let mut network: Network = [node("a", 100_000), node("b", 900_000)].into_iter().collect();
    assert_eq!(route(&policy, &network, &a, &task()), RoutingResult::Local);
    let set_tasks = |network: &mut Network, tasks| {
        network.update(&a, |node| node.capabilities.get_mut(&c).unwrap().current_tasks = tasks);
    };
    set_tasks(&mut network, 95);
    assert_eq!(route(&policy, &network, &a, &task()), RoutingResult::Local);
    set_tasks(&mut network, 96);
    assert_eq!(selected(route(&policy, &network, &a, &task())), "b");
    let explanation = explain_route(&policy, &network, &a, &task());
    assert_eq!(explanation.filtered[0].filter, Filter::RoutingNode);
}

/// 001-6.3, 001-6.5, 001-7.5.
#[test]
fn receiver_checks_in_order() {
    let policy = TrustPolicy::default();
    let (c, other) = (CapabilityId::new("c"), CapabilityId::new("other"));
    let mut node = node("a", 100_000);
    node.capabilities.get_mut(&c).unwrap().current_tasks = 96;
    node.capabilities.get_mut(&c).unwrap().available = false;
    assert_eq!(node.check_handoff(&policy.routing, &other), Err(HandoffRefusal::MissingCapability));
    assert_eq!(node.check_handoff(&policy.routing, &c), Err(HandoffRefusal::Unavailable));
    node.capabilities.get_mut(&c).unwrap().available = true;
    assert_eq!(node.check_handoff(&policy.routing, &c), Err(HandoffRefusal::Overloaded));
    node.end_task(&c);
    assert_eq!(node.check_handoff(&policy.routing, &c), Ok(()));
    node.start_task(&c);
    assert_eq!(node.load(), score(960_000));
}

type Change<'a> = &'a dyn Fn(&mut Requirements);

/// 001-2.3, 001-2.4, 001-3.1, 001-3.3, 001-3.5, 001-3.7, 001-4.5, 001-4.6, 001-4.10, 001-7.4.
#[test]
fn each_filter_is_reported() {
    let policy = TrustPolicy::default();
    let router = NodeId::new("router");
    let network: Network =
        [Node::new(&policy.start, router.clone()), node("b", 500_000)].into_iter().collect();
    let emptied_by = |change: &dyn Fn(&mut Requirements), network: &Network| {
        let mut task = task();
        change(&mut task);
        match route(&policy, network, &router, &task) {
            RoutingResult::NoCandidates(NoCandidates { removed, emptied_by }) => {
                assert_eq!(removed.values().sum::<u32>(), 2);
                emptied_by
            }
            RoutingResult::Selected(_) => None,
            RoutingResult::Local => panic!("the router has no capability"),
        }
    };
    let changed = |change: &dyn Fn(&mut Node)| {
        let mut network = network.clone();
        network.update(&NodeId::new("b"), change);
        network
    };
    let c = CapabilityId::new("c");
    let same: Change<'_> = &|_| {};
    assert_eq!(emptied_by(same, &network), None);
    assert_eq!(emptied_by(same, &changed(&|b| b.status = NodeStatus::Expelled)), Some(Filter::Expelled));
    assert_eq!(emptied_by(same, &changed(&|b| b.capabilities.clear())), Some(Filter::MissingCapability));
    let unavailable = changed(&|b| b.capabilities.get_mut(&c).unwrap().available = false);
    assert_eq!(emptied_by(same, &unavailable), Some(Filter::Unavailable));
    let cases: [(Filter, Change<'_>); 8] = [
        (Filter::Excluded, &|task| task.constraints.excluded_nodes.push(NodeId::new("b"))),
        (Filter::MissingOtherCapability, &|task| task.required_capabilities.push(CapabilityId::new("d"))),
        (Filter::InputType, &|task| task.input_type = Some("image".into())),
        (Filter::OutputType, &|task| task.output_type = Some("image".into())),
        (Filter::InputSize, &|task| task.input_size = 11),
        (Filter::Timeout, &|task| task.constraints.timeout_ms = Some(99)),
        (Filter::MinTrust, &|task| task.constraints.min_trust = score(500_001)),
        (Filter::MinQuality, &|task| task.constraints.min_quality = score(500_001)),
    ];
    for (filter, change) in cases {
        assert_eq!(emptied_by(change, &network), Some(filter));
    }
    let at_limits = |task: &mut Requirements| {
        task.input_size = 10;
        task.constraints.timeout_ms = Some(100);
        task.input_type = Some("text".into());
        task.constraints.min_trust = score(500_000);
    };
    assert_eq!(emptied_by(&at_limits, &network), None);
}

#[test]
fn ties_go_to_the_smaller_id() {
    let policy = TrustPolicy::default();
    let network: Network = ["c", "b", "d"].map(|id| node(id, 400_000)).into_iter().collect();
    assert_eq!(selected(route(&policy, &network, &NodeId::new("x"), &task())), "b");
}

/// 001-8.2, 001-8.3.
#[test]
fn ensemble_diversifies_one_cluster() {
    let policy = TrustPolicy::default();
    let from = NodeId::new("x");
    let clustered = |id, trust, cluster| Node { cluster: Some(ClusterId::new(cluster)), ..node(id, trust) };
    let network: Network = [
        clustered("a", 900_000, "one"),
        clustered("b", 800_000, "one"),
        clustered("c", 700_000, "one"),
        clustered("d", 600_000, "two"),
        node("e", 500_000),
    ]
    .into_iter()
    .collect();
    let members_of = |network: &Network, size| {
        let ensemble = route_ensemble(&policy, network, &from, &task(), size).unwrap();
        let ids: Vec<_> = ensemble.members.iter().map(|member| member.node.to_string()).collect();
        (ids.concat(), ensemble.is_diversified)
    };
    let members = |size| members_of(&network, size);
    assert_eq!(members(0), ("a".into(), false));
    assert_eq!(members(2), ("ad".into(), true));
    assert_eq!(members(3), ("ade".into(), true));
    assert_eq!(members(4), ("abcd".into(), false));
    assert_eq!(members(9), ("abcde".into(), false));
    // Without another cluster, the members are the best.
    let alike: Network = network.iter().take(3).cloned().collect();
    assert_eq!(members_of(&alike, 2), ("ab".into(), false));
}

#[test]
fn node_rises_and_falls() {
    let policy = TrustPolicy::default();
    let mut node = node("a", 400_000);
    let interact = |node: &mut Node, from: u32, count: u32, quality: u32| {
        let interaction = Interaction { quality: score(quality), ..Interaction::default() };
        for i in from..from + count {
            let partner = NodeId::new(format!("p{}", i % 60));
            let x = interaction.quality;
            node.record_use(&policy, &CapabilityId::new("c"), x, interaction.at);
            node.record_interaction(&policy, &partner, &interaction, Some(x));
        }
        node.status
    };
    assert_eq!(interact(&mut node, 0, 49, 900_000), NodeStatus::Probationary);
    assert_eq!(interact(&mut node, 49, 1, 900_000), NodeStatus::Member);
    assert_eq!(node.trust, score(600_000));
    assert_eq!(interact(&mut node, 50, 149, 900_000), NodeStatus::Member);
    assert_eq!(interact(&mut node, 199, 1, 900_000), NodeStatus::Established);
    assert_eq!(interact(&mut node, 200, 1, 900_000), NodeStatus::Hub);
    let before = node.trust;
    assert_eq!(before, node.computed_trust);
    assert_eq!(interact(&mut node, 201, 6, 0), NodeStatus::Probationary);
    assert!(node.trust < before && node.record.interactions == 0);
    assert_eq!(interact(&mut node, 0, 149, 0), NodeStatus::Probationary);
    assert_eq!(interact(&mut node, 0, 1, 0), NodeStatus::Expelled);
}

/// Without feedback no node fails a probation. A record counts the node's own contributions: bad results do not count for the
/// node that handed the tasks off.
#[test]
fn records_count_own_rated_contributions() {
    let policy = TrustPolicy::default();
    let (a, b) = (NodeId::new("a"), NodeId::new("b"));
    let mut network: Network = [node("a", 400_000), node("b", 400_000)].into_iter().collect();
    let mut exchange = |is_rated, count: u32| {
        let contribution = |quality, is_rated| Contribution {
            quality,
            is_rated,
            tone: Millionths::ZERO,
            tokens: Millionths::ONE,
        };
        let exchange = Exchange {
            at: Timestamp::from_millis(1),
            sender: a.clone(),
            receiver: b.clone(),
            capability: CapabilityId::new("c"),
            task: contribution(score(500_000), false),
            result: contribution(score(310_000), is_rated),
            volume: Millionths::ONE,
        };
        (0..count).for_each(|_| drop(network.record_exchange(&policy, &exchange)));
        [&a, &b].map(|id| network.node(id).unwrap()).map(|node| (node.status, node.record.interactions))
    };
    assert_eq!(exchange(false, 200), [(NodeStatus::Probationary, 0); 2]);
    assert_eq!(exchange(true, 149), [(NodeStatus::Probationary, 0), (NodeStatus::Probationary, 49)]);
    assert_eq!(exchange(true, 1), [(NodeStatus::Probationary, 0), (NodeStatus::Expelled, 0)]);
}

#[test]
fn confirmed_threat_expels() {
    let policy = TrustPolicy::default();
    let mut network: Network = [node("a", 400_000), node("b", 400_000)].into_iter().collect();
    let mut signal = |origin: &str| {
        let origin = NodeId::new(origin);
        let (sender, subject) = (origin.clone(), NodeId::new("b"));
        let signal = Signal { origin, sender, subject, confidence: Score::ONE, hops: 0 };
        network.receive_signal(&policy, &NodeId::new("a"), &signal).unwrap();
        network.node(&NodeId::new("b")).unwrap().status
    };
    for _ in 0..20 {
        assert_eq!(signal("x"), NodeStatus::Probationary);
    }
    assert_eq!(signal("y"), NodeStatus::Expelled);
}

/// 001-8.4, 001-8.5, 001-8.7.
#[test]
fn aggregation_breaks_ties() {
    let policy = TrustPolicy::default().convergence;
    let result = |node: &str, answer: &str, trust| MemberResult {
        node: NodeId::new(node),
        answer: answer.into(),
        number: answer.parse().ok().map(|number: i64| Millionths::new(number * 1_000_000)),
        trust: score(trust),
        quality: Score::ONE,
    };
    let answer = |strategy, results: &[MemberResult]| {
        aggregate(&policy, strategy, results, Score::ONE).map(|aggregate| match aggregate.answer {
            AggregateAnswer::Text(text) => text.to_string(),
            AggregateAnswer::Number(number) => number.to_string(),
        })
    };
    let tie = [result("1", "y", 300_000), result("2", "x", 300_000)];
    assert_eq!(answer(AggregationStrategy::Voting, &tie).unwrap(), "x");
    assert_eq!(answer(AggregationStrategy::BestEffort, &tie).unwrap(), "y");
    let weightless = [result("1", "y", 0), result("2", "x", 0), result("3", "y", 0)];
    assert_eq!(answer(AggregationStrategy::Voting, &weightless).unwrap(), "y");
    let numbers = [result("1", "10", 900_000), result("2", "20", 300_000)];
    assert_eq!(answer(AggregationStrategy::Averaging, &numbers).unwrap(), "12.500000");
    assert_eq!(answer(AggregationStrategy::Consensus, &numbers).unwrap(), "12.500000");
    let error = AggregationError::NotNumeric { node: NodeId::new("1") };
    assert_eq!(answer(AggregationStrategy::Averaging, &tie), Err(error));
    assert_eq!(answer(AggregationStrategy::Voting, &[]), Err(AggregationError::NoResults));
}

#[test]
fn disagreement_needs_rounds_without_movement() {
    let policy = TrustPolicy::default().convergence;
    let scores = |rounds: usize, latest: u32| {
        let mut scores = vec![score(300_000); rounds];
        scores.push(score(latest));
        scores
    };
    let low = score(799_999);
    assert!(may_disagree(&policy, &scores(5, 310_000), low));
    assert!(!may_disagree(&policy, &scores(4, 310_000), low), "too few rounds");
    assert!(!may_disagree(&policy, &scores(5, 310_001), low), "it moves");
    assert!(!may_disagree(&policy, &scores(5, 310_000), score(800_000)), "too critical");
    assert!(!may_disagree(&policy, &[], low));
}
