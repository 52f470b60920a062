//! Whether a selection answers a problem at all: in order, closed, within the budget, as marked, summed up right.
//! Whether a better one exists is not asked here.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

use super::problem::{Inclusion, Problem, Selection};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// What is wrong with a selection; reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionError {
    /// A position that is not greater than the one before it.
    OutOfOrder {
        /// The position.
        item: usize,
    },
    /// A position that is not in the list.
    UnknownPosition {
        /// The position.
        item: usize,
    },
    /// A candidate without something that it needs.
    MissingDependency {
        /// The candidate.
        item: usize,
        /// What is missing.
        dep: usize,
    },
    /// A forbidden candidate was chosen.
    Forbidden {
        /// The candidate.
        item: usize,
    },
    /// A pinned candidate is missing.
    PinnedMissing {
        /// The candidate.
        item: usize,
    },
    /// Another utility than the sum.
    WrongUtility {
        /// What was said.
        said: u64,
        /// The sum.
        sum: u64,
    },
    /// Another cost than the sum.
    WrongCost {
        /// What was said.
        said: u64,
        /// The sum.
        sum: u64,
    },
    /// More than there is.
    OverBudget {
        /// The sum of the costs.
        cost: u64,
        /// What there is.
        budget: u64,
    },
}

impl SelectionError {
    /// The sentence, with these names for the candidates.
    pub fn describe(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::OutOfOrder { item } => {
                format!("{} is out of order; expected ascending positions", name(*item))
            }
            Self::UnknownPosition { item } => {
                format!("{item} is not in the list; expected positions of the list")
            }
            Self::MissingDependency { item, dep } => {
                format!("{} is chosen without {}, which it needs", name(*item), name(*dep))
            }
            Self::Forbidden { item } => format!("{} is chosen, and is forbidden", name(*item)),
            Self::PinnedMissing { item } => format!("{} is not chosen, and is pinned", name(*item)),
            Self::WrongUtility { said, sum } => format!("utility {said} was said; expected the sum, {sum}"),
            Self::WrongCost { said, sum } => format!("cost {said} was said; expected the sum, {sum}"),
            Self::OverBudget { cost, budget } => {
                format!("the cost is {cost}; expected at most the budget, {budget}")
            }
        }
    }
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|item| item.to_string()))
    }
}

impl core::error::Error for SelectionError {}

/// Whether the selection answers the problem.
///
/// # Errors
/// [`Fault`] names the first thing that is wrong.
pub fn check_selection(problem: &Problem, selection: &Selection) -> Result<(), SelectionError> {
    let candidates = problem.candidates();
    let chosen = |item: &usize| selection.selected.binary_search(item).is_ok();
    if let Some(item) = selection.selected.iter().skip(1).zip(&selection.selected).find(|(b, a)| b <= a) {
        return Err(SelectionError::OutOfOrder { item: *item.0 });
    }
    let (mut utility, mut cost) = (0_u64, 0_u64);
    for &item in &selection.selected {
        let candidate = candidates.get(item).ok_or(SelectionError::UnknownPosition { item })?;
        if candidate.inclusion == Inclusion::Forbidden {
            return Err(SelectionError::Forbidden { item });
        }
        if let Some(&dep) = candidate.deps.iter().find(|dep| !chosen(dep)) {
            return Err(SelectionError::MissingDependency { item, dep });
        }
        utility = utility.saturating_add(candidate.utility);
        cost = cost.saturating_add(candidate.cost);
    }
    let missing = |(item, candidate): (usize, &_)| is_pinned(candidate) && !chosen(&item);
    if let Some(item) = candidates.iter().enumerate().position(missing) {
        return Err(SelectionError::PinnedMissing { item });
    }
    if selection.utility != utility {
        return Err(SelectionError::WrongUtility { said: selection.utility, sum: utility });
    }
    if selection.cost != cost {
        return Err(SelectionError::WrongCost { said: selection.cost, sum: cost });
    }
    if cost > problem.budget() {
        return Err(SelectionError::OverBudget { cost, budget: problem.budget() });
    }
    Ok(())
}

fn is_pinned(candidate: &super::Candidate) -> bool {
    candidate.inclusion == Inclusion::Pinned
}
