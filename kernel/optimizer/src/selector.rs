//! The exact optimizer as the kernel's selector.

use crate::{SearchLimits, solve};
use orchestrion_kernel::context::{Selected, Selector};
use orchestrion_kernel::selection::Problem;

/// Selects by [`solve`], with limits that keep a conversation responsive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactSelector {
    /// The limits of each search.
    pub limits: SearchLimits,
}

impl Default for ExactSelector {
    fn default() -> Self {
        Self { limits: SearchLimits { nodes: 2_000 } }
    }
}

impl Selector for ExactSelector {
    fn select(&self, problem: &Problem) -> Selected {
        let solution = solve(problem, self.limits);
        Selected { selection: solution.selection, bound: solution.bound }
    }
}
