//! The equations of trust, by example: each value is computed by hand from the equations, with the default policy (001 §2 and §8).

use crate::builders::{connection, interaction, millionths, node, score, used};
use orchestrion_kernel::network::interaction::{
    flow_factor, log_ratio, quality_adjustment, quality_factor, reciprocity_factor, reinforcement,
    tone_factor,
};
use orchestrion_kernel::network::policy::{ConnectionPolicy, FeedbackPolicy};
use orchestrion_kernel::network::{
    Connection, ConnectionStatus, Feedback, Interaction, Millionths, ThreatBelief, TrustPolicy,
    WarningReason, compute_trust,
};
use orchestrion_kernel::{NodeId, Score, Timestamp};
use std::sync::Arc;

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

/// 001-2.8: `min(0.4 Q + 0.2 / (1 + e^−R) + 0.2 S + 0.2 D, D + 0.3)`. A removed connection does not count.
#[test]
fn trust_has_four_components_and_a_bound() {
    let weights = TrustPolicy::default().trust;
    let mut ana = node("ana");
    ana.add_capability(used("read", 900_000, 3));
    ana.add_capability(used("write", 500_000, 1));
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

/// The belief about a partner counts as its threat: above 0.7 the interaction is flagged, and it costs weight.
#[test]
fn believed_threat_counts_in_an_interaction() {
    let policy = TrustPolicy::default();
    let record = |belief: u32, interaction: Interaction| {
        let mut ana = node("ana");
        let ben = NodeId::new("ben");
        ana.threat_beliefs
            .insert_mut(ben.clone(), ThreatBelief { level: score(belief), ..ThreatBelief::default() });
        let outcome = ana.record_interaction(&policy, &ben, &interaction, None);
        (outcome.connection.warning, ana.connections.get(&ben).unwrap().weight)
    };
    let (warning, trusted) = record(0, interaction());
    assert_eq!(warning, None);
    let (warning, weight) = record(700_000, interaction());
    assert_eq!((warning, trusted.millionths() - weight.millionths()), (None, 140_000));
    assert_eq!(record(700_001, interaction()).0, Some(WarningReason::Flagged));
    assert_eq!(record(0, Interaction { is_flagged: true, ..interaction() }).0, Some(WarningReason::Flagged));
    // The larger threat counts.
    let threatened = Interaction { threat: score(500_000), ..interaction() };
    assert_eq!(trusted.millionths() - record(300_000, threatened).1.millionths(), 100_000);
}

/// Values of exactly a limit are no reason for a warning.
#[test]
fn warning_has_open_limits() {
    let policy = ConnectionPolicy { smoothing: Score::ONE, ..ConnectionPolicy::default() };
    let limit = Connection {
        quality: policy.warn_quality_below,
        reciprocity: policy.warn_reciprocity_below,
        tone: policy.warn_tone_below,
        interactions: policy.warn_after_interactions,
        ..connection(300_000)
    };
    let warning = |mut connection: Connection| connection.record(&policy, &interaction()).warning;
    assert_eq!(warning(limit.clone()), None);
    let quality = score(policy.warn_quality_below.millionths() - 1);
    assert_eq!(warning(Connection { quality, ..limit.clone() }), Some(WarningReason::LowQuality));
    let reciprocity = millionths(policy.warn_reciprocity_below.get() - 1);
    assert_eq!(warning(Connection { reciprocity, ..limit.clone() }), Some(WarningReason::LowReciprocity));
    let tone = millionths(policy.warn_tone_below.get() - 1);
    assert_eq!(warning(Connection { tone, ..limit }), Some(WarningReason::LowTone));
}
