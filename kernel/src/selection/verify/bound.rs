//! The arithmetic of `verify`: what the sets of a case weigh at most under some prices, and what a better one weighs
//! at least. A number that does not fit 128 bits proves nothing.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

use super::error::VerifyErrorKind;
use crate::selection::{Candidate, Problem};
use crate::selection::{Certificate, DualSolution};
use alloc::vec;
use alloc::vec::Vec;

/// A candidate, with numbers wide enough for products.
pub(super) struct Item {
    pub(super) utility: i128,
    pub(super) cost: i128,
    count: i128,
    /// Ascending.
    pub(super) needs: Vec<usize>,
    pub(super) users: Vec<usize>,
}

/// The candidates of a problem, of which some are counted.
pub(super) fn items(problem: &Problem, counted: &[usize]) -> Result<Vec<Item>, VerifyErrorKind> {
    let of = |candidate: &Candidate| {
        let mut needs = candidate.deps.clone();
        needs.sort_unstable();
        let (utility, cost) = (candidate.utility.into(), candidate.cost.into());
        Item { utility, cost, count: 0, needs, users: Vec::new() }
    };
    let mut items: Vec<Item> = problem.candidates().iter().map(of).collect();
    for (item, candidate) in problem.candidates().iter().enumerate() {
        for &dep in &candidate.deps {
            if let Some(needed) = items.get_mut(dep) {
                needed.users.push(item);
            }
        }
    }
    for &item in counted {
        items.get_mut(item).ok_or(VerifyErrorKind::Unknown { item })?.count = 1;
    }
    Ok(items)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStatus {
    Open,
    In,
    Out,
}

/// What a better set would have to reach.
struct Goal {
    utility: i128,
    budget: i128,
}

/// All sets that agree with what is decided, and have so many counted candidates.
pub(super) struct Subproblem<'a> {
    pub(super) items: &'a [Item],
    pub(super) fate: Vec<NodeStatus>,
    /// How many counted ones there are at least.
    pub(super) fewest: Option<i128>,
    /// How many at most.
    pub(super) most: Option<i128>,
    /// What is decided to be in: the sums of its utilities, costs and counts.
    utility: i128,
    cost: i128,
    count: i128,
    budget: i128,
    goals: [Goal; 2],
    slopes: &'a [u64],
    /// What is left of the weight of each open candidate, under the last prices.
    left: Vec<i128>,
}

impl<'a> Subproblem<'a> {
    /// All sets.
    pub(super) fn new(items: &'a [Item], problem: &Problem, certificate: &'a Certificate) -> Self {
        let answer = &certificate.selection;
        let (utility, budget) = (i128::from(answer.utility), i128::from(problem.budget()));
        let more = Goal { utility: utility.saturating_add(1), budget };
        let cheaper = Goal { utility, budget: i128::from(answer.cost).saturating_sub(1) };
        Self {
            items,
            fate: vec![NodeStatus::Open; items.len()],
            fewest: None,
            most: None,
            utility: 0,
            cost: 0,
            count: 0,
            budget,
            goals: [more, cheaper],
            slopes: &certificate.slopes,
            left: vec![0; items.len()],
        }
    }

    /// The open candidates.
    fn open(&self) -> impl Iterator<Item = &'a Item> {
        self.items.iter().zip(&self.fate).filter(|(_, fate)| **fate == NodeStatus::Open).map(|(item, _)| item)
    }

    /// Decides a candidate, or opens it again. No sum exceeds 2^62.
    pub(super) fn set(&mut self, place: usize, fate: NodeStatus) {
        let (Some(item), Some(own)) = (self.items.get(place), self.fate.get_mut(place)) else { return };
        let before = core::mem::replace(own, fate);
        let change = match (before == NodeStatus::In, fate == NodeStatus::In) {
            (false, true) => i128::saturating_add,
            (true, false) => i128::saturating_sub,
            _ => return,
        };
        self.utility = change(self.utility, item.utility);
        self.cost = change(self.cost, item.cost);
        self.count = change(self.count, item.count);
    }

    /// Whether these do not fit any more.
    pub(super) fn are_too_dear(&self, company: &[usize]) -> bool {
        let costs = company.iter().filter_map(|item| self.items.get(*item)).map(|item| item.cost);
        costs.fold(self.cost, i128::saturating_add) > self.budget
    }

    /// What a set loses if it has these, against the heaviest one (their deficits); or, if it does not (their excess).
    pub(super) fn loss(&self, company: &[usize], fate: NodeStatus) -> i128 {
        let left = company.iter().filter_map(|item| self.left.get(*item));
        let lost = left.map(|left| if fate == NodeStatus::In { left.saturating_neg() } else { *left }.max(0));
        lost.fold(0, i128::saturating_add)
    }

    /// By how much the heaviest set may be above what a better one weighs at least; `None` if no goal can be reached at
    /// all. Below zero, too, there is no better set.
    pub(super) fn slack(&mut self, prices: &DualSolution) -> Result<Option<i128>, VerifyErrorKind> {
        if prices.scale < 0 || prices.price < 0 {
            return Err(VerifyErrorKind::Negative);
        }
        let most = self.max_weight(prices)?;
        let quota = match prices.count_price {
            0 => 0,
            toll => {
                let quota = if toll > 0 { self.most } else { self.fewest };
                toll.checked_mul(quota.ok_or(VerifyErrorKind::CountPriceWithoutBranch)?)
                    .ok_or(VerifyErrorKind::Overflow)?
            }
        };
        let mut slack = None;
        for goal in self.goals.iter().filter(|goal| goal.budget >= self.cost) {
            let spent = self.spent(goal).ok_or(VerifyErrorKind::Overflow)?;
            if self
                .slopes
                .iter()
                .any(|slope| self.lost(goal, spent, (*slope).into()) == Some(RoundingLoss::All))
            {
                continue;
            }
            let above = self.min_goal_weight(prices, goal, spent);
            let above = above.and_then(|weight| most.checked_sub(weight.checked_sub(quota)?));
            slack = slack.max(Some(above.ok_or(VerifyErrorKind::Overflow)?));
        }
        Ok(slack)
    }

    /// What no set weighs more than: what is held, and all that is left above zero after the flow. What is decided
    /// begins with nothing left, and hands on and gets like any other.
    fn max_weight(&mut self, prices: &DualSolution) -> Result<i128, VerifyErrorKind> {
        let weight = |utility: i128, cost: i128, count: i128| {
            let gain = prices.scale.checked_mul(utility)?;
            gain.checked_sub(prices.price.checked_mul(cost)?)?
                .checked_sub(prices.count_price.checked_mul(count)?)
        };
        for ((item, fate), left) in self.items.iter().zip(&self.fate).zip(&mut self.left) {
            *left = match fate {
                NodeStatus::Open => {
                    weight(item.utility, item.cost, item.count).ok_or(VerifyErrorKind::Overflow)?
                }
                NodeStatus::In | NodeStatus::Out => 0,
            };
        }
        for &(item, dep, amount) in &prices.flow {
            if self.items.get(item).is_none_or(|item| item.needs.binary_search(&dep).is_err()) {
                return Err(VerifyErrorKind::FlowWithoutDependency { item, dep });
            }
            if amount < 0 {
                return Err(VerifyErrorKind::Negative);
            }
            for (end, change) in [(item, amount.checked_neg()), (dep, Some(amount))] {
                if let Some(left) = self.left.get_mut(end) {
                    *left = change
                        .and_then(|change| left.checked_add(change))
                        .ok_or(VerifyErrorKind::Overflow)?;
                }
            }
        }
        let held = weight(self.utility, self.cost, self.count).ok_or(VerifyErrorKind::Overflow)?;
        let mut excess = self.left.iter().filter(|left| **left > 0);
        excess.try_fold(held, |sum, left| sum.checked_add(*left)).ok_or(VerifyErrorKind::Overflow)
    }

    /// That a candidate is in the list, and open.
    pub(super) fn is_open(&self, item: usize) -> Result<(), VerifyErrorKind> {
        match self.fate.get(item) {
            Some(NodeStatus::Open) => Ok(()),
            Some(_) => Err(VerifyErrorKind::AlreadyFixed { item }),
            None => Err(VerifyErrorKind::Unknown { item }),
        }
    }

    /// What all open candidates cost, and what each of these costs is a multiple of.
    fn costs(&self) -> Option<(i128, i128)> {
        let sum = |(all, unit): (i128, i128), item: &Item| {
            Some((all.checked_add(item.cost)?, gcd(unit, item.cost)))
        };
        self.open().try_fold((0, 0), sum)
    }

    /// As much of a goal's budget as sets can use up.
    fn spent(&self, goal: &Goal) -> Option<i128> {
        let (all, unit) = self.costs()?;
        let room = goal.budget.checked_sub(self.cost)?.min(all);
        self.cost.checked_add(room.checked_sub(room.checked_rem(unit).unwrap_or(0))?)
    }

    /// What open candidates may cost; `None` if there is nothing left for what is decided to be in.
    pub(super) fn room(&self) -> Option<i128> {
        let room = self.budget.checked_sub(self.cost).filter(|room| *room >= 0)?;
        Some(room.min(self.costs()?.0))
    }

    /// Whether a goal is reached by a set to which open candidates add so much utility within the room that there is.
    pub(super) fn is_reached_by(&self, most: impl Fn(i128) -> i128) -> bool {
        let goals = self.goals.iter().filter(|goal| goal.budget >= self.cost);
        goals
            .map(|goal| (goal.budget.saturating_sub(self.cost), goal.utility.saturating_sub(self.utility)))
            .any(|(room, utility)| most(room) >= utility)
    }

    /// What a set that reaches a goal weighs at least, apart from tolls. What is lost by rounding is paid at the price,
    /// or at the scale where there is no slope; what does not fit is not counted, and the bound only weaker.
    fn min_goal_weight(&self, prices: &DualSolution, goal: &Goal, spent: i128) -> Option<i128> {
        let plain = prices.scale.checked_mul(goal.utility)?.checked_sub(prices.price.checked_mul(spent)?)?;
        let paid = self.slopes.iter().filter_map(|slope| {
            let slope = i128::from(*slope);
            let Some(RoundingLoss::Some(lost)) = self.lost(goal, spent, slope) else { return None };
            match slope {
                0 => lost.checked_mul(prices.scale),
                slope => {
                    let rate = prices.price.min(prices.scale.checked_mul(slope)?);
                    lost.checked_mul(rate)?.checked_div(slope)
                }
            }
        });
        plain.checked_add(paid.max().unwrap_or(0))
    }

    /// How much `utility - slope * cost` of a set that reaches a goal is above that of the goal at least.
    fn lost(&self, goal: &Goal, spent: i128, slope: i128) -> Option<RoundingLoss> {
        let above = |utility: i128, cost: i128| utility.checked_sub(slope.checked_mul(cost)?);
        let step = self.open().try_fold(0, |step, item| Some(gcd(step, above(item.utility, item.cost)?)))?;
        let short = above(goal.utility, spent)?.checked_sub(above(self.utility, self.cost)?)?;
        match step {
            0 if short > 0 => Some(RoundingLoss::All),
            0 => Some(RoundingLoss::Some(0)),
            step => short.checked_neg().map(|spare| RoundingLoss::Some(spare.rem_euclid(step))),
        }
    }
}

/// What rounding up takes from all that reach a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoundingLoss {
    /// So much.
    Some(i128),
    /// None of them can be.
    All,
}

/// The greatest common divisor, not below zero.
fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}
