//! The exact optimizer as the kernel's selector.

use crate::{SearchLimits, SolveStatus, solve};
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::{Selected, SelectionStatus, Selector};
use orchestrion_kernel::selection::Problem;

/// Selects by [`solve`], with limits that keep a conversation responsive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactSelector {
    /// The limits of each search.
    pub limits: SearchLimits,
}

impl ExactSelector {
    /// Creates the selector with the node limit of a policy.
    #[must_use]
    pub fn from_policy(policy: &Policy) -> Self {
        Self { limits: SearchLimits::from_nodes(u64::from(policy.contexts.nodes_max)) }
    }
}

impl Selector for ExactSelector {
    fn select(&self, problem: &Problem) -> Selected {
        let solution = solve(problem, self.limits);
        let status = match solution.status {
            SolveStatus::Optimal => SelectionStatus::Optimal,
            SolveStatus::Bounded => SelectionStatus::NotProven { bound: solution.bound },
        };
        Selected { selection: solution.selection, status }
    }
}
