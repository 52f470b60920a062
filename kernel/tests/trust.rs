//! The equations of trust, by example: each value is computed by hand from the equations, with the default policy (001 §2 and §8).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::network::convergence::{Position, agree_to_disagree, deliberate};
use orchestrion_kernel::network::defense::{Signal, SignalOutcome, receive_signal};
use orchestrion_kernel::network::interaction::{
    flow_factor, log_ratio, quality_adjustment, quality_factor, reciprocity_factor, reinforcement,
    tone_factor,
};
use orchestrion_kernel::network::policy::{ConnectionPolicy, ConvergencePolicy, FeedbackPolicy};
use orchestrion_kernel::network::{
    Capability, CapabilityCategory, CapabilityConstraints, CapabilityState, Connection, ConnectionStatus,
    Feedback, Interaction, Millionths, Node, NodeStatus, TrustPolicy, WarningReason, compute_trust,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Timestamp};
use std::sync::Arc;

fn score(millionths: u32) -> Score {
    Score::from_millionths(millionths).unwrap()
}

const fn millionths(number: i64) -> Millionths {
    Millionths::new(number)
}

fn node(id: &str) -> Node {
    Node::new(&TrustPolicy::default().start, NodeId::new(id))
}

fn connection(weight: u32) -> Connection {
    let fresh = Connection::new(&ConnectionPolicy::default(), Timestamp::from_millis(0));
    Connection { weight: score(weight), ..fresh }
}

/// Asserts that a value is the expected one but for the rounding of its factors.
fn assert_near(found: Millionths, expected: i64) {
    assert!((found.get() - expected).abs() <= 2, "expected {expected}, found {}", found.get());
}

/// 0.4 help + 0.3 accuracy + 0.2 relevance + 0.1 timeliness, times 1.2 or 0.8, from 0.8 … 6 to 0 … 1.
#[test]
fn feedback_gives_quality() {
    let policy = FeedbackPolicy::default();
    let rated = Feedback { help: 5, accuracy: 4, relevance: 3, timeliness: 2, reuse: true };
    assert_eq!(rated.quality(&policy), score(769_231));
    assert_eq!(Feedback { reuse: false, ..rated }.quality(&policy), score(461_538));
    assert_eq!(Feedback::default().quality(&policy), score(307_692));
    let all = |rating, reuse| {
        let feedback =
            Feedback { help: rating, accuracy: rating, relevance: rating, timeliness: rating, reuse };
        feedback.quality(&policy)
    };
    // A rating outside of 1 … 5 counts as the nearest.
    assert_eq!((all(0, false), all(1, false)), (Score::ZERO, Score::ZERO));
    assert_eq!((all(5, true), all(9, true)), (Score::ONE, Score::ONE));
}

#[test]
fn factors_of_an_interaction_follow_the_equations() {
    let policy = ConnectionPolicy::default();
    // ln(4 / 2.001), ln(4 / 0.001), and the floor ln 0.001.
    for (given, received, expected) in
        [(2_000_000, 4_000_000, 692_647), (-5, 4_000_000, 8_294_050), (2_000_000, 0, -6_907_755)]
    {
        assert_near(log_ratio(&policy, millionths(given), millionths(received)), expected);
    }
    assert_eq!(quality_adjustment(&policy, score(900_000)), millionths(200_000));
    assert_eq!(quality_adjustment(&policy, score(300_000)), millionths(-100_000));
    assert_eq!(reciprocity_factor(&policy, Millionths::ZERO), Millionths::ZERO);
    assert_near(reciprocity_factor(&policy, millionths(500_000)), 462_117);
    assert_eq!(quality_factor(score(800_000)), millionths(1_300_000));
    assert_eq!(tone_factor(millionths(500_000)), millionths(850_000));
    assert_eq!(tone_factor(millionths(-1_000_000)), millionths(400_000));
    assert_near(flow_factor(&policy, millionths(4_000_000)), 200_000);
    assert_near(flow_factor(&policy, millionths(-4_000_000)), 200_000);
    let found = reinforcement(
        &policy,
        millionths(4_000_000),
        millionths(500_000),
        score(800_000),
        millionths(500_000),
    );
    assert_near(found, 102_128);
}

fn interaction() -> Interaction {
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

#[test]
fn interaction_changes_its_connection() {
    let policy = ConnectionPolicy::default();
    let mut changed = connection(300_000);
    let outcome = changed.record(&policy, &interaction());
    assert_near(changed.reciprocity, 89_265);
    assert_eq!((changed.quality, changed.tone), (score(540_000), millionths(80_000)));
    assert_near(outcome.reinforcement, 13_407);
    assert_near(changed.weight.into(), 310_407);
    let counts = (changed.status, changed.interactions, changed.affirmations, changed.last_active.millis());
    assert_eq!(counts, (ConnectionStatus::Active, 1, 1, 7));
    assert!(outcome.is_affirmation && outcome.warning.is_none());
    // A threat of one half costs a tenth.
    let mut threatened = connection(300_000);
    threatened.record(&policy, &Interaction { threat: score(500_000), ..interaction() });
    assert_near(threatened.weight.into(), 210_407);
    // The weight has a minimum, and time does not go back.
    let mut weak = Connection { last_active: Timestamp::from_millis(9), ..connection(10_000) };
    weak.record(&policy, &Interaction { threat: Score::ONE, ..interaction() });
    assert_eq!((weak.weight, weak.last_active.millis()), (policy.min_weight, 9));
    for limit in [
        Interaction { quality: policy.affirm_quality_above, ..interaction() },
        Interaction { tone: policy.affirm_tone_above.into(), ..interaction() },
    ] {
        assert!(!connection(300_000).record(&policy, &limit).is_affirmation);
    }
}

#[test]
fn first_reason_of_a_warning_counts() {
    let policy = ConnectionPolicy::default();
    let poor = Interaction {
        quality: Score::ZERO,
        tone: Millionths::ZERO,
        given: millionths(1_000_000),
        received: millionths(1_000_000),
        ..interaction()
    };
    let low = Connection {
        quality: score(200_000),
        reciprocity: millionths(-2_000_000),
        tone: millionths(-900_000),
        interactions: 10,
        ..connection(300_000)
    };
    let warning = |mut connection: Connection, is_flagged| {
        connection.record(&policy, &Interaction { is_flagged, ..poor }).warning
    };
    assert_eq!(warning(low.clone(), true), Some(WarningReason::LowQuality));
    let few = Connection { interactions: 9, ..low };
    assert_eq!(warning(few.clone(), true), Some(WarningReason::LowReciprocity));
    let cold = Connection { reciprocity: Millionths::ZERO, ..few };
    assert_eq!(warning(cold.clone(), true), Some(WarningReason::LowTone));
    let plain = Connection { tone: Millionths::ZERO, ..cold };
    assert_eq!(warning(plain.clone(), true), Some(WarningReason::Flagged));
    assert_eq!(warning(plain, false), None);
}

fn capability(id: &str, quality: u32, volume: u32) -> CapabilityState {
    let capability = Capability {
        id: CapabilityId::new(id),
        name: id.into(),
        category: CapabilityCategory::Analysis,
        input_types: Vec::new(),
        output_types: Vec::new(),
        constraints: CapabilityConstraints::default(),
        max_capacity: 4,
    };
    CapabilityState { volume, ..CapabilityState::new(capability, score(quality)) }
}

/// 001-2.8: `min(0.4 Q + 0.2 / (1 + e^−R) + 0.2 S + 0.2 D, D + 0.3)`. A removed connection does not count.
#[test]
fn trust_has_four_components_and_a_bound() {
    let weights = TrustPolicy::default().trust;
    let mut ana = node("ana");
    ana.add_capability(capability("read", 900_000, 3));
    ana.add_capability(capability("write", 500_000, 1));
    for (partner, quality, status) in [
        ("ben", 600_000, ConnectionStatus::Active),
        ("cid", 800_000, ConnectionStatus::Dormant),
        ("dan", 0, ConnectionStatus::Removed),
    ] {
        let quality = score(quality);
        ana.connections.insert(NodeId::new(partner), Connection { quality, status, ..connection(300_000) });
    }
    let trust = compute_trust(&weights, &ana);
    assert_eq!((trust.quality, trust.social), (score(800_000), score(700_000)));
    assert_eq!((trust.reciprocity, trust.diversity), (Millionths::ZERO, Score::ZERO));
    // 0.32 + 0.1 + 0.14 + 0 is above the bound 0 + 0.3.
    assert_eq!(trust.trust, score(300_000));
    for number in 0..40 {
        Arc::make_mut(&mut ana.recent_partners).push(&NodeId::new(format!("n{number}")), 100);
    }
    let trust = compute_trust(&weights, &ana);
    assert_eq!((trust.diversity, trust.trust), (score(400_000), score(640_000)));
}

/// One more interaction with a rated quality, by a node with this record.
fn interact(mut judged: Node, quality: u32) -> Node {
    let policy = TrustPolicy::default();
    judged.record_interaction(&policy, &NodeId::new("ben"), &interaction(), Some(score(quality)));
    judged
}

#[test]
fn probation_ends_by_its_mean_quality() {
    let mut new = node("ana");
    (new.record.interactions, new.record.quality_sum) = (49, 49 * 600_000);
    let member = interact(new.clone(), 600_000);
    assert_eq!((member.status, member.trust), (NodeStatus::Member, score(600_000)));
    let failed = interact(new.clone(), 599_900);
    assert_eq!((failed.status, failed.trust), (NodeStatus::Probationary, score(320_000)));
    assert_eq!((failed.record.failed_probations, failed.record.interactions), (1, 0));
    new.record.failed_probations = 2;
    assert_eq!(interact(new.clone(), 599_900).status, NodeStatus::Expelled);
    // A probation is judged after 50 interactions.
    new.record.interactions = 48;
    assert_eq!(interact(new, 0).status, NodeStatus::Probationary);
}

#[test]
fn member_with_a_drop_of_quality_is_demoted() {
    let mut member = node("ana");
    member.status = NodeStatus::Member;
    // Without a use of a capability the quality is 0.5.
    for (promoted, expected) in [(900_000, NodeStatus::Member), (900_001, NodeStatus::Probationary)] {
        member.record.promoted_quality = score(promoted);
        Arc::make_mut(&mut member.recent_partners).push(&NodeId::new("cid"), 100);
        let judged = interact(member.clone(), 900_000);
        assert_eq!(judged.status, expected, "{promoted}");
    }
}

/// A removed connection is none of the connections that an established node needs to become a hub.
#[test]
fn hub_has_connections_that_are_not_removed() {
    let mut policy = TrustPolicy::default();
    policy.status.hub_connections = 2;
    (policy.status.hub_diversity_from, policy.status.hub_quality_from) = (Score::ZERO, Score::ZERO);
    for (status, expected) in
        [(ConnectionStatus::Active, NodeStatus::Hub), (ConnectionStatus::Removed, NodeStatus::Established)]
    {
        let mut judged = node("ana");
        judged.status = NodeStatus::Established;
        judged.connections.insert(NodeId::new("cid"), Connection { status, ..connection(500_000) });
        judged.record_interaction(&policy, &NodeId::new("ben"), &interaction(), Some(Score::ONE));
        assert_eq!(judged.status, expected, "{status:?}");
    }
}

fn signal(confidence: u32, hops: u32) -> Signal {
    let [origin, sender, subject] = ["eve", "ben", "mal"].map(NodeId::new);
    Signal { origin, sender, subject, confidence: score(confidence), hops }
}

/// Not to sender, origin and subject, not over a removed connection, and not with a low confidence.
#[test]
fn signal_is_forwarded_to_partners_that_do_not_know_it() {
    let policy = TrustPolicy::default();
    let mut ana = node("ana");
    for (partner, weight) in
        [("ben", 500_000), ("eve", 500_000), ("mal", 500_000), ("cid", 500_000), ("dan", 200_000)]
    {
        ana.connections.insert(NodeId::new(partner), connection(weight));
    }
    let gone = Connection { status: ConnectionStatus::Removed, ..connection(500_000) };
    ana.connections.insert(NodeId::new("fay"), gone);
    let receive = |signal: &Signal| {
        let mut receiver = ana.clone();
        let SignalOutcome::Received { forwarded, .. } = receive_signal(&policy, &mut receiver, signal) else {
            return (receiver, Vec::new());
        };
        let to = forwarded.iter().map(|one| (one.to.to_string(), one.signal.confidence, one.signal.hops));
        let to: Vec<_> = to.collect();
        (receiver, to)
    };
    let (receiver, forwarded) = receive(&signal(600_000, 4));
    // 0.6 × 0.8 × 0.5; over the connection to dan it is 0.096, which is below 0.1.
    assert_eq!(forwarded, [("cid".to_owned(), score(240_000), 5)]);
    assert_eq!(receiver.threat_level(&NodeId::new("mal")), score(300_000));
    assert_eq!(receiver.defense.priming, score(60_000));
    assert!(receive(&signal(599_999, 4)).1.is_empty());
    assert!(receive(&signal(600_000, 5)).1.is_empty());
}

/// Above a belief of 0.7 the connection to the threat drops to the minimum.
#[test]
fn believed_threat_is_isolated() {
    let policy = TrustPolicy::default();
    for (confidence, expected) in [(1_000_000, policy.connection.min_weight), (999_999, score(400_000))] {
        let mut ana = node("ana");
        ana.connections.insert(NodeId::new("ben"), connection(700_001));
        ana.connections.insert(NodeId::new("mal"), connection(400_000));
        receive_signal(&policy, &mut ana, &signal(confidence, 0));
        assert_eq!(ana.connections.get(&NodeId::new("mal")).unwrap().weight, expected, "{confidence}");
    }
}

fn position(node: &str, value: i64, trust: Option<u32>, quality: u32) -> Position {
    let (node, trust) = (NodeId::new(node), trust.map(score));
    Position { node, value: millionths(value), trust, quality: score(quality) }
}

/// `0.3 own + 0.7 Σ(pos · T · q) / Σ(T · q)`: with the weights 0.5 and 0.25 the mean of 0 and 1 is a third.
#[test]
fn deliberation_moves_positions_to_the_weighted_mean() {
    let mut positions =
        [position("ana", 0, None, 1_000_000), position("ben", 1_000_000, Some(500_000), 500_000)];
    deliberate(&ConvergencePolicy::default(), &mut positions);
    assert_eq!(positions.map(|position| position.value.get()), [233_333, 533_333]);
}

#[test]
fn side_with_more_trust_answers() {
    let policy = ConvergencePolicy::default();
    let positions = |below| {
        [
            position("ana", 0, Some(below), 1_000_000),
            position("ben", 1_000_000, Some(500_000), 1_000_000),
            // The trust is unknown: 0.5.
            position("cid", 2_000_000, None, 1_000_000),
        ]
    };
    let names = |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>();
    // The mean is 1; a position at the mean is above it. The margin is 0.1 of 1.9.
    let found = agree_to_disagree(&policy, &positions(900_000));
    assert_eq!((found.answer.get(), found.confidence), (1_500_000, score(526_316)));
    assert_eq!(
        (names(&found.agreeing), names(&found.dissenting)),
        (vec!["ben".to_owned(), "cid".to_owned()], vec!["ana".to_owned()])
    );
    // A tie is for the upper side.
    let tie = agree_to_disagree(&policy, &positions(1_000_000));
    assert_eq!((tie.answer.get(), tie.confidence), (1_500_000, score(500_000)));
    let equal = [position("ana", 0, Some(0), 0), position("ben", 3, Some(0), 0)];
    // Without any trust, both sides weigh the same.
    assert_eq!(agree_to_disagree(&policy, &equal).answer.get(), 3);
}
