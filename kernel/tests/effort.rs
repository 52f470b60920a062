//! What the context optimizer does for problems of many shapes: visited nodes, work, bounds and steps of certificates.
//!
//! They are the same on every machine. A change of the search changes them even if it changes no solution. More work for the same
//! solutions is a regression.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod random_problems;

use orchestrion_kernel::selection::{Candidate, Certificate, Problem, Step, verify};
use orchestrion_optimizer::{Optimizer, Reach, SearchLimits, SolveStatus, Variation, certify, solve};
use random_problems::{Lcg, best_by_enumeration, free, random_problem};
use std::collections::BTreeMap;

/// A shape of problems: how many, the limits of a search, and how to make one.
struct Shape {
    name: &'static str,
    count: usize,
    limits: SearchLimits,
    make: fn(&mut Lcg) -> (u64, Vec<Candidate>),
}

const fn shape(
    name: &'static str,
    count: usize,
    limits: SearchLimits,
    make: fn(&mut Lcg) -> (u64, Vec<Candidate>),
) -> Shape {
    Shape { name, count, limits, make }
}

const SHAPES: [Shape; 13] = [
    shape("mixed", 400, LIMITS, random_problem),
    shape("subset sums", 10, LIMITS, |rng| problem(rng, 40, 0, Value::Cost)),
    shape("correlated", 10, LIMITS, |rng| problem(rng, 60, 0, Value::CostAndExcess)),
    shape("correlated forests", 20, LIMITS, |rng| problem(rng, 40, 1, Value::CostAndExcess)),
    shape("correlated graphs", 20, LIMITS, |rng| problem(rng, 40, 3, Value::CostAndExcess)),
    shape("ties", 20, LIMITS, |rng| problem(rng, 40, 2, Value::UpTo(3))),
    shape("items", 10, LIMITS, |rng| problem(rng, 200, 0, Value::UpTo(1_000))),
    shape("forests", 10, LIMITS, |rng| problem(rng, 300, 1, Value::UpTo(1_000))),
    shape("graphs", 10, LIMITS, |rng| problem(rng, 300, 3, Value::UpTo(1_000))),
    shape("hard items", 2, HARD, |rng| problem(rng, 60, 0, Value::CostAndExcess)),
    shape("hard forests", 2, HARD, |rng| problem(rng, 200, 1, Value::CostAndExcess)),
    shape("hard graph", 1, HARD, |rng| problem(rng, 100, 3, Value::CostAndExcess)),
    shape("large graphs", 2, LIMITS, |rng| problem(rng, 2_000, 2, Value::UpTo(1 << 40))),
];

/// How the utility of an item depends on its cost.
#[derive(Clone, Copy)]
enum Value {
    Cost,
    CostAndExcess,
    UpTo(u64),
}

/// Returns a problem with this many items, each with up to `needs` dependencies on earlier ones.
fn problem(rng: &mut Lcg, count: usize, needs: u64, value: Value) -> (u64, Vec<Candidate>) {
    let (cost_max, excess) = (rng.of(&[20, 1_000]), 5 + rng.up_to(20));
    let candidates: Vec<Candidate> = (0..count)
        .map(|item| {
            let deps: Vec<usize> =
                (0..if item > 0 { rng.up_to(needs) } else { 0 }).map(|_| rng.place(item)).collect();
            let cost = 1 + rng.up_to(cost_max);
            let utility = match value {
                Value::Cost => cost,
                Value::CostAndExcess => cost + excess + rng.up_to(2),
                Value::UpTo(most) => rng.up_to(most),
            };
            free(utility, cost, &deps)
        })
        .collect();
    let total: u64 = candidates.iter().map(|one| one.cost).sum();
    (total / 100 * (10 + rng.up_to(60)), candidates)
}

fn problems(shape: &Shape) -> Vec<Problem> {
    let mut rng = Lcg(1);
    let problems = (0..shape.count).filter_map(|_| {
        let (budget, candidates) = (shape.make)(&mut rng);
        Problem::new(budget, candidates).ok()
    });
    problems.collect()
}

const LIMITS: SearchLimits = SearchLimits { nodes: 20_000, work: 3_000_000 };

/// More work, for problems that are not solved within the first 3,000 nodes: the search then continues with two ranges of the number of
/// items.
const HARD: SearchLimits = SearchLimits { nodes: 20_000, work: 60_000_000 };

/// Sums over the problems of a shape, by name.
type Sums = BTreeMap<&'static str, u128>;

fn add(sums: &mut Sums, name: &'static str, number: impl Into<u128>) {
    *sums.entry(name).or_default() += number.into();
}

fn add_solution(sums: &mut Sums, problem: &Problem, limits: SearchLimits) {
    let solved = solve(problem, limits);
    if problem.candidates().len() <= 10 {
        let best = best_by_enumeration(problem.budget(), problem.candidates());
        assert_eq!(Some(&solved.selection), best.as_ref(), "{problem:?}");
    }
    add(sums, "bound", solved.bound);
    add(sums, "utility", solved.selection.utility);
    add(sums, "nodes", solved.nodes);
    add(sums, "work", solved.work);
    if solved.status == SolveStatus::Bounded {
        add(sums, "bounded", 1_u8);
        return;
    }
    // With few nodes left, a certificate splits by count and uses tables.
    for limits in [LIMITS, SearchLimits::from_nodes(40)] {
        match certify(problem, &solved.selection, limits) {
            Ok(certificate) => add_steps(sums, problem, &certificate),
            Err(_) => add(sums, "not certified", 1_u8),
        }
    }
}

fn add_steps(sums: &mut Sums, problem: &Problem, certificate: &Certificate) {
    assert_eq!(verify(problem, certificate), Ok(()), "{problem:?}");
    for step in &certificate.steps {
        let name = match step {
            Step::DropUnaffordable(_) => "steps: drop",
            Step::Fix { .. } => "steps: fix",
            Step::Branch(_) => "steps: branch",
            Step::BranchOnCount(_) => "steps: branch on count",
            Step::PruneByTable => "steps: prune by table",
            Step::PruneByBound(_) => "steps: prune by bound",
        };
        add(sums, name, 1_u8);
    }
}

/// Searches of one prepared problem, which begin where the previous one ended.
fn add_variations(sums: &mut Sums, problem: &Problem) {
    let mut optimizer = Optimizer::new(problem);
    let mut rng = Lcg(2);
    for _ in 0..6 {
        let budget = (problem.budget() / 8).saturating_mul(rng.up_to(10));
        let count = problem.candidates().len();
        let item = (count > 0 && rng.up_to(2) > 0).then(|| (rng.place(count), rng.up_to(1) == 0));
        let variation = Variation { budget, item };
        let best = optimizer.maximize(variation, LIMITS);
        let target = best.map_or(0, |best| best.selection.utility);
        match optimizer.reach(variation, target + rng.up_to(1), LIMITS) {
            Reach::Found(_) => add(sums, "found", 1_u8),
            Reach::Impossible => add(sums, "impossible", 1_u8),
            Reach::Unknown => add(sums, "unknown", 1_u8),
        }
    }
    add(sums, "work of variations", optimizer.work());
}

#[test]
#[cfg_attr(miri, ignore = "an interpreter takes hours")]
fn effort_is_as_recorded() {
    let mut text = String::new();
    for shape in &SHAPES {
        let mut sums = Sums::new();
        for problem in problems(shape) {
            add_solution(&mut sums, &problem, shape.limits);
            add_variations(&mut sums, &problem);
        }
        text.push_str(&format!("{} {}\n", shape.count, shape.name));
        sums.iter().for_each(|(name, sum)| text.push_str(&format!("  {name:24}{sum:>20}\n")));
    }
    insta::assert_snapshot!(text);
}
