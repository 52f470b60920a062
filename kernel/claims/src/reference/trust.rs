//! The reference by which claims judge what events do to nodes: interactions, trust, statuses, beliefs, signals (001 §10.2; decision
//! 0041).
//!
//! It follows the equations and not the tables of the kernel. As in the kernel, each product, logarithm, exponential and power is rounded
//! to millionths.

use super::numeric::{exp_millionths, ln_millionths, pow_millionths};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use orchestrion_kernel::Timestamp;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::ConnectionPolicy;
use orchestrion_kernel::network::{
    Connection, ConnectionStatus, Contribution, DefenseStatus, Exchange, Millionths, NetworkEvent,
    NetworkInput, Node, NodeRecord, NodeStatus, TrustPolicy,
};
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::{NetworkState, State};

/// What one end of an exchange sends because of it.
#[derive(Default)]
pub(crate) struct EndEffects {
    /// It affirms its partner.
    pub(crate) is_affirmation: bool,
    /// It warns of its partner.
    pub(crate) warns: bool,
}

/// The nodes after some events. Nodes that no event names are those of the state before.
pub(crate) struct ExpectedNodes<'a> {
    before: Option<&'a NetworkState>,
    policy: TrustPolicy,
    now: Timestamp,
    changed: BTreeMap<NodeId, Option<Node>>,
}

impl<'a> ExpectedNodes<'a> {
    /// The nodes of a state, before a batch that leads to another one; none without a network.
    pub(crate) fn new(before: &'a State, after: &State) -> Option<Self> {
        let policy = *after.network()?.policy();
        Some(Self { before: before.network(), policy, now: after.now(), changed: BTreeMap::new() })
    }

    /// The nodes after the events of a batch, and the network that the kernel has instead.
    pub(crate) fn after_batch<'s>(
        before: &'a State,
        events: &[Event],
        after: &'s State,
    ) -> Option<(Self, &'s NetworkState)> {
        let mut nodes = Self::new(before, after)?;
        for event in events {
            if let Event::Network(event) = event {
                nodes.apply(event);
            }
        }
        Some((nodes, after.network()?))
    }

    /// Whether a condition holds for each node of a network and the node that is expected instead. No node is missing.
    pub(crate) fn all_match(&self, network: &NetworkState, holds: impl Fn(&Node, &Node) -> bool) -> bool {
        network.nodes().iter().all(|node| self.node(&node.id).is_some_and(|expected| holds(expected, node)))
            && self.changed.iter().all(|(id, node)| node.is_some() == network.node(id).is_some())
    }

    /// The node with this id.
    pub(crate) fn node(&self, id: &NodeId) -> Option<&Node> {
        match self.changed.get(id) {
            Some(changed) => changed.as_ref(),
            None => self.before?.node(id),
        }
    }

    fn update<T>(&mut self, id: &NodeId, change: impl FnOnce(&TrustPolicy, &mut Node) -> T) -> Option<T> {
        let before = self.before;
        let earlier = || before.and_then(|network| network.node(id).cloned());
        let policy = self.policy;
        let node = self.changed.entry(id.clone()).or_insert_with(earlier).as_mut()?;
        Some(change(&policy, node))
    }

    /// Applies an event. Returns the effects at the ends of an exchange.
    pub(crate) fn apply(&mut self, event: &NetworkEvent) -> [EndEffects; 2] {
        let now = self.now;
        match event {
            NetworkEvent::Changed(change) => self.apply_change(change),
            NetworkEvent::SignalReceived { receiver, signal } => self.receive(receiver, signal),
            NetworkEvent::CallRouted { from, to, .. } if from != to => {
                self.update(from, |policy, node| {
                    let earlier = node.connections.get(to).cloned();
                    let mut connection = earlier.unwrap_or_else(|| new_connection(&policy.connection, now));
                    connection.last_active = connection.last_active.max(now);
                    node.connections.insert(to.clone(), connection);
                });
            }
            NetworkEvent::Exchanged(exchange) => return self.exchange(exchange),
            _ => {}
        }
        Default::default()
    }

    fn apply_change(&mut self, change: &NetworkInput) {
        let now = self.now;
        match change {
            NetworkInput::Create { nodes, .. } => {
                self.changed = nodes.iter().map(|node| (node.id.clone(), Some(node.clone()))).collect();
            }
            NetworkInput::Join { node } => drop(self.changed.insert(node.id.clone(), Some(node.clone()))),
            NetworkInput::Leave { node } => drop(self.changed.insert(node.clone(), None)),
            NetworkInput::SetAvailable { node, capability, available } => {
                self.update(node, |_, node| {
                    let held = node.capabilities.get_mut(capability);
                    held.into_iter().for_each(|held| held.available = *available);
                });
            }
            NetworkInput::ReportLoad { node, load } => {
                self.update(node, |_, node| node.reported_load = *load);
            }
            NetworkInput::RotateKey { node, public_key } => {
                self.update(node, |_, node| node.public_key.clone_from(public_key));
            }
            NetworkInput::ResolveThreat { node, subject } => {
                self.update(node, |policy, node| {
                    node.threat_beliefs.remove_mut(subject);
                    if node.defense.status == DefenseStatus::Defending && !is_threatened(policy, node) {
                        let is_primed = node.defense.priming >= policy.defense.primed_from;
                        node.defense.status =
                            if is_primed { DefenseStatus::Primed } else { DefenseStatus::Normal };
                    }
                });
            }
            NetworkInput::Tick => {
                let known = self.before.into_iter().flat_map(|network| network.nodes().iter());
                let ids: Vec<NodeId> = known.map(|node| node.id.clone()).collect();
                for id in &ids {
                    self.update(id, |policy, node| tick(policy, node, now));
                }
            }
            NetworkInput::Signal { .. } | NetworkInput::Handoff(_) => {}
        }
    }

    /// A node receives a signal: its belief rises, it is primed, and it cuts the connection to an active threat. A confirmed threat
    /// is expelled.
    fn receive(&mut self, receiver: &NodeId, signal: &Signal) {
        if signal.subject == *receiver || signal.sender == *receiver {
            return;
        }
        let confirmed = self.update(receiver, |policy, node| {
            let sender = node.connections.get(&signal.sender);
            let weight = sender.map_or(policy.connection.initial_weight, |held| held.weight);
            let mut belief = node.threat_beliefs.get(&signal.subject).cloned().unwrap_or_default();
            let doubt = 1_000_000_i128.saturating_sub(wide(belief.level));
            let rise = wide(weight).saturating_mul(wide(signal.confidence)).saturating_mul(doubt);
            belief.level = (Millionths::from(belief.level) + rounded(rise, 1_000_000_000_000)).to_score();
            if belief.first_origin.get_or_insert_with(|| signal.origin.clone()) != &signal.origin {
                belief.is_confirmed = true;
            }
            let gain = Millionths::from(policy.defense.priming_gain) * signal.confidence.into();
            node.defense.priming = (Millionths::from(node.defense.priming) + gain).to_score();
            node.threat_beliefs.insert_mut(signal.subject.clone(), belief.clone());
            if belief.level > policy.defense.act_above
                && let Some(held) = node.connections.get(&signal.subject).cloned()
            {
                let cut = Connection { weight: policy.connection.min_weight, ..held };
                node.connections.insert(signal.subject.clone(), cut);
            }
            node.defense.status = match node.defense.status {
                DefenseStatus::Normal | DefenseStatus::Primed if is_threatened(policy, node) => {
                    DefenseStatus::Defending
                }
                DefenseStatus::Normal => DefenseStatus::Primed,
                status @ (DefenseStatus::Primed | DefenseStatus::Defending) => status,
            };
            belief.is_confirmed && belief.level >= policy.status.expulsion_threat_from
        });
        if confirmed == Some(true) {
            self.update(&signal.subject, |_, subject| subject.status = NodeStatus::Expelled);
        }
    }

    fn exchange(&mut self, exchange: &Exchange) -> [EndEffects; 2] {
        let Exchange { sender, receiver, capability, task, result, .. } = exchange;
        let is_local = sender == receiver;
        self.update(receiver, |policy, node| {
            if let Some(held) = node.capabilities.get_mut(capability) {
                if !is_local {
                    let smoothing = policy.connection.smoothing;
                    held.quality = blend(smoothing, held.quality.into(), result.quality.into()).to_score();
                }
                held.volume = held.volume.saturating_add(1);
                held.last_used = held.last_used.max(Some(exchange.at));
            }
        });
        if is_local {
            return Default::default();
        }
        let ends = [(sender, receiver, result, task), (receiver, sender, task, result)];
        ends.map(|(end, partner, observed, own)| {
            let effects = self.update(end, |policy, node| {
                let effects = connect(&policy.connection, node, partner, exchange, observed, own);
                count(policy, node, partner, own.is_rated.then_some(own.quality));
                effects
            });
            let mut effects = effects.unwrap_or_default();
            let level = self.node(end).and_then(|node| node.threat_beliefs.get(partner));
            let is_flagged = level.is_some_and(|belief| belief.level > self.policy.defense.act_above);
            effects.warns |= self.node(end).is_some() && is_flagged;
            effects
        })
    }
}

/// A connection without an interaction.
const fn new_connection(policy: &ConnectionPolicy, at: Timestamp) -> Connection {
    Connection {
        weight: policy.initial_weight,
        reciprocity: Millionths::ZERO,
        quality: policy.initial_quality,
        tone: Millionths::ZERO,
        status: ConnectionStatus::New,
        last_active: at,
        interactions: 0,
        affirmations: 0,
    }
}

/// `ln max(in / (out + ε), ε)`
fn log_ratio(policy: &ConnectionPolicy, given: Millionths, received: Millionths) -> Millionths {
    let epsilon = i64::from(policy.epsilon.millionths());
    let given = given.get().max(0).saturating_add(epsilon);
    let ratio = ln_millionths(received.get()).saturating_sub(ln_millionths(given));
    Millionths::new(ratio.max(ln_millionths(epsilon)))
}

/// `σ(r) = 2 / (1 + e^(−β r)) − 1`
fn sigmoid(steepness: Millionths, reciprocity: Millionths) -> Millionths {
    let exponent = steepness * reciprocity;
    let exp = i128::from(exp_millionths(exponent.get().saturating_neg()));
    rounded(2_000_000_000_000, exp.saturating_add(1_000_000)) - Millionths::ONE
}

/// `Φ = γ |v|^μ σ(r) ψ(q) φ(τ)` with `ψ(q) = 0.5 + q` and `φ(τ) = 0.7 + 0.3 τ`
fn reinforcement(policy: &ConnectionPolicy, volume: Millionths, held: &Connection) -> Millionths {
    let exponent = Millionths::from(policy.volume_exponent).get();
    let flow = Millionths::new(pow_millionths(volume.get().saturating_abs(), exponent));
    Millionths::from(policy.reinforcement)
        * flow
        * sigmoid(policy.steepness.into(), held.reciprocity)
        * (Millionths::new(500_000) + held.quality.into())
        * (Millionths::new(700_000) + Millionths::new(300_000) * held.tone)
}

fn is_threatened(policy: &TrustPolicy, node: &Node) -> bool {
    node.threat_beliefs.values().any(|belief| belief.level > policy.defense.act_above)
}

/// One interaction at one end, in the order of the equations: `r`, `q`, `τ`, `w`, affirmation, warning.
fn connect(
    policy: &ConnectionPolicy,
    node: &mut Node,
    partner: &NodeId,
    exchange: &Exchange,
    observed: &Contribution,
    own: &Contribution,
) -> EndEffects {
    let threat = node.threat_beliefs.get(partner).map_or(Score::ZERO, |belief| belief.level);
    let earlier = node.connections.get(partner).cloned();
    let mut held = earlier.unwrap_or_else(|| new_connection(policy, exchange.at));
    let tone = observed.tone.clamp_to_unit();
    let adjusted = Millionths::from(policy.quality_effect)
        * (Millionths::from(observed.quality) - Millionths::new(500_000));
    held.reciprocity =
        blend(policy.smoothing, held.reciprocity, log_ratio(policy, own.tokens, observed.tokens) + adjusted);
    held.quality = blend(policy.smoothing, held.quality.into(), observed.quality.into()).to_score();
    held.tone = blend(policy.smoothing, held.tone, tone).clamp_to_unit();
    let gain = reinforcement(policy, exchange.volume, &held);
    let loss = Millionths::from(policy.weight_decay) * held.weight.into()
        + Millionths::from(policy.threat_effect) * threat.into();
    let weight = (Millionths::from(held.weight) + gain - loss).to_score();
    held.weight = weight.min(policy.max_weight).max(policy.min_weight);
    held.last_active = held.last_active.max(exchange.at);
    held.interactions = held.interactions.saturating_add(1);
    held.status = ConnectionStatus::Active;
    let is_affirmation =
        observed.quality > policy.affirm_quality_above && tone > policy.affirm_tone_above.into();
    held.affirmations = held.affirmations.saturating_add(u32::from(is_affirmation));
    let has_low_quality =
        held.interactions > policy.warn_after_interactions && held.quality < policy.warn_quality_below;
    let warns = has_low_quality
        || held.reciprocity < policy.warn_reciprocity_below
        || held.tone < policy.warn_tone_below;
    node.connections.insert(partner.clone(), held);
    EndEffects { is_affirmation, warns }
}

/// Counts an interaction: partners, the quality of the node's own part if it was rated, trust, then the status.
fn count(policy: &TrustPolicy, node: &mut Node, partner: &NodeId, rated: Option<Score>) {
    let mut partners: Vec<NodeId> = node.recent_partners.iter().cloned().chain([partner.clone()]).collect();
    let window = usize::try_from(policy.trust.partner_window).unwrap_or(usize::MAX);
    partners.drain(..partners.len().saturating_sub(window));
    node.recent_partners = alloc::sync::Arc::new(partners.into());
    if let Some(quality) = rated {
        let record = &mut node.record;
        if record.interactions >= policy.status.established_interactions {
            let mean = record.quality_sum.checked_div(record.interactions.into()).unwrap_or(0);
            record.quality_sum = record.quality_sum.saturating_sub(mean);
        } else {
            record.interactions = record.interactions.saturating_add(1);
        }
        record.quality_sum = record.quality_sum.saturating_add(quality.millionths().into());
    }
    let trust = Trust::of(policy, node);
    node.computed_trust = trust.trust;
    if !matches!(node.status, NodeStatus::Probationary | NodeStatus::Expelled) {
        node.trust = trust.trust;
    }
    judge(policy, node, &trust);
}

/// The status of a node after an interaction (decision 0041).
fn judge(policy: &TrustPolicy, node: &mut Node, trust: &Trust) {
    let (rules, record) = (&policy.status, node.record);
    let mean = rounded(record.quality_sum.into(), record.interactions.into()).to_score();
    let scaled = |by: Millionths| (Millionths::from(node.trust) * by).to_score();
    let raised = scaled(rules.promotion_factor.into()).min(rules.promotion_max);
    let (failed, demoted) =
        (scaled(rules.failed_probation_factor.into()), scaled(rules.demotion_factor.into()));
    let drop = record.promoted_quality.millionths().saturating_sub(trust.quality.millionths());
    let is_long = record.interactions >= rules.established_interactions;
    match node.status {
        NodeStatus::Probationary if record.interactions < rules.probation_interactions => {}
        NodeStatus::Probationary if mean >= rules.probation_quality_from => {
            (node.status, node.trust) = (NodeStatus::Member, raised);
            node.record.promoted_quality = trust.quality;
        }
        NodeStatus::Probationary => {
            let failed_probations = record.failed_probations.saturating_add(1);
            if failed_probations >= rules.max_failed_probations {
                node.status = NodeStatus::Expelled;
            }
            node.trust = failed;
            node.record = NodeRecord { failed_probations, ..NodeRecord::default() };
        }
        NodeStatus::Expelled => {}
        NodeStatus::Member | NodeStatus::Established | NodeStatus::Hub
            if drop > rules.quality_drop_above.millionths() || node.trust < rules.demotion_trust_below =>
        {
            (node.status, node.trust) = (NodeStatus::Probationary, demoted);
            node.record = NodeRecord::default();
        }
        NodeStatus::Member if is_long && mean >= rules.established_quality_from => {
            node.status = NodeStatus::Established;
            node.record.promoted_quality = trust.quality;
        }
        NodeStatus::Established
            if counted(node).count() >= usize::try_from(rules.hub_connections).unwrap_or(usize::MAX)
                && trust.diversity >= rules.hub_diversity_from
                && mean >= rules.hub_quality_from =>
        {
            node.status = NodeStatus::Hub;
            node.record.promoted_quality = trust.quality;
        }
        NodeStatus::Member | NodeStatus::Established | NodeStatus::Hub => {}
    }
}

/// The connections that count in means.
fn counted(node: &Node) -> impl Iterator<Item = &Connection> {
    let all = node.connections.iter().map(|(_, held)| held);
    all.filter(|held| held.status != ConnectionStatus::Removed)
}

struct Trust {
    quality: Score,
    diversity: Score,
    trust: Score,
}

impl Trust {
    /// `T = min(0.4 Q_agg + 0.2 / (1 + e^−R) + 0.2 S + 0.2 D, D + margin)`
    fn of(policy: &TrustPolicy, node: &Node) -> Self {
        let weights = &policy.trust;
        let held = || node.capabilities.values();
        let volume: i128 = held().map(|held| i128::from(held.volume)).sum();
        let total = held().map(|held| i128::from(held.volume).saturating_mul(wide(held.quality))).sum();
        let quality = if volume == 0 { weights.unused_quality } else { rounded(total, volume).to_score() };
        let connections = i128::try_from(counted(node).count()).unwrap_or(i128::MAX);
        let reciprocity =
            rounded(counted(node).map(|held| i128::from(held.reciprocity.get())).sum(), connections);
        let social = rounded(counted(node).map(|held| wide(held.quality)).sum(), connections);
        let mut partners: Vec<&NodeId> = node.recent_partners.iter().collect();
        partners.sort_unstable();
        partners.dedup();
        let distinct = i64::try_from(partners.len()).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let share = distinct.checked_div(weights.partner_window.into()).unwrap_or(0);
        let diversity = Millionths::new(share).to_score();
        // 1 / (1 + e^−R) = (σ(R) + 1) / 2 with β = 1.
        let logistic = sigmoid(Millionths::ONE, reciprocity).get().saturating_add(1_000_000);
        let sum = [
            wide(weights.quality).saturating_mul(wide(quality)),
            wide(weights.reciprocity).saturating_mul(logistic.into()) / 2,
            wide(weights.social).saturating_mul(social.get().into()),
            wide(weights.diversity).saturating_mul(wide(diversity)),
        ];
        let trust = rounded(sum.into_iter().sum(), 1_000_000);
        let max = Millionths::from(diversity) + weights.diversity_margin.into();
        Self { quality, diversity, trust: trust.min(max).to_score() }
    }
}

fn tick(policy: &TrustPolicy, node: &mut Node, now: Timestamp) {
    let defense = &mut node.defense;
    defense.priming = (Millionths::from(defense.priming) * policy.defense.priming_decay.into()).to_score();
    if defense.status == DefenseStatus::Primed && defense.priming < policy.defense.primed_from {
        defense.status = DefenseStatus::Normal;
    }
    let all: Vec<(NodeId, Connection)> =
        node.connections.iter().map(|(partner, held)| (partner.clone(), held.clone())).collect();
    for (partner, held) in all {
        let idle_ms = now.millis().saturating_sub(held.last_active.millis());
        let status = match held.status {
            ConnectionStatus::Removed => ConnectionStatus::Removed,
            _ if held.weight <= policy.connection.min_weight => ConnectionStatus::Removed,
            ConnectionStatus::Active if idle_ms >= policy.connection.dormant_after_ms => {
                ConnectionStatus::Dormant
            }
            status => status,
        };
        if status != held.status {
            node.connections.insert(partner, Connection { status, ..held });
        }
    }
}

/// `λ old + (1−λ) new`
fn blend(smoothing: Score, old: Millionths, new: Millionths) -> Millionths {
    let rest = 1_000_000_i128.saturating_sub(wide(smoothing));
    let sum = wide(smoothing)
        .saturating_mul(old.get().into())
        .saturating_add(rest.saturating_mul(new.get().into()));
    rounded(sum, 1_000_000)
}

fn wide(score: Score) -> i128 {
    score.millionths().into()
}

/// A quotient, rounded half away from zero; 0 where the divisor is 0.
fn rounded(dividend: i128, divisor: i128) -> Millionths {
    let half = if dividend < 0 { divisor.saturating_neg() } else { divisor } / 2;
    let quotient = dividend.saturating_add(half).checked_div(divisor).unwrap_or(0);
    Millionths::new(i64::try_from(quotient).unwrap_or(i64::MAX))
}
