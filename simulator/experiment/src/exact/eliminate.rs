//! The elimination of the states of a component, one after the other.
//!
//! Eliminating a state connects its predecessors with its successors. What remains of its row is the probability to leave it, a sum; so
//! nothing is subtracted (Grassmann, Taksar and Heyman). The state with the fewest new transitions is next.

use super::number::Number;
use std::collections::{BTreeMap, BTreeSet};

/// An eliminated state.
struct Row<N> {
    state: usize,
    /// The expected number of visits for each time that the state is entered.
    visits: N,
    predecessors: Vec<(usize, N)>,
    successors: Vec<(usize, N)>,
}

/// The order of elimination with the remaining transitions of each state.
pub(crate) struct Elimination<N> {
    rows: Vec<Row<N>>,
}

/// The transitions of a component: within it, and the probability to leave it.
#[derive(Clone)]
pub(crate) struct Transitions<N> {
    /// By state and successor.
    pub(crate) inner: Vec<BTreeMap<usize, N>>,
    /// By state.
    pub(crate) exit: Vec<N>,
}

/// The effort that remains.
pub(crate) struct Budget(pub(crate) u64);

impl Budget {
    /// Takes the effort of an operation. Returns `None` if too little remains.
    pub(crate) fn take(&mut self, effort: u64) -> Option<()> {
        self.0 = self.0.checked_sub(effort)?;
        Some(())
    }
}

impl<N: Number> Elimination<N> {
    /// Eliminates every state; `None` if the budget is too small. Some state must be able to leave the component.
    pub(crate) fn new(transitions: Transitions<N>, budget: &mut Budget) -> Option<Self> {
        let Transitions { mut inner, mut exit } = transitions;
        let len = inner.len();
        let mut incoming: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); len];
        for (state, row) in inner.iter().enumerate() {
            for to in row.keys().filter(|to| **to != state) {
                incoming.get_mut(*to)?.insert(state);
            }
        }
        let cost = |inner: &[BTreeMap<usize, N>], incoming: &[BTreeSet<usize>], state: usize| {
            let row = inner.get(state).map_or(0, BTreeMap::len);
            row * incoming.get(state).map_or(0, BTreeSet::len)
        };
        let mut queue: BTreeSet<(usize, usize)> =
            (0..len).map(|state| (cost(&inner, &incoming, state), state)).collect();
        let mut costs: Vec<usize> = (0..len).map(|state| cost(&inner, &incoming, state)).collect();
        let mut rows = Vec::with_capacity(len);
        while let Some((_, state)) = queue.pop_first() {
            let mut row = std::mem::take(inner.get_mut(state)?);
            row.remove(&state);
            let mut leave = exit.get(state)?.clone();
            row.values().for_each(|probability| leave.add(probability));
            let visits = N::one().divide(&leave);
            let own_exit = exit.get(state)?.clone();
            let mut predecessors = Vec::new();
            for from in std::mem::take(incoming.get_mut(state)?) {
                let Some(enter) = inner.get_mut(from)?.remove(&state) else { continue };
                let through = enter.multiply(&visits);
                budget.take(enter.size() + through.size())?;
                for (to, probability) in &row {
                    let added = through.multiply(probability);
                    budget.take(added.size())?;
                    match inner.get_mut(from)?.get_mut(to) {
                        Some(sum) => sum.add(&added),
                        None => {
                            inner.get_mut(from)?.insert(*to, added);
                            if from != *to {
                                incoming.get_mut(*to)?.insert(from);
                            }
                        }
                    }
                }
                exit.get_mut(from)?.add(&through.multiply(&own_exit));
                predecessors.push((from, enter));
            }
            for to in row.keys() {
                incoming.get_mut(*to)?.remove(&state);
            }
            for other in row.keys().chain(predecessors.iter().map(|(from, _)| from)) {
                let (old, new) = (costs.get(*other).copied()?, cost(&inner, &incoming, *other));
                if old != new && queue.remove(&(old, *other)) {
                    queue.insert((new, *other));
                    *costs.get_mut(*other)? = new;
                }
            }
            rows.push(Row { state, visits, predecessors, successors: row.into_iter().collect() });
        }
        Some(Self { rows })
    }

    /// Replaces the inflow of each state by its expected number of visits; `None` if the budget is too small.
    pub(crate) fn visits(&self, inflow: &mut [N], budget: &mut Budget) -> Option<()> {
        for row in &self.rows {
            let through = inflow.get(row.state)?.multiply(&row.visits);
            for (to, probability) in &row.successors {
                let added = through.multiply(probability);
                budget.take(added.size())?;
                inflow.get_mut(*to)?.add(&added);
            }
        }
        // The predecessors of a row were eliminated after it.
        for row in self.rows.iter().rev() {
            let mut entered = inflow.get(row.state)?.clone();
            for (from, probability) in &row.predecessors {
                let added = inflow.get(*from)?.multiply(probability);
                budget.take(added.size())?;
                entered.add(&added);
            }
            *inflow.get_mut(row.state)? = entered.multiply(&row.visits);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::Fraction;
    use super::*;

    fn fraction(numerator: i64, denominator: i64) -> Fraction {
        Fraction::new(numerator.into(), denominator.into())
    }

    /// Visits satisfy their own equation: each is the inflow and what the other states send.
    #[test]
    fn visits_satisfy_their_equation() {
        let mut random = 7_u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        for len in [1, 2, 5, 12] {
            let mut transitions = Transitions { inner: vec![BTreeMap::new(); len], exit: Vec::new() };
            for state in 0..len {
                let weights: Vec<i64> = (0..=len).map(|_| draw(4) as i64).collect();
                let total = weights.iter().sum::<i64>() + 1;
                let inner = weights.iter().take(len).enumerate().filter(|(_, weight)| **weight > 0);
                transitions.inner[state] = inner.map(|(to, weight)| (to, fraction(*weight, total))).collect();
                transitions.exit.push(fraction(weights[len] + 1, total));
            }
            let inflow: Vec<Fraction> = (0..len).map(|_| fraction(draw(9) as i64, 7)).collect();
            let mut visits = inflow.clone();
            let budget = &mut Budget(u64::MAX);
            Elimination::new(transitions.clone(), budget).unwrap().visits(&mut visits, budget).unwrap();
            for state in 0..len {
                let sent =
                    (0..len).filter_map(|from| Some(&visits[from] * transitions.inner[from].get(&state)?));
                assert_eq!(visits[state], &inflow[state] + sent.sum::<Fraction>(), "{state} of {len}");
            }
        }
    }
}
