//! The consensus (DESIGN §2, "consensus score"; decisions 0006 and 0011).

use super::encoding::{OracleArgument, Rating, Ratings, Role, Stance};
use super::fraction::Fraction;
use super::policy::OraclePolicy;
use std::collections::BTreeMap;

/// Returns `pro / (pro + contra)` over the latest arguments, rounded down to millionths.
pub(super) fn consensus(
    policy: &OraclePolicy,
    arguments: &BTreeMap<Role, OracleArgument>,
    additional: &[OracleArgument],
    ratings: &Ratings,
) -> u32 {
    let (mut pro, mut contra) = (Fraction::ZERO, Fraction::ZERO);
    let of_roles = arguments.iter().map(|(role, argument)| (argument, weight(policy, *role, ratings)));
    // Decision 0039: an additional debater has no rating, so Elo and accuracy do not change its weight.
    let weights = policy.additional_debaters.iter().map(|debater| Fraction::from_millionths(debater.weight));
    for (argument, weight) in of_roles.chain(additional.iter().zip(weights)) {
        // "an argument adds confidence × weight"
        let added = Fraction::from_millionths(argument.confidence).times(weight);
        match argument.stance {
            Stance::Pro => pro = pro.plus(added),
            Stance::Con => contra = contra.plus(added),
        }
    }
    // "a Security CON at ≥ 0.8 adds confidence × 5 to contra", in addition to its weighted confidence
    let security = arguments.get(&Role::Security);
    if let Some(argument) = security.filter(|con| is_con_from(con, policy.thresholds.objection_from)) {
        contra = contra.plus(Fraction::from_millionths(argument.confidence).times(Fraction::new(5, 1)));
    }
    pro.share_against(contra)
}

/// Returns whether the argument is CON with at least this confidence (004-2.5: a PRO argument never objects).
pub(super) fn is_con_from(argument: &OracleArgument, threshold: u32) -> bool {
    argument.stance == Stance::Con && argument.confidence >= threshold
}

/// Returns "weight = role × clamp(elo/1200, 0.5, 1.5) × accuracy".
fn weight(policy: &OraclePolicy, role: Role, ratings: &Ratings) -> Fraction {
    let (half, three_halves) = (Fraction::new(1, 2), Fraction::new(3, 2));
    let rating = ratings.get(&role).copied().unwrap_or(Rating { elo: 1200, successes: 0, matches: 0 });
    let role = Fraction::from_millionths(policy.weights.get(&role).copied().unwrap_or_default());
    let elo = Fraction::new(u128::from(rating.elo), 1200).clamp(half, three_halves);
    // "accuracy 1 with no matches, else clamp(0.5 + successes/matches, 0.5, 1.5)"; decision 0006: it is rounded
    // down to millionths at this point.
    let accuracy = if rating.matches == 0 {
        Fraction::new(1, 1)
    } else {
        let success_rate = Fraction::new(u128::from(rating.successes), u128::from(rating.matches));
        let accuracy = half.plus(success_rate).clamp(half, three_halves);
        Fraction::new(accuracy.floor_millionths(), 1_000_000)
    };
    role.times(elo).times(accuracy)
}
