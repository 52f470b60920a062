//! The weighted consensus of a debate (004 §1, Aggregation_Engine; design §2, "consensus score").
//!
//! `consensus = pro / (pro + contra)`. An argument adds `confidence × role weight × standing × accuracy` to
//! its side, where standing is `clamp(elo / 1200, 0.5, 1.5)`. An objection of Security at or above its threshold also
//! adds `confidence × 5` to contra. Without arguments the consensus is 0.
//!
//! The result is rounded *down* to millionths. For a threshold `t` that is itself a number of millionths,
//! `⌊x⌋ ≥ t` exactly when `x ≥ t`, so comparing the rounded consensus with a threshold loses nothing.

use crate::module::{Argument, PerRole, Rating, Ratings, Role, Stance};
use crate::policy::Policy;
use crate::score::{Score, Weight};

/// An argument with its factors.
#[derive(Clone, Copy, Debug)]
pub struct WeightedArgument {
    /// The argument.
    pub argument: Argument,
    /// The weight of the role.
    pub weight: Weight,
    /// The role's Elo points.
    pub elo: u32,
    /// The role's accuracy so far; see [`accuracy`].
    pub accuracy: Weight,
    /// The confidence from which an objection of this role weighs extra; only Security has one.
    pub objection_from: Option<Score>,
}

/// The Elo points with standing 1.
const ELO_NEUTRAL: u128 = 1200;
/// The factor of the confidence that an objection of Security adds to contra.
const OBJECTION_FACTOR: u128 = 5;
/// Millionths in one.
const ONE: u128 = 1_000_000;

/// One half plus the share of matches won, at most 1.5, rounded down to millionths. 1 before the first match.
#[must_use]
pub fn accuracy(rating: &Rating) -> Weight {
    let share = u64::from(rating.successes).saturating_mul(1_000_000).checked_div(u64::from(rating.matches));
    let Some(share) = share else { return Weight::ONE };
    let millionths = share.saturating_add(500_000).min(1_500_000);
    u32::try_from(millionths).ok().and_then(Weight::from_millionths).unwrap_or(Weight::ONE)
}

/// The consensus of a list of arguments.
#[must_use]
pub fn consensus(arguments: impl Iterator<Item = WeightedArgument>) -> Score {
    // In units of 1 / (10^18 × 1200): confidence, weight and accuracy in millionths, Elo not divided yet.
    // At most 10^6 · 10^9 · 1800 · 10^9 < 2^91 an argument: with the last factor of 10^6, more than 100,000 of the
    // largest fit 128 bits. Beyond that the arithmetic saturates, and the consensus is too low.
    let (mut pro, mut contra): (u128, u128) = (0, 0);
    for weighted in arguments {
        let confidence = u128::from(weighted.argument.confidence.millionths());
        let standing = u128::from(weighted.elo).clamp(ELO_NEUTRAL / 2, ELO_NEUTRAL / 2 * 3);
        let weight = confidence
            .saturating_mul(u128::from(weighted.weight.millionths()))
            .saturating_mul(standing)
            .saturating_mul(u128::from(weighted.accuracy.millionths()));
        let side = match weighted.argument.stance {
            Stance::Pro => &mut pro,
            Stance::Con => &mut contra,
        };
        *side = side.saturating_add(weight);
        if weighted.objection_from.is_some_and(|threshold| weighted.argument.is_objection_at_least(threshold))
        {
            let extra = confidence.saturating_mul(OBJECTION_FACTOR * ONE * ELO_NEUTRAL * ONE);
            contra = contra.saturating_add(extra);
        }
    }
    let millionths = pro.saturating_mul(ONE).checked_div(pro.saturating_add(contra)).unwrap_or(0);
    u32::try_from(millionths).ok().and_then(Score::from_millionths).unwrap_or(Score::ZERO)
}

/// The consensus of the roles' latest arguments, and of those of the additional debaters in the policy's order. An additional
/// debater has no rating: its standing and its accuracy are 1 (decision 0039).
#[must_use]
pub fn debate_consensus(
    policy: &Policy,
    ratings: &Ratings,
    latest: &PerRole<Option<Argument>>,
    additional: &[Argument],
) -> Score {
    let additional = additional.iter().zip(&policy.additional_debaters).map(|(argument, debater)| {
        let Rating { elo, .. } = Rating::START;
        WeightedArgument {
            argument: *argument,
            weight: debater.weight,
            elo,
            accuracy: Weight::ONE,
            objection_from: None,
        }
    });
    let roles = Role::ALL.into_iter().filter_map(|role| {
        let rating = ratings.get(role);
        latest.get(role).map(|argument| WeightedArgument {
            argument,
            weight: policy.weights.for_role(role),
            elo: rating.elo,
            accuracy: accuracy(rating),
            objection_from: (role == Role::Security).then_some(policy.thresholds.objection_from),
        })
    });
    consensus(roles.chain(additional))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(stance: Stance, millionths: u32, weight: u32) -> WeightedArgument {
        WeightedArgument {
            argument: Argument { stance, confidence: Score::from_millionths(millionths).unwrap() },
            weight: Weight::from_millionths(weight).unwrap(),
            elo: 1200,
            accuracy: Weight::ONE,
            objection_from: None,
        }
    }

    #[test]
    fn consensus_without_arguments_is_zero() {
        assert_eq!(consensus(core::iter::empty()), Score::ZERO);
        assert_eq!(consensus([argument(Stance::Pro, 0, 1_000_000)].into_iter()), Score::ZERO);
    }

    #[test]
    fn consensus_is_rounded_down() {
        let two_thirds =
            [argument(Stance::Pro, 1_000_000, 2_000_000), argument(Stance::Con, 1_000_000, 1_000_000)];
        assert_eq!(consensus(two_thirds.into_iter()).millionths(), 666_666);
    }

    #[test]
    fn standing_is_clamped() {
        let consensus_at = |elo| {
            let pro = WeightedArgument { elo, ..argument(Stance::Pro, 1_000_000, 1_000_000) };
            consensus([pro, argument(Stance::Con, 1_000_000, 1_000_000)].into_iter()).millionths()
        };
        assert_eq!(
            [0, 600, 1200, 1800, u32::MAX].map(consensus_at),
            [333_333, 333_333, 500_000, 600_000, 600_000]
        );
    }

    #[test]
    fn accuracy_ranges_from_half_to_one_and_half() {
        let of = |successes, matches| accuracy(&Rating { elo: 1200, successes, matches }).millionths();
        assert_eq!([of(0, 0), of(0, 3), of(1, 3), of(3, 3)], [1_000_000, 500_000, 833_333, 1_500_000]);
        assert_eq!(of(u32::MAX, 1), 1_500_000);
    }
}
