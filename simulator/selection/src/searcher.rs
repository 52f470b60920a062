//! Several searches on one problem, within a common work limit.
//!
//! The optimizer keeps its prepared graph and flow between the searches. Every selection is checked against the varied
//! problem before it is used.

use super::solve::{SolveError, Solver, check};
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};
use orchestrion_optimizer::{Optimizer, Reach, SearchLimits, Solution, Variation};

/// Returns the work after which no further search starts. Each search visits its first node whatever work is left, which decides most small
/// searches; in a large problem the first nodes alone exceed every limit.
pub(super) const fn last_start(allowed: u64) -> u64 {
    allowed.saturating_add(allowed / 4)
}

/// Searches on variations of one problem.
#[derive(Clone, Debug)]
pub(super) struct Searcher<'a> {
    problem: &'a Problem,
    optimizer: Optimizer<'a>,
    nodes: u64,
    /// Work at which the present part of the searches ends.
    work_end: u64,
    /// Work at which no further search of this part starts.
    last_start: u64,
}

impl<'a> Searcher<'a> {
    /// Prepares a problem; `nodes` limits each search.
    pub(super) fn new(problem: &'a Problem, nodes: u64) -> Self {
        Self { problem, optimizer: Optimizer::new(problem), nodes, work_end: 0, last_start: 0 }
    }

    /// Limits the next searches to this work together.
    pub(super) fn allow(&mut self, work: u64) {
        self.work_end = self.optimizer.work().saturating_add(work);
        self.last_start = self.optimizer.work().saturating_add(last_start(work));
    }

    /// Returns the work of all searches so far.
    pub(super) const fn work(&self) -> u64 {
        self.optimizer.work()
    }

    fn limits(&self, share: u64) -> SearchLimits {
        let left = self.work_end.saturating_sub(self.optimizer.work());
        SearchLimits { nodes: self.nodes, work: left / share }
    }

    /// Whether no further search of this part should start, by [`last_start`].
    pub(super) const fn has_overspent(&self) -> bool {
        self.optimizer.work() >= self.last_start
    }

    /// Whether the allowed work is spent.
    pub(super) const fn has_spent_work(&self) -> bool {
        self.optimizer.work() >= self.work_end
    }

    /// Solves a variation, tie-break included, by a share of the allowed work; `None` if it has no valid selection.
    pub(super) fn solve(&mut self, variation: Variation, share: u64) -> Result<Option<Solution>, SolveError> {
        let solution = self.optimizer.solve(variation, self.limits(share));
        self.check_solution(variation, solution)
    }

    /// Solves a variation without the tie-break.
    pub(super) fn maximize(
        &mut self,
        variation: Variation,
        share: u64,
    ) -> Result<Option<Solution>, SolveError> {
        let solution = self.optimizer.maximize(variation, self.limits(share));
        self.check_solution(variation, solution)
    }

    /// Finds a good solution of a variation in a search of two nodes.
    pub(super) fn approximate(&mut self, variation: Variation) -> Result<Option<Solution>, SolveError> {
        let solution = self.optimizer.maximize(variation, SearchLimits { nodes: 1, ..self.limits(1) });
        self.check_solution(variation, solution)
    }

    /// Searches for a selection with at least this utility.
    pub(super) fn reach(
        &mut self,
        variation: Variation,
        utility: u64,
        share: u64,
    ) -> Result<Reach, SolveError> {
        let reach = self.optimizer.reach(variation, utility, self.limits(share));
        if let Reach::Found(selection) = &reach {
            self.check(variation, selection)?;
        }
        Ok(reach)
    }

    fn check_solution(
        &self,
        variation: Variation,
        solution: Option<Solution>,
    ) -> Result<Option<Solution>, SolveError> {
        if let Some(solution) = &solution {
            self.check(variation, &solution.selection)?;
        }
        Ok(solution)
    }

    fn check(&self, variation: Variation, selection: &Selection) -> Result<(), SolveError> {
        let mut candidates = self.problem.candidates().to_vec();
        if let Some((item, is_in)) = variation.item {
            candidates[item].inclusion = if is_in { Inclusion::Pinned } else { Inclusion::Forbidden };
        }
        let problem = Problem::new(variation.budget, candidates).map_err(SolveError::NotFeasible)?;
        check(&problem, Solver::Native, selection)
    }
}
