//! Threat beliefs, defense signals and the state of a defense, by example (001 §4.1, decision 0041).

use crate::builders::{connection, node, score};
use orchestrion_kernel::network::defense::{Signal, SignalOutcome, receive_signal, resolve_threat};
use orchestrion_kernel::network::{
    Connection, ConnectionStatus, Defense, DefenseStatus, ThreatBelief, TrustPolicy,
};
use orchestrion_kernel::{NodeId, Score};

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

/// A belief of exactly 0.7 is no reason to act, and a defense ends with the last threat above it.
#[test]
fn defense_acts_above_its_level() {
    let policy = TrustPolicy::default();
    let mut ana = node("ana");
    ana.connections.insert(NodeId::new("ben"), connection(700_000));
    receive_signal(&policy, &mut ana, &signal(1_000_000, 0));
    assert_eq!(ana.threat_level(&NodeId::new("mal")), policy.defense.act_above);
    assert_eq!(ana.defense.status, DefenseStatus::Primed);
    let mut resolved = |others: &[(&str, u32)], priming| {
        ana.defense = Defense { status: DefenseStatus::Defending, priming };
        for (subject, level) in others {
            let belief = ThreatBelief { level: score(*level), ..ThreatBelief::default() };
            ana.threat_beliefs.insert_mut(NodeId::new(*subject), belief);
        }
        resolve_threat(&policy.defense, &mut ana, &NodeId::new("mal"));
        ana.defense.status
    };
    let (low, high) = (Score::ZERO, policy.defense.primed_from);
    assert_eq!(resolved(&[("eve", 700_000)], low), DefenseStatus::Normal);
    assert_eq!(resolved(&[("eve", 700_000)], high), DefenseStatus::Primed);
    assert_eq!(resolved(&[("eve", 700_001)], low), DefenseStatus::Defending);
    assert_eq!(resolved(&[("eve", 700_001)], high), DefenseStatus::Defending);
}
