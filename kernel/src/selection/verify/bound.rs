//! The arithmetic of `verify`: an upper bound on the weight of the sets of a node, and a lower bound on the weight of a better
//! set. An overflow of 128 bits proves nothing.

use super::error::VerifyErrorKind;
use crate::selection::certificate::{Certificate, DualSolution};
use crate::selection::problem::{Candidate, Problem};
use alloc::vec;
use alloc::vec::Vec;

/// A candidate, with numbers wide enough for products.
pub(super) struct Item {
    pub(super) utility: i128,
    pub(super) cost: i128,
    count: i128,
    /// Ascending.
    pub(super) deps: Vec<usize>,
    pub(super) dependents: Vec<usize>,
}

/// Converts the candidates of a problem and marks the counted ones.
pub(super) fn items(problem: &Problem, counted: &[usize]) -> Result<Vec<Item>, VerifyErrorKind> {
    let convert = |candidate: &Candidate| {
        let mut deps = candidate.deps.clone();
        deps.sort_unstable();
        let (utility, cost) = (candidate.utility.into(), candidate.cost.into());
        Item { utility, cost, count: 0, deps, dependents: Vec::new() }
    };
    let mut items: Vec<Item> = problem.candidates().iter().map(convert).collect();
    for (item, candidate) in problem.candidates().iter().enumerate() {
        for &dep in &candidate.deps {
            if let Some(needed) = items.get_mut(dep) {
                needed.dependents.push(item);
            }
        }
    }
    for &item in counted {
        items.get_mut(item).ok_or(VerifyErrorKind::UnknownPosition { item })?.count = 1;
    }
    Ok(items)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStatus {
    Open,
    In,
    Out,
}

/// A goal that makes a set better: at least this utility within this budget.
struct Goal {
    utility: i128,
    budget: i128,
}

/// A node: the sets that agree with the fixed candidates and the bounds on the count.
pub(super) struct Subproblem<'a> {
    pub(super) items: &'a [Item],
    pub(super) status: Vec<NodeStatus>,
    /// The minimum number of counted candidates.
    pub(super) count_min: Option<i128>,
    /// The maximum number of counted candidates.
    pub(super) count_max: Option<i128>,
    /// The sums over the included candidates.
    utility: i128,
    cost: i128,
    count: i128,
    budget: i128,
    goals: [Goal; 2],
    slopes: &'a [u64],
    /// The remaining weight of each candidate under the last prices.
    remaining: Vec<i128>,
}

impl<'a> Subproblem<'a> {
    /// Creates the root node.
    pub(super) fn new(items: &'a [Item], problem: &Problem, certificate: &'a Certificate) -> Self {
        let selection = &certificate.selection;
        let (utility, budget) = (i128::from(selection.utility), i128::from(problem.budget()));
        let better = Goal { utility: utility.saturating_add(1), budget };
        let cheaper = Goal { utility, budget: i128::from(selection.cost).saturating_sub(1) };
        Self {
            items,
            status: vec![NodeStatus::Open; items.len()],
            count_min: None,
            count_max: None,
            utility: 0,
            cost: 0,
            count: 0,
            budget,
            goals: [better, cheaper],
            slopes: &certificate.slopes,
            remaining: vec![0; items.len()],
        }
    }

    /// Returns the open candidates.
    fn open(&self) -> impl Iterator<Item = &'a Item> {
        self.items
            .iter()
            .zip(&self.status)
            .filter(|(_, status)| **status == NodeStatus::Open)
            .map(|(item, _)| item)
    }

    /// Sets the status of a candidate. No sum exceeds 2^62.
    pub(super) fn set(&mut self, index: usize, status: NodeStatus) {
        let (Some(item), Some(current)) = (self.items.get(index), self.status.get_mut(index)) else { return };
        let before = core::mem::replace(current, status);
        let change = match (before == NodeStatus::In, status == NodeStatus::In) {
            (false, true) => i128::saturating_add,
            (true, false) => i128::saturating_sub,
            _ => return,
        };
        self.utility = change(self.utility, item.utility);
        self.cost = change(self.cost, item.cost);
        self.count = change(self.count, item.count);
    }

    /// Returns whether including these candidates exceeds the budget.
    pub(super) fn exceeds_budget(&self, closure: &[usize]) -> bool {
        let costs = closure.iter().filter_map(|item| self.items.get(*item)).map(|item| item.cost);
        costs.fold(self.cost, i128::saturating_add) > self.budget
    }

    /// Returns the weight that a set loses against the maximum if it includes these candidates (their deficits) or excludes them
    /// (their excess).
    pub(super) fn loss(&self, closure: &[usize], status: NodeStatus) -> i128 {
        let remaining = closure.iter().filter_map(|item| self.remaining.get(*item));
        let losses = remaining.map(|remaining| {
            if status == NodeStatus::In { remaining.saturating_neg() } else { *remaining }.max(0)
        });
        losses.fold(0, i128::saturating_add)
    }

    /// Returns the difference of the two bounds: below zero, no set of the node is better. `None` if no goal is attainable.
    pub(super) fn slack(&mut self, prices: &DualSolution) -> Result<Option<i128>, VerifyErrorKind> {
        if prices.scale < 0 || prices.price < 0 {
            return Err(VerifyErrorKind::Negative);
        }
        let max_weight = self.max_weight(prices)?;
        let count_cost = match prices.count_price {
            0 => 0,
            price => {
                let count = if price > 0 { self.count_max } else { self.count_min };
                price
                    .checked_mul(count.ok_or(VerifyErrorKind::CountPriceWithoutBranch)?)
                    .ok_or(VerifyErrorKind::Overflow)?
            }
        };
        let mut slack = None;
        for goal in self.goals.iter().filter(|goal| goal.budget >= self.cost) {
            let usable_budget = self.usable_budget(goal).ok_or(VerifyErrorKind::Overflow)?;
            if self.slopes.iter().any(|slope| {
                self.rounding_gain(goal, usable_budget, (*slope).into()) == Some(RoundingGain::Infeasible)
            }) {
                continue;
            }
            let goal_weight = self.min_goal_weight(prices, goal, usable_budget);
            let difference =
                goal_weight.and_then(|weight| max_weight.checked_sub(weight.checked_sub(count_cost)?));
            slack = slack.max(Some(difference.ok_or(VerifyErrorKind::Overflow)?));
        }
        Ok(slack)
    }

    /// Returns an upper bound on the weight of a set: the included candidates, and all positive remaining weights after the
    /// flow. Fixed candidates start with weight 0 and take part in the flow.
    fn max_weight(&mut self, prices: &DualSolution) -> Result<i128, VerifyErrorKind> {
        let weight = |utility: i128, cost: i128, count: i128| {
            let gain = prices.scale.checked_mul(utility)?;
            gain.checked_sub(prices.price.checked_mul(cost)?)?
                .checked_sub(prices.count_price.checked_mul(count)?)
        };
        for ((item, status), remaining) in self.items.iter().zip(&self.status).zip(&mut self.remaining) {
            *remaining = match status {
                NodeStatus::Open => {
                    weight(item.utility, item.cost, item.count).ok_or(VerifyErrorKind::Overflow)?
                }
                NodeStatus::In | NodeStatus::Out => 0,
            };
        }
        for &(item, dep, amount) in &prices.flow {
            if self.items.get(item).is_none_or(|item| item.deps.binary_search(&dep).is_err()) {
                return Err(VerifyErrorKind::FlowWithoutDependency { item, dep });
            }
            if amount < 0 {
                return Err(VerifyErrorKind::Negative);
            }
            for (end, change) in [(item, amount.checked_neg()), (dep, Some(amount))] {
                if let Some(remaining) = self.remaining.get_mut(end) {
                    *remaining = change
                        .and_then(|change| remaining.checked_add(change))
                        .ok_or(VerifyErrorKind::Overflow)?;
                }
            }
        }
        let included = weight(self.utility, self.cost, self.count).ok_or(VerifyErrorKind::Overflow)?;
        let mut excess = self.remaining.iter().filter(|remaining| **remaining > 0);
        excess
            .try_fold(included, |sum, remaining| sum.checked_add(*remaining))
            .ok_or(VerifyErrorKind::Overflow)
    }

    /// Checks that a candidate exists and is open.
    pub(super) fn check_open(&self, item: usize) -> Result<(), VerifyErrorKind> {
        match self.status.get(item) {
            Some(NodeStatus::Open) => Ok(()),
            Some(_) => Err(VerifyErrorKind::AlreadyFixed { item }),
            None => Err(VerifyErrorKind::UnknownPosition { item }),
        }
    }

    /// Returns the sum of the open candidates' costs, and their greatest common divisor.
    fn costs(&self) -> Option<(i128, i128)> {
        let sum = |(all, unit): (i128, i128), item: &Item| {
            Some((all.checked_add(item.cost)?, gcd(unit, item.cost)))
        };
        self.open().try_fold((0, 0), sum)
    }

    /// Returns the part of a goal's budget that a set can use.
    fn usable_budget(&self, goal: &Goal) -> Option<i128> {
        let (all, unit) = self.costs()?;
        let available = goal.budget.checked_sub(self.cost)?.min(all);
        self.cost.checked_add(available.checked_sub(available.checked_rem(unit).unwrap_or(0))?)
    }

    /// Returns the budget of the open candidates; `None` if the included candidates exceed the budget.
    pub(super) fn remaining_budget(&self) -> Option<i128> {
        let available = self.budget.checked_sub(self.cost).filter(|available| *available >= 0)?;
        Some(available.min(self.costs()?.0))
    }

    /// Returns whether a goal is attainable, given the maximum utility of open candidates within a budget.
    pub(super) fn can_reach_goal(&self, max_utility: impl Fn(i128) -> i128) -> bool {
        let goals = self.goals.iter().filter(|goal| goal.budget >= self.cost);
        goals
            .map(|goal| (goal.budget.saturating_sub(self.cost), goal.utility.saturating_sub(self.utility)))
            .any(|(available, utility)| max_utility(available) >= utility)
    }

    /// Returns a lower bound on the weight of a set that reaches a goal, without count prices. The rounding gain is valued at the
    /// price, or at the scale if the slope is 0. An overflow omits the gain, which only weakens the bound.
    fn min_goal_weight(&self, prices: &DualSolution, goal: &Goal, usable_budget: i128) -> Option<i128> {
        let unrounded =
            prices.scale.checked_mul(goal.utility)?.checked_sub(prices.price.checked_mul(usable_budget)?)?;
        let gains = self.slopes.iter().filter_map(|slope| {
            let slope = i128::from(*slope);
            let Some(RoundingGain::AtLeast(gain)) = self.rounding_gain(goal, usable_budget, slope) else {
                return None;
            };
            match slope {
                0 => gain.checked_mul(prices.scale),
                slope => {
                    let rate = prices.price.min(prices.scale.checked_mul(slope)?);
                    gain.checked_mul(rate)?.checked_div(slope)
                }
            }
        });
        unrounded.checked_add(gains.max().unwrap_or(0))
    }

    /// Returns by how much `utility - slope * cost` of a set that reaches a goal exceeds that of the goal, by rounding.
    fn rounding_gain(&self, goal: &Goal, usable_budget: i128, slope: i128) -> Option<RoundingGain> {
        let offset = |utility: i128, cost: i128| utility.checked_sub(slope.checked_mul(cost)?);
        let step = self.open().try_fold(0, |step, item| Some(gcd(step, offset(item.utility, item.cost)?)))?;
        let shortfall = offset(goal.utility, usable_budget)?.checked_sub(offset(self.utility, self.cost)?)?;
        match step {
            0 if shortfall > 0 => Some(RoundingGain::Infeasible),
            0 => Some(RoundingGain::AtLeast(0)),
            step => {
                shortfall.checked_neg().map(|remainder| RoundingGain::AtLeast(remainder.rem_euclid(step)))
            }
        }
    }
}

/// The effect of rounding up on the sets that reach a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoundingGain {
    /// Each set exceeds the goal by at least this amount.
    AtLeast(i128),
    /// No set reaches the goal.
    Infeasible,
}

/// Returns the greatest common divisor, at least 0.
fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}
