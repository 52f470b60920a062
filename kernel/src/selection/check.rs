//! Checks that a selection is valid: ordered, closed, within the budget, and correctly summed.
//!
//! Deliberately absent: whether the selection is optimal.

use super::problem::{Candidate, Inclusion, Problem, Selection};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// Why a selection is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionError {
    /// The positions are not ascending.
    OutOfOrder {
        /// The first position that is not greater than its predecessor.
        item: usize,
    },
    /// A position is not in the list.
    UnknownPosition {
        /// The position.
        item: usize,
    },
    /// A dependency of a selected candidate is not selected.
    MissingDependency {
        /// The candidate.
        item: usize,
        /// The dependency.
        dep: usize,
    },
    /// A forbidden candidate is selected.
    Forbidden {
        /// The candidate.
        item: usize,
    },
    /// A pinned candidate is not selected.
    PinnedMissing {
        /// The candidate.
        item: usize,
    },
    /// The stated utility is not the sum.
    WrongUtility {
        /// The stated utility.
        found: u64,
        /// The sum.
        expected: u64,
    },
    /// The stated cost is not the sum.
    WrongCost {
        /// The stated cost.
        found: u64,
        /// The sum.
        expected: u64,
    },
    /// The cost exceeds the budget.
    OverBudget {
        /// The sum of the costs.
        cost: u64,
        /// The budget.
        budget: u64,
    },
}

impl SelectionError {
    /// Formats the error with a name for each candidate.
    pub fn describe(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::OutOfOrder { item } => {
                format!("{} is out of order: expected ascending positions", name(*item))
            }
            Self::UnknownPosition { item } => {
                format!("unknown position: expected a position of the list, found {item}")
            }
            Self::MissingDependency { item, dep } => {
                format!("missing dependency: {} is selected without {}", name(*item), name(*dep))
            }
            Self::Forbidden { item } => format!("{} is forbidden and selected", name(*item)),
            Self::PinnedMissing { item } => format!("{} is pinned and not selected", name(*item)),
            Self::WrongUtility { found, expected } => {
                format!("wrong utility: expected the sum {expected}, found {found}")
            }
            Self::WrongCost { found, expected } => {
                format!("wrong cost: expected the sum {expected}, found {found}")
            }
            Self::OverBudget { cost, budget } => {
                format!("over budget: expected a cost of at most {budget}, found {cost}")
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

/// Checks that the selection is valid for the problem.
///
/// ```
/// use orchestrion_kernel::selection::{
///     Candidate, Inclusion, Problem, Selection, SelectionError, check_selection,
/// };
///
/// let candidate = |utility, cost, deps| Candidate { utility, cost, deps, inclusion: Inclusion::Free };
/// let problem = Problem::new(5, vec![candidate(0, 1, vec![]), candidate(9, 2, vec![0])]).unwrap();
/// let closed = Selection { selected: vec![0, 1], utility: 9, cost: 3 };
/// assert_eq!(check_selection(&problem, &closed), Ok(()));
/// let open = Selection { selected: vec![1], utility: 9, cost: 2 };
/// assert_eq!(
///     check_selection(&problem, &open),
///     Err(SelectionError::MissingDependency { item: 1, dep: 0 }),
/// );
/// ```
///
/// # Errors
/// [`SelectionError`] for the first defect found.
pub fn check_selection(problem: &Problem, selection: &Selection) -> Result<(), SelectionError> {
    let candidates = problem.candidates();
    let is_selected = |item: &usize| selection.selected.binary_search(item).is_ok();
    if let Some(item) = selection.selected.iter().skip(1).zip(&selection.selected).find(|(b, a)| b <= a) {
        return Err(SelectionError::OutOfOrder { item: *item.0 });
    }
    let (mut utility, mut cost) = (0_u64, 0_u64);
    for &item in &selection.selected {
        let candidate = candidates.get(item).ok_or(SelectionError::UnknownPosition { item })?;
        if candidate.inclusion == Inclusion::Forbidden {
            return Err(SelectionError::Forbidden { item });
        }
        if let Some(&dep) = candidate.deps.iter().find(|dep| !is_selected(dep)) {
            return Err(SelectionError::MissingDependency { item, dep });
        }
        utility = utility.saturating_add(candidate.utility);
        cost = cost.saturating_add(candidate.cost);
    }
    let missing = |(item, candidate): (usize, &_)| is_pinned(candidate) && !is_selected(&item);
    if let Some(item) = candidates.iter().enumerate().position(missing) {
        return Err(SelectionError::PinnedMissing { item });
    }
    if selection.utility != utility {
        return Err(SelectionError::WrongUtility { found: selection.utility, expected: utility });
    }
    if selection.cost != cost {
        return Err(SelectionError::WrongCost { found: selection.cost, expected: cost });
    }
    if cost > problem.budget() {
        return Err(SelectionError::OverBudget { cost, budget: problem.budget() });
    }
    Ok(())
}

fn is_pinned(candidate: &Candidate) -> bool {
    candidate.inclusion == Inclusion::Pinned
}
