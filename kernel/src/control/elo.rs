//! Elo duels (004 §1, "Resolve Weights & duels"; decision 0014).

use crate::module::{Argument, PerRole, Rating, Ratings, Role, Stance};
use crate::policy::{EloMethod, Policy, Thresholds};

/// Points that the Critic gains for a rated critique.
const CRITIC_GAIN: u32 = 10;
/// Points that Solution loses for it, for each of its arguments.
const SOLUTION_LOSS: u32 = 5;
/// Points that Security gains for an objection at or above the threshold.
const SECURITY_GAIN: u32 = 20;

/// `K` of the standard update: the points at stake in a duel.
const K_FACTOR: u32 = 32;
/// The standard expectation as a table of whole points: the largest lead, in points, at which the winner still
/// gains 16, 15, 14 … 1. At these leads `32 / (1 + 10^(lead / 400))` rounds to the next lower number.
const LEADS: [u32; 16] = [10, 32, 54, 77, 100, 124, 149, 176, 205, 237, 273, 314, 364, 428, 523, 719];

/// The ratings after a debate with these latest arguments, by the policy's method. `proceeds`: the plan may run.
#[must_use]
pub fn update_ratings(
    policy: &Policy,
    ratings: &Ratings,
    latest: &PerRole<Option<Argument>>,
    proceeds: bool,
) -> Ratings {
    let argued = |role| latest.get(role).map(|argument| (role, argument));
    match policy.elo {
        EloMethod::Incremental => {
            update_incremental(&policy.thresholds, ratings, Role::ALL.into_iter().filter_map(argued))
        }
        EloMethod::Standard => update_standard(ratings, latest, proceeds),
    }
}

/// The ratings after a debate with these arguments. No match is counted.
#[must_use]
pub fn update_incremental(
    thresholds: &Thresholds,
    ratings: &Ratings,
    arguments: impl Iterator<Item = (Role, Argument)> + Clone,
) -> Ratings {
    let mut after = *ratings;
    for (role, argument) in arguments.clone() {
        match role {
            Role::Critic
                if argument.stance == Stance::Con && argument.confidence > thresholds.critique_above =>
            {
                after.critic.elo = after.critic.elo.saturating_add(CRITIC_GAIN);
                for _ in arguments.clone().filter(|(role, _)| *role == Role::Solution) {
                    after.solution.elo = after.solution.elo.saturating_sub(SOLUTION_LOSS);
                }
            }
            Role::Security if argument.is_objection_at_least(thresholds.objection_from) => {
                after.security.elo = after.security.elo.saturating_add(SECURITY_GAIN);
            }
            Role::Analyst | Role::Solution | Role::Critic | Role::Security | Role::Optimizer => {}
        }
    }
    after
}

/// The ratings after each PRO role duels each CON role once, all with the ratings before the duels. PRO wins if the plan
/// may run. A duel is a match of both roles, and a success of the winner.
#[must_use]
pub fn update_standard(ratings: &Ratings, latest: &PerRole<Option<Argument>>, proceeds: bool) -> Ratings {
    let argued = |stance| {
        Role::ALL.into_iter().filter(move |role| latest.get(*role).is_some_and(|a| a.stance == stance))
    };
    let (winning, losing) = if proceeds { (Stance::Pro, Stance::Con) } else { (Stance::Con, Stance::Pro) };
    let mut after = *ratings;
    for winner in argued(winning) {
        for loser in argued(losing) {
            let points = points_won(ratings.get(winner).elo, ratings.get(loser).elo);
            let Rating { elo, successes, matches } = after.get_mut(winner);
            *elo = elo.saturating_add(points);
            *successes = successes.saturating_add(1);
            *matches = matches.saturating_add(1);
            let Rating { elo, matches, .. } = after.get_mut(loser);
            *elo = elo.saturating_sub(points);
            *matches = matches.saturating_add(1);
        }
    }
    after
}

/// The points that the winner gains and the loser loses: fewer for a more likely win.
fn points_won(winner: u32, loser: u32) -> u32 {
    let favorite = |lead: u32| LEADS.into_iter().rev().zip(1..).take_while(|(most, _)| lead <= *most).last();
    match winner.checked_sub(loser) {
        Some(lead) => favorite(lead).map_or(0, |(_, points)| points),
        None => {
            favorite(loser.abs_diff(winner)).map_or(K_FACTOR, |(_, points)| K_FACTOR.saturating_sub(points))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::score::Score;

    #[test]
    fn likely_win_earns_fewer_points() {
        let gains = [(1200, 1200), (1210, 1200), (1211, 1200), (1400, 1200), (1919, 1200), (1920, 1200)];
        assert_eq!(gains.map(|(winner, loser)| points_won(winner, loser)), [16, 16, 15, 8, 1, 0]);
        let upsets = [(1190, 1200), (1189, 1200), (1000, 1200), (0, 719), (0, 720), (0, u32::MAX)];
        assert_eq!(upsets.map(|(winner, loser)| points_won(winner, loser)), [16, 17, 24, 31, 32, 32]);
    }

    /// A critique counts above its threshold, an objection from its own on.
    #[test]
    fn incremental_points_depend_on_confidence() {
        let thresholds = Policy::hardened().thresholds;
        let points = |role, stance, confidence| {
            let arguments = [(role, Argument { stance, confidence })].into_iter();
            let solution = (Role::Solution, Argument { stance: Stance::Pro, confidence: Score::ONE });
            let after = update_incremental(&thresholds, &Ratings::default(), arguments.chain([solution]));
            [after.critic.elo, after.security.elo, after.solution.elo].map(|elo| elo.abs_diff(1200))
        };
        let above = Score::from_millionths(thresholds.critique_above.millionths() + 1).unwrap();
        assert_eq!(points(Role::Critic, Stance::Con, thresholds.critique_above), [0, 0, 0]);
        assert_eq!(points(Role::Critic, Stance::Con, above), [CRITIC_GAIN, 0, SOLUTION_LOSS]);
        assert_eq!(points(Role::Critic, Stance::Pro, above), [0, 0, 0]);
        assert_eq!(points(Role::Security, Stance::Con, thresholds.objection_from), [0, SECURITY_GAIN, 0]);
    }

    #[test]
    fn duels_use_ratings_before_the_debate() {
        let argument = |stance| Some(Argument { stance, confidence: Score::ONE });
        let latest = PerRole {
            analyst: argument(Stance::Pro),
            solution: argument(Stance::Pro),
            critic: argument(Stance::Con),
            security: argument(Stance::Con),
            optimizer: None,
        };
        let after = update_standard(&Ratings::default(), &latest, true);
        let rating = |elo, successes, matches| Rating { elo, successes, matches };
        assert_eq!([after.analyst, after.solution], [rating(1232, 2, 2); 2]);
        assert_eq!([after.critic, after.security], [rating(1168, 0, 2); 2]);
        assert_eq!(after.optimizer, Rating::START);
        let rejected = update_standard(&Ratings::default(), &latest, false);
        assert_eq!([rejected.analyst, rejected.security], [rating(1168, 0, 2), rating(1232, 2, 2)]);
    }
}
