//! The best and the worst case of a Markov decision process: the least and the greatest expected reward over all choices of adversaries.
//!
//! A set of states in which the adversary can stay for ever is an end component. For the greatest reward, one with a reward makes it
//! infinite, and every other one is merged into one state, because the adversary can take each way out of it. For the least reward, the
//! adversary can stay without any reward where an end component without rewards exists. What remains is solved component by component.

use super::chain::Chain;
use super::components::Components;
use super::end_components::end_components;
use super::number::{Interval, round_down, round_up};
use std::ops::Range;
use std::time::Instant;

/// Which extreme is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    /// The least expected reward.
    Least,
    /// The greatest expected reward.
    Greatest,
}

/// What is summed along a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// The reward at this position.
    Reward(u8),
    /// 1 when the run ends.
    End,
}

impl Goal {
    fn of(self, chain: &Chain, choice: u32) -> f64 {
        match self {
            Self::Reward(position) => chain.reward(choice, position),
            Self::End => {
                let ends = chain.edges(choice).iter().filter(|edge| chain.choices(edge.to).is_empty());
                ends.map(|edge| edge.probability).sum()
            }
        }
    }
}

/// A process whose end components are merged or removed.
struct Quotient<'a> {
    chain: &'a Chain,
    goal: Goal,
    extreme: Extreme,
    /// The state that represents each state.
    represents: Vec<u32>,
    /// The choices of each representative.
    choices: Vec<Vec<u32>>,
}

/// Returns bounds of an expected reward from state 0; `None` if no bounds were found before the deadline.
pub(crate) fn extreme(chain: &Chain, goal: Goal, extreme: Extreme, deadline: Instant) -> Option<Interval> {
    let len = chain.states();
    let has_reward = |choice: u32| goal.of(chain, choice) > 0.0;
    let mut choices: Vec<Vec<u32>> = (0..len as u32).map(|state| chain.choices(state).collect()).collect();
    let mut represents: Vec<u32> = (0..len as u32).collect();
    match extreme {
        Extreme::Greatest => {
            for component in end_components(chain, |_| true) {
                if component.choices.iter().any(|choice| has_reward(*choice)) {
                    return Some(Interval::INFINITE);
                }
                let first = component.states.iter().min().copied()?;
                let stays = |choice: &u32| component.choices.binary_search(choice).is_ok();
                let mut leave = Vec::new();
                for state in &component.states {
                    *represents.get_mut(*state as usize)? = first;
                    let own = std::mem::take(choices.get_mut(*state as usize)?);
                    leave.extend(own.into_iter().filter(|choice| !stays(choice)));
                }
                *choices.get_mut(first as usize)? = leave;
            }
        }
        Extreme::Least => {
            for component in end_components(chain, |choice| !has_reward(choice)) {
                component.states.iter().for_each(|state| {
                    if let Some(choices) = choices.get_mut(*state as usize) {
                        choices.clear();
                    }
                });
            }
        }
    }
    Quotient { chain, goal, extreme, represents, choices }.solve(deadline)
}

impl Quotient<'_> {
    fn choices(&self, state: u32) -> &[u32] {
        self.choices.get(state as usize).map_or(&[], Vec::as_slice)
    }

    fn target(&self, to: u32) -> u32 {
        self.represents.get(to as usize).copied().unwrap_or(to)
    }

    fn solve(&self, deadline: Instant) -> Option<Interval> {
        let len = self.chain.states();
        let lists: Vec<Range<usize>> = {
            let mut start = 0;
            let mut list = |state: u32| {
                let edges = |choice: &u32| self.chain.edges(*choice).len();
                let count: usize = self.choices(state).iter().map(edges).sum();
                start += count;
                start - count..start
            };
            (0..len as u32).map(&mut list).collect()
        };
        let targets: Vec<u32> = (0..len as u32)
            .flat_map(|state| self.choices(state))
            .flat_map(|choice| self.chain.edges(*choice))
            .map(|edge| self.target(edge.to))
            .collect();
        let successor = |state: u32, at: usize| {
            let list = lists.get(state as usize)?;
            targets.get(list.clone())?.get(at).copied()
        };
        let components = Components::new(len, successor);
        let mut values = vec![Interval::ZERO; len];
        for component in 0..components.len() {
            let states = components.states(component);
            let has_loop = |state: u32| (0..).map_while(|at| successor(state, at)).any(|to| to == state);
            match states {
                [state] if !has_loop(*state) => {
                    let low = |to: u32| values.get(to as usize).map_or(0.0, |value| value.low);
                    let high = |to: u32| values.get(to as usize).map_or(0.0, |value| value.high);
                    let value = Interval {
                        low: self.best(*state, round_down, low).0,
                        high: self.best(*state, round_up, high).0,
                    };
                    *values.get_mut(*state as usize)? = value;
                }
                _ => self.solve_component(states, &mut values, deadline)?,
            }
        }
        values.get(self.target(0) as usize).copied()
    }

    /// Returns the extreme over the choices of a state, and the choice.
    fn best(&self, state: u32, round: fn(f64, f64) -> f64, value: impl Fn(u32) -> f64) -> (f64, Option<u32>) {
        let mut best: (f64, Option<u32>) = (0.0, None);
        for choice in self.choices(state) {
            let found = self.expected(*choice, self.goal.of(self.chain, *choice), round, &value);
            let is_better = match self.extreme {
                Extreme::Least => found < best.0,
                Extreme::Greatest => found > best.0,
            };
            if best.1.is_none() || is_better {
                best = (found, Some(*choice));
            }
        }
        best
    }

    fn expected(
        &self,
        choice: u32,
        reward: f64,
        round: fn(f64, f64) -> f64,
        value: impl Fn(u32) -> f64,
    ) -> f64 {
        let edges = self.chain.edges(choice);
        let sum = edges.iter().fold(reward, |sum, edge| sum + edge.probability * value(self.target(edge.to)));
        round(sum, 3.0 * edges.len() as f64 + 2.0)
    }

    /// Computes bounds of the states of a component from those of its successors.
    ///
    /// Iteration from 0 that rounds down stays below the solution. With `δ` as the largest difference of one more step that rounds up, and
    /// `u ≥ 1 + Pu`, a step from `x + δu` does not lead above it, so it is an upper bound. `P` contains every choice for the greatest reward,
    /// and the chosen ones for the least reward.
    fn solve_component(&self, states: &[u32], values: &mut [Interval], deadline: Instant) -> Option<()> {
        let mut ordered = states.to_vec();
        ordered.sort_unstable_by(|a, b| b.cmp(a));
        let place = |state: u32| ordered.binary_search_by(|other| state.cmp(other)).ok();
        let mut lower = vec![0.0; ordered.len()];
        let low = |to: u32, lower: &[f64], values: &[Interval]| match place(to) {
            Some(at) => lower.get(at).copied().unwrap_or(0.0),
            None => values.get(to as usize).map_or(0.0, |value| value.low),
        };
        for turn in 0.. {
            let mut change = 0.0_f64;
            for (at, state) in ordered.iter().enumerate() {
                let (new, _) = self.best(*state, round_down, |to| low(to, &lower, values));
                let old = lower.get_mut(at)?;
                // Rounding can lower a value that is already reached.
                if new > *old {
                    change = change.max((new - *old) / new);
                    *old = new;
                }
            }
            if change < 1e-15 || (turn % 16 == 0 && Instant::now() > deadline) {
                break;
            }
        }
        let high = |to: u32| match place(to) {
            Some(at) => lower.get(at).copied().unwrap_or(0.0),
            None => values.get(to as usize).map_or(0.0, |value| value.high),
        };
        let (mut margin, mut chosen) = (0.0_f64, Vec::with_capacity(ordered.len()));
        for (at, state) in ordered.iter().enumerate() {
            let (value, choice) = self.best(*state, round_up, high);
            margin = margin.max(value - lower.get(at).copied()?);
            chosen.push(choice?);
        }
        let steps = self.steps(&ordered, &chosen, deadline)?;
        for (at, state) in ordered.iter().enumerate() {
            let low = lower.get(at).copied()?;
            let high = round_up(low + round_up(round_up(margin, 4.0) * steps.get(at).copied()?, 2.0), 2.0);
            *values.get_mut(*state as usize)? = Interval { low, high };
        }
        Some(())
    }

    /// Returns numbers with `u ≥ 1 + Pu` within a component.
    fn steps(&self, ordered: &[u32], chosen: &[u32], deadline: Instant) -> Option<Vec<f64>> {
        let place = |state: u32| ordered.binary_search_by(|other| state.cmp(other)).ok();
        let mut steps = vec![1.0; ordered.len()];
        for turn in 0.. {
            let mut lacks = 0.0_f64;
            for (at, (state, chosen)) in ordered.iter().zip(chosen).enumerate() {
                let value = |to: u32| place(to).and_then(|at| steps.get(at)).copied().unwrap_or(0.0);
                let next = |choice: &u32| self.expected(*choice, 1.0, round_up, value);
                let new = match self.extreme {
                    Extreme::Greatest => self.choices(*state).iter().map(next).fold(1.0, f64::max),
                    Extreme::Least => next(chosen),
                };
                let old = steps.get_mut(at)?;
                lacks = lacks.max(new - *old);
                *old = old.max(new);
            }
            if lacks <= 0.25 {
                // Twice the numbers exceed the inequality by 1/2. A sweep that starts from them changes each by at most 1/4.
                return Some(steps.into_iter().map(|steps| 2.0 * steps).collect());
            }
            if turn % 16 == 0 && Instant::now() > deadline {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::chain::{ChoiceParts, Ending};
    use super::super::number::Fraction;
    use super::super::{Exact, Limits, solve_chain};
    use super::*;
    use crate::metrics::METRICS;
    use std::time::Duration;

    const STATES: u32 = 5;

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        /// Returns a choice of a state that leads to two others. With `next`, one of them is the next state, so that each is reached.
        fn choice(&mut self, next: Option<u32>) -> ChoiceParts {
            let to = [
                next.unwrap_or_else(|| self.below(u64::from(STATES)) as u32),
                self.below(u64::from(STATES) + 1) as u32,
            ];
            let weight = 1 + self.below(3) as i64;
            let half = |numerator: i64| Fraction::new(numerator.into(), 4.into());
            let edges = match to {
                [a, b] if a == b => vec![(a, half(4))],
                [a, b] => vec![(a, half(weight)), (b, half(4 - weight))],
            };
            let reward = self.below(3) as i64;
            ChoiceParts { edges, rewards: vec![(0, Fraction::from_integer((reward - 1).max(0).into()))] }
        }
    }

    fn chain(choices: &[Vec<ChoiceParts>]) -> Chain {
        let mut chain = Chain::new(true);
        choices.iter().for_each(|choices| chain.push_state(choices, None));
        chain.push_state(&[], Some(Ending::Completed));
        chain
    }

    /// Returns the values of every policy that always takes the same choice in a state; such a policy is optimal.
    fn values_of_policies(choices: &[Vec<ChoiceParts>]) -> Vec<[f64; 2]> {
        let count: usize = choices.iter().map(Vec::len).product();
        let value = |mut number: usize| {
            let mut take = |choices: &Vec<ChoiceParts>| {
                let taken = choices[number % choices.len()].clone();
                number /= choices.len();
                vec![taken]
            };
            let policy: Vec<Vec<ChoiceParts>> = choices.iter().map(&mut take).collect();
            let result = solve_chain(&chain(&policy), &[&METRICS[0]], &Limits::default()).unwrap();
            assert!(!matches!(result.endless, Exact::Interval(_)));
            [1.0 - result.endless.bounds().low, result.values[0].value.bounds().low]
        };
        (0..count).map(value).collect()
    }

    #[test]
    fn extremes_are_those_of_all_policies() {
        let mut random = Random(1);
        let (mut infinite, mut endless, mut finite) = (0, 0, 0);
        for round in 0..150 {
            let states = 0..STATES;
            let choices: Vec<Vec<ChoiceParts>> = states
                .map(|state| {
                    let more = random.below(3);
                    let mut list = vec![random.choice(Some(state + 1))];
                    list.extend((0..more).map(|_| random.choice(None)));
                    list
                })
                .collect();
            let chain = chain(&choices);
            let values = values_of_policies(&choices);
            let deadline = Instant::now() + Duration::from_secs(10);
            for (at, goal) in [Goal::End, Goal::Reward(0)].into_iter().enumerate() {
                let all = || values.iter().map(|values| values[at]);
                for (direction, expected) in [
                    (Extreme::Least, all().fold(f64::INFINITY, f64::min)),
                    (Extreme::Greatest, all().fold(0.0, f64::max)),
                ] {
                    let found = extreme(&chain, goal, direction, deadline).unwrap();
                    let near = 1e-10 * expected.max(1.0);
                    assert!(
                        found == Interval::INFINITE && expected == f64::INFINITY
                            || found.low <= expected && expected <= found.high && found.width() < near,
                        "round {round}, {goal:?}, {direction:?}: expected {expected}, found {found:?}"
                    );
                    infinite += u32::from(expected == f64::INFINITY);
                    endless += u32::from(at == 0 && expected < 1.0);
                    finite += u32::from(at == 1 && expected > 0.0 && expected < f64::INFINITY);
                }
            }
        }
        assert!(infinite > 20 && endless > 20 && finite > 20, "{infinite} {endless} {finite}");
    }
}
