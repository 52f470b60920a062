//! The consensus (DESIGN §2, "consensus score"; decisions 0006 and 0011).

use super::encoding::{Rating, Ratings, Role, Stance, Voice};
use super::fraction::Fraction;
use super::policy::OraclePolicy;
use std::collections::BTreeMap;

/// `pro / (pro + contra)` over the latest voices, rounded down to millionths.
pub(super) fn consensus(lines: &OraclePolicy, voices: &BTreeMap<Role, Voice>, ratings: &Ratings) -> u32 {
    let (mut pro, mut contra) = (Fraction::ZERO, Fraction::ZERO);
    for (role, voice) in voices {
        // "an argument adds confidence × weight"
        let said = Fraction::millionths(voice.confidence).times(weight(lines, *role, ratings));
        match voice.stance {
            Stance::Pro => pro = pro.plus(said),
            Stance::Con => contra = contra.plus(said),
        }
        // "a Security CON at ≥ 0.8 adds confidence × 5 to contra", besides what it weighs anyway
        if *role == Role::Security && objects_from(voice, lines.thresholds.objection_from) {
            contra = contra.plus(Fraction::millionths(voice.confidence).times(Fraction::of(5, 1)));
        }
    }
    pro.share_against(contra)
}

/// An argument against, of at least this confidence (004-2.5: only one against the plan counts).
pub(super) fn objects_from(voice: &Voice, line: u32) -> bool {
    voice.stance == Stance::Con && voice.confidence >= line
}

/// "weight = role × clamp(elo/1200, 0.5, 1.5) × accuracy"
fn weight(lines: &OraclePolicy, role: Role, ratings: &Ratings) -> Fraction {
    let (half, three_halves) = (Fraction::of(1, 2), Fraction::of(3, 2));
    let rating = ratings.get(&role).copied().unwrap_or(Rating { elo: 1200, successes: 0, matches: 0 });
    let voice = Fraction::millionths(lines.weights.get(&role).copied().unwrap_or_default());
    let elo = Fraction::of(u128::from(rating.elo), 1200).within(half, three_halves);
    // "accuracy 1 with no matches, else clamp(0.5 + successes/matches, 0.5, 1.5)"; decision 0006: rounded down
    // to millionths when it is formed.
    let accuracy = if rating.matches == 0 {
        Fraction::of(1, 1)
    } else {
        let won = Fraction::of(u128::from(rating.successes), u128::from(rating.matches));
        Fraction::of(half.plus(won).within(half, three_halves).floor_millionths(), 1_000_000)
    };
    voice.times(elo).times(accuracy)
}
