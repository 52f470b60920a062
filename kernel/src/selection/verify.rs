//! Checks that a certificate proves the optimality of its selection. It uses and trusts no solver.
//!
//! A set is *better* than a selection of utility `U` and cost `C` if it is valid and reaches one of two goals: utility `U + 1`
//! within the budget, or utility `U` within `C - 1`. A certificate proves as follows that no set is better:
//!
//! 1. *Nodes.* Branches partition the valid sets: with or without a candidate, or by the number of counted candidates. A node
//!    fixes candidates by closure alone. When every node is pruned, no set is better.
//! 2. *Weights.* The weight of a candidate is `scale * utility - price * cost - count_price * counted`. Moving weight from a
//!    candidate to its dependencies never lowers the weight of a closed set. So no set of the node weighs more than `M`: the
//!    included candidates, and all positive remaining weights (duality with the minimum cut; Picard, 1976).
//! 3. *Goals.* A set that reaches a goal `(u, t)` weighs at least `scale * u - price * t`, plus the count price of its bound. If
//!    this exceeds `M`, no such set exists (Lagrangian relaxation; Geoffrion, 1974). If it exceeds `M` minus the deficits of a
//!    candidate's closure, no such set includes the candidate; if it exceeds `M` minus the excess of its dependents, each such
//!    set includes it.
//! 4. *Rounding.* If all costs are multiples of a unit, `t` is rounded down to a multiple. If `utility - slope * cost` is a
//!    multiple of a step, then it is at least `u - slope * t`, rounded up, in each set that reaches the goal. The bound uses part
//!    of scale and price for this inequality, and the rest for the goal (Chvatal, 1973).
//! 5. *Tables.* A node whose open candidates form a forest is pruned by dynamic programming (`table`).

mod bound;
mod error;
mod limits;
mod table;

use super::certificate::{Certificate, Step};
use super::check::check_selection;
use super::problem::{Inclusion, Problem};
use alloc::vec;
use alloc::vec::Vec;
use bound::{Item, NodeStatus, Subproblem, items};
pub use error::{VerifyError, VerifyErrorKind};
pub use limits::{CELLS_MAX, ROW_MAX, SLOPES_MAX};

/// Checks that the certificate proves its selection to be of maximum utility and, among these, of minimum cost.
///
/// # Errors
/// [`VerifyError`] for the first step that is not proven.
pub fn verify(problem: &Problem, certificate: &Certificate) -> Result<(), VerifyError> {
    let certificate_error = |kind| VerifyError { step: None, kind };
    check_selection(problem, &certificate.selection)
        .map_err(|error| certificate_error(VerifyErrorKind::InvalidSelection(error)))?;
    if certificate.slopes.len() > SLOPES_MAX {
        return Err(certificate_error(VerifyErrorKind::TooManySlopes));
    }
    let items = items(problem, &certificate.counted).map_err(certificate_error)?;
    let mut tree = Tree::new(&items, problem, certificate);
    for (item, candidate) in problem.candidates().iter().enumerate() {
        match candidate.inclusion {
            Inclusion::Free => {}
            Inclusion::Pinned => tree.fix(item, NodeStatus::In),
            Inclusion::Forbidden => tree.fix(item, NodeStatus::Out),
        }
    }
    for (index, step) in certificate.steps.iter().enumerate() {
        tree.apply_step(step).map_err(|kind| VerifyError { step: Some(index), kind })?;
    }
    if tree.is_done { Ok(()) } else { Err(certificate_error(VerifyErrorKind::OpenNodes)) }
}

/// A node to visit later: the length of its trail, its bounds on the count, and the candidate that it excludes.
struct PendingNode {
    trail: usize,
    count_min: Option<i128>,
    count_max: Option<i128>,
    excluded: Option<usize>,
}

/// The branch-and-bound tree: the current node and the pending ones.
struct Tree<'a> {
    items: &'a [Item],
    node: Subproblem<'a>,
    /// The fixed candidates, in order.
    trail: Vec<usize>,
    pending: Vec<PendingNode>,
    is_done: bool,
    cells_left: usize,
    visited: Vec<bool>,
}

impl<'a> Tree<'a> {
    fn new(items: &'a [Item], problem: &Problem, certificate: &'a Certificate) -> Self {
        let (node, visited) = (Subproblem::new(items, problem, certificate), vec![false; items.len()]);
        Self {
            items,
            node,
            trail: Vec::new(),
            pending: Vec::new(),
            is_done: false,
            cells_left: CELLS_MAX,
            visited,
        }
    }

    /// Applies one step if it is proven.
    fn apply_step(&mut self, step: &Step) -> Result<(), VerifyErrorKind> {
        if self.is_done {
            return Err(VerifyErrorKind::TrailingStep);
        }
        match step {
            Step::DropUnaffordable(items) => {
                for &item in items {
                    self.node.check_open(item)?;
                    let closure = self.closure_of(item, NodeStatus::In);
                    if !self.node.exceeds_budget(&closure) {
                        return Err(VerifyErrorKind::FitsBudget { item });
                    }
                    self.fix(item, NodeStatus::Out);
                }
            }
            Step::Fix { prices, excluded, included } => {
                let slack = self.node.slack(prices)?;
                for (items, status) in [(excluded, NodeStatus::Out), (included, NodeStatus::In)] {
                    items.iter().try_for_each(|&item| self.check_fixing(item, status, slack))?;
                }
                for (items, status) in [(excluded, NodeStatus::Out), (included, NodeStatus::In)] {
                    for &item in items {
                        self.node.check_open(item)?;
                        self.fix(item, status);
                    }
                }
            }
            Step::Branch(item) => {
                self.node.check_open(*item)?;
                self.push_pending(self.node.count_min, Some(*item));
                self.fix(*item, NodeStatus::In);
            }
            Step::BranchOnCount(count) => {
                let count = i128::from(*count);
                self.push_pending(self.node.count_min.max(Some(count.saturating_add(1))), None);
                self.node.count_max = Some(self.node.count_max.map_or(count, |max| max.min(count)));
            }
            Step::PruneByBound(prices) => {
                if self.node.slack(prices)?.is_some_and(|slack| slack >= 0) {
                    return Err(VerifyErrorKind::BoundTooWeak);
                }
                self.next_node();
            }
            Step::PruneByTable => {
                let cells = self.node.prune_by_table(self.cells_left)?;
                self.cells_left = self.cells_left.saturating_sub(cells);
                self.next_node();
            }
        }
        Ok(())
    }

    fn push_pending(&mut self, count_min: Option<i128>, excluded: Option<usize>) {
        self.pending.push(PendingNode {
            trail: self.trail.len(),
            count_min,
            count_max: self.node.count_max,
            excluded,
        });
    }

    /// Moves to the next pending node.
    fn next_node(&mut self) {
        let Some(PendingNode { trail, count_min, count_max, excluded }) = self.pending.pop() else {
            self.is_done = true;
            return;
        };
        for item in self.trail.split_off(trail) {
            self.node.set(item, NodeStatus::Open);
        }
        (self.node.count_min, self.node.count_max) = (count_min, count_max);
        if let Some(item) = excluded {
            self.fix(item, NodeStatus::Out);
        }
    }

    /// Returns an open candidate with the open candidates that fixing it also fixes: its dependencies if it is included, its
    /// dependents if it is excluded.
    fn closure_of(&mut self, item: usize, status: NodeStatus) -> Vec<usize> {
        let mut closure = Vec::new();
        let mut stack = vec![item];
        while let Some(item) = stack.pop() {
            let (Some(candidate), Some(visited)) = (self.items.get(item), self.visited.get_mut(item)) else {
                continue;
            };
            if *visited || self.node.check_open(item).is_err() {
                continue;
            }
            *visited = true;
            closure.push(item);
            stack.extend(if status == NodeStatus::In { &candidate.deps } else { &candidate.dependents });
        }
        for &item in &closure {
            if let Some(visited) = self.visited.get_mut(item) {
                *visited = false;
            }
        }
        closure
    }

    /// Fixes a candidate with its closure. Fixed candidates keep their status.
    fn fix(&mut self, item: usize, status: NodeStatus) {
        for item in self.closure_of(item, status) {
            self.node.set(item, status);
            self.trail.push(item);
        }
    }

    /// Checks that no better set makes the opposite choice: it would lose more than the slack, or exceed the budget.
    fn check_fixing(
        &mut self,
        item: usize,
        status: NodeStatus,
        slack: Option<i128>,
    ) -> Result<(), VerifyErrorKind> {
        self.node.check_open(item)?;
        let other = if status == NodeStatus::Out { NodeStatus::In } else { NodeStatus::Out };
        let closure = self.closure_of(item, other);
        let is_proven = slack.is_none_or(|slack| self.node.loss(&closure, other) > slack)
            || status == NodeStatus::Out && self.node.exceeds_budget(&closure);
        if is_proven { Ok(()) } else { Err(VerifyErrorKind::FixingNotProven { item }) }
    }
}
