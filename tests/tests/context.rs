//! Context selection against enumeration: exact solvers, baselines, explanations, curves and certificates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::selection::{Inclusion, Problem, Selection, check_selection};
use orchestrion_optimizer::{SearchLimits, SolveStatus, certify};
use orchestrion_selection::{
    Baseline, Explainer, IlpError, NamedProblem, Reason, RequiredBudget, SolveError, Solver, budget_curve,
    compare, solve, verify_bytes, write_certificate,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::fmt::Write as _;

/// An item of a problem file.
#[derive(Clone, Debug)]
struct RandomItem {
    utility: u64,
    cost: u64,
    deps: Vec<usize>,
    inclusion: Inclusion,
    group: Option<usize>,
    is_working: bool,
}

/// Returns a problem as a file, so that the reader is tested too.
fn file(budget: u64, items: &[RandomItem]) -> String {
    let mut file = format!("{{\"budget\": {budget}, \"items\": [");
    for (id, item) in items.iter().enumerate() {
        let RandomItem { utility, cost, deps, .. } = item;
        let comma = if id == 0 { "" } else { ", " };
        write!(file, "{comma}{{\"id\": {id}, \"utility\": {utility}, \"cost\": {cost}, \"deps\": {deps:?}")
            .unwrap();
        match item.inclusion {
            Inclusion::Free => {}
            Inclusion::Pinned => file.push_str(", \"inclusion\": \"pinned\""),
            Inclusion::Forbidden => file.push_str(", \"inclusion\": \"forbidden\""),
        }
        if let Some(group) = item.group {
            write!(file, ", \"group\": {group}").unwrap();
        }
        if item.is_working {
            file.push_str(", \"layer\": \"working\"");
        }
        file.push('}');
    }
    file + "]}"
}

/// Generates valid problems with at most `items_max` items.
fn problems(items_max: usize) -> impl Strategy<Value = NamedProblem> {
    let item = move |utility_max: u64| {
        let inclusion = prop_oneof![8 => Just(Inclusion::Free), 1 => Just(Inclusion::Pinned), 1 => Just(Inclusion::Forbidden)];
        let deps = prop::collection::vec(0..items_max, 0..3);
        let group = prop_oneof![5 => Just(None), 1 => (0..2_usize).prop_map(Some)];
        let fields = (0..=utility_max, 0..=6_u64, deps, inclusion, group, any::<bool>());
        fields.prop_map(|(utility, cost, deps, inclusion, group, is_working)| RandomItem {
            utility,
            cost,
            deps,
            inclusion,
            group,
            is_working,
        })
    };
    // Few distinct utilities cause many ties.
    let items = prop_oneof![Just(2_u64), Just(50)]
        .prop_flat_map(move |utility_max| prop::collection::vec(item(utility_max), 0..=items_max));
    (items, 0..=4 * items_max as u64).prop_filter_map("invalid problem", |(mut items, budget)| {
        let count = items.len();
        for item in &mut items {
            item.deps.retain(|dep| *dep < count);
        }
        NamedProblem::from_bytes("random", file(budget, &items).as_bytes()).ok()
    })
}

/// Generates valid problems whose numbers exceed 10^12. Some differ by a few units only, which floating point rounds away where
/// sums are compared as a whole.
fn large_problems(items_max: usize) -> impl Strategy<Value = NamedProblem> {
    let number =
        || prop_oneof![0..=5_u64, 0..=5_000_000_000_000_u64, 3_000_000_000_000..=3_000_000_000_004_u64];
    let item = (number(), number(), prop::collection::vec(0..items_max, 0..2), 0..12_u8);
    (prop::collection::vec(item, 1..=items_max), 0..=100_u64, 0..=3_u64).prop_filter_map(
        "invalid problem",
        |(items, percent, extra)| {
            let count = items.len();
            let items: Vec<RandomItem> = items
                .into_iter()
                .map(|(utility, cost, deps, inclusion)| RandomItem {
                    utility,
                    cost,
                    deps: deps.into_iter().filter(|dep| *dep < count).collect(),
                    inclusion: match inclusion {
                        0 => Inclusion::Pinned,
                        1 => Inclusion::Forbidden,
                        _ => Inclusion::Free,
                    },
                    group: None,
                    is_working: false,
                })
                .collect();
            let budget = items.iter().map(|item| item.cost).sum::<u64>() / 100 * percent + extra;
            NamedProblem::from_bytes("large", file(budget, &items).as_bytes()).ok()
        },
    )
}

/// Enumerates every valid selection.
fn choices(problem: &Problem) -> impl Iterator<Item = Selection> {
    let candidates = problem.candidates();
    (0..1_u32 << candidates.len()).filter_map(move |bits| {
        let selected: Vec<usize> = (0..candidates.len()).filter(|item| bits >> item & 1 == 1).collect();
        let utility = selected.iter().map(|item| candidates[*item].utility).sum();
        let cost = selected.iter().map(|item| candidates[*item].cost).sum();
        let selection = Selection { selected, utility, cost };
        check_selection(problem, &selection).is_ok().then_some(selection)
    })
}

/// Returns the optimal selection after tie-breaking.
fn best(choices: impl Iterator<Item = Selection>) -> Selection {
    choices
        .min_by(|a, b| {
            (Reverse(a.utility), a.cost, &a.selected).cmp(&(Reverse(b.utility), b.cost, &b.selected))
        })
        .unwrap()
}

fn at(named: &NamedProblem, budget: u64) -> Option<Problem> {
    Problem::new(budget, named.problem.candidates().to_vec()).ok()
}

fn all(named: &NamedProblem) -> u64 {
    named.problem.candidates().iter().map(|candidate| candidate.cost).sum::<u64>().max(named.problem.budget())
}

/// Whether the solver of linear programs found no solution, or one that the check in integers refuses. It cannot factorize the bases of
/// some programs, and loses accuracy in others. A test of `orchestrion-selection` limits how many.
fn is_inexact_or_unsolved(error: &SolveError) -> bool {
    match error {
        SolveError::Ilp(
            IlpError::Unsolved(_)
            | IlpError::Fractional(_)
            | IlpError::Contradictory { .. }
            | IlpError::Unsound(_),
        ) => true,
        SolveError::Ilp(IlpError::TimeLimit | IlpError::Unproven)
        | SolveError::Unsound { .. }
        | SolveError::NotFeasible(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_solvers_match_enumeration(named in problems(10)) {
        let expected = best(choices(&named.problem));
        for solver in [Solver::Native, Solver::Ilp] {
            let solved = solve(&named, solver, SearchLimits::default()).unwrap();
            prop_assert_eq!(&solved.selection, &expected, "{}", solver.name());
            prop_assert_eq!((solved.status, solved.bound), (SolveStatus::Optimal, expected.utility));
        }
    }

    #[test]
    fn ilp_matches_enumeration_for_large_sums(named in large_problems(9)) {
        match solve(&named, Solver::Ilp, SearchLimits::default()) {
            Ok(solved) => prop_assert_eq!(&solved.selection, &best(choices(&named.problem))),
            Err(error) => prop_assert!(is_inexact_or_unsolved(&error), "{}", error),
        }
    }

    #[test]
    fn baselines_report_their_loss(named in problems(9)) {
        let expected = best(choices(&named.problem));
        for solved in compare(&named, SearchLimits::default()).unwrap() {
            prop_assert!(check_selection(&named.problem, &solved.selection).is_ok());
            prop_assert_eq!(solved.loss(), expected.utility - solved.selection.utility);
            prop_assert_eq!(solved.status == SolveStatus::Optimal, solved.selection == expected);
        }
    }

    #[test]
    fn complete_curve_has_every_step(named in problems(8)) {
        let complete = budget_curve(&named, usize::MAX, SearchLimits::default(), &mut |_| ()).unwrap();
        prop_assert!(complete.is_complete && !complete.hit_limit);
        let budgets = (0..=all(&named)).filter_map(|budget| Some((budget, best(choices(&at(&named, budget)?)))));
        let mut steps: Vec<(u64, u64, u64)> = Vec::new();
        for (budget, best) in budgets {
            match steps.last_mut() {
                Some((_, to, utility)) if *utility == best.utility => *to = budget,
                _ => steps.push((budget, budget, best.utility)),
            }
        }
        let found: Vec<_> = complete.points.iter().map(|point| (point.cost, point.budget, point.utility)).collect();
        prop_assert_eq!(found, steps);
    }

    #[test]
    fn limited_curve_is_part_of_complete_curve(named in problems(9), points_max in 1..6_usize) {
        let whole = budget_curve(&named, usize::MAX, SearchLimits::default(), &mut |_| ()).unwrap();
        let part = budget_curve(&named, points_max, SearchLimits::default(), &mut |_| ()).unwrap();
        prop_assert!(part.points.len() <= points_max.max(3));
        prop_assert!(part.points.iter().any(|point| (point.cost..=point.budget).contains(&named.problem.budget())));
        for point in &part.points {
            let same = whole.points.iter().find(|other| other.cost == point.cost).unwrap();
            prop_assert_eq!((same.utility, same.items), (point.utility, point.items));
        }
    }

    #[test]
    fn explanations_match_enumeration(named in problems(7)) {
        let mut explainer = Explainer::new(&named, SearchLimits::default()).unwrap();
        let reasons = explainer.reasons();
        let here = best(choices(&named.problem));
        for (item, reason) in reasons.into_iter().enumerate() {
            let is_in = matches!(reason, Reason::Selected { .. });
            prop_assert_eq!(is_in, here.selected.contains(&item));
            let has = |choice: &Selection| choice.selected.contains(&item);
            let explained = explainer.explain(item, reason).unwrap();
            let others: Vec<_> = choices(&named.problem).filter(|choice| has(choice) != is_in).collect();
            match explained.alternative {
                Some(change) => prop_assert_eq!(change.utility, best(others.into_iter()).utility),
                None => prop_assert!(others.is_empty()),
            }
            // The smallest budget at which an optimal selection contains the item.
            let least = (named.problem.budget()..=all(&named)).find_map(|budget| {
                let problem = at(&named, budget).unwrap();
                let best = best(choices(&problem));
                let is_tied = choices(&problem).any(|choice| has(&choice) && choice.utility == best.utility);
                is_tied.then(|| if has(&best) { RequiredBudget::Selected(budget) } else { RequiredBudget::Tied(budget) })
            });
            prop_assert_eq!(explained.required_budget, least.filter(|_| !is_in));
        }
        prop_assert!(!explainer.hit_limit);
    }

    #[test]
    fn next_improvement_is_the_smallest_budget(named in problems(8)) {
        let mut explainer = Explainer::new(&named, SearchLimits::default()).unwrap();
        let now = best(choices(&named.problem)).utility;
        let more = (named.problem.budget() + 1..=all(&named)).map(|budget| (budget, best(choices(&at(&named, budget).unwrap())).utility));
        let least = more.into_iter().find(|(_, utility)| *utility > now);
        let raise = explainer.next_improvement().unwrap();
        prop_assert_eq!(raise.map(|raise| (raise.budget, raise.utility)), least);
        prop_assert_eq!(raise.map(|raise| (raise.budget_min, raise.bound)), least);
        prop_assert!(!explainer.hit_limit);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_solvers_agree_on_larger_problems(named in problems(30)) {
        let native = solve(&named, Solver::Native, SearchLimits::default()).unwrap();
        prop_assert_eq!(native.status, SolveStatus::Optimal);
        prop_assert_eq!(native.selection, solve(&named, Solver::Ilp, SearchLimits::default()).unwrap().selection);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ilp_agrees_with_optimizer_for_large_sums(named in large_problems(16)) {
        let native = solve(&named, Solver::Native, SearchLimits::default()).unwrap();
        prop_assert_eq!(native.status, SolveStatus::Optimal);
        match solve(&named, Solver::Ilp, SearchLimits::default()) {
            Ok(solved) => prop_assert_eq!(&solved.selection, &native.selection),
            Err(error) => prop_assert!(is_inexact_or_unsolved(&error), "{}", error),
        }
    }
}

/// Returns a certificate as a file.
fn certificate(named: &NamedProblem) -> Value {
    let best = best(choices(&named.problem));
    let written = certify(&named.problem, &best, SearchLimits::default()).unwrap();
    let mut file = Vec::new();
    write_certificate(named, &written, &mut file).unwrap();
    serde_json::from_slice(&file).unwrap()
}

/// Returns copies of the file, each with one value changed.
fn corrupted(value: &Value) -> Vec<Value> {
    let own = match value {
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            vec![json!(number + 1), json!(number.wrapping_sub(1)), json!(-1), json!(number.to_string())]
        }
        Value::String(text) => match text.parse::<i128>() {
            Ok(number) => vec![json!((number + 1).to_string()), json!((number - 1).to_string()), json!(7)],
            Err(_) => vec![json!(format!("{text}0"))],
        },
        _ => vec![],
    };
    let mut all = own;
    match value {
        Value::Array(list) => {
            for place in 0..list.len() {
                let mut with = |edit: &dyn Fn(&mut Vec<Value>)| {
                    let mut list = list.clone();
                    edit(&mut list);
                    all.push(Value::Array(list));
                };
                with(&|list| drop(list.remove(place)));
                with(&|list| list.insert(place, list[place].clone()));
                with(&|list| list[..=place].rotate_left(1));
                for other in corrupted(&list[place]) {
                    with(&|list| list[place] = other.clone());
                }
            }
        }
        Value::Object(fields) => {
            for key in fields.keys() {
                let mut with = |edit: &dyn Fn(&mut serde_json::Map<String, Value>)| {
                    let mut fields = fields.clone();
                    edit(&mut fields);
                    all.push(Value::Object(fields));
                };
                with(&|fields| drop(fields.remove(key)));
                with(&|fields| drop(fields.insert(format!("{key}s"), fields[key].clone())));
                for other in corrupted(&fields[key]) {
                    with(&|fields| drop(fields.insert(key.clone(), other.clone())));
                }
            }
        }
        _ => {}
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// A verified statement must agree with enumeration.
    #[test]
    fn corrupted_certificate_proves_only_true_statements(named in problems(8)) {
        let best = best(choices(&named.problem));
        let file = certificate(&named);
        let verdict = verify_bytes(&named, "proof", file.to_string().as_bytes()).unwrap();
        prop_assert_eq!((verdict.utility, verdict.cost, verdict.error), (best.utility, best.cost, None));
        for corrupted in corrupted(&file) {
            let verdict = verify_bytes(&named, "proof", corrupted.to_string().as_bytes());
            if let Ok(verdict) = verdict && verdict.error.is_none() {
                let selected: Vec<u64> = serde_json::from_value(corrupted["selected"].clone()).unwrap();
                let selected = selected.iter().map(|id| named.position(&id.to_string()).unwrap()).collect();
                let (utility, cost) = (verdict.utility, verdict.cost);
                prop_assert_eq!((utility, cost), (best.utility, best.cost), "{}", corrupted);
                let answer = Selection { selected, utility, cost };
                prop_assert_eq!(check_selection(&named.problem, &answer), Ok(()));
            }
        }
    }
}

/// 003-7.3, 003-7.4: `ranked`. Budget 100: the pinned item leaves 90, of which facts may use 63.
#[test]
fn baselines_select_by_their_rules() {
    let file = br#"{"budget": 100, "items": [
        {"id": 0, "utility": 0, "cost": 10, "inclusion": "pinned"},
        {"id": 1, "utility": 1, "cost": 20},
        {"id": 2, "utility": 90, "cost": 30, "deps": [1]},
        {"id": 3, "utility": 95, "cost": 5, "deps": [9]},
        {"id": 4, "utility": 80, "cost": 13},
        {"id": 5, "utility": 70, "cost": 1},
        {"id": 6, "utility": 60, "cost": 1},
        {"id": 7, "utility": 5, "cost": 6, "layer": "working"},
        {"id": 8, "utility": 5, "cost": 20, "layer": "working", "deps": [4]},
        {"id": 9, "utility": 99, "cost": 1, "inclusion": "forbidden"}]}"#;
    let named = NamedProblem::from_bytes("rules", file).unwrap();
    for (baseline, selected) in [
        // By utility per token including dependencies: 5, 6, 4, 8 (with 4), 2 (with 1). Item 7 does not fit any more.
        (Baseline::Greedy, vec![0, 1, 2, 4, 5, 6, 8]),
        // 3 depends on a forbidden item and is not current knowledge. 2 and 1 take 50, 4 the remaining 13; 5 exceeds
        // the share of seven tenths, and 6 is skipped. Both working items fit into the remaining 27.
        (Baseline::Ranked, vec![0, 1, 2, 4, 7, 8]),
        // 8 requires 4; then 7, 6 and 5. Of 90 tokens 49 remain, and 2 with 1 costs 50.
        (Baseline::Recent, vec![0, 4, 5, 6, 7, 8]),
    ] {
        assert_eq!(baseline.select(&named).selected, selected, "{baseline:?}");
    }
}
