//! Certificates: a written certificate verifies, and a corrupted one verifies only if its statement is still true.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod random_problems;

use orchestrion_kernel::selection::{
    Candidate, Certificate, DualSolution, Inclusion, Problem, SLOPES_MAX, Selection, Step, VerifyErrorKind,
    check_selection, verify,
};
use orchestrion_optimizer::{CertifyError, SearchLimits, certify};
use random_problems::{Lcg, best_by_enumeration, free, random_problem};
use std::collections::{BTreeMap, BTreeSet};

/// Problems with their optimal solutions by enumeration.
fn problems(seed: u64, cases: usize) -> impl Iterator<Item = (Problem, Selection)> {
    let mut rng = Lcg(seed);
    (0..cases).filter_map(move |place| {
        let (budget, candidates) =
            if place % 2 == 0 { random_problem(&mut rng) } else { correlated_problem(&mut rng) };
        let best = best_by_enumeration(budget, &candidates)?;
        Some((Problem::new(budget, candidates).unwrap(), best))
    })
}

/// Returns a problem with strongly correlated costs and utilities, so that bounds prune little.
fn correlated_problem(rng: &mut Lcg) -> (u64, Vec<Candidate>) {
    let (excess, noise) = (5 + rng.up_to(20), rng.up_to(3));
    let mut candidates = Vec::new();
    for item in 0..10_usize {
        let cost = 1 + rng.up_to(19);
        let deps: Vec<usize> =
            (0..if item > 4 { rng.up_to(2) } else { 0 }).map(|_| rng.place(item)).collect();
        candidates.push(free(cost + excess + rng.up_to(noise), cost, &deps));
    }
    let total: u64 = candidates.iter().map(|one| one.cost).sum();
    (rng.up_to(total), candidates)
}

/// Certificates, also with a low node limit, under which they distinguish selections by size.
fn certificates(seed: u64, cases: usize) -> impl Iterator<Item = (Problem, Certificate)> {
    problems(seed, cases).enumerate().flat_map(|(place, (problem, best))| {
        let written = [10_000, 3 + place as u64 % 60].map(|nodes| {
            let written = certify(&problem, &best, SearchLimits::from_nodes(nodes));
            if let Err(unproven) = &written {
                assert!(*unproven == CertifyError::NodeLimit && nodes < 100, "{unproven:?} {problem:?}");
            }
            written.ok().map(|certificate| (problem.clone(), certificate))
        });
        written.into_iter().flatten()
    })
}

fn cases(usual: usize) -> usize {
    std::env::var("BRUTE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn optimal_selection_is_certified_and_verified() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (problem, certificate) in certificates(11, cases(20_000)) {
        assert_eq!(verify(&problem, &certificate), Ok(()), "{problem:?}");
        for step in &certificate.steps {
            let name = match step {
                Step::DropUnaffordable(_) => "drop",
                Step::Fix { .. } => "reduce",
                Step::Branch(_) => "branch",
                Step::BranchOnCount(_) => "split",
                Step::PruneByTable => "table",
                Step::PruneByBound(DualSolution { count_price: 0, .. }) => "close",
                Step::PruneByBound(DualSolution { count_price: toll, .. }) if *toll < 0 => {
                    "close with a reward"
                }
                Step::PruneByBound(_) => "close with a toll",
            };
            *seen.entry(name).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 8, "expected all 8 kinds of steps: {seen:?}");
}

/// Returns every other selection that passes the check.
fn others<'a>(problem: &'a Problem, best: &'a Selection) -> impl Iterator<Item = Selection> + 'a {
    let all = problem.candidates();
    let sets = (0..1_u32 << all.len())
        .map(|set| (0..all.len()).filter(|item| set >> item & 1 == 1).collect::<Vec<usize>>());
    let summed = sets.map(|selected| {
        let of = |number: fn(&Candidate) -> u64| selected.iter().map(|&item| number(&all[item])).sum();
        Selection { utility: of(|one| one.utility), cost: of(|one| one.cost), selected }
    });
    let is_worse = |set: &Selection| (set.utility, set.cost) != (best.utility, best.cost);
    summed.filter(move |set| is_worse(set) && check_selection(problem, set).is_ok())
}

/// Returns whether a selection is optimal, by enumeration.
fn is_best(problem: &Problem, answer: &Selection) -> bool {
    let best = best_by_enumeration(problem.budget(), problem.candidates()).unwrap();
    check_selection(problem, answer).is_ok() && (answer.utility, answer.cost) == (best.utility, best.cost)
}

/// Returns copies of a list with one change: an element removed, duplicated, swapped with the next, or replaced by a
/// result of `change`.
fn altered<T: Clone>(list: &[T], change: impl Fn(&T) -> Vec<T>) -> Vec<Vec<T>> {
    let mut altered = Vec::new();
    for place in 0..list.len() {
        let with = |edit: &dyn Fn(&mut Vec<T>)| {
            let mut list = list.to_vec();
            edit(&mut list);
            list
        };
        altered.push(with(&|list| drop(list.remove(place))));
        altered.push(with(&|list| list.insert(place, list[place].clone())));
        if place + 1 < list.len() {
            altered.push(with(&|list| list.swap(place, place + 1)));
        }
        altered.extend(change(&list[place]).into_iter().map(|new| with(&|list| list[place] = new.clone())));
    }
    altered
}

fn numbers(number: i128) -> Vec<i128> {
    vec![number + 1, number - 1, -number, number / 2, number.saturating_mul(2), 0, i128::MAX, i128::MIN]
}

/// Returns every other candidate, and one outside the list.
fn places(problem: &Problem, item: usize) -> Vec<usize> {
    (0..=problem.candidates().len()).filter(|other| *other != item).collect()
}

fn prices(problem: &Problem, prices: &DualSolution) -> Vec<DualSolution> {
    let change = |field: fn(&mut DualSolution) -> &mut i128, number: i128| {
        numbers(number).into_iter().map(move |number| {
            let mut changed = prices.clone();
            *field(&mut changed) = number;
            changed
        })
    };
    let flow = altered(&prices.flow, |&(item, dep, amount)| {
        let items = places(problem, item).into_iter().map(|item| (item, dep, amount));
        let deps = places(problem, dep).into_iter().map(|dep| (item, dep, amount));
        let amounts = numbers(amount).into_iter().map(|amount| (item, dep, amount));
        items.chain(deps).chain(amounts).collect()
    });
    change(|prices| &mut prices.scale, prices.scale)
        .chain(change(|prices| &mut prices.price, prices.price))
        .chain(change(|prices| &mut prices.count_price, prices.count_price))
        .chain(flow.into_iter().map(|flow| DualSolution { flow, ..prices.clone() }))
        .collect()
}

fn steps(problem: &Problem, step: &Step) -> Vec<Step> {
    let lists = |list: &[usize]| altered(list, |item| places(problem, *item));
    let mut changed: Vec<Step> = match step {
        Step::DropUnaffordable(out) => lists(out).into_iter().map(Step::DropUnaffordable).collect(),
        Step::Fix { prices: own, excluded: out, included: within } => {
            let (own, out, within) = (own.clone(), out.clone(), within.clone());
            let prices = prices(problem, &own);
            let by_prices = prices.into_iter().map(|prices| Step::Fix {
                prices,
                excluded: out.clone(),
                included: within.clone(),
            });
            let by_out = lists(&out).into_iter().map(|out| Step::Fix {
                prices: own.clone(),
                excluded: out,
                included: within.clone(),
            });
            let by_within = lists(&within).into_iter().map(|within| Step::Fix {
                prices: own.clone(),
                excluded: out.clone(),
                included: within,
            });
            let swapped = Step::Fix { prices: own.clone(), excluded: within.clone(), included: out.clone() };
            by_prices.chain(by_out).chain(by_within).chain([swapped]).collect()
        }
        Step::Branch(item) => places(problem, *item).into_iter().map(Step::Branch).collect(),
        Step::BranchOnCount(quota) => {
            vec![
                Step::BranchOnCount(quota + 1),
                Step::BranchOnCount(quota.wrapping_sub(1)),
                Step::BranchOnCount(0),
            ]
        }
        Step::PruneByBound(own) => prices(problem, own).into_iter().map(Step::PruneByBound).collect(),
        Step::PruneByTable => vec![],
    };
    changed.extend([Step::PruneByBound(DualSolution::default()), Step::PruneByTable]);
    changed
}

/// Returns certificates that differ from the given one in a single place.
fn mutants(problem: &Problem, certificate: &Certificate) -> Vec<Certificate> {
    let mut mutants = Vec::new();
    let mut add = |edit: &dyn Fn(&mut Certificate)| {
        let mut mutant = certificate.clone();
        edit(&mut mutant);
        if mutant != *certificate {
            mutants.push(mutant);
        }
    };
    let answer = &certificate.selection;
    for selected in altered(&answer.selected, |item| places(problem, *item)) {
        add(&|mutant| mutant.selection.selected = selected.clone());
    }
    for (utility, cost) in [(1, 0), (u64::MAX, 0), (0, 1), (0, u64::MAX)] {
        add(&|mutant| mutant.selection.utility = answer.utility.wrapping_add(utility));
        add(&|mutant| mutant.selection.cost = answer.cost.wrapping_add(cost));
    }
    for slopes in altered(&certificate.slopes, |slope| vec![slope + 1, slope.wrapping_sub(1), u64::MAX]) {
        add(&|mutant| mutant.slopes = slopes.clone());
    }
    add(&|mutant| mutant.slopes = vec![0; SLOPES_MAX + 1]);
    for counted in altered(&certificate.counted, |item| places(problem, *item)) {
        add(&|mutant| mutant.counted = counted.clone());
    }
    for steps in altered(&certificate.steps, |step| steps(problem, step)) {
        add(&|mutant| mutant.steps = steps.clone());
    }
    mutants
}

/// A corrupted certificate may verify only if its selection is still optimal, for example with a different flow of
/// equal value. A certificate of a worse selection never verifies.
#[test]
fn corrupted_certificates_are_rejected() {
    let (mut rejected, mut believed, mut of_worse) = (0, 0, 0);
    let mut gaps = BTreeSet::new();
    for (place, (problem, certificate)) in certificates(12, cases(600)).enumerate() {
        for mutant in mutants(&problem, &certificate) {
            match verify(&problem, &mutant) {
                Ok(()) => {
                    believed += 1;
                    assert!(is_best(&problem, &mutant.selection), "{problem:?} {mutant:?}");
                }
                Err(doubt) => {
                    rejected += 1;
                    let gap = format!("{:?}", doubt.kind);
                    gaps.insert(gap.split([' ', '(']).next().unwrap().to_owned());
                }
            }
        }
        for worse in others(&problem, &certificate.selection).step_by(1 + place % 7) {
            let worse = Certificate { selection: worse, ..certificate.clone() };
            assert!(verify(&problem, &worse).is_err(), "{problem:?} {worse:?}");
            of_worse += 1;
            if place % 20 == 0 {
                for mutant in mutants(&problem, &worse) {
                    let is_verified = verify(&problem, &mutant).is_ok();
                    assert!(!is_verified || is_best(&problem, &mutant.selection), "{problem:?} {mutant:?}");
                    of_worse += usize::from(!is_verified);
                }
            }
        }
    }
    println!(
        "{rejected} mutants rejected, {believed} prove as much; all {of_worse} of worse answers rejected"
    );
    assert!(rejected > 10 * cases(600) && of_worse > 1_000, "{rejected}, {of_worse}");
    assert_eq!(gaps.len(), 15, "expected all 15 kinds of gaps: {gaps:?}");
}

/// Returns whether each candidate has at most one dependency and there is no cycle.
fn is_forest(all: &[Candidate]) -> bool {
    let needs =
        |item: usize| all[item].deps.iter().copied().filter(|dep| *dep != item).collect::<BTreeSet<usize>>();
    let ends = |item: usize| {
        let way = (0..all.len()).try_fold(item, |item, _| needs(item).first().copied());
        way.is_none()
    };
    (0..all.len()).all(|item| needs(item).len() < 2 && ends(item))
}

#[test]
fn table_closes_exactly_optimal_nodes() {
    let (mut closed, mut refused) = (0, 0);
    for (problem, best) in problems(16, cases(4_000)) {
        let table =
            |selection| Certificate { selection, steps: vec![Step::PruneByTable], ..Certificate::default() };
        for worse in others(&problem, &best).take(20) {
            assert!(verify(&problem, &table(worse)).is_err(), "{problem:?}");
        }
        match verify(&problem, &table(best)).map_err(|doubt| doubt.kind) {
            Ok(()) => closed += 1,
            Err(VerifyErrorKind::NotAForest { .. }) => {
                assert!(!is_forest(problem.candidates()), "{problem:?}");
                refused += 1;
            }
            gap => assert!(
                gap == Err(VerifyErrorKind::TableTooLarge) && problem.budget() >= 1 << 20,
                "{gap:?} {problem:?}"
            ),
        }
    }
    assert!(closed > 800 && refused > 800, "{closed} verified, {refused} rejected");
}

#[test]
fn table_size_is_bounded() {
    let table = |cost: u64, items: usize, steps: Vec<Step>| {
        let all = vec![free(1, cost, &[]); items];
        let problem = Problem::new(cost, all).unwrap();
        let selection = Selection { selected: vec![0], utility: 1, cost };
        verify(&problem, &Certificate { selection, steps, ..Certificate::default() })
            .map_err(|doubt| doubt.kind)
    };
    assert_eq!(table(1 << 20, 2, vec![Step::PruneByTable]), Ok(()));
    assert_eq!(table(1 << 22, 2, vec![Step::PruneByTable]), Err(VerifyErrorKind::TableTooLarge));
    assert_eq!(table(1 << 20, 600, vec![Step::PruneByTable]), Err(VerifyErrorKind::TableTooLarge));
    // Each case suffices on its own.
    assert_eq!(
        table(1 << 20, 300, vec![Step::BranchOnCount(0), Step::PruneByTable, Step::PruneByTable]),
        Err(VerifyErrorKind::TableTooLarge)
    );
}

/// The same certificate with a problem that differs in one number, dependency or inclusion.
#[test]
fn certificate_of_another_problem_must_prove_it() {
    let (mut rejected, mut believed) = (0, 0);
    for (problem, certificate) in certificates(13, cases(1_000)) {
        let (budget, all) = (problem.budget(), problem.candidates());
        let budgets = [budget.wrapping_add(1), budget.wrapping_sub(1), 0, u64::MAX];
        let mut changed: Vec<_> = budgets.into_iter().map(|budget| (budget, all.to_vec())).collect();
        for item in 0..all.len() {
            let mut edit = |edit: &dyn Fn(&mut Candidate)| {
                let mut candidates = all.to_vec();
                edit(&mut candidates[item]);
                changed.push((budget, candidates));
            };
            edit(&|one| one.utility = one.utility.wrapping_add(1));
            edit(&|one| one.utility = one.utility.saturating_sub(1));
            edit(&|one| one.cost = one.cost.wrapping_add(1));
            edit(&|one| one.cost = one.cost.saturating_sub(1));
            edit(&|one| one.deps.clear());
            edit(&|one| one.deps.push(item / 2));
            for mark in [Inclusion::Free, Inclusion::Pinned, Inclusion::Forbidden] {
                edit(&|one| one.inclusion = mark);
            }
        }
        for (budget, candidates) in changed {
            let Ok(other) = Problem::new(budget, candidates) else { continue };
            if verify(&other, &certificate).is_ok() {
                believed += 1;
                assert!(is_best(&other, &certificate.selection), "{other:?} {certificate:?}");
            } else {
                rejected += 1;
            }
        }
    }
    println!("{rejected} rejected, {believed} hold as well");
    assert!(rejected > 10 * cases(1_000), "{rejected}");
}

/// Every single change of a selection, and every possible selection, against the definition.
#[test]
fn check_accepts_exactly_valid_selections() {
    let (mut passed, mut rejected) = (0, 0);
    for (problem, best) in problems(14, cases(1_000)) {
        let all = problem.candidates();
        let answer = Certificate { selection: best, ..Certificate::default() };
        let corrupted = mutants(&problem, &answer).into_iter().map(|mutant| mutant.selection);
        for answer in corrupted.chain([answer.selection.clone()]) {
            let chosen: BTreeSet<usize> = answer.selected.iter().copied().collect();
            let sum = |number: fn(&Candidate) -> u64| {
                chosen.iter().map(|item| all.get(*item).map_or(0, number)).sum::<u64>()
            };
            let is_answer = answer.selected.is_sorted()
                && chosen.len() == answer.selected.len()
                && chosen
                    .iter()
                    .all(|item| *item < all.len() && all[*item].deps.iter().all(|dep| chosen.contains(dep)))
                && all.iter().enumerate().all(|(item, one)| match one.inclusion {
                    Inclusion::Free => true,
                    Inclusion::Pinned => chosen.contains(&item),
                    Inclusion::Forbidden => !chosen.contains(&item),
                })
                && (answer.utility, answer.cost) == (sum(|one| one.utility), sum(|one| one.cost))
                && answer.cost <= problem.budget();
            assert_eq!(check_selection(&problem, &answer).is_ok(), is_answer, "{problem:?} {answer:?}");
            *(if is_answer { &mut passed } else { &mut rejected }) += 1;
        }
    }
    println!("{rejected} corrupted answers rejected, {passed} answers passed");
    assert!(rejected > 5 * cases(1_000), "{rejected}");
}

#[test]
fn suboptimal_selection_has_no_certificate() {
    for (problem, best) in problems(15, 200) {
        for worse in others(&problem, &best).take(8) {
            let unproven = certify(&problem, &worse, SearchLimits::default());
            assert_eq!(unproven, Err(CertifyError::NotOptimal), "{problem:?} {worse:?}");
        }
    }
}

#[test]
fn verify_error_names_step_and_kind() {
    let problem = Problem::new(5, vec![free(4, 3, &[]), free(9, 3, &[0]), free(5, 4, &[])]).unwrap();
    let selection = Selection { selected: vec![2], utility: 5, cost: 4 };
    let prices =
        |scale, price, flow: &[_]| DualSolution { scale, price, count_price: 0, flow: flow.to_vec() };
    let empty = Certificate { selection, ..Certificate::default() };
    let with = |steps: Vec<Step>| Certificate { steps, ..empty.clone() };
    // 1 exceeds the budget. With 2, 0 does not fit, and without 2 the maximum is 4.
    let drop = Step::DropUnaffordable(vec![1]);
    let whole = with(vec![
        drop.clone(),
        Step::Branch(2),
        Step::PruneByBound(prices(1, 2, &[])),
        Step::PruneByBound(prices(1, 0, &[])),
    ]);
    assert_eq!(verify(&problem, &whole), Ok(()));
    // The limits are inclusive: a flow of 0, and as many slopes as the format allows.
    let mut zero_flow = whole.clone();
    zero_flow.steps[2] = Step::PruneByBound(prices(1, 2, &[(1, 0, 0)]));
    assert_eq!(verify(&problem, &zero_flow), Ok(()));
    assert_eq!(verify(&problem, &Certificate { slopes: vec![0; SLOPES_MAX], ..whole.clone() }), Ok(()));
    let below_zero = "step 1: negative number: expected a scale, prices and flows of at least 0";
    for (certificate, sentence) in [
        (with(vec![]), "open nodes: expected steps that prune every node"),
        (
            with(vec![Step::DropUnaffordable(vec![0])]),
            "step 1: 0 is dropped although its closure fits the budget",
        ),
        (with(vec![drop.clone(), drop.clone()]), "step 2: 1 is already fixed: expected an open candidate"),
        (with(vec![Step::Branch(3)]), "step 1: unknown position: expected a position of the list, found 3"),
        (
            with(vec![Step::PruneByBound(prices(1, 1, &[(0, 1, 1)]))]),
            "step 1: flow without dependency: 0 does not depend on 1",
        ),
        (with(vec![Step::PruneByBound(prices(1, 1, &[(1, 0, -1)]))]), below_zero),
        (with(vec![Step::PruneByBound(prices(1, -1, &[]))]), below_zero),
        (with(vec![Step::PruneByBound(prices(-1, 1, &[]))]), below_zero),
        (
            with(vec![drop, Step::PruneByBound(prices(1, 1, &[]))]),
            "step 2: bound too weak: the pruned node may contain a better selection",
        ),
        (
            Certificate { selection: Selection { cost: 3, ..empty.selection.clone() }, ..whole.clone() },
            "invalid selection: wrong cost: expected the sum 4, found 3",
        ),
    ] {
        assert_eq!(verify(&problem, &certificate).unwrap_err().to_string(), sentence);
    }
    let steps = [whole.steps.clone(), vec![Step::Branch(2)]].concat();
    assert_eq!(verify(&problem, &with(steps)).unwrap_err().kind, VerifyErrorKind::TrailingStep);
}
