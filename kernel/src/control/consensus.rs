//! The weighted consensus of a debate (004 §1, Aggregation_Engine; design §2, "consensus score").
//!
//! `consensus = pro / (pro + contra)`. An argument adds `confidence × role weight × standing × accuracy` to
//! its side, where standing is `clamp(elo / 1200, 0.5, 1.5)`. A strong objection of Security adds
//! `confidence × 5` to contra as well. Nobody on either side: 0.
//!
//! The result is rounded *down* to millionths. For a line `t` that is itself a number of millionths,
//! `⌊x⌋ ≥ t` exactly when `x ≥ t`, so comparing the rounded consensus with a threshold loses nothing.

use crate::module::{Argument, PerRole, Rating, Ratings, Role, Stance};
use crate::policy::Policy;
use crate::score::{Score, Weight};

/// An argument with everything that it is weighed by.
#[derive(Clone, Copy, Debug)]
pub struct WeightedArgument {
    /// The argument.
    pub argument: Argument,
    /// The weight of the role that argues.
    pub weight: Weight,
    /// The role's Elo points.
    pub elo: u32,
    /// The role's accuracy so far; see [`accuracy`].
    pub accuracy: Weight,
    /// From which confidence on an objection of this voice weighs extra; only Security's does.
    pub objection_from: Option<Score>,
}

/// Elo points at which a voice counts once.
const ELO_NEUTRAL: u128 = 1200;
/// What a strong objection of Security adds to contra, times its confidence.
const OBJECTION_FACTOR: u128 = 5;
/// Millionths in one.
const ONE: u128 = 1_000_000;

/// Half, plus the share of matches won, at most 1.5; rounded down to millionths. 1 before the first match.
#[must_use]
pub fn accuracy(rating: &Rating) -> Weight {
    let share = u64::from(rating.successes).saturating_mul(1_000_000).checked_div(u64::from(rating.matches));
    let Some(share) = share else { return Weight::ONE };
    let millionths = share.saturating_add(500_000).min(1_500_000);
    u32::try_from(millionths).ok().and_then(Weight::from_millionths).unwrap_or(Weight::ONE)
}

/// The consensus of any list of voices.
#[must_use]
pub fn consensus(voices: impl Iterator<Item = WeightedArgument>) -> Score {
    // In units of 1 / (10^18 × 1200): confidence, weight and accuracy in millionths, Elo not divided yet.
    // At most 10^6 · 10^9 · 1800 · 10^9 < 2^91 a voice: with the last factor of 10^6, more than 100,000 of the
    // loudest voices fit 128 bits. Beyond that the arithmetic saturates, and the consensus errs low.
    let (mut pro, mut contra): (u128, u128) = (0, 0);
    for voice in voices {
        let confidence = u128::from(voice.argument.confidence.millionths());
        let standing = u128::from(voice.elo).clamp(ELO_NEUTRAL / 2, ELO_NEUTRAL / 2 * 3);
        let mass = confidence
            .saturating_mul(u128::from(voice.weight.millionths()))
            .saturating_mul(standing)
            .saturating_mul(u128::from(voice.accuracy.millionths()));
        let side = match voice.argument.stance {
            Stance::Pro => &mut pro,
            Stance::Con => &mut contra,
        };
        *side = side.saturating_add(mass);
        if voice.objection_from.is_some_and(|line| voice.argument.is_objection_at_least(line)) {
            let extra = confidence.saturating_mul(OBJECTION_FACTOR * ONE * ELO_NEUTRAL * ONE);
            contra = contra.saturating_add(extra);
        }
    }
    let millionths = pro.saturating_mul(ONE).checked_div(pro.saturating_add(contra)).unwrap_or(0);
    u32::try_from(millionths).ok().and_then(Score::from_millionths).unwrap_or(Score::ZERO)
}

/// The consensus of the roles' latest arguments.
#[must_use]
pub fn debate_consensus(policy: &Policy, ratings: &Ratings, latest: &PerRole<Option<Argument>>) -> Score {
    consensus(Role::ALL.into_iter().filter_map(|role| {
        let rating = ratings.get(role);
        latest.get(role).map(|argument| WeightedArgument {
            argument,
            weight: policy.weights.for_role(role),
            elo: rating.elo,
            accuracy: accuracy(rating),
            objection_from: (role == Role::Security).then_some(policy.thresholds.objection_from),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(stance: Stance, millionths: u32, weight: u32) -> WeightedArgument {
        WeightedArgument {
            argument: Argument { stance, confidence: Score::from_millionths(millionths).unwrap() },
            weight: Weight::from_millionths(weight).unwrap(),
            elo: 1200,
            accuracy: Weight::ONE,
            objection_from: None,
        }
    }

    #[test]
    fn nobody_agrees_on_nothing() {
        assert_eq!(consensus(core::iter::empty()), Score::ZERO);
        assert_eq!(consensus([voice(Stance::Pro, 0, 1_000_000)].into_iter()), Score::ZERO);
    }

    #[test]
    fn the_consensus_is_rounded_down() {
        let two_thirds = [voice(Stance::Pro, 1_000_000, 2_000_000), voice(Stance::Con, 1_000_000, 1_000_000)];
        assert_eq!(consensus(two_thirds.into_iter()).millionths(), 666_666);
    }

    #[test]
    fn standing_is_clamped() {
        let of = |elo| {
            let pro = WeightedArgument { elo, ..voice(Stance::Pro, 1_000_000, 1_000_000) };
            consensus([pro, voice(Stance::Con, 1_000_000, 1_000_000)].into_iter()).millionths()
        };
        assert_eq!(
            [of(0), of(600), of(1200), of(1800), of(u32::MAX)],
            [333_333, 333_333, 500_000, 600_000, 600_000]
        );
    }

    #[test]
    fn accuracy_runs_from_a_half_to_one_and_a_half() {
        let of = |successes, matches| accuracy(&Rating { elo: 1200, successes, matches }).millionths();
        assert_eq!([of(0, 0), of(0, 3), of(1, 3), of(3, 3)], [1_000_000, 500_000, 833_333, 1_500_000]);
        assert_eq!(of(u32::MAX, 1), 1_500_000);
    }
}
