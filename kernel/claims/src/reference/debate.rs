//! The debate: objections, the consensus and the ratings (004 §1, §3; decisions 0006, 0014, 0039; design §2).

use super::numeric::{self, UNIT};
use orchestrion_kernel::module::{Argument, PerRole, Rating, Ratings, Role, Stance};
use orchestrion_kernel::policy::{EloMethod, Policy};
use orchestrion_kernel::score::Score;

/// Whether an argument is an objection with at least this confidence.
pub(crate) fn objects(argument: &Argument, from: Score) -> bool {
    match argument.stance {
        Stance::Con => argument.confidence.millionths() >= from.millionths(),
        Stance::Pro => false,
    }
}

/// The arguments of the roles.
fn arguments(latest: &PerRole<Option<Argument>>) -> [(Role, Option<&Argument>); 5] {
    let PerRole { analyst, solution, critic, security, optimizer } = latest;
    [
        (Role::Analyst, analyst.as_ref()),
        (Role::Solution, solution.as_ref()),
        (Role::Critic, critic.as_ref()),
        (Role::Security, security.as_ref()),
        (Role::Optimizer, optimizer.as_ref()),
    ]
}

/// Whether a score is `pro / (pro + contra)`, rounded down to millionths: `s (pro + contra) ≤ pro < (s + 1) (pro + contra)`, in
/// millionths.
pub(crate) fn is_consensus(
    score: Score,
    policy: &Policy,
    ratings: &Ratings,
    latest: &PerRole<Option<Argument>>,
    additional: &[Argument],
) -> bool {
    let weights = &policy.weights;
    let rated = arguments(latest).into_iter().filter_map(|(role, argument)| {
        let (weight, rating) = match role {
            Role::Analyst => (weights.analyst, &ratings.analyst),
            Role::Solution => (weights.solution, &ratings.solution),
            Role::Critic => (weights.critic, &ratings.critic),
            Role::Security => (weights.security, &ratings.security),
            Role::Optimizer => (weights.optimizer, &ratings.optimizer),
        };
        let factor = u128::from(weight.millionths()).saturating_mul(rating_factor(rating));
        Some((*argument?, factor))
    });
    // Standing and accuracy of an additional debater are 1.
    let unrated = additional.iter().zip(&policy.additional_debaters).map(|(argument, debater)| {
        (*argument, u128::from(debater.weight.millionths()).saturating_mul(NEUTRAL))
    });
    let (mut pro, mut contra) = (0_u128, 0_u128);
    for (argument, factor) in rated.chain(unrated) {
        let weight = u128::from(argument.confidence.millionths()).saturating_mul(factor);
        match argument.stance {
            Stance::Pro => pro = pro.saturating_add(weight),
            Stance::Con => contra = contra.saturating_add(weight),
        }
    }
    if let Some(security) =
        latest.security.filter(|argument| objects(argument, policy.thresholds.objection_from))
    {
        let extra = u128::from(security.confidence.millionths()).saturating_mul(5);
        contra = contra.saturating_add(extra.saturating_mul(MILLION).saturating_mul(NEUTRAL));
    }
    let total = pro.saturating_add(contra);
    let (score, scaled) = (u128::from(score.millionths()), pro.saturating_mul(MILLION));
    if total == 0 {
        return score == 0;
    }
    score.saturating_mul(total) <= scaled && scaled < score.saturating_add(1).saturating_mul(total)
}

const MILLION: u128 = 1_000_000;

/// Standing 1 and accuracy 1, in the unit of [`rating_factor`].
const NEUTRAL: u128 = 1_200 * MILLION;

/// Standing times accuracy, in units of 1 / (1200 · 10^6): the points from half to one and a half of 1200, and one half plus the share
/// of won matches.
fn rating_factor(rating: &Rating) -> u128 {
    let standing = u128::from(rating.elo.clamp(600, 1_800));
    let won = u128::from(rating.successes).saturating_mul(MILLION).checked_div(rating.matches.into());
    let accuracy = won.map_or(MILLION, |won| won.saturating_add(MILLION / 2).min(MILLION * 3 / 2));
    standing.saturating_mul(accuracy)
}

/// The ratings after a debate. `proceeds`: the plan may run.
pub(crate) fn expected_ratings(
    policy: &Policy,
    before: &Ratings,
    latest: &PerRole<Option<Argument>>,
    proceeds: bool,
) -> Ratings {
    match policy.elo {
        EloMethod::Incremental => incremental_ratings(policy, before, latest),
        EloMethod::Standard => standard_ratings(before, latest, proceeds),
    }
}

/// A strong critique earns the Critic 10 points and costs Solution 5, if Solution argued. A strong objection earns Security 20.
fn incremental_ratings(policy: &Policy, before: &Ratings, latest: &PerRole<Option<Argument>>) -> Ratings {
    let limits = &policy.thresholds;
    let critique = latest.critic.filter(|argument| argument.stance == Stance::Con);
    let is_strong = critique.is_some_and(|argument| argument.confidence > limits.critique_above);
    let objects = latest.security.is_some_and(|argument| objects(&argument, limits.objection_from));
    let gained = |rating: Rating, points: u32| Rating { elo: rating.elo.saturating_add(points), ..rating };
    let lost = |rating: Rating, points: u32| Rating { elo: rating.elo.saturating_sub(points), ..rating };
    Ratings {
        critic: if is_strong { gained(before.critic, 10) } else { before.critic },
        solution: match latest.solution {
            Some(_) if is_strong => lost(before.solution, 5),
            Some(_) | None => before.solution,
        },
        security: if objects { gained(before.security, 20) } else { before.security },
        ..*before
    }
}

/// Each role meets every role of the other stance once. The points that it wins and loses follow from the ratings before the debate.
fn standard_ratings(before: &Ratings, latest: &PerRole<Option<Argument>>, proceeds: bool) -> Ratings {
    let all = arguments(latest);
    let rated = |role: Role, own: &Rating| {
        let stance = |of: Role| all.iter().find(|(role, _)| *role == of).and_then(|(_, argument)| *argument);
        let Some(stance_of_role) = stance(role).map(|argument| argument.stance) else { return *own };
        let is_winner = (stance_of_role == Stance::Pro) == proceeds;
        let opponents = all
            .iter()
            .filter(|(_, argument)| argument.is_some_and(|argument| argument.stance != stance_of_role));
        opponents.fold(*own, |after, (opponent, _)| {
            let other = before.get(*opponent).elo;
            let matches = after.matches.saturating_add(1);
            if is_winner {
                let elo = after.elo.saturating_add(points_won(own.elo, other));
                Rating { elo, successes: after.successes.saturating_add(1), matches }
            } else {
                Rating { elo: after.elo.saturating_sub(points_won(other, own.elo)), matches, ..after }
            }
        })
    };
    Ratings {
        analyst: rated(Role::Analyst, &before.analyst),
        solution: rated(Role::Solution, &before.solution),
        critic: rated(Role::Critic, &before.critic),
        security: rated(Role::Security, &before.security),
        optimizer: rated(Role::Optimizer, &before.optimizer),
    }
}

/// `32 / (1 + 10^(lead / 400))`, rounded to the nearest integer.
fn points_won(winner: u32, loser: u32) -> u32 {
    let lead = i128::from(winner).saturating_sub(loser.into()).clamp(-4_000, 4_000);
    let log_power = lead.saturating_mul(numeric::ln_ratio(10, 1)) / 400;
    let power = numeric::exp(log_power);
    // 32 / (1 + x) + 1/2 = (65 + x) / (2 + 2 x)
    let one = UNIT;
    let dividend = one.saturating_mul(65).saturating_add(power);
    let divisor = one.saturating_add(power).saturating_mul(2);
    dividend.checked_div(divisor).and_then(|points| u32::try_from(points).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_follow_the_formula() {
        let gains =
            [(1_200, 1_200), (1_210, 1_200), (1_211, 1_200), (1_919, 1_200), (1_920, 1_200), (0, 720)];
        assert_eq!(gains.map(|(winner, loser)| points_won(winner, loser)), [16, 16, 15, 1, 0, 32]);
        assert_eq!([points_won(u32::MAX, 0), points_won(0, u32::MAX)], [0, 32]);
    }

    #[test]
    fn rating_factor_is_clamped() {
        let of = |elo, successes, matches| rating_factor(&Rating { elo, successes, matches });
        assert_eq!(of(1_200, 0, 0), NEUTRAL);
        assert_eq!([of(0, 0, 3), of(u32::MAX, 3, 3)], [600 * 500_000, 1_800 * 1_500_000]);
    }
}
