//! One interaction at one end of a connection.

use super::connection::Connection;
use super::connection_machine::ConnectionTrigger;
use super::millionths::{Millionths, ONE, blend, div_round, mul_round};
use super::policy::ConnectionPolicy;
use crate::ids::Timestamp;
use crate::numeric;
use crate::score::Score;

/// What one end of a connection observes of an interaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Interaction {
    /// The time.
    pub at: Timestamp,
    /// The quality `x` of the partner's part.
    pub quality: Score,
    /// The tone `y`, from −1 to 1; a value outside counts as the nearest.
    pub tone: Millionths,
    /// The volume `v`, of which the magnitude counts.
    pub volume: Millionths,
    /// The tokens given, `out`; a negative number counts as 0.
    pub given: Millionths,
    /// The tokens received, `in`; a negative number counts as 0.
    pub received: Millionths,
    /// The level of threat `t` of the partner.
    pub threat: Score,
    /// Whether the partner is flagged as a threat.
    pub is_flagged: bool,
}

/// The effects of an interaction besides the updated connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct InteractionOutcome {
    /// The reinforcement `Φ`.
    pub reinforcement: Millionths,
    /// Whether the interaction is an affirmation: quality and tone are high.
    pub is_affirmation: bool,
    /// The reason to send a defense signal.
    pub warning: Option<WarningReason>,
}

/// The reason to send a defense signal about a partner. The first that holds counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum WarningReason {
    /// The quality is low after many interactions.
    LowQuality,
    /// The reciprocity is low.
    LowReciprocity,
    /// The tone is low.
    LowTone,
    /// The partner is flagged.
    Flagged,
}

impl Connection {
    /// Records an interaction in the order of the equations: `r`, `q`, `τ`, `Φ`, `w`, affirmation, warning.
    pub fn record(&mut self, policy: &ConnectionPolicy, interaction: &Interaction) -> InteractionOutcome {
        let smoothing = policy.smoothing;
        let tone = interaction.tone.clamp_to_unit();
        let reciprocity = log_ratio(policy, interaction.given, interaction.received)
            + quality_adjustment(policy, interaction.quality);
        self.reciprocity = blend(smoothing, self.reciprocity, reciprocity);
        self.quality = blend(smoothing, self.quality.into(), interaction.quality.into()).to_score();
        self.tone = blend(smoothing, self.tone, tone).clamp_to_unit();
        let reinforcement =
            reinforcement(policy, interaction.volume, self.reciprocity, self.quality, self.tone);
        self.weight = self.updated_weight(policy, reinforcement, interaction.threat);
        self.last_active = self.last_active.max(interaction.at);
        self.interactions = self.interactions.saturating_add(1);
        self.trigger(policy, ConnectionTrigger::Interaction, interaction.at);
        let is_affirmation =
            interaction.quality > policy.affirm_quality_above && tone > policy.affirm_tone_above.into();
        self.affirmations = self.affirmations.saturating_add(u32::from(is_affirmation));
        let warning = self.warning(policy, interaction.is_flagged);
        InteractionOutcome { reinforcement, is_affirmation, warning }
    }

    /// `clamp(w + Φ − α w − δ t, W_MIN, W_MAX)`
    fn updated_weight(&self, policy: &ConnectionPolicy, reinforcement: Millionths, threat: Score) -> Score {
        let weight = Millionths::from(self.weight);
        let decay = Millionths::from(policy.weight_decay) * weight;
        let loss = Millionths::from(policy.threat_effect) * threat.into();
        let weight = (weight + reinforcement - decay - loss).to_score();
        weight.min(policy.max_weight).max(policy.min_weight)
    }

    fn warning(&self, policy: &ConnectionPolicy, is_flagged: bool) -> Option<WarningReason> {
        let has_record = self.interactions > policy.warn_after_interactions;
        if has_record && self.quality < policy.warn_quality_below {
            Some(WarningReason::LowQuality)
        } else if self.reciprocity < policy.warn_reciprocity_below {
            Some(WarningReason::LowReciprocity)
        } else if self.tone < policy.warn_tone_below {
            Some(WarningReason::LowTone)
        } else if is_flagged {
            Some(WarningReason::Flagged)
        } else {
            None
        }
    }
}

/// Returns `ln max(in / (out + ε), ε)`.
#[must_use]
pub fn log_ratio(policy: &ConnectionPolicy, given: Millionths, received: Millionths) -> Millionths {
    let epsilon = policy.epsilon.into();
    let given = given.max(Millionths::ZERO) + epsilon;
    let floor = numeric::ln(epsilon.get());
    let ratio = numeric::ln(received.get()).saturating_sub(numeric::ln(given.get()));
    Millionths::new(ratio.max(floor))
}

/// Returns `θ (x − 0.5)`.
#[must_use]
pub fn quality_adjustment(policy: &ConnectionPolicy, quality: Score) -> Millionths {
    const HALF: Millionths = Millionths::new(ONE / 2);
    Millionths::from(policy.quality_effect) * (Millionths::from(quality) - HALF)
}

/// Returns `σ(r) = 2 / (1 + e^(−β r)) − 1`.
#[must_use]
pub fn reciprocity_factor(policy: &ConnectionPolicy, reciprocity: Millionths) -> Millionths {
    let exponent = Millionths::from(policy.steepness) * reciprocity;
    let twice = logistic(exponent, 2);
    twice - Millionths::ONE
}

/// Returns `ψ(q) = 0.5 + q`.
#[must_use]
pub fn quality_factor(quality: Score) -> Millionths {
    Millionths::new(ONE / 2) + quality.into()
}

/// Returns `φ(τ) = 0.7 + 0.3 τ`.
#[must_use]
pub fn tone_factor(tone: Millionths) -> Millionths {
    Millionths::new(700_000) + Millionths::new(300_000) * tone
}

/// Returns `γ |v|^μ`.
#[must_use]
pub fn flow_factor(policy: &ConnectionPolicy, volume: Millionths) -> Millionths {
    let flow = numeric::pow(volume.get().saturating_abs(), Millionths::from(policy.volume_exponent).get());
    Millionths::new(mul_round(Millionths::from(policy.reinforcement).get(), flow))
}

/// Returns the reinforcement `Φ = γ |v|^μ σ(r) ψ(q) φ(τ)`.
#[must_use]
pub fn reinforcement(
    policy: &ConnectionPolicy,
    volume: Millionths,
    reciprocity: Millionths,
    quality: Score,
    tone: Millionths,
) -> Millionths {
    flow_factor(policy, volume)
        * reciprocity_factor(policy, reciprocity)
        * quality_factor(quality)
        * tone_factor(tone)
}

/// Returns `factor / (1 + e^−x)`.
pub(super) fn logistic(x: Millionths, factor: i64) -> Millionths {
    let exp = i128::from(numeric::exp(x.get().saturating_neg()));
    let one = i128::from(ONE);
    let numerator = one.saturating_mul(one).saturating_mul(i128::from(factor));
    Millionths::new(div_round(numerator, one.saturating_add(exp)))
}
