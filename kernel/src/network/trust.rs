//! Trust `T` of a node, computed from its connections, capabilities and partners.

use super::interaction::logistic;
use super::millionths::{Millionths, ONE, div_round};
use super::node::Node;
use super::policy::TrustWeights;
use crate::score::Score;

/// The components of a computed trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TrustComponents {
    /// The quality over the capabilities by volume, `Q_agg` (001 §2.3).
    pub quality: Score,
    /// The mean reciprocity over the connections, `R`.
    pub reciprocity: Millionths,
    /// The mean quality over the connections, `S`.
    pub social: Score,
    /// The share of distinct partners among the latest interactions, `D`.
    pub diversity: Score,
    /// The trust: `min(0.4 Q_agg + 0.2 / (1 + e^−R) + 0.2 S + 0.2 D, D + 0.3)`.
    pub trust: Score,
}

/// Computes the trust of a node. The means over its connections are cached, so the cost depends on its capabilities only.
#[must_use]
pub fn compute_trust(weights: &TrustWeights, node: &Node) -> TrustComponents {
    let quality = aggregate_quality(weights, node);
    let reciprocity = node.connections.mean_reciprocity();
    let social = node.connections.mean_quality();
    let diversity = node.recent_partners.diversity(weights.partner_window);
    let weighted = |weight: Score, value: i64| i128::from(weight.millionths()).saturating_mul(value.into());
    let sum = weighted(weights.quality, Millionths::from(quality).get())
        .saturating_add(weighted(weights.reciprocity, logistic(reciprocity, 1).get()))
        .saturating_add(weighted(weights.social, Millionths::from(social).get()))
        .saturating_add(weighted(weights.diversity, Millionths::from(diversity).get()));
    let trust = Millionths::new(div_round(sum, ONE.into()));
    let max = Millionths::from(diversity) + weights.diversity_margin.into();
    TrustComponents { quality, reciprocity, social, diversity, trust: trust.min(max).to_score() }
}

/// Returns the mean quality of the capabilities, weighted by volume (001 §2.3).
#[must_use]
pub fn aggregate_quality(weights: &TrustWeights, node: &Node) -> Score {
    let (mut sum, mut volume) = (0_u64, 0_u64);
    for state in node.capabilities.values() {
        let share = u64::from(state.volume).saturating_mul(state.quality.millionths().into());
        sum = sum.saturating_add(share);
        volume = volume.saturating_add(state.volume.into());
    }
    if volume == 0 {
        return weights.unused_quality;
    }
    Millionths::new(div_round(sum.into(), volume.into())).to_score()
}
