//! What is asked: candidates, what each needs, and a budget. A problem without an answer is not representable.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// No sum of utilities, and none of costs, is greater: whatever is added up later fits its integer.
const SUM_MAX: u64 = 1 << 62;

/// Something that may be sent. Its position in the list is its id, and decides ties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// What it is worth.
    pub utility: u64,
    /// What it takes of the budget.
    pub cost: u64,
    /// Positions of what must be sent with it. Candidates that need each other come together or not at all.
    pub deps: Vec<usize>,
    /// Whether it may be chosen freely.
    pub inclusion: Inclusion,
}

/// What was decided about a candidate beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inclusion {
    /// Nothing.
    #[default]
    Free,
    /// It is sent.
    Pinned,
    /// It is not sent.
    Forbidden,
}

/// Candidates and a budget: at least one set of them is closed, within the budget, and as marked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    budget: u64,
    candidates: Vec<Candidate>,
}

/// A set of candidates, with what it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Positions, ascending.
    pub selected: Vec<usize>,
    /// The sum of their utilities.
    pub utility: u64,
    /// The sum of their costs.
    pub cost: u64,
}

/// Why candidates and a budget are no problem; reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemError {
    /// A need that no position in the list answers.
    UnknownDependency {
        /// Who needs it.
        item: usize,
        /// The position that is not in the list.
        dep: usize,
    },
    /// From this candidate on, utilities or costs add up to more than 2^62.
    TooLarge {
        /// The candidate.
        item: usize,
    },
    /// A pinned candidate needs, directly or through others, one that is forbidden.
    PinnedDependsOnForbidden {
        /// The pinned one.
        pinned: usize,
        /// The forbidden one.
        forbidden: usize,
    },
    /// What is pinned, with all that it needs, does not fit.
    PinnedOverBudget {
        /// What it costs.
        needs: u64,
        /// What there is.
        budget: u64,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDependency { item, dep } => {
                write!(
                    f,
                    "candidate {item} needs {dep}, which is not in the list; expected positions of the list"
                )
            }
            Self::TooLarge { item } => write!(
                f,
                "with candidate {item}, utilities or costs add up to more than 2^62; expected smaller numbers"
            ),
            Self::PinnedDependsOnForbidden { pinned, forbidden } => write!(
                f,
                "candidate {pinned} is pinned and needs {forbidden}, which is forbidden; unpin the one or allow the other"
            ),
            Self::PinnedOverBudget { needs, budget } => write!(
                f,
                "what is pinned costs {needs} with all that it needs, and the budget is {budget}; expected a budget of at least {needs}"
            ),
        }
    }
}

impl core::error::Error for ProblemError {}

impl Problem {
    /// Candidates and a budget, if they have an answer.
    ///
    /// # Errors
    /// [`Flaw`] names the first candidate that does not fit, or says what the pinned ones would need.
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
        let needs = problem.pinned_cost()?;
        if needs > budget {
            return Err(ProblemError::PinnedOverBudget { needs, budget });
        }
        Ok(problem)
    }

    /// What may be spent.
    #[must_use]
    pub const fn budget(&self) -> u64 {
        self.budget
    }

    /// What there is to choose from.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What the pinned candidates cost with all that they need.
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
