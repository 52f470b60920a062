//! Whether a certificate proves its answer. Nothing of any solver is used here, or trusted.
//!
//! A set is *better* than an answer of utility `U` and cost `C` if it is closed and as marked, and reaches one of two
//! goals: utility `U + 1` within the budget, or utility `U` within `C - 1`. That there is none is proven so:
//!
//! 1. *Cases.* Steps share out all sets: with a candidate or without it, with so many counted ones at most or more. What
//!    a case decides it decides by closure alone. When every case is closed, there is no better set.
//! 2. *Weights.* A candidate weighs `scale * utility - price * cost - toll * counted`. Handing weight to what it needs
//!    never lightens a closed set, for it hands nothing out of itself. So no set of the case weighs more than `M`: what
//!    is decided to be in, and all that is left above zero (duality with the minimum cut; Picard, 1976).
//! 3. *Goals.* A set that reaches a goal `(u, t)` weighs `scale * u - price * t` at least, and the toll of its quota: if
//!    that is above `M`, there is none (Lagrangian relaxation; Geoffrion, 1974). If it is above `M` less the deficits of
//!    all that comes in with a candidate, none has this candidate; less the excess of all that leaves with it, all have.
//! 4. *Rounding.* Costs that are multiples of a unit use up no other `t`. Where `utility - slope * cost` is a multiple
//!    of a step, it is at least `u - slope * t` rounded up, in any set that reaches the goal; so part of the scale and
//!    of the price is paid on that, and the rest on the goal itself (Chvatal, 1973, on cuts by rounding).
//! 5. *Tables.* A case in which no open candidate needs two may be closed by working out its best sets (`rows`).

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

mod bound;
mod error;
mod table;

use super::certificate::{Certificate, Step};
use super::check::check_selection;
use super::problem::{Inclusion, Problem};
use alloc::vec;
use alloc::vec::Vec;
use bound::{Item, NodeStatus, Subproblem, items};
pub use error::{VerifyError, VerifyErrorKind};
pub use table::{CELLS_MAX, ROW_MAX};

/// So many slopes may be tried for each step.
pub const SLOPES_MAX: usize = 8;

/// Whether the certificate proves that its answer has the most utility, and of such the least cost.
///
/// # Errors
/// [`Doubt`] names the first step that does not prove what it says.
pub fn verify(problem: &Problem, certificate: &Certificate) -> Result<(), VerifyError> {
    let whole = |gap| VerifyError { step: None, gap };
    check_selection(problem, &certificate.selection)
        .map_err(|fault| whole(VerifyErrorKind::InvalidSelection(fault)))?;
    if certificate.slopes.len() > SLOPES_MAX {
        return Err(whole(VerifyErrorKind::TooManySlopes));
    }
    let items = items(problem, &certificate.counted).map_err(whole)?;
    let mut tree = Tree::new(&items, problem, certificate);
    for (item, candidate) in problem.candidates().iter().enumerate() {
        match candidate.inclusion {
            Inclusion::Free => {}
            Inclusion::Pinned => tree.settle(item, NodeStatus::In),
            Inclusion::Forbidden => tree.settle(item, NodeStatus::Out),
        }
    }
    for (step, what) in certificate.steps.iter().enumerate() {
        tree.take(what).map_err(|gap| VerifyError { step: Some(step), gap })?;
    }
    if tree.is_done { Ok(()) } else { Err(whole(VerifyErrorKind::OpenNodes)) }
}

/// A case that is still to come: where it leaves the trail, how many counted ones it has, and what it is without.
struct PendingNode {
    trail: usize,
    fewest: Option<i128>,
    most: Option<i128>,
    without: Option<usize>,
}

/// The case that steps are about, and those that are still to come.
struct Tree<'a> {
    items: &'a [Item],
    case: Subproblem<'a>,
    /// What was decided, in order.
    trail: Vec<usize>,
    later: Vec<PendingNode>,
    is_done: bool,
    cells_left: usize,
    seen: Vec<bool>,
}

impl<'a> Tree<'a> {
    fn new(items: &'a [Item], problem: &Problem, certificate: &'a Certificate) -> Self {
        let (case, seen) = (Subproblem::new(items, problem, certificate), vec![false; items.len()]);
        Self {
            items,
            case,
            trail: Vec::new(),
            later: Vec::new(),
            is_done: false,
            cells_left: CELLS_MAX,
            seen,
        }
    }

    /// Takes one step, if it proves what it says.
    fn take(&mut self, step: &Step) -> Result<(), VerifyErrorKind> {
        if self.is_done {
            return Err(VerifyErrorKind::TrailingStep);
        }
        match step {
            Step::DropUnaffordable(out) => {
                for &item in out {
                    self.case.is_open(item)?;
                    let company = self.closure_of(item, NodeStatus::In);
                    if !self.case.are_too_dear(&company) {
                        return Err(VerifyErrorKind::FitsBudget { item });
                    }
                    self.settle(item, NodeStatus::Out);
                }
            }
            Step::Fix { prices, out, within } => {
                let slack = self.case.slack(prices)?;
                for (items, fate) in [(out, NodeStatus::Out), (within, NodeStatus::In)] {
                    items.iter().try_for_each(|&item| self.check_fixing(item, fate, slack))?;
                }
                for (items, fate) in [(out, NodeStatus::Out), (within, NodeStatus::In)] {
                    for &item in items {
                        self.case.is_open(item)?;
                        self.settle(item, fate);
                    }
                }
            }
            Step::Branch(item) => {
                self.case.is_open(*item)?;
                self.defer(self.case.fewest, Some(*item));
                self.settle(*item, NodeStatus::In);
            }
            Step::BranchOnCount(quota) => {
                let quota = i128::from(*quota);
                self.defer(self.case.fewest.max(Some(quota.saturating_add(1))), None);
                self.case.most = Some(self.case.most.map_or(quota, |most| most.min(quota)));
            }
            Step::PruneByBound(prices) => {
                if self.case.slack(prices)?.is_some_and(|slack| slack >= 0) {
                    return Err(VerifyErrorKind::BoundTooWeak);
                }
                self.next_node();
            }
            Step::PruneByTable => {
                let cells = self.case.close_by_table(self.cells_left)?;
                self.cells_left = self.cells_left.saturating_sub(cells);
                self.next_node();
            }
        }
        Ok(())
    }

    fn defer(&mut self, fewest: Option<i128>, without: Option<usize>) {
        self.later.push(PendingNode { trail: self.trail.len(), fewest, most: self.case.most, without });
    }

    /// Turns to the next case.
    fn next_node(&mut self) {
        let Some(PendingNode { trail, fewest, most, without }) = self.later.pop() else {
            self.is_done = true;
            return;
        };
        for item in self.trail.split_off(trail) {
            self.case.set(item, NodeStatus::Open);
        }
        (self.case.fewest, self.case.most) = (fewest, most);
        if let Some(item) = without {
            self.settle(item, NodeStatus::Out);
        }
    }

    /// An open candidate and what goes with it: all that it needs into a set, or all that needs it out of one.
    fn closure_of(&mut self, item: usize, fate: NodeStatus) -> Vec<usize> {
        let mut company = Vec::new();
        let mut walk = vec![item];
        while let Some(item) = walk.pop() {
            let (Some(found), Some(seen)) = (self.items.get(item), self.seen.get_mut(item)) else { continue };
            if *seen || self.case.is_open(item).is_err() {
                continue;
            }
            *seen = true;
            company.push(item);
            walk.extend(if fate == NodeStatus::In { &found.needs } else { &found.users });
        }
        for &item in &company {
            if let Some(seen) = self.seen.get_mut(item) {
                *seen = false;
            }
        }
        company
    }

    /// Decides a candidate with its company. One that is decided stays as it is.
    fn settle(&mut self, item: usize, fate: NodeStatus) {
        for item in self.closure_of(item, fate) {
            self.case.set(item, fate);
            self.trail.push(item);
        }
    }

    /// That no better set decides a candidate otherwise: it would lose more than the slack, or cost too much.
    fn check_fixing(
        &mut self,
        item: usize,
        fate: NodeStatus,
        slack: Option<i128>,
    ) -> Result<(), VerifyErrorKind> {
        self.case.is_open(item)?;
        let other = if fate == NodeStatus::Out { NodeStatus::In } else { NodeStatus::Out };
        let company = self.closure_of(item, other);
        let is_decided = slack.is_none_or(|slack| self.case.loss(&company, other) > slack)
            || fate == NodeStatus::Out && self.case.are_too_dear(&company);
        if is_decided { Ok(()) } else { Err(VerifyErrorKind::FixingNotProven { item }) }
    }
}
