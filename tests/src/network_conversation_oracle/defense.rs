//! Signals from node to node.

use super::interaction::{float, round};
use super::nodes::{ONE, OracleNetwork, OracleNode};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{ConnectionStatus, DefenseStatus, NodeStatus};
use orchestrion_kernel::{NodeId, Score};
use std::collections::{BTreeSet, VecDeque};

/// The level of threat above which a node acts.
const ACT_ABOVE: i64 = 700_000;

fn score(millionths: i64) -> Score {
    u32::try_from(millionths).ok().and_then(Score::from_millionths).unwrap_or(Score::ONE)
}

impl OracleNetwork {
    /// Delivers signals breadth first, and returns the deliveries in order. A node receives one signal once.
    pub(super) fn deliver(&mut self, first: Vec<(NodeId, Signal)>) -> Vec<(NodeId, Signal)> {
        let (mut queue, mut reached) = (VecDeque::from(first), BTreeSet::new());
        let mut delivered = Vec::new();
        while let Some((receiver, signal)) = queue.pop_front() {
            let is_known = self.nodes.contains_key(&receiver);
            if !is_known || !reached.insert(receiver.clone()) {
                continue;
            }
            // A signal whose subject or sender is the receiver is ignored.
            if signal.subject == receiver || signal.sender == receiver {
                continue;
            }
            delivered.push((receiver.clone(), signal.clone()));
            let Some(node) = self.nodes.get_mut(&receiver) else { continue };
            queue.extend(node.receive(&receiver, &signal));
            let is_confirmed = node
                .beliefs
                .get(&signal.subject)
                .is_some_and(|belief| belief.is_confirmed && belief.level >= 900_000);
            if is_confirmed && let Some(subject) = self.nodes.get_mut(&signal.subject) {
                subject.status = NodeStatus::Expelled;
            }
        }
        delivered
    }

    /// The deliveries of a warning that a node sends about its partner.
    pub(super) fn warn(&mut self, sender: &NodeId, subject: &NodeId) -> Vec<(NodeId, Signal)> {
        let Some(node) = self.nodes.get(sender) else { return Vec::new() };
        let confidence = self.policy.defense.warning_confidence;
        let signal = Signal {
            origin: sender.clone(),
            sender: sender.clone(),
            subject: subject.clone(),
            confidence,
            hops: 0,
        };
        let receivers = node.connections.iter().filter(|(id, end)| *id != subject && !end.is_removed());
        let first = receivers.map(|(id, _)| (id.clone(), signal.clone())).collect();
        self.deliver(first)
    }
}

impl OracleNode {
    /// Takes one signal, and returns what is forwarded.
    fn receive(&mut self, own: &NodeId, signal: &Signal) -> Vec<(NodeId, Signal)> {
        let confidence = i64::from(signal.confidence.millionths());
        let weight = self.connections.get(&signal.sender).map_or(300_000, |end| end.weight);
        let belief = self.beliefs.entry(signal.subject.clone()).or_default();
        let level = float(belief.level);
        belief.level = round(level + float(weight) * float(confidence) * (1.0 - level)).clamp(0, ONE);
        match &belief.first_origin {
            None => belief.first_origin = Some(signal.origin.clone()),
            Some(first) if *first != signal.origin => belief.is_confirmed = true,
            Some(_) => {}
        }
        let acts = belief.level > ACT_ABOVE;
        self.priming = (self.priming + round(0.1 * float(confidence))).min(ONE);
        if self.defense == DefenseStatus::Normal {
            self.defense = DefenseStatus::Primed;
        }
        if self.beliefs.values().any(|belief| belief.level > ACT_ABOVE) {
            self.defense = DefenseStatus::Defending;
        }
        if acts && let Some(end) = self.connections.get_mut(&signal.subject) {
            // It is removed with the next tick.
            end.weight = 10_000;
        }
        let mut forwarded = Vec::new();
        if confidence < 600_000 || signal.hops >= 5 {
            return forwarded;
        }
        for (id, end) in &self.connections {
            let is_involved = *id == signal.sender || *id == signal.origin || *id == signal.subject;
            let passed = round(float(confidence) * 0.8 * float(end.weight));
            if is_involved || end.is_removed() || passed < 100_000 {
                continue;
            }
            let next = Signal {
                sender: own.clone(),
                confidence: score(passed),
                hops: signal.hops + 1,
                ..signal.clone()
            };
            forwarded.push((id.clone(), next));
        }
        forwarded
    }

    /// Forgets a threat.
    pub(super) fn resolve(&mut self, subject: &NodeId) {
        self.beliefs.remove(subject);
        if self.defense == DefenseStatus::Defending
            && self.beliefs.values().all(|belief| belief.level <= ACT_ABOVE)
        {
            self.defense = if self.priming < 100_000 { DefenseStatus::Normal } else { DefenseStatus::Primed };
        }
    }

    /// Lets time pass.
    pub(super) fn tick(&mut self, now: u64) {
        self.priming = round(float(self.priming) * 0.99);
        if self.defense == DefenseStatus::Primed && self.priming < 100_000 {
            self.defense = DefenseStatus::Normal;
        }
        for end in self.connections.values_mut() {
            let is_idle = now.saturating_sub(end.last_active) >= 100_000;
            if end.weight <= 10_000 {
                end.status = ConnectionStatus::Removed;
            } else if end.status == ConnectionStatus::Active && is_idle {
                end.status = ConnectionStatus::Dormant;
            }
        }
    }
}
