//! The selection problem: candidates with dependencies, and a budget. A problem without a valid selection is not
//! representable.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The maximum sum of all utilities, and of all costs, so that later sums do not overflow.
const SUM_MAX: u64 = 1 << 62;

/// A candidate. Its position in the list is its id, and breaks ties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The value of its selection.
    pub utility: u64,
    /// The share of the budget that it uses, in tokens.
    pub cost: u64,
    /// The positions of its direct dependencies. Cycles are allowed.
    pub deps: Vec<usize>,
    /// Whether the selection is free.
    pub inclusion: Inclusion,
}

/// A constraint on one candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inclusion {
    /// The candidate may be selected.
    #[default]
    Free,
    /// The candidate must be selected.
    Pinned,
    /// The candidate must not be selected.
    Forbidden,
}

/// Candidates and a budget, with at least one valid selection.
///
/// A selection is valid if it is closed under dependencies, within the budget, and respects each [`Inclusion`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    budget: u64,
    candidates: Vec<Candidate>,
}

/// A set of candidates with its sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The positions, ascending.
    pub selected: Vec<usize>,
    /// The sum of their utilities.
    pub utility: u64,
    /// The sum of their costs.
    pub cost: u64,
}

/// Why candidates and a budget are not a valid problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemError {
    /// A dependency is not a position of the list.
    UnknownDependency {
        /// The candidate.
        item: usize,
        /// The unknown dependency.
        dep: usize,
    },
    /// The sum of utilities or costs exceeds 2^62.
    TooLarge {
        /// The candidate at which the sum exceeds the limit.
        item: usize,
    },
    /// A pinned candidate depends on a forbidden one, directly or transitively.
    PinnedDependsOnForbidden {
        /// The pinned candidate.
        pinned: usize,
        /// The forbidden candidate.
        forbidden: usize,
    },
    /// The closure of the pinned candidates exceeds the budget.
    PinnedOverBudget {
        /// The cost of that closure.
        required: u64,
        /// The budget.
        budget: u64,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDependency { item, dep } => {
                write!(
                    f,
                    "unknown dependency of candidate {item}: expected a position of the list, found {dep}"
                )
            }
            Self::TooLarge { item } => write!(
                f,
                "sum too large at candidate {item}: expected utilities and costs of at most 2^62 in total"
            ),
            Self::PinnedDependsOnForbidden { pinned, forbidden } => write!(
                f,
                "pinned candidate {pinned} depends on forbidden candidate {forbidden}; unpin the first or allow the second"
            ),
            Self::PinnedOverBudget { required, budget } => write!(
                f,
                "pinned candidates over budget: expected a budget of at least {required}, found {budget}"
            ),
        }
    }
}

impl core::error::Error for ProblemError {}

impl Problem {
    /// Creates a problem.
    ///
    /// # Errors
    /// [`ProblemError`] if the candidates are malformed, or if no valid selection exists.
    pub fn new(budget: u64, candidates: Vec<Candidate>) -> Result<Self, ProblemError> {
        let (mut utility, mut cost) = (0_u64, 0_u64);
        for (item, candidate) in candidates.iter().enumerate() {
            if let Some(&dep) = candidate.deps.iter().find(|&&dep| dep >= candidates.len()) {
                return Err(ProblemError::UnknownDependency { item, dep });
            }
            utility = utility.saturating_add(candidate.utility);
            cost = cost.saturating_add(candidate.cost);
            if utility > SUM_MAX || cost > SUM_MAX {
                return Err(ProblemError::TooLarge { item });
            }
        }
        let problem = Self { budget, candidates };
        let required = problem.pinned_cost()?;
        if required > budget {
            return Err(ProblemError::PinnedOverBudget { required, budget });
        }
        Ok(problem)
    }

    /// Returns the budget.
    #[must_use]
    pub const fn budget(&self) -> u64 {
        self.budget
    }

    /// Returns the candidates.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Returns the cost of the closure of the pinned candidates.
    fn pinned_cost(&self) -> Result<u64, ProblemError> {
        let mut reached = vec![false; self.candidates.len()];
        let mut cost = 0_u64;
        for (pinned, candidate) in self.candidates.iter().enumerate() {
            let mut open = match candidate.inclusion {
                Inclusion::Pinned => vec![pinned],
                Inclusion::Free | Inclusion::Forbidden => continue,
            };
            while let Some(item) = open.pop() {
                let (Some(found), Some(seen)) = (self.candidates.get(item), reached.get_mut(item)) else {
                    continue;
                };
                if core::mem::replace(seen, true) {
                    continue;
                }
                if found.inclusion == Inclusion::Forbidden {
                    return Err(ProblemError::PinnedDependsOnForbidden { pinned, forbidden: item });
                }
                cost = cost.saturating_add(found.cost);
                open.extend(&found.deps);
            }
        }
        Ok(cost)
    }
}
