//! The machine of a node's status.

use super::machine::{NetworkTransition, first_transition};
use super::millionths::{Millionths, div_round};
use super::node::{Node, NodeRecord, NodeStatus, ThreatBelief};
use super::policy::StatusPolicy;
use super::trust::TrustComponents;
use crate::score::Score;

use NodeStatus::{Established, Expelled, Hub, Member, Probationary};

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeTrigger {
    /// An interaction of the node.
    Interaction,
    /// Another node's belief about it changes.
    ThreatReport,
}

/// A condition of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeGuard {
    /// A probation is complete and its mean quality suffices.
    ProbationPassed,
    /// A probation is complete and fails for the last time.
    LastProbationFailed,
    /// A probation is complete and fails.
    ProbationFailed,
    /// The quality is far below that of the latest promotion.
    QualityDropped,
    /// The stored trust is low.
    LowTrust,
    /// Interactions and mean quality suffice for an established node.
    LongRecord,
    /// Connections, diversity and mean quality suffice for a hub.
    ManyPartners,
    /// The threat is high and confirmed by more than one source.
    ConfirmedThreat,
}

/// What a row changes besides the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeAction {
    /// Nothing.
    None,
    /// Raises the trust by the factor of a passed probation, up to its maximum, and notes the quality.
    RaiseTrust,
    /// Notes the quality.
    NoteQuality,
    /// Lowers the trust by the factor of a failed probation, counts it and starts another.
    RestartProbation,
    /// Lowers the trust by the factor of a demotion and resets every counter.
    Demote,
}

/// A row of the table.
pub type NodeTransition = NetworkTransition<NodeStatus, NodeTrigger, NodeGuard, NodeAction>;

const ANY: &[NodeStatus] = &[Probationary, Member, Established, Hub];
const PAST_PROBATION: &[NodeStatus] = &[Member, Established, Hub];

/// The table.
#[rustfmt::skip]
pub const NODE_TRANSITIONS: &[NodeTransition] = &[
    row("N01", ANY,             NodeTrigger::ThreatReport, NodeGuard::ConfirmedThreat,     NodeAction::None,             Expelled,     "confirmed threat"),
    row("N02", &[Probationary], NodeTrigger::Interaction,  NodeGuard::ProbationPassed,     NodeAction::RaiseTrust,       Member,       "probation passed"),
    row("N03", &[Probationary], NodeTrigger::Interaction,  NodeGuard::LastProbationFailed, NodeAction::RestartProbation, Expelled,     "last probation failed"),
    row("N04", &[Probationary], NodeTrigger::Interaction,  NodeGuard::ProbationFailed,     NodeAction::RestartProbation, Probationary, "probation failed"),
    row("N05", PAST_PROBATION,  NodeTrigger::Interaction,  NodeGuard::QualityDropped,      NodeAction::Demote,           Probationary, "quality dropped"),
    row("N06", PAST_PROBATION,  NodeTrigger::Interaction,  NodeGuard::LowTrust,            NodeAction::Demote,           Probationary, "trust is low"),
    row("N07", &[Member],       NodeTrigger::Interaction,  NodeGuard::LongRecord,          NodeAction::NoteQuality,      Established,  "long record"),
    row("N08", &[Established],  NodeTrigger::Interaction,  NodeGuard::ManyPartners,        NodeAction::NoteQuality,      Hub,          "many partners"),
];

const fn row(
    id: &'static str,
    from: &'static [NodeStatus],
    on: NodeTrigger,
    when: NodeGuard,
    action: NodeAction,
    to: NodeStatus,
    label: &'static str,
) -> NodeTransition {
    NetworkTransition { id, clause: "decision 0041", from, on, when, action, to, label }
}

impl NodeRecord {
    /// Counts the quality of one interaction. At the bound, the sum is that of a moving mean.
    pub(super) fn count(&mut self, policy: &StatusPolicy, quality: Score) {
        if self.interactions >= policy.established_interactions {
            let mean = self.quality_sum.checked_div(self.interactions.into()).unwrap_or(0);
            self.quality_sum = self.quality_sum.saturating_sub(mean);
        } else {
            self.interactions = self.interactions.saturating_add(1);
        }
        self.quality_sum = self.quality_sum.saturating_add(quality.millionths().into());
    }

    /// Returns the mean quality of the counted interactions; 0 without any.
    #[must_use]
    pub fn mean_quality(&self) -> Score {
        Millionths::new(div_round(self.quality_sum.into(), self.interactions.into())).to_score()
    }
}

impl Node {
    /// Takes the row for an interaction, if any. `trust` is what the interaction leads to.
    pub(super) fn trigger_interaction(
        &mut self,
        policy: &StatusPolicy,
        trust: &TrustComponents,
    ) -> Option<&'static NodeTransition> {
        let (record, mean) = (self.record, self.record.mean_quality());
        let is_judged = record.interactions >= policy.probation_interactions;
        let passes = mean >= policy.probation_quality_from;
        let drop = record.promoted_quality.millionths().saturating_sub(trust.quality.millionths());
        let holds = |guard| match guard {
            NodeGuard::ProbationPassed => is_judged && passes,
            NodeGuard::LastProbationFailed => {
                is_judged
                    && !passes
                    && record.failed_probations.saturating_add(1) >= policy.max_failed_probations
            }
            NodeGuard::ProbationFailed => is_judged && !passes,
            NodeGuard::QualityDropped => drop > policy.quality_drop_above.millionths(),
            NodeGuard::LowTrust => self.trust < policy.demotion_trust_below,
            NodeGuard::LongRecord => {
                record.interactions >= policy.established_interactions
                    && mean >= policy.established_quality_from
            }
            NodeGuard::ManyPartners => {
                self.connections.len() >= policy.hub_connections
                    && trust.diversity >= policy.hub_diversity_from
                    && mean >= policy.hub_quality_from
            }
            NodeGuard::ConfirmedThreat => false,
        };
        let row = first_transition(NODE_TRANSITIONS, &self.status, &NodeTrigger::Interaction, holds)?;
        let scaled = |trust: Score, factor: Millionths| (Millionths::from(trust) * factor).to_score();
        match row.action {
            NodeAction::None => {}
            NodeAction::RaiseTrust => {
                self.trust = scaled(self.trust, policy.promotion_factor.into()).min(policy.promotion_max);
                self.record.promoted_quality = trust.quality;
            }
            NodeAction::NoteQuality => self.record.promoted_quality = trust.quality,
            NodeAction::RestartProbation => {
                self.trust = scaled(self.trust, policy.failed_probation_factor.into());
                let failed_probations = record.failed_probations.saturating_add(1);
                self.record = NodeRecord { failed_probations, ..NodeRecord::default() };
            }
            NodeAction::Demote => {
                self.trust = scaled(self.trust, policy.demotion_factor.into());
                self.record = NodeRecord::default();
            }
        }
        self.status = row.to;
        Some(row)
    }

    /// Takes the row for another node's belief about this node, if any.
    pub(super) fn trigger_threat_report(
        &mut self,
        policy: &StatusPolicy,
        belief: &ThreatBelief,
    ) -> Option<&'static NodeTransition> {
        let is_confirmed = belief.is_confirmed && belief.level >= policy.expulsion_threat_from;
        let row =
            first_transition(NODE_TRANSITIONS, &self.status, &NodeTrigger::ThreatReport, |_| is_confirmed)?;
        self.status = row.to;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::check_rows;

    #[test]
    fn rows_are_distinct() {
        check_rows(NODE_TRANSITIONS);
        assert!(ANY.iter().chain([&Expelled]).eq(&NodeStatus::ALL));
    }

    #[test]
    fn record_is_bounded() {
        let policy = StatusPolicy::default();
        let mut record = NodeRecord::default();
        for _ in 0..1_000 {
            record.count(&policy, Score::ONE);
        }
        assert_eq!((record.interactions, record.mean_quality()), (200, Score::ONE));
        for _ in 0..5_000 {
            record.count(&policy, Score::ZERO);
        }
        assert!(record.mean_quality().millionths() < 200);
    }
}
