//! A problem that was solved before, so that an equal one needs no search.
//!
//! Deliberately absent: a search that starts from an earlier selection of another problem. A search that ends at the node limit
//! returns a selection that depends on where it started, and a context must equal one that is built from scratch.

use orchestrion_kernel::context::{Selected, Selector};
use orchestrion_kernel::selection::Problem;
use orchestrion_optimizer::ExactSelector;
use std::cell::Cell;

/// The problem of a context, and what the search selected.
#[derive(Debug)]
pub(super) struct KnownProblem {
    problem: Problem,
    selected: Selected,
}

/// Searches, unless it is the known problem.
pub(super) struct KnownProblemSelector<'a> {
    exact: ExactSelector,
    known: Option<&'a KnownProblem>,
    /// The result for the latest problem.
    latest: Cell<Option<Selected>>,
}

impl<'a> KnownProblemSelector<'a> {
    pub(super) const fn new(exact: ExactSelector, known: Option<&'a KnownProblem>) -> Self {
        Self { exact, known, latest: Cell::new(None) }
    }

    /// Returns the problem that this selector received last, with its result.
    pub(super) fn into_known(self, problem: Problem) -> Option<KnownProblem> {
        self.latest.into_inner().map(|selected| KnownProblem { problem, selected })
    }
}

impl Selector for KnownProblemSelector<'_> {
    fn select(&self, problem: &Problem) -> Selected {
        let selected = match self.known {
            Some(known) if known.problem == *problem => known.selected.clone(),
            Some(_) | None => self.exact.select(problem),
        };
        self.latest.set(Some(selected.clone()));
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::context::SelectionStatus;
    use orchestrion_kernel::selection::{Candidate, Inclusion, Selection};
    use orchestrion_optimizer::SearchLimits;

    fn problem(budget: u64) -> Problem {
        let candidate =
            |utility| Candidate { utility, cost: 2, deps: Vec::new(), inclusion: Inclusion::Free };
        Problem::new(budget, [3, 5, 4].map(candidate).to_vec()).unwrap()
    }

    /// The selector returns what is known of an equal problem, here a mark that no search returns, and searches any other.
    #[test]
    fn only_an_equal_problem_needs_no_search() {
        let selection = Selection { selected: vec![0], utility: 3, cost: 2 };
        let mark = Selected { selection, status: SelectionStatus::NotProven { bound: 77 } };
        let known = KnownProblem { problem: problem(4), selected: mark.clone() };
        let exact = ExactSelector { limits: SearchLimits::default() };
        let selector = KnownProblemSelector::new(exact, Some(&known));
        assert_eq!(selector.select(&problem(4)), mark);
        assert_eq!(selector.select(&problem(2)), exact.select(&problem(2)));
        assert_eq!(selector.into_known(problem(2)).unwrap().selected, exact.select(&problem(2)));
    }
}
