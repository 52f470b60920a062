//! What all worths of a graph have in common, which lets a bound be rounded down to a worth that can occur.
//!
//! Where every utility is `slope * cost` but for multiples of a step, a set within budget `T` is worth
//! `slope * T + step * m` at most, for some integer `m`: strongly correlated and subset-sum problems are mostly
//! decided by this (Pisinger, 2005, on why they are hard without it).

use super::flow::Amount;
use super::search::Objective;
use alloc::vec::Vec;

/// For every set `S` of nodes, with what is held: `utility(S) = rest + slope * cost(S) + step * m`, `m` an integer,
/// and `cost(S)` is `held` but for multiples of `unit`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    slope: Amount,
    step: Amount,
    rest: Amount,
    held: i64,
    unit: i64,
}

impl Lattice {
    fn new(nodes: &[(i64, i64)], held: Objective, slope: i64) -> Self {
        let slope = Amount::from(slope);
        let over = |utility: i64, cost: i64| Amount::from(utility) - slope * Amount::from(cost);
        let step = nodes.iter().fold(0, |step, &(utility, cost)| gcd(step, over(utility, cost).abs()));
        let unit = nodes.iter().fold(0, |unit, &(_, cost)| gcd(unit, Amount::from(cost)));
        let unit = i64::try_from(unit).unwrap_or(1);
        Self { slope, step, rest: over(held.utility, held.cost), held: held.cost, unit }
    }

    /// At which utility is compared with cost.
    pub(super) fn slope(&self) -> u64 {
        u64::try_from(self.slope).unwrap_or(0)
    }

    /// As much of a budget as costs can use up.
    pub(super) fn usable(&self, budget: i64) -> i64 {
        let room = budget - self.held;
        if self.unit > 0 { self.held + room.div_euclid(self.unit) * self.unit } else { budget.min(self.held) }
    }

    /// The greatest utility up to a bound that any set may have, whatever it costs.
    pub(super) fn floor(&self, bound: Amount) -> Amount {
        if self.slope == 0 && self.step > 0 {
            bound - (bound - self.rest).rem_euclid(self.step)
        } else {
            bound
        }
    }

    /// The least that a bound `L` must come to if a set within the budget `T` is to have utility `U`; `None` if none
    /// can.
    ///
    /// `cost <= T` asks for `step * m >= U - slope * T - rest`: what it exceeds that by, `m` being an integer, is lost
    /// at a price `p >= slope`, for `utility + p * (T - cost) <= L`; below it, `p / slope` of that, for then a cost
    /// below the budget makes up for some.
    pub(super) fn need(&self, utility: i64, budget: i64, price: Amount, scale: u32) -> Option<Amount> {
        let utility = Amount::from(utility);
        let short = utility - self.rest - self.slope * Amount::from(budget);
        let lost = match self.step {
            0 if short > 0 => return None,
            0 => 0,
            step => -(-short).div_euclid(step) * step - short,
        };
        let rate = if self.slope == 0 { 1 << scale } else { price.min(self.slope << scale) };
        // What does not fit is not counted: the bound is only weaker then.
        let lost = lost.checked_mul(rate).unwrap_or(0) / self.slope.max(1);
        Some((utility << scale) + lost)
    }
}

/// The grids of slopes that suggest themselves: none, one for one, and that of two nodes of different cost. Nodes are
/// given by their utilities and costs.
pub(super) fn candidate_lattices(nodes: &[(i64, i64)], held: Objective) -> Vec<Lattice> {
    let mut slopes = Vec::from([0, 1]);
    let ends = nodes.iter().min_by_key(|(_, cost)| *cost).zip(nodes.iter().max_by_key(|(_, cost)| *cost));
    if let Some(((u, c), (v, d))) = ends
        && let Some(slope) = (v - u).checked_div(d - c)
        && slope > 1
    {
        slopes.push(slope);
    }
    slopes.into_iter().map(|slope| Lattice::new(nodes, held, slope)).collect()
}

fn gcd(mut a: Amount, mut b: Amount) -> Amount {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
