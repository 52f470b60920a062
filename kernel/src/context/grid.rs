//! What all worths of a graph have in common, which lets a bound be rounded down to a worth that can occur.
//!
//! Where every utility is `slope * cost` but for multiples of a step, a set within budget `T` is worth
//! `slope * T + step * m` at most, for some integer `m`: strongly correlated and subset-sum problems are mostly
//! decided by this (Pisinger, 2005, on why they are hard without it).

use super::condense::Graph;
use super::flow::Amount;
use super::search::Worth;
use alloc::vec::Vec;

/// For every set `S` of nodes, with what is held: `utility(S) = rest + slope * cost(S) + step * m`, `m` an integer,
/// and `cost(S)` is `held` but for multiples of `unit`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    slope: Amount,
    step: Amount,
    rest: Amount,
    held: i64,
    unit: i64,
}

impl Grid {
    fn new(graph: &Graph, held: Worth, slope: i64) -> Self {
        let slope = Amount::from(slope);
        let over = |utility: i64, cost: i64| Amount::from(utility) - slope * Amount::from(cost);
        let both = graph.utility.iter().zip(&graph.cost);
        let step = both.fold(0, |step, (&utility, &cost)| gcd(step, over(utility, cost).abs()));
        let unit = graph.cost.iter().fold(0, |unit, &cost| gcd(unit, Amount::from(cost)));
        let unit = i64::try_from(unit).unwrap_or(1);
        Self { slope, step, rest: over(held.utility, held.cost), held: held.cost, unit }
    }

    /// As much of a budget as costs can use up.
    pub(super) fn usable(&self, budget: i64) -> i64 {
        let room = budget - self.held;
        if self.unit > 0 { self.held + room.div_euclid(self.unit) * self.unit } else { budget.min(self.held) }
    }

    /// The least that a bound must come to if a set within the budget is to have so much utility; `None` if none can.
    ///
    /// With `p >= slope` the price of the bound `L`, every set of cost `c <= T` has
    /// `step * m = utility - slope * c - rest <= L - p * (T - c) - slope * c - rest <= L - slope * T - rest`.
    pub(super) fn need(&self, utility: i64, budget: i64, price: Amount, scale: u32) -> Option<Amount> {
        let (utility, budget) = (Amount::from(utility), Amount::from(budget));
        if price < self.slope << scale {
            return Some(utility << scale);
        }
        let base = self.rest + self.slope * budget;
        let short = utility - base;
        match self.step {
            0 if short > 0 => None,
            0 => Some(utility << scale),
            step => Some((base - (-short).div_euclid(step) * step) << scale),
        }
    }

    /// The greatest utility that a bound allows.
    pub(super) fn floor(&self, bound: Amount, budget: i64, price: Amount, scale: u32) -> Amount {
        let whole = bound >> scale;
        if price < self.slope << scale {
            return whole;
        }
        let base = self.rest + self.slope * Amount::from(budget);
        if self.step == 0 { whole.min(base) } else { base + (whole - base).div_euclid(self.step) * self.step }
    }
}

/// The grids of slopes that suggest themselves: none, one for one, and that of two nodes of different cost.
pub(super) fn grids(graph: &Graph, held: Worth) -> Vec<Grid> {
    let mut slopes = Vec::from([0, 1]);
    let nodes = || graph.utility.iter().zip(&graph.cost);
    let ends = nodes().min_by_key(|(_, cost)| **cost).zip(nodes().max_by_key(|(_, cost)| **cost));
    if let Some(((u, c), (v, d))) = ends
        && let Some(slope) = (v - u).checked_div(d - c)
        && slope > 1
    {
        slopes.push(slope);
    }
    slopes.into_iter().map(|slope| Grid::new(graph, held, slope)).collect()
}

fn gcd(mut a: Amount, mut b: Amount) -> Amount {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
