//! The context optimizer against enumeration: utility, cost, and tie-breaking between optimal selections.
//!
//! `BRUTE_CASES` sets the number of random problems; nightly runs use a million, in a release build.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod random_problems;

use orchestrion_kernel::selection::{
    Candidate, Inclusion, Problem, ProblemError, Selection, SelectionError, check_selection,
};
use orchestrion_optimizer::{SearchLimits, Solution, SolveStatus, solve};
use random_problems::{Lcg, best_by_enumeration, free, random_problem};
/// Solves a problem and compares the solution with every selection.
fn agree(budget: u64, candidates: Vec<Candidate>) {
    let expected = best_by_enumeration(budget, &candidates);
    let Ok(problem) = Problem::new(budget, candidates) else {
        assert_eq!(expected, None, "expected no error for a feasible problem");
        return;
    };
    let Solution { selection, status, bound, .. } = solve(&problem, SearchLimits::default());
    assert_eq!(check_selection(&problem, &selection), Ok(()), "{problem:?}");
    assert_eq!(Some(&selection), expected.as_ref(), "{problem:?}");
    assert_eq!((status, bound), (SolveStatus::Optimal, selection.utility), "{problem:?}");
}

#[test]
fn small_digraphs_are_solved() {
    let mut solved = 0;
    for nodes in 0..=3_usize {
        let pairs: Vec<(usize, usize)> =
            (0..nodes * nodes).map(|pair| (pair / nodes, pair % nodes)).filter(|(a, b)| a != b).collect();
        for arcs in 0..1_u32 << pairs.len() {
            for numbers in 0..6_u64.pow(u32::try_from(nodes).unwrap()) {
                let mut candidates = Vec::new();
                let mut rest = numbers;
                for item in 0..nodes {
                    let mut one = free(rest % 2, rest / 2 % 3, &[]);
                    rest /= 6;
                    let arcs = pairs
                        .iter()
                        .enumerate()
                        .filter(|(place, (a, _))| arcs >> place & 1 == 1 && *a == item);
                    one.deps.extend(arcs.map(|(_, (_, b))| *b));
                    candidates.push(one);
                }
                let total: u64 = candidates.iter().map(|one| one.cost).sum();
                for budget in 0..=total {
                    agree(budget, candidates.clone());
                    solved += 1;
                }
            }
        }
    }
    assert!(solved > 40_000, "expected more than 40000 problems, found {solved}");
}

/// Every digraph on four nodes with every cost and budget, and random utilities. Fewer in an interpreter.
#[test]
fn all_digraphs_on_four_nodes_are_solved() {
    let mut rng = Lcg(4);
    let stride = if cfg!(miri) { 997 } else { 1 };
    for code in (0..4096_u64 * 81).step_by(stride) {
        let (arcs, costs) = (code / 81, code % 81);
        let mut place = 0;
        let mut rest = costs;
        let mut candidates = Vec::new();
        for item in 0..4 {
            let mut one = free(rng.up_to(2), rest % 3, &[]);
            rest /= 3;
            for dep in (0..4).filter(|dep| *dep != item) {
                if arcs >> place & 1 == 1 {
                    one.deps.push(dep);
                }
                place += 1;
            }
            candidates.push(one);
        }
        let total: u64 = candidates.iter().map(|one| one.cost).sum();
        (0..=total).for_each(|budget| agree(budget, candidates.clone()));
    }
}

#[test]
fn random_problems_are_solved() {
    let cases = std::env::var("BRUTE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let mut rng = Lcg(7);
    for _ in 0..cases {
        let (budget, candidates) = random_problem(&mut rng);
        agree(budget, candidates);
    }
}

/// Bounds and solutions of a search with few nodes are valid, proven optimal or not.
#[test]
fn bounded_solution_respects_its_bound() {
    let mut rng = Lcg(8);
    let mut bounded = 0;
    for _ in 0..5_000 {
        let (budget, candidates) = random_problem(&mut rng);
        let Ok(problem) = Problem::new(budget, candidates.clone()) else { continue };
        let expected = best_by_enumeration(budget, &candidates).unwrap();
        let answer = solve(&problem, SearchLimits::from_nodes(rng.up_to(2)));
        assert_eq!(check_selection(&problem, &answer.selection), Ok(()), "{problem:?}");
        assert!(answer.bound >= expected.utility, "{problem:?}");
        if answer.status == SolveStatus::Optimal {
            assert_eq!(answer.selection, expected, "{problem:?}");
        } else {
            bounded += 1;
        }
    }
    assert!(bounded > 100, "expected more than 100 limited searches, found {bounded}");
}

#[test]
fn problem_error_names_candidate() {
    let cases: &[(u64, Vec<Candidate>, &str)] = &[
        (
            9,
            vec![free(1, 1, &[1])],
            "unknown dependency of candidate 0: expected a position of the list, found 1",
        ),
        (
            9,
            vec![free(1, 1 << 62, &[]), free(1, 1, &[])],
            "sum too large at candidate 1: expected utilities and costs of at most 2^62 in total",
        ),
        (
            9,
            vec![
                Candidate { inclusion: Inclusion::Pinned, ..free(1, 1, &[1]) },
                free(1, 1, &[2]),
                Candidate { inclusion: Inclusion::Forbidden, ..free(1, 1, &[]) },
            ],
            "pinned candidate 0 depends on forbidden candidate 2; unpin the first or allow the second",
        ),
        (
            3,
            vec![Candidate { inclusion: Inclusion::Pinned, ..free(1, 2, &[1]) }, free(1, 2, &[])],
            "pinned candidates over budget: expected a budget of at least 4, found 3",
        ),
    ];
    for (budget, candidates, sentence) in cases {
        let flaw: ProblemError = Problem::new(*budget, candidates.clone()).unwrap_err();
        assert_eq!(flaw.to_string(), *sentence);
    }
}

#[test]
fn check_reports_every_selection_error() {
    let candidates = vec![
        free(5, 2, &[]),
        free(3, 2, &[0]),
        Candidate { inclusion: Inclusion::Forbidden, ..free(9, 0, &[]) },
        Candidate { inclusion: Inclusion::Pinned, ..free(0, 1, &[]) },
        free(4, 2, &[]),
    ];
    let problem = Problem::new(5, candidates).unwrap();
    let cases: &[(&[usize], u64, u64, Option<SelectionError>)] = &[
        (&[0, 1, 3], 8, 5, None),
        (&[3, 0], 5, 3, Some(SelectionError::OutOfOrder { item: 0 })),
        (&[3, 3], 0, 2, Some(SelectionError::OutOfOrder { item: 3 })),
        (&[3, 5], 0, 1, Some(SelectionError::UnknownPosition { item: 5 })),
        (&[1, 3], 3, 3, Some(SelectionError::MissingDependency { item: 1, dep: 0 })),
        (&[2, 3], 9, 1, Some(SelectionError::Forbidden { item: 2 })),
        (&[0], 5, 2, Some(SelectionError::PinnedMissing { item: 3 })),
        (&[0, 3], 6, 3, Some(SelectionError::WrongUtility { found: 6, expected: 5 })),
        (&[0, 3], 5, 2, Some(SelectionError::WrongCost { found: 2, expected: 3 })),
        (&[0, 1, 3, 4], 12, 7, Some(SelectionError::OverBudget { cost: 7, budget: 5 })),
    ];
    for &(selected, utility, cost, fault) in cases {
        let selection = Selection { selected: selected.to_vec(), utility, cost };
        assert_eq!(check_selection(&problem, &selection).err(), fault, "{selected:?}");
    }
    assert_eq!(solve(&problem, SearchLimits::default()).selection.selected, [0, 3, 4]);
}

/// A node with more dependents than the reduction examines: its excess flow must still be routed.
#[test]
fn shared_dependency_is_solved() {
    let candidate = |utility, cost, deps: &[usize]| Candidate {
        utility,
        cost,
        deps: deps.to_vec(),
        inclusion: Inclusion::Free,
    };
    for others in [0, 28, 30, 100, 10_000] {
        let mut candidates = vec![candidate(0, 10, &[]), candidate(0, 10, &[])];
        candidates.extend([candidate(300, 1, &[0]), candidate(300, 1, &[0, 1])]);
        candidates.extend((0..others).map(|_| candidate(10, 1_000, &[0])));
        let answer = solve(&Problem::new(21, candidates).unwrap(), SearchLimits::default());
        assert_eq!(
            (answer.selection.selected, answer.status),
            (vec![0, 2], SolveStatus::Optimal),
            "{others} others"
        );
    }
}
