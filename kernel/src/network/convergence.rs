//! Convergence of positions and the agreement to disagree (001 §8.3, CONSENSUS).

use super::millionths::{Millionths, ONE, div_round};
use super::policy::ConvergencePolicy;
use crate::ids::NodeId;
use crate::score::Score;
use alloc::vec::Vec;

/// The numeric answer of a node, with what weighs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Position {
    /// The node.
    pub node: NodeId,
    /// The answer.
    pub value: Millionths,
    /// The trust in the node; none where it is unknown.
    pub trust: Option<Score>,
    /// The quality of the node for the capability.
    pub quality: Score,
}

/// How far positions agree, by their score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ConvergenceStatus {
    /// They agree.
    Converged,
    /// They almost agree.
    Converging,
    /// They differ.
    Exploring,
    /// They differ much.
    Stuck,
    /// They are opposed.
    Polarized,
}

/// An agreement to disagree: the side with more trust gives the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Disagreement {
    /// The answer: the trust-weighted mean of the side that wins.
    pub answer: Millionths,
    /// One half plus half the margin of the sides' trust.
    pub confidence: Score,
    /// The nodes of the side that wins.
    pub agreeing: Vec<NodeId>,
    /// The other nodes.
    pub dissenting: Vec<NodeId>,
}

/// A variance, in units of 10^-12: a square of millionths, so that positions close to each other have one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variance(i128);

impl Variance {
    /// Converts a variance in millionths.
    #[must_use]
    pub fn from_millionths(variance: Millionths) -> Self {
        Self(i128::from(variance.get()).saturating_mul(ONE.into()))
    }

    /// Returns the largest variance that values in the range of these positions can have: a quarter of the squared range.
    #[must_use]
    pub fn widest(positions: &[Position]) -> Self {
        let values = || positions.iter().map(|position| i128::from(position.value.get()));
        let range = values().max().unwrap_or(0).saturating_sub(values().min().unwrap_or(0));
        // Not 0 unless the range is 0.
        Self(range.saturating_mul(range).saturating_add(3) / 4)
    }
}

/// Returns `1 − Var / Var_max`, clamped to 0..=1; 0 without positions.
///
/// Without a maximum variance, positions agree only where they are equal. Sums beyond 128 bits saturate.
#[must_use]
pub fn convergence_score(positions: &[Position], max_variance: Variance) -> Score {
    // n² Var = n Σx² − (Σx)².
    let count = count_of(positions);
    if count == 0 {
        return Score::ZERO;
    }
    let values = || positions.iter().map(|position| i128::from(position.value.get()));
    let squares = values().map(|value| value.saturating_mul(value)).fold(0, i128::saturating_add);
    let sum = values().fold(0, i128::saturating_add);
    let scaled_variance = count.saturating_mul(squares).saturating_sub(sum.saturating_mul(sum)).max(0);
    let scaled_max = count.saturating_mul(count).saturating_mul(max_variance.0);
    if scaled_max <= 0 {
        return if scaled_variance == 0 { Score::ONE } else { Score::ZERO };
    }
    let ratio = match scaled_variance.checked_mul(ONE.into()) {
        Some(numerator) => div_round(numerator, scaled_max),
        None => div_round(scaled_variance, scaled_max.checked_div(ONE.into()).unwrap_or(scaled_max)),
    };
    (Millionths::ONE - Millionths::new(ratio)).to_score()
}

/// Returns the status of this score.
#[must_use]
pub fn convergence_status(policy: &ConvergencePolicy, score: Score) -> ConvergenceStatus {
    if score > policy.converged_above {
        ConvergenceStatus::Converged
    } else if score > policy.converging_above {
        ConvergenceStatus::Converging
    } else if score > policy.exploring_above {
        ConvergenceStatus::Exploring
    } else if score > policy.stuck_above {
        ConvergenceStatus::Stuck
    } else {
        ConvergenceStatus::Polarized
    }
}

/// Moves each position to `0.3 own + 0.7 Σ(pos · T · q) / Σ(T · q)`.
pub fn deliberate(policy: &ConvergencePolicy, positions: &mut [Position]) {
    let mean = weighted_mean(positions.iter().map(|position| (position.value, position.weight(policy))));
    for position in positions {
        position.value = super::millionths::blend(policy.own_share, position.value, mean);
    }
}

/// Whether nodes may agree to disagree: after enough rounds, stuck or polarized, not moving, and not too critical. `scores` has
/// the score before the first round and after each.
#[must_use]
pub fn may_disagree(policy: &ConvergencePolicy, scores: &[Score], criticality: Score) -> bool {
    let [.., previous, latest] = scores else { return false };
    let rounds = u32::try_from(scores.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let is_apart = match convergence_status(policy, *latest) {
        ConvergenceStatus::Stuck | ConvergenceStatus::Polarized => true,
        ConvergenceStatus::Converged | ConvergenceStatus::Converging | ConvergenceStatus::Exploring => false,
    };
    let movement = latest.millionths().abs_diff(previous.millionths());
    rounds >= policy.min_rounds
        && is_apart
        && movement <= policy.movement_above.millionths()
        && criticality < policy.criticality_below
}

/// Splits the positions at their mean, and lets the side with more trust answer. A position at the mean counts as above it, and
/// so does a tie.
#[must_use]
pub fn agree_to_disagree(policy: &ConvergencePolicy, positions: &[Position]) -> Disagreement {
    let count = count_of(positions);
    let sum = positions.iter().map(|position| i128::from(position.value.get())).fold(0, i128::saturating_add);
    let is_above = |position: &&Position| i128::from(position.value.get()).saturating_mul(count) >= sum;
    let (above, below): (Vec<_>, Vec<_>) = positions.iter().partition(is_above);
    let trust =
        |side: &[&Position]| side.iter().map(|position| position.trust(policy)).fold(0, u128::saturating_add);
    let (trust_above, trust_below) = (trust(&above), trust(&below));
    let (winners, losers) = if trust_above >= trust_below { (above, below) } else { (below, above) };
    let margin = i128::try_from(trust_above.abs_diff(trust_below)).unwrap_or(i128::MAX);
    let total = i128::try_from(trust_above.saturating_add(trust_below)).unwrap_or(i128::MAX);
    let half = div_round(margin.saturating_mul(ONE.into()), total.saturating_mul(2));
    let confidence = if positions.is_empty() { ONE } else { (ONE / 2).saturating_add(half) };
    let nodes = |side: &[&Position]| side.iter().map(|position| position.node.clone()).collect();
    Disagreement {
        answer: weighted_mean(winners.iter().map(|position| (position.value, position.trust(policy)))),
        confidence: Millionths::new(confidence).to_score(),
        agreeing: nodes(&winners),
        dissenting: nodes(&losers),
    }
}

/// Returns the weighted mean, rounded half away from zero: with equal weights where all are 0, and 0 without values.
pub(super) fn weighted_mean(values: impl Iterator<Item = (Millionths, u128)> + Clone) -> Millionths {
    let is_weightless = values.clone().all(|(_, weight)| weight == 0);
    let (mut sum, mut total) = (0_i128, 0_i128);
    for (value, weight) in values {
        let weight = if is_weightless { 1 } else { i128::try_from(weight).unwrap_or(i128::MAX) };
        sum = sum.saturating_add(weight.saturating_mul(value.get().into()));
        total = total.saturating_add(weight);
    }
    Millionths::new(div_round(sum, total))
}

fn count_of(positions: &[Position]) -> i128 {
    i128::try_from(positions.len()).unwrap_or(i128::MAX)
}

impl Position {
    fn trust(&self, policy: &ConvergencePolicy) -> u128 {
        u128::from(self.trust.unwrap_or(policy.unknown_trust).millionths())
    }

    /// Returns `T × q`, in units of 10^-12.
    pub(super) fn weight(&self, policy: &ConvergencePolicy) -> u128 {
        self.trust(policy).saturating_mul(self.quality.millionths().into())
    }
}
