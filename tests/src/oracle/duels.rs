//! The change of ratings after a debate (DESIGN §2, "Elo"; decisions 0011 and 0014).

use super::consensus::is_con_from;
use super::encoding::{OracleArgument, Ratings, Role, Stance};
use super::policy::Thresholds;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Returns the ratings after `incremental`: fixed steps, without matches.
pub(super) fn incremental(
    thresholds: &Thresholds,
    arguments: &BTreeMap<Role, OracleArgument>,
    before: &Ratings,
) -> Ratings {
    let mut after = before.clone();
    let mut add_points = |role: Role, change: i64| {
        if let Some(rating) = after.get_mut(&role) {
            rating.elo = add_elo(rating.elo, change);
        }
    };
    // "Critic CON > 0.7: Critic +10, Solution −5 per Solution argument"; decision 0011: each role has one argument,
    // its latest.
    let is_critique = |argument: &OracleArgument| {
        argument.stance == Stance::Con && argument.confidence > thresholds.critique_above
    };
    if arguments.get(&Role::Critic).is_some_and(is_critique) {
        add_points(Role::Critic, 10);
        if arguments.contains_key(&Role::Solution) {
            add_points(Role::Solution, -5);
        }
    }
    // "Security CON ≥ 0.8: Security +20"
    if arguments.get(&Role::Security).is_some_and(|argument| is_con_from(argument, thresholds.objection_from))
    {
        add_points(Role::Security, 20);
    }
    after
}

/// Returns the ratings after `standard`: each PRO role duels each CON role once.
pub(super) fn standard(
    arguments: &BTreeMap<Role, OracleArgument>,
    proceeds: bool,
    before: &Ratings,
) -> Ratings {
    let mut after = before.clone();
    for (pro, _) in arguments.iter().filter(|(_, argument)| argument.stance == Stance::Pro) {
        for (con, _) in arguments.iter().filter(|(_, argument)| argument.stance == Stance::Con) {
            // "PRO wins on PROCEED, otherwise CON"
            let (winner, loser) = if proceeds { (pro, con) } else { (con, pro) };
            // Decision 0014: every duel uses the ratings from before the first.
            let elo = |role| before.get(role).map_or(1200, |rating| i64::from(rating.elo));
            let gained = gain(elo(winner) - elo(loser));
            for (role, change, won) in [(winner, gained, 1), (loser, -gained, 0)] {
                if let Some(rating) = after.get_mut(role) {
                    rating.elo = add_elo(rating.elo, change);
                    rating.matches = rating.matches.saturating_add(1);
                    rating.successes = rating.successes.saturating_add(won);
                }
            }
        }
    }
    after
}

/// Returns the changed points, which are never below 0 (decision 0014).
fn add_elo(elo: u32, change: i64) -> u32 {
    u32::try_from((i64::from(elo) + change).max(0)).unwrap_or(u32::MAX)
}

/// Returns 32 / (1 + 10^(lead / 400)), rounded to the nearest integer.
///
/// The value is at least k + 1 where 32 / (1 + x) > k + 1/2, that is x < (63 − 2k) / (2k + 1), with
/// x = 10^(lead/400). No lead is on such a threshold: x is rational only for leads that are multiples of 400.
pub(super) fn gain(lead: i64) -> i64 {
    (0..32).map(|k| i64::from(lead <= largest_lead(k))).sum()
}

/// Returns the largest lead with 10^lead < ((63 − 2k) / (2k + 1))^400, computed in integers.
fn largest_lead(k: usize) -> i64 {
    static LEADS: OnceLock<Vec<i64>> = OnceLock::new();
    let leads = LEADS.get_or_init(|| {
        (0..32_u32)
            .map(|k| {
                let (greater, less) = ((63 - 2 * k).max(2 * k + 1), (63 - 2 * k).min(2 * k + 1));
                // Counts the powers of ten in the 400th power of the ratio.
                let bound = Natural::power(greater, 400);
                let mut product = Natural::power(less, 400);
                let mut tens = 0_i64;
                while product.compare(&bound) == Ordering::Less {
                    product.multiply(10);
                    tens += 1;
                }
                // 10^(tens − 1) < ratio^400 < 10^tens. For a ratio below one it is the inverse: 10^lead < 1/ratio^400
                // where −lead ≥ tens.
                if k < 16 { tens - 1 } else { -tens }
            })
            .collect()
    });
    leads.get(k).copied().unwrap_or(i64::MIN)
}

/// A natural number of any size: digits to the base 2^32, the least significant first.
struct Natural(Vec<u32>);

impl Natural {
    fn power(base: u32, exponent: u32) -> Self {
        let mut number = Self(vec![1]);
        for _ in 0..exponent {
            number.multiply(base);
        }
        number
    }

    fn multiply(&mut self, by: u32) {
        let mut carry = 0_u64;
        for digit in &mut self.0 {
            let product = u64::from(*digit) * u64::from(by) + carry;
            *digit = u32::try_from(product & 0xffff_ffff).unwrap_or_default();
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(u32::try_from(carry).unwrap_or_default());
        }
    }

    /// Compares two numbers. No number has leading zeros, so the longer one is the greater.
    fn compare(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::gain;

    #[test]
    fn gain_matches_elo_formula() {
        for lead in -2000_i32..=2000 {
            let exact = 32.0 / (1.0 + 10_f64.powf(f64::from(lead) / 400.0));
            let fraction = exact - exact.floor();
            assert!((fraction - 0.5).abs() > 1e-9, "lead {lead} is on a rounding threshold");
            assert_eq!(gain(i64::from(lead)), exact.round() as i64, "lead {lead}");
        }
        assert_eq!((gain(i64::MAX), gain(i64::MIN), gain(0)), (0, 32, 16));
    }
}
