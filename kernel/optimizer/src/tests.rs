//! Small problems against enumeration. In unit tests, ranges, tables and jumps start at once, so that small problems
//! reach them.

use crate::{CertifyError, Optimizer, Reach, SearchLimits, SolveStatus, Variation, certify, solve};
use alloc::vec::Vec;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection, check_selection};

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Returns a problem whose utilities almost equal the costs, on a forest if `needs` is 1.
    fn problem(&mut self, needs: u64) -> Problem {
        let (excess, noise) = (self.below(9), 1 + self.below(3));
        let candidates: Vec<Candidate> = (0..8)
            .map(|item| {
                let cost = self.below(20);
                let count = if item > 0 { self.below(needs + 1) } else { 0 };
                let deps: Vec<usize> = (0..count).map(|_| self.below(item) as usize).collect();
                let utility = if cost == 0 { 0 } else { cost + excess + self.below(noise) };
                Candidate { utility, cost, deps, inclusion: Inclusion::Free }
            })
            .collect();
        let budget = self.below(1 + candidates.iter().map(|one| one.cost).sum::<u64>());
        Problem::new(budget, candidates).unwrap()
    }

    /// Pins and forbids some candidates, where that is valid.
    fn with_inclusions(&mut self, problem: Problem) -> Problem {
        let mut candidates = problem.candidates().to_vec();
        for candidate in &mut candidates {
            candidate.inclusion = match self.below(8) {
                0 => Inclusion::Pinned,
                1 => Inclusion::Forbidden,
                _ => Inclusion::Free,
            };
        }
        Problem::new(problem.budget(), candidates).unwrap_or(problem)
    }
}

/// Enumerates every valid selection.
fn choices(problem: &Problem) -> impl Iterator<Item = Selection> {
    let count = problem.candidates().len();
    let sets = (0..1_u32 << count).map(move |set| (0..count).filter(|item| set >> item & 1 == 1).collect());
    let sums = sets.map(|selected: Vec<usize>| {
        let of = |number: fn(&Candidate) -> u64| {
            selected.iter().map(|&one| number(&problem.candidates()[one])).sum()
        };
        Selection { utility: of(|one| one.utility), cost: of(|one| one.cost), selected }
    });
    sums.filter(|set| check_selection(problem, set).is_ok())
}

fn best(choices: impl Iterator<Item = Selection>) -> Option<Selection> {
    choices.min_by_key(|set| (u64::MAX - set.utility, set.cost, set.selected.clone()))
}

#[test]
fn ranges_and_tables_agree_with_enumeration() {
    let (mut random, mut nodes) = (Random(1), 0);
    for round in 0..4_000 {
        let problem = random.problem(1 + round % 2);
        let answer = solve(&problem, SearchLimits::default());
        let expected = (best(choices(&problem)), SolveStatus::Optimal);
        assert_eq!((Some(answer.selection), answer.status), expected, "{problem:?}");
        nodes = answer.nodes.max(nodes);
    }
    assert!(nodes > 100, "at most {nodes} nodes");
}

/// At every limit, the bound holds, and what is stated to be optimal is optimal.
#[test]
fn limited_search_states_nothing_wrong() {
    let (mut random, mut by_nodes, mut by_work) = (Random(2), 0, 0);
    for round in 0..1_500 {
        let problem = random.problem(1 + round % 2);
        let expected = best(choices(&problem)).unwrap();
        let whole = solve(&problem, SearchLimits::from_nodes(u64::MAX));
        let steps = |total: u64| (0..total.min(24)).map(move |step| total * step / total.min(24));
        let nodes = steps(whole.nodes).map(SearchLimits::from_nodes);
        let works = steps(whole.work).map(|work| SearchLimits::default().with_work(work));
        for limits in nodes.chain(works) {
            let answer = solve(&problem, limits);
            assert_eq!(check_selection(&problem, &answer.selection), Ok(()), "{limits:?} {problem:?}");
            assert!(answer.bound >= expected.utility, "{limits:?} {answer:?} {problem:?}");
            match answer.status {
                SolveStatus::Optimal => {
                    assert_eq!(answer.selection, expected, "{limits:?} {problem:?}");
                }
                SolveStatus::Bounded if limits.work == u64::MAX => by_nodes += 1,
                SolveStatus::Bounded => by_work += 1,
            }
        }
    }
    assert!(by_nodes > 1_000 && by_work > 1_000, "{by_nodes} and {by_work} limited searches");
}

/// One prepared problem answers questions at other budgets, with an item in or out, in any order.
#[test]
fn variations_agree_with_enumeration() {
    let (mut random, mut infeasible, mut impossible) = (Random(3), 0, 0);
    for round in 0..400 {
        let problem = random.problem(1 + round % 2);
        let problem = random.with_inclusions(problem);
        let all = choices(&Problem::new(1_000, problem.candidates().to_vec()).unwrap()).collect::<Vec<_>>();
        let mut optimizer = Optimizer::new(&problem);
        for _ in 0..12 {
            let budget = random.below(200);
            let item = (random.below(3) > 0).then(|| (random.below(8) as usize, random.below(2) == 0));
            let is_valid = |set: &&Selection| {
                set.cost <= budget && item.is_none_or(|(item, is_in)| set.selected.contains(&item) == is_in)
            };
            let expected = best(all.iter().filter(is_valid).cloned());
            let (variation, limits) = (Variation { budget, item }, SearchLimits::default());
            let solved = optimizer.solve(variation, limits);
            let any = optimizer.maximize(variation, limits);
            infeasible += u32::from(expected.is_none());
            if let (Some(solved), Some(any), Some(expected)) = (&solved, &any, &expected) {
                assert_eq!((solved.status, any.status), (SolveStatus::Optimal, SolveStatus::Optimal));
                assert_eq!((&solved.selection, solved.bound), (expected, expected.utility), "{problem:?}");
                assert_eq!((any.selection.utility, any.selection.cost), (expected.utility, expected.cost));
                assert!(all.contains(&any.selection));
            } else {
                assert_eq!((solved.is_some(), any.is_some()), (expected.is_some(), expected.is_some()));
            }
            let target = (expected.as_ref().map_or(0, |set| set.utility) + random.below(3)).saturating_sub(1);
            match optimizer.reach(variation, target, limits) {
                Reach::Found(set) => {
                    assert!(set.utility >= target && is_valid(&&set) && all.contains(&set), "{problem:?}");
                }
                Reach::Impossible => {
                    assert!(expected.is_none_or(|set| set.utility < target), "{problem:?}");
                    impossible += 1;
                }
                Reach::Unknown => panic!("limit reached: {problem:?}"),
            }
        }
    }
    assert!(infeasible > 100 && impossible > 100, "{infeasible} infeasible, {impossible} impossible");
}

/// A search writes no more steps once its certificate is too large; a certificate below the limit is valid.
#[test]
fn size_of_a_certificate_is_limited() {
    let (mut random, mut certified, mut too_large) = (Random(4), 0, 0);
    for round in 0..1_000 {
        let problem = random.problem(1 + round % 2);
        let selection = solve(&problem, SearchLimits::default()).selection;
        match certify(&problem, &selection, SearchLimits::default()) {
            Ok(_) => certified += 1,
            Err(error) => {
                assert_eq!(error, CertifyError::SizeLimit, "{problem:?}");
                too_large += 1;
            }
        }
    }
    assert!(certified > 100 && too_large > 10, "{certified} certified, {too_large} too large");
}
