//! One interaction at a node, and at both ends of a handoff (001 §6.3, §10.2).

use super::Network;
use super::connection::Connection;
use super::connection_machine::ConnectionTrigger;
use super::defense::{Signal, decay_priming};
use super::interaction::{Interaction, InteractionOutcome};
use super::millionths::{Millionths, blend};
use super::node::{Node, NodeStatus};
use super::node_machine::NodeTransition;
use super::policy::TrustPolicy;
use super::trust::{TrustComponents, compute_trust};
use crate::ids::{CapabilityId, NodeId, Timestamp};
use crate::score::Score;
use alloc::sync::Arc;

/// What one node contributed to an exchange, as its partner judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Contribution {
    /// The quality.
    pub quality: Score,
    /// Whether feedback or a failure gave the quality, so that it counts in the record of the contributing node.
    pub is_rated: bool,
    /// The tone, from −1 to 1.
    pub tone: Millionths,
    /// The tokens.
    pub tokens: Millionths,
}

impl Contribution {
    /// Returns the quality that counts in the record of the contributing node.
    fn rated_quality(&self) -> Option<Score> {
        self.is_rated.then_some(self.quality)
    }
}

/// A task and its result between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Exchange {
    /// The time of the result.
    pub at: Timestamp,
    /// The node that handed the task off.
    pub sender: NodeId,
    /// The node that executed it.
    pub receiver: NodeId,
    /// The capability used.
    pub capability: CapabilityId,
    /// The sender's task, as the receiver judges it.
    pub task: Contribution,
    /// The receiver's result, as the sender judges it.
    pub result: Contribution,
    /// The volume: by default the sum of the tokens, in thousands.
    pub volume: Millionths,
}

/// The effects of an interaction at one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInteraction {
    /// The effects at its connection.
    pub connection: InteractionOutcome,
    /// Its trust after the interaction.
    pub trust: TrustComponents,
    /// The row of the node machine that was taken.
    pub transition: Option<&'static NodeTransition>,
    /// The signal that the node sends about its partner.
    pub signal: Option<Signal>,
}

/// The effects of an exchange at its two ends; none for a node that is not in the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeOutcome {
    /// The effects at the sender.
    pub sender: Option<NodeInteraction>,
    /// The effects at the receiver.
    pub receiver: Option<NodeInteraction>,
}

impl Network {
    /// Records a task and its result: the quality of the capability, then one interaction at each end. Tokens given and
    /// received are mirrored. A node that executed its own task has no interaction (001 §4.2).
    ///
    /// The record of a node counts the quality of its own contributions that were rated. A default quality would fail each
    /// probation, and expel a network whose host gives no feedback.
    pub fn record_exchange(&mut self, policy: &TrustPolicy, exchange: &Exchange) -> ExchangeOutcome {
        let Exchange { at, sender, receiver, capability, task, result, volume } = exchange;
        if sender == receiver {
            self.update(receiver, |node| node.count_use(capability, *at));
            return ExchangeOutcome::default();
        }
        let interaction = |observed: &Contribution, own: &Contribution| Interaction {
            at: *at,
            quality: observed.quality,
            tone: observed.tone,
            volume: *volume,
            given: own.tokens,
            received: observed.tokens,
            threat: Score::ZERO,
            is_flagged: false,
        };
        let at_receiver = self.update(receiver, |node| {
            node.record_use(policy, capability, result.quality, *at);
            node.record_interaction(policy, sender, &interaction(task, result), result.rated_quality())
        });
        let at_sender = self.update(sender, |node| {
            node.record_interaction(policy, receiver, &interaction(result, task), task.rated_quality())
        });
        ExchangeOutcome { sender: at_sender, receiver: at_receiver }
    }
}

impl Node {
    /// Records one interaction with a partner: the connection, the trust, then the status. The threat of the partner is this
    /// node's belief, unless the interaction has a higher one. `rated_quality` is that of the node's own contribution.
    pub fn record_interaction(
        &mut self,
        policy: &TrustPolicy,
        partner: &NodeId,
        interaction: &Interaction,
        rated_quality: Option<Score>,
    ) -> NodeInteraction {
        let threat = interaction.threat.max(self.threat_level(partner));
        let is_flagged = interaction.is_flagged || threat > policy.defense.act_above;
        let interaction = Interaction { threat, is_flagged, ..*interaction };
        let connection = self.connections.update(
            partner,
            || Connection::new(&policy.connection, interaction.at),
            |connection| connection.record(&policy.connection, &interaction),
        );
        Arc::make_mut(&mut self.recent_partners).push(partner, policy.trust.partner_window);
        rated_quality.into_iter().for_each(|quality| self.record.count(&policy.status, quality));
        let trust = compute_trust(&policy.trust, self);
        self.computed_trust = trust.trust;
        match self.status {
            NodeStatus::Member | NodeStatus::Established | NodeStatus::Hub => self.trust = trust.trust,
            NodeStatus::Probationary | NodeStatus::Expelled => {}
        }
        let transition = self.trigger_interaction(&policy.status, &trust);
        let signal = connection.warning.map(|_| Signal {
            origin: self.id.clone(),
            sender: self.id.clone(),
            subject: partner.clone(),
            confidence: policy.defense.warning_confidence,
            hops: 0,
        });
        NodeInteraction { connection, trust, transition, signal }
    }

    /// Records the quality of one use of a capability: `q_cap ← λ q_cap + (1−λ) x`, and counts it.
    pub fn record_use(
        &mut self,
        policy: &TrustPolicy,
        capability: &CapabilityId,
        quality: Score,
        at: Timestamp,
    ) {
        if let Some(state) = self.capabilities.get_mut(capability) {
            let smoothing = policy.connection.smoothing;
            state.quality = blend(smoothing, state.quality.into(), quality.into()).to_score();
        }
        self.count_use(capability, at);
    }

    /// Counts one use of a capability, without a quality.
    fn count_use(&mut self, capability: &CapabilityId, at: Timestamp) {
        if let Some(state) = self.capabilities.get_mut(capability) {
            state.volume = state.volume.saturating_add(1);
            state.last_used = state.last_used.max(Some(at));
        }
    }

    /// Lets time pass: the priming decays by one tick, and idle connections change their status.
    pub fn tick(&mut self, policy: &TrustPolicy, now: Timestamp) {
        decay_priming(&policy.defense, self);
        self.connections
            .update_all(|connection| connection.trigger(&policy.connection, ConnectionTrigger::Tick, now));
    }
}
