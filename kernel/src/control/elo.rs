//! Elo duels (004 §1, "Resolve Weights & duels"; design §2, "Elo", `incremental`).

use crate::module::{Argument, Ratings, Role, Stance};
use crate::policy::Thresholds;

/// What a rated critique earns the Critic.
const CRITIC_GAINS: u32 = 10;
/// What it costs Solution, for each of its arguments.
const SOLUTION_LOSES: u32 = 5;
/// What a strong objection earns Security.
const SECURITY_GAINS: u32 = 20;

/// The ratings after a debate in which these arguments were made. No match is counted.
#[must_use]
pub fn incremental(
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
            Role::Security if argument.objects_from(thresholds.objection_from) => {
                after.security.elo = after.security.elo.saturating_add(SECURITY_GAINS);
            }
            _ => {}
        }
    }
    after
}
