//! Lattices: what all utilities of a graph have in common. A bound can be rounded down to a value that can occur.
//!
//! If every utility is `slope * cost` up to multiples of a step, a set within the budget `T` has a utility of at most
//! `slope * T + step * m` for some integer `m`. This decides most strongly correlated and subset-sum problems
//! (Pisinger, 2005, on their hardness without it).

use super::flow::Amount;
use super::objective::Objective;
use alloc::vec::Vec;

/// For every set `S` of nodes together with the fixed ones: `utility(S) = rest + slope * cost(S) + step * m` with an
/// integer `m`, and `cost(S)` is `held` up to multiples of `unit`.
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

    /// The ratio of utility to cost.
    pub(super) fn slope(&self) -> u64 {
        u64::try_from(self.slope).unwrap_or(0)
    }

    /// The part of a budget that costs can use.
    pub(super) fn usable(&self, budget: i64) -> i64 {
        let room = budget - self.held;
        if self.unit > 0 { self.held + room.div_euclid(self.unit) * self.unit } else { budget.min(self.held) }
    }

    /// The highest possible utility up to a bound, for any cost.
    pub(super) fn floor(&self, bound: Amount) -> Amount {
        if self.slope == 0 && self.step > 0 {
            bound - (bound - self.rest).rem_euclid(self.step)
        } else {
            bound
        }
    }

    /// The lowest bound `L` with which a set within the budget `T` can have the utility `U`; `None` if there is none.
    ///
    /// `cost <= T` requires `step * m >= U - slope * T - rest`. What the integer `m` exceeds this by is lost at a price
    /// `p >= slope`, because `utility + p * (T - cost) <= L`; below the slope, `p / slope` of it is lost, because a
    /// cost below the budget compensates for a part.
    pub(super) fn need(&self, utility: i64, budget: i64, price: Amount, scale: u32) -> Option<Amount> {
        let utility = Amount::from(utility);
        let short = utility - self.rest - self.slope * Amount::from(budget);
        let lost = match self.step {
            0 if short > 0 => return None,
            0 => 0,
            step => -(-short).div_euclid(step) * step - short,
        };
        let rate = if self.slope == 0 { 1 << scale } else { price.min(self.slope << scale) };
        // A part that does not fit is dropped, which only weakens the bound.
        let lost = lost.checked_mul(rate).unwrap_or(0) / self.slope.max(1);
        Some((utility << scale) + lost)
    }
}

/// Returns the lattices of likely slopes: zero, one, and that of two nodes with different costs. Nodes are pairs of
/// utility and cost.
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
