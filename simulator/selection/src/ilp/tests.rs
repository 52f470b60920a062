//! The 0-1 program against enumeration, for numbers that floating point cannot sum.

use super::{IlpError, solve};
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection, check_selection};
use std::cmp::Reverse;

/// A linear congruential generator, so that every machine tests the same problems.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) % limit
    }

    /// Returns a small number, one of any size, or one of several that differ by a few units.
    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(6),
            1 => 1 << self.below(50),
            2 => self.below(5_000_000_000_000),
            _ => 3_000_000_000_000 + self.below(5),
        }
    }

    fn problem(&mut self, items_max: u64) -> Option<Problem> {
        let count = 1 + self.below(items_max);
        let candidates: Vec<Candidate> = (0..count)
            .map(|_| Candidate {
                utility: self.number(),
                cost: self.number(),
                deps: (0..self.below(3)).map(|_| self.below(count) as usize).collect(),
                inclusion: match self.below(12) {
                    0 => Inclusion::Pinned,
                    1 => Inclusion::Forbidden,
                    _ => Inclusion::Free,
                },
            })
            .collect();
        let all: u64 = candidates.iter().map(|candidate| candidate.cost).sum();
        Problem::new(all / 100 * self.below(101) + self.below(4), candidates).ok()
    }
}

/// Returns the optimal selection by enumeration.
fn best(problem: &Problem) -> Option<Selection> {
    let candidates = problem.candidates();
    let choices = (0..1_u32 << candidates.len()).map(|bits| {
        let selected: Vec<usize> = (0..candidates.len()).filter(|item| bits >> item & 1 == 1).collect();
        let utility = selected.iter().map(|item| candidates[*item].utility).sum();
        let cost = selected.iter().map(|item| candidates[*item].cost).sum();
        Selection { selected, utility, cost }
    });
    choices.filter(|selection| check_selection(problem, selection).is_ok()).min_by(|a, b| {
        (Reverse(a.utility), a.cost, &a.selected).cmp(&(Reverse(b.utility), b.cost, &b.selected))
    })
}

/// The solver cannot factorize the bases of some programs; it then returns an error, never a wrong selection.
#[test]
fn large_sums_match_enumeration() {
    let mut random = Random(7);
    let problems = std::iter::repeat_with(|| random.problem(10)).flatten().take(2_000);
    let mut unsolved = 0;
    for problem in problems {
        match solve(&problem, None) {
            Ok(selection) => assert_eq!(Some(selection), best(&problem), "{problem:?}"),
            Err(IlpError::Unsolved(_)) => unsolved += 1,
            Err(error) => panic!("{error}: {problem:?}"),
        }
    }
    assert!(unsolved <= 20, "{unsolved} of 2,000 problems unsolved");
}
