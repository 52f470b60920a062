//! The visits of a large component by iteration, with bounds that are verified afterwards.
//!
//! The visits `x` solve `x = b + Pᵀx`. Iteration gives an approximation with the residual `ρ`, and another one gives `w` with
//! `w ≥ 1 + Pᵀw`. Then `x ± max|ρ|·w` are bounds: both sides satisfy the equation as inequalities, and the component is left with
//! probability 1, so the solution lies between them. The bounds hold however early the iteration stops.

use super::eliminate::Transitions;
use super::number::{Interval, round_down, round_up};
use std::time::Instant;

/// The relative change of a sweep below which further sweeps do not help.
const CHANGE: f64 = 1e-16;

/// The incoming transitions of each state, and the probability to leave it for another one.
struct Incoming {
    starts: Vec<usize>,
    edges: Vec<(u32, f64)>,
    leave: Vec<f64>,
    /// Twice the maximum number of operations behind a row.
    operations: f64,
}

impl Incoming {
    fn new(transitions: &Transitions<Interval>) -> Self {
        let len = transitions.inner.len();
        let mut starts = vec![0; len + 1];
        let mut leave: Vec<f64> = transitions.exit.iter().map(|exit| exit.middle()).collect();
        let inner = || transitions.inner.iter().enumerate();
        for (from, row) in inner() {
            for (to, probability) in row.iter().filter(|(to, _)| **to != from) {
                if let (Some(start), Some(leave)) = (starts.get_mut(to + 1), leave.get_mut(from)) {
                    *start += 1;
                    *leave += probability.middle();
                }
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut next, mut edges) = (starts.clone(), vec![(0, 0.0); sum]);
        for (from, row) in inner() {
            for (to, probability) in row.iter().filter(|(to, _)| **to != from) {
                if let Some(next) = next.get_mut(*to) {
                    if let Some(edge) = edges.get_mut(*next) {
                        *edge = (from as u32, probability.middle());
                    }
                    *next += 1;
                }
            }
        }
        let operations = 4.0 * inner().map(|(_, row)| row.len()).max().unwrap_or(0) as f64 + 16.0;
        Self { starts, edges, leave, operations }
    }

    fn of(&self, state: usize) -> &[(u32, f64)] {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(0);
        self.edges.get(at(state)..at(state + 1)).unwrap_or_default()
    }

    /// Returns what enters a state.
    fn entered(&self, state: usize, inflow: f64, visits: &[f64]) -> f64 {
        let value = |from: u32| visits.get(from as usize).copied().unwrap_or(0.0);
        self.of(state).iter().fold(inflow, |sum, (from, probability)| sum + value(*from) * probability)
    }

    /// Returns a bound of the rounding of both sides of an equation, of which this is the sum.
    fn slack(&self, state: usize, sum: f64) -> f64 {
        // Each probability, product and sum is rounded, and the row of the state is a sum, too.
        let operations = self.operations + 4.0 * self.of(state).len() as f64;
        sum * operations * f64::EPSILON
    }

    /// Updates every state, in both directions. Returns the largest relative change.
    fn sweep(&self, inflow: impl Fn(usize) -> f64, visits: &mut [f64]) -> f64 {
        let mut change = 0.0_f64;
        let len = visits.len();
        for state in (0..len).chain((0..len).rev()) {
            let new =
                self.entered(state, inflow(state), visits) / self.leave.get(state).copied().unwrap_or(1.0);
            if let Some(old) = visits.get_mut(state) {
                if new > 0.0 {
                    change = change.max((new - *old).abs() / new);
                }
                *old = new;
            }
        }
        change
    }
}

/// Replaces the inflow of each state by bounds of its visits; `None` if no bounds were found before the deadline.
pub(crate) fn visits(
    transitions: &Transitions<Interval>,
    inflow: &mut [Interval],
    deadline: Instant,
) -> Option<()> {
    let incoming = Incoming::new(transitions);
    let len = inflow.len();
    let weights = weights(&incoming, len, deadline)?;
    let mut visits = vec![0.0; len];
    let middle = |state: usize| inflow.get(state).map_or(0.0, |inflow| inflow.middle());
    let mut best = f64::INFINITY;
    for turn in 0.. {
        let change = incoming.sweep(middle, &mut visits);
        // Rounding alone lets values change for ever.
        let stagnates = change < 1e-14 && change >= best;
        best = best.min(change);
        if change <= CHANGE || stagnates || (turn % 16 == 0 && Instant::now() > deadline) {
            break;
        }
    }
    let residual = (0..len).map(|state| residual(&incoming, state, inflow, &visits)).fold(0.0, f64::max);
    for (state, bounds) in inflow.iter_mut().enumerate() {
        let value = visits.get(state).copied()?;
        let margin = round_up(residual * weights.get(state).copied()?, 2.0);
        *bounds =
            Interval { low: round_down((value - margin).max(0.0), 2.0), high: round_up(value + margin, 2.0) };
    }
    Some(())
}

/// Returns a bound of the difference between both sides of the equation of a state, in exact arithmetic.
fn residual(incoming: &Incoming, state: usize, inflow: &[Interval], visits: &[f64]) -> f64 {
    let inflow = inflow.get(state).copied().unwrap_or(Interval::ZERO);
    let entered = incoming.entered(state, inflow.middle(), visits);
    let left = visits.get(state).copied().unwrap_or(0.0) * incoming.leave.get(state).copied().unwrap_or(1.0);
    round_up((entered - left).abs() + incoming.slack(state, entered + left) + inflow.width(), 4.0)
}

/// Returns weights with `w ≥ 1 + Pᵀw`; `None` if none were found before the deadline.
fn weights(incoming: &Incoming, len: usize, deadline: Instant) -> Option<Vec<f64>> {
    let mut weights = vec![1.0; len];
    for turn in 0.. {
        incoming.sweep(|_| 1.0, &mut weights);
        let lacks = |state: usize| {
            let left = weights.get(state).copied().unwrap_or(0.0)
                * incoming.leave.get(state).copied().unwrap_or(1.0);
            let entered = incoming.entered(state, 1.0, &weights);
            entered - left + incoming.slack(state, entered + left)
        };
        if (0..len).all(|state| lacks(state) <= 0.25) {
            // Twice the weights exceed the equation by 1/2.
            return Some(weights.into_iter().map(|weight| 2.0 * weight).collect());
        }
        if turn % 16 == 0 && Instant::now() > deadline {
            return None;
        }
    }
    None
}
