//! The solution of a chain or decision process: the expected value of each metric.

use super::chain::Chain;
use super::components::Components;
use super::decision::{Extreme, Goal, extreme};
use super::eliminate::Budget;
use super::number::{Fraction, Interval, Number, to_float};
use super::visits::{Bounded, Exactly, Visits, is_cyclic, visits};
use super::{Exact, ExactResult, ExactValue, Limits};
use crate::metrics::{METRICS, Metric};
use std::collections::BTreeSet;
use std::time::Instant;

/// The effort of an elimination with fractions: about twenty seconds.
const RATIONAL_EFFORT: u64 = 2_000_000_000;
/// The operations of an elimination with intervals.
const INTERVAL_OPERATIONS: u64 = 20_000_000;

/// Computes the expected values of metrics; `None` if no bounds are found before the deadline of the limits.
#[must_use]
pub fn solve_chain(chain: &Chain, metrics: &[&'static Metric], limits: &Limits) -> Option<ExactResult> {
    let successor = |state: u32, at: usize| chain.successors(state).get(at).map(|edge| edge.to);
    let components = Components::new(chain.states(), successor);
    let is_acyclic = !(0..components.len()).any(|at| is_cyclic(chain, components.states(at)));
    let deadline = Instant::now() + limits.iteration;
    let positions: Vec<u8> = metrics.iter().filter_map(|metric| position(metric)).collect();
    let (endless, values) = if chain.is_deterministic() {
        markov_chain(chain, &components, &positions, limits, deadline)?
    } else {
        decision_process(chain, &positions, deadline)?
    };
    let value = |(metric, value): (&&'static Metric, Exact)| ExactValue { metric, value };
    Some(ExactResult {
        states: chain.states(),
        transitions: chain.transitions(),
        is_acyclic,
        endless,
        values: metrics.iter().zip(values).map(value).collect(),
    })
}

/// Returns the position of the rewards of a metric.
pub(crate) fn position(metric: &Metric) -> Option<u8> {
    METRICS.iter().position(|other| other == metric).and_then(|position| u8::try_from(position).ok())
}

fn markov_chain(
    chain: &Chain,
    components: &Components,
    positions: &[u8],
    limits: &Limits,
    deadline: Instant,
) -> Option<(Exact, Vec<Exact>)> {
    if chain.is_exact() && chain.states() <= limits.max_rational_states {
        let mut solver = Exactly { chain, budget: Budget(RATIONAL_EFFORT) };
        if let Some(found) = visits::<Fraction>(chain, components, &mut solver) {
            let rewards =
                |choice: u32| chain.exact_rewards(choice).map(|(at, value)| (at, value.clone())).collect();
            return totals(chain, found, positions, rewards, |value: Fraction| {
                let float = to_float(&value);
                Exact::Rational(value.to_string(), float)
            });
        }
    }
    let mut solver = Bounded { chain, max_operations: INTERVAL_OPERATIONS, deadline };
    let found = visits::<Interval>(chain, components, &mut solver)?;
    let rewards = |choice: u32| {
        chain.rewards(choice).iter().map(|(at, value)| (*at, Interval::around(*value))).collect()
    };
    totals(chain, found, positions, rewards, Exact::Interval)
}

/// Returns the probability that a run does not end, and the sum of visits times rewards for each position.
fn totals<N: Number>(
    chain: &Chain,
    found: Visits<N>,
    positions: &[u8],
    rewards: impl Fn(u32) -> Vec<(u8, N)>,
    value: impl Fn(N) -> Exact,
) -> Option<(Exact, Vec<Exact>)> {
    let Visits { visits, endless, trapped } = found;
    let mut sums = vec![N::zero(); METRICS.len()];
    for (state, visits) in (0..).zip(&visits) {
        if visits.is_zero() {
            continue;
        }
        for (at, reward) in chain.choices(state).flat_map(&rewards) {
            sums.get_mut(usize::from(at))?.add(&visits.multiply(&reward));
        }
    }
    let infinite: BTreeSet<u8> = trapped
        .iter()
        .flat_map(|state| chain.choices(*state))
        .flat_map(|choice| chain.rewards(choice))
        .map(|(at, _)| *at)
        .collect();
    let total = |at: &u8| match infinite.contains(at) {
        true => Exact::Infinite,
        false => value(sums.get(usize::from(*at)).cloned().unwrap_or_else(N::zero)),
    };
    let values = positions.iter().map(total).collect();
    Some((value(endless), values))
}

fn decision_process(chain: &Chain, positions: &[u8], deadline: Instant) -> Option<(Exact, Vec<Exact>)> {
    let range = |goal: Goal| {
        let min = extreme(chain, goal, Extreme::Least, deadline)?;
        let max = extreme(chain, goal, Extreme::Greatest, deadline)?;
        Some((min, max))
    };
    let (min, max) = range(Goal::End)?;
    let endless = Exact::MinMax { min: max.complement(), max: min.complement() };
    let value = |at: &u8| range(Goal::Reward(*at)).map(|(min, max)| Exact::MinMax { min, max });
    Some((endless, positions.iter().map(value).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::super::chain::{ChoiceParts, Ending};
    use super::*;

    fn fraction(numerator: i64, denominator: i64) -> Fraction {
        Fraction::new(numerator.into(), denominator.into())
    }

    /// A walk on 0..=len that steps up with probability `up`, from 1; it ends at both sides. Each step has a reward of 1.
    fn walk(len: u32, up: &Fraction) -> Chain {
        let mut chain = Chain::new(true);
        let down = Fraction::from_integer(1.into()) - up;
        // State 0 of the chain is place 1, and so on; the ends are the last two states.
        let state = |place: u32| match place {
            0 => len - 1,
            place if place == len => len,
            place => place - 1,
        };
        for place in 1..len {
            let edges = vec![(state(place + 1), up.clone()), (state(place - 1), down.clone())];
            let rewards = vec![(0, fraction(1, 1))];
            let rewards = if place == len - 1 { [rewards, vec![(1, up.clone())]].concat() } else { rewards };
            chain.push_state(&[ChoiceParts { edges, rewards }], None);
        }
        chain.push_state(&[], Some(Ending::Blocked));
        chain.push_state(&[], Some(Ending::Completed));
        chain
    }

    fn values(chain: &Chain, limits: &Limits) -> Vec<Exact> {
        let result = solve_chain(chain, &[&METRICS[0], &METRICS[1]], limits).unwrap();
        assert!(!result.is_acyclic);
        result.values.into_iter().map(|value| value.value).collect()
    }

    /// The gambler's ruin: from 1, the upper end is reached with probability (1 - r) / (1 - r^len), where r = down / up.
    #[test]
    fn gamblers_ruin_has_its_analytic_value() {
        // r = 2, len = 10: 1 / 1023. The expected number of steps is (1 - 10 / 1023) / (1/3).
        let found = values(&walk(10, &fraction(1, 3)), &Limits::default());
        let expected = [(3 * 1013, 1023), (1, 1023)].map(|(a, b)| fraction(a, b));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, &Exact::Rational(expected.to_string(), to_float(expected)));
        }
    }

    /// A fair walk takes len - 1 steps from 1, however it is solved.
    #[test]
    fn bounds_contain_fractions() {
        let coarse = Limits { max_rational_states: 0, ..Limits::default() };
        for (len, up) in [(8, fraction(1, 2)), (40, fraction(1, 2)), (30, fraction(3, 7))] {
            let chain = walk(len, &up);
            let exact = values(&chain, &Limits::default());
            let eliminated = values(&chain, &coarse);
            // The same chain by iteration.
            let components = Components::new(chain.states(), |state, at| {
                chain.successors(state).get(at).map(|edge| edge.to)
            });
            let deadline = Instant::now() + Limits::default().iteration;
            let mut solver = Bounded { chain: &chain, max_operations: 0, deadline };
            let found = visits::<Interval>(&chain, &components, &mut solver).unwrap();
            let steps = found.visits.iter().take(len as usize - 1).fold(Interval::ZERO, |mut sum, visits| {
                sum.add(visits);
                sum
            });
            let Exact::Rational(_, expected) = exact[0] else { panic!("{exact:?}") };
            for bounds in [eliminated[0].bounds(), steps] {
                assert!(bounds.low <= expected && expected <= bounds.high, "{len} {bounds:?} {expected}");
                assert!(bounds.low < bounds.high && bounds.width() < 1e-10 * expected, "{len} {bounds:?}");
            }
            if up == fraction(1, 2) {
                assert_eq!(expected, f64::from(len - 1));
            }
        }
    }
}
