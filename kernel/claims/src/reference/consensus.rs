//! The consensus of numeric answers: rounds of deliberation, and the agreement to disagree (001 §8.3).

use super::numeric::rounded;
use alloc::vec::Vec;
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::policy::ConvergencePolicy;
use orchestrion_kernel::score::Score;

const ONE: i128 = 1_000_000;
const ROUNDS_MAX: usize = 20;

/// The answer of one node.
#[derive(Clone)]
pub(crate) struct Position<'s> {
    /// The node; none without a network.
    pub(crate) node: Option<&'s NodeId>,
    /// The answer, in millionths.
    pub(crate) value: i128,
    /// The trust in the node, in millionths.
    pub(crate) trust: i128,
    /// Trust × quality; the same for all if none has any.
    pub(crate) weight: i128,
}

/// The answer and the confidence, in millionths, and who dissents.
pub(crate) struct Consensus<'s> {
    pub(crate) answer: i128,
    pub(crate) confidence: i128,
    pub(crate) dissenting: Vec<Option<&'s NodeId>>,
}

/// Deliberates; none if the positions neither converge nor may disagree.
pub(crate) fn consensus<'s>(
    policy: &ConvergencePolicy,
    mut positions: Vec<Position<'s>>,
    criticality: Score,
) -> Option<Consensus<'s>> {
    let widest = widest_variance(&positions);
    let mut before = None;
    for round in 0..ROUNDS_MAX {
        let score = convergence(&positions, widest);
        if score > i128::from(policy.converged_above.millionths()) {
            let answer = weighted_mean(&positions, |position| position.weight);
            return Some(Consensus { answer, confidence: score, dissenting: Vec::new() });
        }
        let rests = before.is_some_and(|before: i128| {
            before.saturating_sub(score).abs() <= i128::from(policy.movement_above.millionths())
        });
        let is_apart = score <= i128::from(policy.exploring_above.millionths());
        let is_long = u32::try_from(round).is_ok_and(|round| round >= policy.min_rounds);
        if rests && is_apart && is_long && criticality < policy.criticality_below {
            return Some(disagreement(&positions));
        }
        before = Some(score);
        let (mean, own) = (
            weighted_mean(&positions, |position| position.weight),
            i128::from(policy.own_share.millionths()),
        );
        for position in &mut positions {
            let moved = own
                .saturating_mul(position.value)
                .saturating_add(ONE.saturating_sub(own).saturating_mul(mean));
            position.value = rounded(moved, ONE);
        }
    }
    None
}

/// `1 − Var / Var_max` in millionths, where the largest variance is a quarter of the squared range, rounded up.
pub(crate) fn convergence(positions: &[Position<'_>], widest: i128) -> i128 {
    let count = count(positions);
    let sum = sum(positions.iter().map(|position| position.value));
    let squares = self::sum(positions.iter().map(|position| position.value.saturating_mul(position.value)));
    // n² Var = n Σx² − (Σx)².
    let variance = count.saturating_mul(squares).saturating_sub(sum.saturating_mul(sum));
    if widest == 0 {
        return if variance == 0 { ONE } else { 0 };
    }
    let most = count.saturating_mul(count).saturating_mul(widest);
    ONE.saturating_sub(rounded(variance.saturating_mul(ONE), most)).max(0)
}

/// The largest variance in the range of these positions.
pub(crate) fn widest_variance(positions: &[Position<'_>]) -> i128 {
    let values = || positions.iter().map(|position| position.value);
    let range = values().max().unwrap_or(0).saturating_sub(values().min().unwrap_or(0));
    range.saturating_mul(range).saturating_add(3) / 4
}

/// The mean by a weight, rounded half away from zero; that of all alike if the weights are 0.
pub(crate) fn weighted_mean(positions: &[Position<'_>], weight: impl Fn(&Position<'_>) -> i128) -> i128 {
    let total = sum(positions.iter().map(&weight));
    if total == 0 {
        return rounded(sum(positions.iter().map(|position| position.value)), count(positions));
    }
    rounded(sum(positions.iter().map(|position| weight(position).saturating_mul(position.value))), total)
}

/// The side with more trust answers. The sides are those below the mean and the others; the latter win a tie.
fn disagreement<'s>(positions: &[Position<'s>]) -> Consensus<'s> {
    let (all, total) = (count(positions), sum(positions.iter().map(|position| position.value)));
    let is_below = |position: &Position<'_>| position.value.saturating_mul(all) < total;
    let (below, above): (Vec<Position<'s>>, Vec<Position<'s>>) =
        positions.iter().cloned().partition(is_below);
    let trust = |side: &[Position<'_>]| sum(side.iter().map(|position| position.trust));
    let (winners, losers) = if trust(&above) >= trust(&below) { (above, below) } else { (below, above) };
    let (more, less) = (trust(&winners), trust(&losers));
    let margin = more.saturating_sub(less).saturating_mul(ONE);
    let total = more.saturating_add(less).saturating_mul(2);
    Consensus {
        answer: weighted_mean(&winners, |position| position.trust),
        confidence: (ONE / 2).saturating_add(rounded(margin, total)),
        dissenting: losers.iter().map(|position| position.node).collect(),
    }
}

fn sum(values: impl Iterator<Item = i128>) -> i128 {
    values.fold(0, i128::saturating_add)
}

fn count(positions: &[Position<'_>]) -> i128 {
    i128::try_from(positions.len()).unwrap_or(i128::MAX)
}
