//! Certificates: a branch-and-bound tree whose leaves are pruned by prices or tables. `verify` checks them.

use super::problem::Selection;
use alloc::vec::Vec;

/// A selection with the steps that prove that it is optimal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The optimal selection: none within the budget has more utility, and none of equal utility costs less.
    pub selection: Selection,
    /// Slopes of utility against cost, for bounds that are rounded to attainable sums; at most
    /// [`SLOPES_MAX`](super::SLOPES_MAX).
    pub slopes: Vec<u64>,
    /// The positions of the candidates that [`Step::BranchOnCount`] counts.
    pub counted: Vec<usize>,
    /// The steps in preorder: a step applies to the first open node.
    pub steps: Vec<Step>,
}

/// One step. Including a candidate includes its dependencies; excluding it excludes its dependents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Excludes candidates whose closure exceeds the budget.
    DropUnaffordable(Vec<usize>),
    /// Fixes candidates whose opposite choice is, by these prices, not better than the certified selection.
    Fix {
        /// The dual solution that proves it.
        prices: DualSolution,
        /// The excluded candidates.
        excluded: Vec<usize>,
        /// The included candidates.
        included: Vec<usize>,
    },
    /// Branches on a candidate: first the selections that include it, then those that exclude it.
    Branch(usize),
    /// Branches on the number of counted candidates: first at most this many, then more.
    BranchOnCount(u64),
    /// Prunes the node: by these prices it contains no better selection.
    PruneByBound(DualSolution),
    /// Prunes the node by dynamic programming. Its open candidates form a forest.
    PruneByTable,
}

/// An integer dual solution of the relaxation: prices and a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DualSolution {
    /// The price of a unit of utility.
    pub scale: i128,
    /// The price of a unit of cost.
    pub price: i128,
    /// The price of a counted candidate; may be negative.
    pub count_price: i128,
    /// Weight that moves from a candidate to one of its dependencies: (candidate, dependency, amount).
    pub flow: Vec<(usize, usize, i128)>,
}
