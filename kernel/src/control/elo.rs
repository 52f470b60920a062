//! Elo duels (004 §1, "Resolve Weights & duels"; decision 0014).

use crate::module::{Argument, PerRole, Rating, Ratings, Role, Stance};
use crate::policy::{EloMethod, Policy, Thresholds};

/// What a rated critique earns the Critic.
const CRITIC_GAINS: u32 = 10;
/// What it costs Solution, for each of its arguments.
const SOLUTION_LOSES: u32 = 5;
/// What a strong objection earns Security.
const SECURITY_GAINS: u32 = 20;

/// `K` of the standard update: the points at stake in a duel.
const K_FACTOR: u32 = 32;
/// The standard expectation as a table of whole points: the largest lead, in points, at which the winner still
/// gains 16, 15, 14 … 1. It says where `32 / (1 + 10^(lead / 400))` passes a half.
const LEADS: [u32; 16] = [10, 32, 54, 77, 100, 124, 149, 176, 205, 237, 273, 314, 364, 428, 523, 719];

/// The ratings after a debate of which these are the latest arguments, as the policy has them move. `proceeds` says
/// whether the plan will be let run.
#[must_use]
pub fn update_ratings(
    policy: &Policy,
    ratings: &Ratings,
    latest: &PerRole<Option<Argument>>,
    proceeds: bool,
) -> Ratings {
    let heard = |role| latest.get(role).map(|argument| (role, argument));
    match policy.elo {
        EloMethod::Incremental => {
            update_incremental(&policy.thresholds, ratings, Role::ALL.into_iter().filter_map(heard))
        }
        EloMethod::Standard => update_standard(ratings, latest, proceeds),
    }
}

/// The ratings after a debate in which these arguments were made. No match is counted.
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
                after.critic.elo = after.critic.elo.saturating_add(CRITIC_GAINS);
                for _ in arguments.clone().filter(|(role, _)| *role == Role::Solution) {
                    after.solution.elo = after.solution.elo.saturating_sub(SOLUTION_LOSES);
                }
            }
            Role::Security if argument.is_objection_at_least(thresholds.objection_from) => {
                after.security.elo = after.security.elo.saturating_add(SECURITY_GAINS);
            }
            _ => {}
        }
    }
    after
}

/// The ratings after every PRO role dueled every CON role once, with the ratings from before. PRO wins if the plan
/// may run. A duel is a match of both, and a success of its winner.
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

/// The points that the winner gains and the loser loses: the fewer, the surer the win was.
fn points_won(winner: u32, loser: u32) -> u32 {
    let favourite = |lead: u32| LEADS.into_iter().rev().zip(1..).take_while(|(most, _)| lead <= *most).last();
    match winner.checked_sub(loser) {
        Some(lead) => favourite(lead).map_or(0, |(_, points)| points),
        None => {
            favourite(loser.abs_diff(winner)).map_or(K_FACTOR, |(_, points)| K_FACTOR.saturating_sub(points))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;

    #[test]
    fn the_surer_the_win_the_fewer_the_points() {
        let gains = [(1200, 1200), (1210, 1200), (1211, 1200), (1400, 1200), (1919, 1200), (1920, 1200)];
        assert_eq!(gains.map(|(winner, loser)| points_won(winner, loser)), [16, 16, 15, 8, 1, 0]);
        let upsets = [(1190, 1200), (1189, 1200), (1000, 1200), (0, 719), (0, 720), (0, u32::MAX)];
        assert_eq!(upsets.map(|(winner, loser)| points_won(winner, loser)), [16, 17, 24, 31, 32, 32]);
    }

    #[test]
    fn duels_are_weighed_with_the_ratings_from_before() {
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
        let turned = update_standard(&Ratings::default(), &latest, false);
        assert_eq!([turned.analyst, turned.security], [rating(1168, 0, 2), rating(1232, 2, 2)]);
    }
}
