//! What proves an answer: a tree of cases, each one closed by prices. Only the words; what they prove is in `verify`.

use super::problem::Selection;
use alloc::vec::Vec;

/// An answer, and steps that leave no room for a better one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The answer: no set within the budget has more utility, and none of as much utility costs less.
    pub selection: Selection,
    /// Slopes at which utility is compared with cost, when a bound is rounded to what sums can come to.
    pub slopes: Vec<u64>,
    /// Positions of the candidates that [`Step::Split`] counts.
    pub counted: Vec<usize>,
    /// The steps in preorder: a step is about the first case that is not closed yet.
    pub steps: Vec<Step>,
}

/// One step. A candidate that is decided decides others: what it needs comes in with it, and what needs it stays out
/// with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These are out: each costs, with what it needs, more than there is.
    DropUnaffordable(Vec<usize>),
    /// These are out and those are in, for under these prices the other way is no better than the answer.
    Fix {
        /// The proof.
        prices: DualSolution,
        /// What is out.
        out: Vec<usize>,
        /// What is in.
        within: Vec<usize>,
    },
    /// Two cases: first all sets with this candidate, then all without it.
    Branch(usize),
    /// Two cases: first all sets with so many counted candidates at most, then all with more.
    BranchOnCount(u64),
    /// No set of the case is better than the answer, as these prices prove: it is closed.
    PruneByBound(DualSolution),
    /// No set of the case is better than the answer, as a table shows: no open candidate needs two. It is closed.
    PruneByTable,
}

/// Prices, and how weight is shared under them: a dual solution of the relaxation, in integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DualSolution {
    /// Of a unit of utility.
    pub scale: i128,
    /// Of a unit of cost.
    pub price: i128,
    /// Of a counted candidate; below zero, what it is rewarded with.
    pub count_price: i128,
    /// Weight that a candidate hands to one that it needs: who, to whom, and how much.
    pub flow: Vec<(usize, usize, i128)>,
}
