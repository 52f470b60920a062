//! One interaction at one end, trust, and the status of a node.

use super::nodes::{ONE, OracleEnd, OracleNode};
use crate::network_oracle::{OracleConnection, OracleInteraction};
use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::{ConnectionStatus, NodeStatus, TrustPolicy};

/// What one end observes, in millionths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) quality: i64,
    pub(super) tone: i64,
    pub(super) volume: i64,
    pub(super) given: i64,
    pub(super) received: i64,
}

/// What follows from an interaction at one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effects {
    pub(super) affirms: bool,
    pub(super) warns: bool,
}

pub(super) fn float(millionths: i64) -> f64 {
    millionths as f64 / 1e6
}

pub(super) fn round(number: f64) -> i64 {
    (number * 1e6).round() as i64
}

fn product(a: i64, b: i64) -> i64 {
    round(float(a) * float(b))
}

impl OracleNode {
    /// Records one interaction with a partner. `counted` is the quality of the node's own part, if it was judged.
    pub(super) fn interact(
        &mut self,
        policy: &TrustPolicy,
        partner: &NodeId,
        seen: Observation,
        counted: Option<i64>,
        now: u64,
    ) -> Effects {
        let threat = float(self.threat(partner));
        // A partner is flagged if the node acts against it.
        let is_flagged = self.threat(partner) > 700_000;
        let end = self.connections.entry(partner.clone()).or_insert_with(|| OracleEnd::fresh(now));
        let before = OracleConnection {
            weight: float(end.weight),
            reciprocity: float(end.reciprocity),
            quality: float(end.quality),
            tone: float(end.tone),
        };
        let after = before.after(OracleInteraction {
            quality: float(seen.quality),
            tone: float(seen.tone),
            volume: float(seen.volume),
            given: float(seen.given),
            received: float(seen.received),
            threat,
        });
        end.weight = round(after.weight);
        end.reciprocity = round(after.reciprocity);
        end.quality = round(after.quality);
        end.tone = round(after.tone);
        end.last_active = now;
        end.interactions += 1;
        end.status = ConnectionStatus::Active;
        let is_poor = end.quality < 300_000 && end.interactions > 10;
        let effects = Effects {
            affirms: seen.quality > 800_000 && seen.tone > 500_000,
            warns: is_poor || end.reciprocity < -1_500_000 || end.tone < -500_000 || is_flagged,
        };
        self.partners.push(partner.clone());
        let window = usize::try_from(policy.trust.partner_window).unwrap_or(usize::MAX);
        while self.partners.len() > window {
            self.partners.remove(0);
        }
        self.computed_trust = self.compute_trust(policy);
        if let Some(counted) = counted {
            self.interactions += 1;
            self.quality_sum += counted;
        }
        self.change_status(policy);
        effects
    }

    fn aggregate_quality(&self) -> f64 {
        let volume: f64 = self.capabilities.values().map(|state| f64::from(state.volume)).sum();
        let sum: f64 =
            self.capabilities.values().map(|state| f64::from(state.volume) * float(state.quality)).sum();
        if volume == 0.0 { 0.5 } else { sum / volume }
    }

    fn compute_trust(&self, policy: &TrustPolicy) -> i64 {
        let counted: Vec<&OracleEnd> = self.connections.values().filter(|end| !end.is_removed()).collect();
        let mean = |sum: f64| if counted.is_empty() { 0.0 } else { sum / counted.len() as f64 };
        let reciprocity = mean(counted.iter().map(|end| float(end.reciprocity)).sum());
        let social = mean(counted.iter().map(|end| float(end.quality)).sum());
        let mut distinct = self.partners.clone();
        distinct.sort();
        distinct.dedup();
        let diversity = (distinct.len() as f64 / f64::from(policy.trust.partner_window)).min(1.0);
        let trust = 0.4 * self.aggregate_quality()
            + 0.2 / (1.0 + (-reciprocity).exp())
            + 0.2 * social
            + 0.2 * diversity;
        round(trust.min(diversity + 0.3)).clamp(0, ONE)
    }

    /// The node machine after an interaction. The stored trust follows the computed one once probation is passed.
    fn change_status(&mut self, policy: &TrustPolicy) {
        let status = &policy.status;
        let mean = if self.interactions == 0 {
            0
        } else {
            round(float(self.quality_sum) / f64::from(self.interactions))
        };
        match self.status {
            NodeStatus::Probationary => {
                if self.interactions < status.probation_interactions {
                    return;
                }
                if mean >= i64::from(status.probation_quality_from.millionths()) {
                    self.status = NodeStatus::Member;
                    let raised = product(self.trust, status.promotion_factor.millionths().into());
                    self.trust = raised.min(status.promotion_max.millionths().into());
                    self.promoted_quality = round(self.aggregate_quality());
                } else {
                    // The next probation counts its own interactions.
                    self.interactions = 0;
                    self.quality_sum = 0;
                    self.failed_probations += 1;
                    self.trust = product(self.trust, status.failed_probation_factor.millionths().into());
                    if self.failed_probations >= status.max_failed_probations {
                        self.status = NodeStatus::Expelled;
                    }
                }
            }
            NodeStatus::Member | NodeStatus::Established | NodeStatus::Hub => {
                self.trust = self.computed_trust;
                let drop = self.promoted_quality - round(self.aggregate_quality());
                if drop > i64::from(status.quality_drop_above.millionths())
                    || self.trust < i64::from(status.demotion_trust_below.millionths())
                {
                    self.status = NodeStatus::Probationary;
                    self.trust = product(self.trust, status.demotion_factor.millionths().into());
                    self.interactions = 0;
                    self.quality_sum = 0;
                    self.failed_probations = 0;
                    self.promoted_quality = 0;
                }
            }
            NodeStatus::Expelled => {}
        }
    }
}
