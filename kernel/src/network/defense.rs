//! Threat beliefs, defense signals and the machine of a node's defense.

use super::connection::ConnectionStatus;
use super::machine::{NetworkTransition, first_transition};
use super::millionths::{Millionths, ONE, div_round};
use super::node::{DefenseStatus, Node, ThreatBelief};
use super::policy::{DefensePolicy, TrustPolicy};
use crate::ids::NodeId;
use crate::score::Score;
use alloc::vec::Vec;

use DefenseStatus::{Defending, Normal, Primed};

/// A report of a threat from node to node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Signal {
    /// The node that observed the threat.
    pub origin: NodeId,
    /// The node from which the receiver has the signal.
    pub sender: NodeId,
    /// The node that is a threat.
    pub subject: NodeId,
    /// The confidence.
    pub confidence: Score,
    /// The number of hops from the origin to the sender.
    pub hops: u32,
}

/// A signal to forward.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ForwardedSignal {
    /// The receiver.
    pub to: NodeId,
    /// The signal.
    pub signal: Signal,
}

/// The effects of a signal at its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SignalOutcome {
    /// The subject or the sender is the receiver itself.
    Ignored,
    /// The receiver's belief about the subject rises.
    Received {
        /// The belief.
        belief: ThreatBelief,
        /// The signals to forward, in the order of receivers.
        forwarded: Vec<ForwardedSignal>,
    },
}

/// What happens to a node's defense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefenseTrigger {
    /// A signal.
    Signal,
    /// A threat is resolved.
    ThreatResolved,
    /// Time passes.
    Tick,
}

/// A condition of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefenseGuard {
    /// No condition.
    Always,
    /// A believed threat is above the level at which a node acts.
    ActiveThreat,
    /// No threat is, and the priming is at least that of a primed node.
    PrimedOnly,
    /// No threat is, and the priming is lower.
    Unprimed,
    /// The priming is below that of a primed node.
    LowPriming,
}

/// A row of the table.
pub type DefenseTransition = NetworkTransition<DefenseStatus, DefenseTrigger, DefenseGuard, ()>;

/// The table.
#[rustfmt::skip]
pub const DEFENSE_TRANSITIONS: &[DefenseTransition] = &[
    row("B01", &[Normal, Primed], DefenseTrigger::Signal,         DefenseGuard::ActiveThreat, Defending, "threat above the level of action"),
    row("B02", &[Normal],         DefenseTrigger::Signal,         DefenseGuard::Always,       Primed,    "signal"),
    row("B03", &[Defending],      DefenseTrigger::ThreatResolved, DefenseGuard::PrimedOnly,   Primed,    "every threat is resolved, signals are recent"),
    row("B04", &[Defending],      DefenseTrigger::ThreatResolved, DefenseGuard::Unprimed,     Normal,    "every threat is resolved"),
    row("B05", &[Primed],         DefenseTrigger::Tick,           DefenseGuard::LowPriming,   Normal,    "priming has decayed"),
];

const fn row(
    id: &'static str,
    from: &'static [DefenseStatus],
    on: DefenseTrigger,
    when: DefenseGuard,
    to: DefenseStatus,
    label: &'static str,
) -> DefenseTransition {
    NetworkTransition { id, clause: "decision 0041", from, on, when, action: (), to, label }
}

/// Returns a belief after one more report: `b + weight (1 − b)` with `weight` = connection weight × confidence.
#[must_use]
pub fn raise_belief(belief: Score, connection: Score, confidence: Score) -> Score {
    let weight = wide(connection).saturating_mul(wide(confidence));
    let doubt = wide(Score::ONE).saturating_sub(wide(belief));
    let one = i128::from(ONE);
    let rise = div_round(weight.saturating_mul(doubt), one.saturating_mul(one));
    (Millionths::from(belief) + Millionths::new(rise)).to_score()
}

/// Returns the confidence with which a signal is forwarded over a connection: `confidence × 0.8 × w`, rounded.
#[must_use]
pub fn forwarded_confidence(policy: &DefensePolicy, confidence: Score, connection: Score) -> Score {
    let product = wide(confidence).saturating_mul(wide(policy.hop_factor)).saturating_mul(wide(connection));
    let one = i128::from(ONE);
    Millionths::new(div_round(product, one.saturating_mul(one))).to_score()
}

fn wide(score: Score) -> i128 {
    i128::from(score.millionths())
}

/// Receives a signal: the belief about its subject rises, the node is primed, and a signal of high confidence is forwarded.
///
/// Above the level of action, the connection to the subject drops to the minimum weight.
pub fn receive_signal(policy: &TrustPolicy, node: &mut Node, signal: &Signal) -> SignalOutcome {
    if signal.subject == node.id || signal.sender == node.id {
        return SignalOutcome::Ignored;
    }
    let defense = &policy.defense;
    let sender = node.connections.get(&signal.sender);
    let weight = sender.map_or(policy.connection.initial_weight, |connection| connection.weight);
    let mut belief = node.threat_beliefs.get(&signal.subject).cloned().unwrap_or_default();
    belief.level = raise_belief(belief.level, weight, signal.confidence);
    match &belief.first_origin {
        None => belief.first_origin = Some(signal.origin.clone()),
        Some(first) => belief.is_confirmed |= *first != signal.origin,
    }
    node.threat_beliefs.insert_mut(signal.subject.clone(), belief.clone());
    let gain = Millionths::from(defense.priming_gain) * signal.confidence.into();
    node.defense.priming = (Millionths::from(node.defense.priming) + gain).to_score();
    if belief.level > defense.act_above {
        isolate(policy, node, &signal.subject);
    }
    node.trigger_defense(defense, DefenseTrigger::Signal);
    let forwarded = forward(defense, node, signal);
    SignalOutcome::Received { belief, forwarded }
}

/// Lowers the weight of the connection to a threat, if there is one, to the minimum.
fn isolate(policy: &TrustPolicy, node: &mut Node, subject: &NodeId) {
    if let Some(mut connection) = node.connections.get(subject).cloned() {
        connection.weight = policy.connection.min_weight;
        node.connections.insert(subject.clone(), connection);
    }
}

/// Returns the signals to forward: never to the sender, the origin or the subject, nor over a removed connection.
fn forward(policy: &DefensePolicy, node: &Node, signal: &Signal) -> Vec<ForwardedSignal> {
    if signal.confidence < policy.propagate_from || signal.hops >= policy.max_hops {
        return Vec::new();
    }
    let knows = |partner: &NodeId| [&signal.sender, &signal.origin, &signal.subject].contains(&partner);
    let receivers = node
        .connections
        .iter()
        .filter(|(partner, connection)| !knows(partner) && connection.status != ConnectionStatus::Removed);
    let forwarded = receivers.filter_map(|(partner, connection)| {
        let confidence = forwarded_confidence(policy, signal.confidence, connection.weight);
        let hops = signal.hops.saturating_add(1);
        let signal = Signal { sender: node.id.clone(), confidence, hops, ..signal.clone() };
        (confidence >= policy.drop_below).then(|| ForwardedSignal { to: partner.clone(), signal })
    });
    forwarded.collect()
}

/// Forgets the belief about a node: the threat is resolved.
pub fn resolve_threat(policy: &DefensePolicy, node: &mut Node, subject: &NodeId) {
    node.threat_beliefs.remove_mut(subject);
    node.trigger_defense(policy, DefenseTrigger::ThreatResolved);
}

/// Lets the priming decay by one tick.
pub fn decay_priming(policy: &DefensePolicy, node: &mut Node) {
    let priming = Millionths::from(node.defense.priming) * policy.priming_decay.into();
    node.defense.priming = priming.to_score();
    node.trigger_defense(policy, DefenseTrigger::Tick);
}

impl Node {
    /// Takes the row for this trigger, if any.
    fn trigger_defense(&mut self, policy: &DefensePolicy, on: DefenseTrigger) {
        let is_threatened = || self.threat_beliefs.values().any(|belief| belief.level > policy.act_above);
        let is_primed = self.defense.priming >= policy.primed_from;
        let taken = first_transition(DEFENSE_TRANSITIONS, &self.defense.status, &on, |guard| match guard {
            DefenseGuard::Always => true,
            DefenseGuard::ActiveThreat => is_threatened(),
            DefenseGuard::PrimedOnly => is_primed && !is_threatened(),
            DefenseGuard::Unprimed => !is_primed && !is_threatened(),
            DefenseGuard::LowPriming => !is_primed,
        });
        if let Some(row) = taken {
            self.defense.status = row.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::check_rows;

    #[test]
    fn defense_ends_with_the_threat() {
        check_rows(DEFENSE_TRANSITIONS);
        let policy = TrustPolicy::default();
        let mut node = Node::new(&policy.start, NodeId::new("a"));
        let signal = |subject: &str, sender: &str| Signal {
            origin: NodeId::new(sender),
            sender: NodeId::new(sender),
            subject: NodeId::new(subject),
            confidence: Score::ONE,
            hops: 0,
        };
        assert_eq!(receive_signal(&policy, &mut node, &signal("a", "b")), SignalOutcome::Ignored);
        assert_eq!(receive_signal(&policy, &mut node, &signal("b", "a")), SignalOutcome::Ignored);
        receive_signal(&policy, &mut node, &signal("x", "b"));
        assert_eq!(node.defense.status, Primed);
        for _ in 0..3 {
            receive_signal(&policy, &mut node, &signal("x", "b"));
        }
        let belief = &node.threat_beliefs.get(&NodeId::new("x")).unwrap();
        assert_eq!((belief.level.millionths(), belief.is_confirmed), (759_900, false));
        assert_eq!(node.defense.status, Defending);
        receive_signal(&policy, &mut node, &signal("y", "c"));
        assert_eq!(node.defense.status, Defending);
        resolve_threat(&policy.defense, &mut node, &NodeId::new("y"));
        assert_eq!(node.defense.status, Defending);
        resolve_threat(&policy.defense, &mut node, &NodeId::new("x"));
        assert_eq!(node.defense.status, Primed);
        for _ in 0..161 {
            decay_priming(&policy.defense, &mut node);
        }
        assert_eq!(node.defense.status, Normal);
    }
}
