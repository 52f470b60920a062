//! The expected number of visits of each state of a Markov chain, component by component.
//!
//! Every expected reward is the sum of visits times rewards, so one solution serves all metrics. A component without a way out that is not
//! absorbing is never left: a run in it has no end.

use super::chain::Chain;
use super::components::Components;
use super::eliminate::{Budget, Elimination, Transitions};
use super::iterate;
use super::number::{Fraction, Interval, Number};
use std::collections::BTreeMap;
use std::time::Instant;

/// The maximum number of states of a component that is eliminated with intervals.
const ELIMINATION_STATES_MAX: usize = 20_000;

/// The visits of every state.
pub(crate) struct Visits<N> {
    /// By state; 0 in components that are never left.
    pub(crate) visits: Vec<N>,
    /// The probability that a run does not end.
    pub(crate) endless: N,
    /// The states in components that are never left.
    pub(crate) trapped: Vec<u32>,
}

/// How large components are solved.
pub(crate) trait Solver<N> {
    /// Returns the transitions of the only choice of a state.
    fn edges(&self, state: u32) -> Vec<(u32, N)>;

    /// Replaces the inflow of each state of a component by its visits; `None` if the effort is too large.
    fn solve(&mut self, transitions: Transitions<N>, inflow: &mut [N]) -> Option<()>;

    /// Takes the effort of an operation; `None` if too little remains.
    fn take(&mut self, effort: u64) -> Option<()>;
}

/// Solves by elimination with exact fractions.
pub(crate) struct Exactly<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) budget: Budget,
}

impl Solver<Fraction> for Exactly<'_> {
    fn edges(&self, state: u32) -> Vec<(u32, Fraction)> {
        let edges =
            |choice| self.chain.exact_edges(choice).map(|(to, probability)| (to, probability.clone()));
        self.chain.choices(state).flat_map(edges).collect()
    }

    fn solve(&mut self, transitions: Transitions<Fraction>, inflow: &mut [Fraction]) -> Option<()> {
        Elimination::new(transitions, &mut self.budget)?.visits(inflow, &mut self.budget)
    }

    fn take(&mut self, effort: u64) -> Option<()> {
        self.budget.take(effort)
    }
}

/// Solves with intervals: small components by elimination, others by iteration.
pub(crate) struct Bounded<'a> {
    pub(crate) chain: &'a Chain,
    /// The operations of an elimination, above which a component is solved by iteration.
    pub(crate) max_operations: u64,
    pub(crate) deadline: Instant,
}

impl Solver<Interval> for Bounded<'_> {
    fn edges(&self, state: u32) -> Vec<(u32, Interval)> {
        let choices = self.chain.choices(state);
        let edges = choices.flat_map(|choice| self.chain.edges(choice));
        edges.map(|edge| (edge.to, Interval::around(edge.probability))).collect()
    }

    fn solve(&mut self, transitions: Transitions<Interval>, inflow: &mut [Interval]) -> Option<()> {
        if transitions.inner.len() <= ELIMINATION_STATES_MAX {
            let mut budget = Budget(self.max_operations);
            let mut visits = inflow.to_vec();
            let eliminated = Elimination::new(transitions.clone(), &mut budget)
                .and_then(|elimination| elimination.visits(&mut visits, &mut budget));
            if eliminated.is_some() {
                inflow.copy_from_slice(&visits);
                return Some(());
            }
        }
        iterate::visits(&transitions, inflow, self.deadline)
    }

    fn take(&mut self, _: u64) -> Option<()> {
        Some(())
    }
}

/// Returns whether a component has a cycle.
pub(crate) fn is_cyclic(chain: &Chain, states: &[u32]) -> bool {
    match states {
        [state] => chain.successors(*state).iter().any(|edge| edge.to == *state),
        _ => true,
    }
}

/// Computes the visits of every state; `None` if the effort is too large.
pub(crate) fn visits<N: Number>(
    chain: &Chain,
    components: &Components,
    solver: &mut impl Solver<N>,
) -> Option<Visits<N>> {
    let mut visits = vec![N::zero(); chain.states()];
    *visits.first_mut()? = N::one();
    let (mut endless, mut trapped) = (N::zero(), Vec::new());
    for component in (0..components.len()).rev() {
        let states = components.states(component);
        if is_cyclic(chain, states) {
            let is_inner = |to: u32| components.of(to) as usize == component;
            let leaves = |state: &u32| chain.successors(*state).iter().any(|edge| !is_inner(edge.to));
            if !states.iter().any(leaves) {
                for state in states {
                    let entered = std::mem::replace(visits.get_mut(*state as usize)?, N::zero());
                    if !entered.is_zero() {
                        endless.add(&entered);
                        trapped.extend_from_slice(states);
                    }
                }
                continue;
            }
            solve_component(states, &is_inner, solver, &mut visits)?;
            push(states, |to| !is_inner(to), solver, &mut visits)?;
        } else {
            push(states, |_| true, solver, &mut visits)?;
        }
    }
    Some(Visits { visits, endless, trapped })
}

/// Adds the visits of states to those of their successors.
fn push<N: Number>(
    states: &[u32],
    is_target: impl Fn(u32) -> bool,
    solver: &mut impl Solver<N>,
    visits: &mut [N],
) -> Option<()> {
    for state in states {
        let own = visits.get(*state as usize)?.clone();
        for (to, probability) in solver.edges(*state) {
            if is_target(to) {
                let added = own.multiply(&probability);
                solver.take(added.size())?;
                visits.get_mut(to as usize)?.add(&added);
            }
        }
    }
    Some(())
}

fn solve_component<N: Number>(
    states: &[u32],
    is_inner: &impl Fn(u32) -> bool,
    solver: &mut impl Solver<N>,
    visits: &mut [N],
) -> Option<()> {
    // The order of discovery follows the transitions, which makes iteration fast.
    let mut ordered = states.to_vec();
    ordered.sort_unstable();
    let place = |state: u32| ordered.binary_search(&state).ok();
    let mut transitions = Transitions { inner: Vec::with_capacity(states.len()), exit: Vec::new() };
    for state in &ordered {
        let (mut row, mut exit) = (BTreeMap::new(), N::zero());
        for (to, probability) in solver.edges(*state) {
            match place(to).filter(|_| is_inner(to)) {
                None => exit.add(&probability),
                Some(to) => row.entry(to).or_insert_with(N::zero).add(&probability),
            }
        }
        transitions.inner.push(row);
        transitions.exit.push(exit);
    }
    let value = |state: &u32| visits.get(*state as usize).cloned();
    let mut inflow: Vec<N> = ordered.iter().map(value).collect::<Option<_>>()?;
    solver.solve(transitions, &mut inflow)?;
    for (state, value) in ordered.iter().zip(inflow) {
        *visits.get_mut(*state as usize)? = value;
    }
    Some(())
}
