//! `context` of a trace: what a module was shown, and what it would be.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion_optimizer::SearchLimits;
use orchestrion_selection::{Id, NamedProblem, Solver, TracePoint, solve};
use orchestrion_trace::Reader;
use runner::run;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

const TRACE: &str = "talk.trace.ndjson";

/// The longest tour is asked for; one fact tells of it, and a younger one does not.
const TALK: &str = "\
about: A tour is looked for, and lunch.
policy: tight.yaml
user: ada
requests:
  - says: Which tour is the longest?
    write:
      - fact: {key: stops, says: The longest tour has nine stops, by: Ada, rank: employee}
      - fact: {key: lunch, says: Lunch is at noon, by: Ada, rank: employee}
      - fact: {key: hours, says: Nine stops take nine hours, by: Ada, rank: employee, rests_on: [stops]}
  - says: And when is lunch?
modules:
  analyst: {pro: {confidence: 0.9, says: Every stop is known}}
  solution: {pro: {confidence: 0.9, says: Done in one step}}
  critic: {con: {confidence: 0.6, says: The lunch is not in it}}
  security: {pro: {confidence: 0.9, says: Nothing is given away}}
  optimizer: {pro: {confidence: 0.8, says: One step is enough}}
";

/// A folder with the trace of the talk, under a policy whose contexts are small.
fn talk(contexts: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("talk.yaml"), TALK).unwrap();
    fs::write(folder.path().join("tight.yaml"), format!("name: tight\ncontexts: {contexts}\n")).unwrap();
    run(0, folder.path(), &["run", "talk.yaml", "--out", "."]);
    folder
}

const TIGHT: &str = "{budget: 100, reserved: 10}";

fn told(folder: &Path, verb: &str, arguments: &[&str]) -> Value {
    let arguments = [&["context", verb, TRACE, "--format", "json"], arguments].concat();
    serde_json::from_str(&run(0, folder, &arguments).0).unwrap()
}

fn reader(folder: &Path) -> Reader<BufReader<File>> {
    Reader::new(BufReader::new(File::open(folder.join(TRACE)).unwrap()), TRACE).unwrap()
}

/// The first step after which this module is waited for.
fn step_of(folder: &Path, module: &str) -> String {
    let steps = 1..=reader(folder).count() as u64;
    let asks = |step: &u64| {
        let moment = TracePoint { step: *step, module: None, budget: None, tokenizer: None };
        let found = NamedProblem::from_trace(reader(folder), moment).ok().and_then(|named| named.module);
        found.is_some_and(|found| found.name() == module)
    };
    steps.into_iter().find(asks).unwrap().to_string()
}

/// In each step in which a call leaves, by this way of counting; some contexts have no room for everything.
fn what_is_solved_is_what_was_shown(contexts: &str) {
    let folder = talk(contexts);
    let (mut contexts, mut left_out) = (0, 0);
    for step in reader(folder.path()) {
        let step = step.unwrap();
        let Some(shown) = step.context else { continue };
        let moment = TracePoint { step: step.n, module: None, budget: None, tokenizer: None };
        let named = NamedProblem::from_trace(reader(folder.path()), moment).unwrap();
        let solved = solve(&named, Solver::Native, SearchLimits::default()).unwrap();
        let ids: Vec<Id<'_>> = shown.items.iter().map(|item| Id::Number(item.number())).collect();
        let names: Vec<Id<'_>> = named.names(&solved.selection.selected).into_iter().cloned().collect();
        assert_eq!(names, ids, "step {}", step.n);
        assert!(shown.cost_tokens <= named.problem.budget(), "step {}", step.n);
        contexts += 1;
        left_out += named.ids.len() - ids.len();
    }
    assert!(contexts > 20 && left_out > 20, "{contexts} contexts that leave {left_out} items out");
}

#[test]
fn what_is_solved_is_what_was_shown_by_bytes() {
    what_is_solved_is_what_was_shown(TIGHT);
}

#[cfg(feature = "tokenizer")]
#[test]
fn what_is_solved_is_what_was_shown_by_a_vocabulary() {
    what_is_solved_is_what_was_shown("{budget: 120, reserved: 10, tokenizer: o200k_base}");
}

#[test]
fn the_module_that_is_waited_for_is_meant_unless_another_is_named() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let options = ["--step", &step, "--budget", "1000"];
    let critic = told(folder.path(), "solve", &options);
    assert_eq!(critic["module"], "critic");
    let planner = told(folder.path(), "solve", &[&options[..], &["--module", "planner"]].concat());
    assert_eq!((&planner["module"], &planner["selected"]), (&json!("planner"), &critic["selected"]));
    assert_ne!(planner["utility"], critic["utility"], "a task is not worth the same to both");
    let (out, _) = run(0, folder.path(), &[&["context", "solve", TRACE], &options[..]].concat());
    assert!(out.starts_with("  module   critic\n  chosen   1 fact stops, 2 fact lunch, "), "{out}");
}

#[test]
fn a_rule_shows_what_it_would_have_chosen() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    // What is pinned, and two items more.
    let options = ["--step", &step, "--budget", "60"];
    let exact = told(folder.path(), "solve", &options);
    for (solver, is_best) in [("greedy", true), ("ranked", false), ("recent", false), ("ilp", true)] {
        let answer = told(folder.path(), "solve", &[&options[..], &["--solver", solver]].concat());
        assert_eq!(answer["utility"] == exact["utility"], is_best, "{solver}: {answer} beside {exact}");
        assert!(answer["cost"].as_u64().unwrap() <= 50, "{answer}");
    }
    let (out, _) = run(0, folder.path(), &[&["context", "solve", TRACE, "--compare"], &options[..]].concat());
    assert_eq!(out.lines().filter(|line| line.starts_with("  recent ")).count(), 1, "{out}");
}

#[test]
fn an_older_fact_about_the_request_is_worth_more_than_a_younger_one_about_something_else() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "identity_guard");
    // The facts are written while the identity is verified.
    let step = (step.parse::<u64>().unwrap() + 3).to_string();
    let account = told(folder.path(), "explain", &["--step", &step, "1", "2"]);
    let [stops, lunch] = [0, 1].map(|item| &account["items"][item]);
    assert_eq!((&stops["key"], &lunch["key"]), (&json!("fact stops"), &json!("fact lunch")));
    assert!(stops["utility"].as_u64() > lunch["utility"].as_u64(), "{stops} beside {lunch}");
}

#[test]
fn an_item_is_explained_by_its_number() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let (out, _) =
        run(0, folder.path(), &["context", "explain", TRACE, "--step", &step, "--budget", "60", "3"]);
    assert!(out.starts_with("3 fact hours: out, utility "), "{out}");
    assert!(out.contains("with it") && out.contains("budget"), "{out}");
    let (out, _) = run(0, folder.path(), &["context", "explain", TRACE, "--step", &step]);
    assert_eq!(out.lines().filter(|line| line.contains("fact ")).count(), 3, "{out}");
    assert!(!out.contains('#'), "headings are no items: {out}");
}

#[test]
fn a_curve_counts_items_and_no_headings() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let curve = told(folder.path(), "curve", &["--step", &step]);
    let account = told(folder.path(), "explain", &["--step", &step]);
    let last = curve["points"].as_array().unwrap().last().unwrap();
    assert_eq!(last["items"].as_u64().unwrap(), account["items"].as_array().unwrap().len() as u64);
}

#[cfg(feature = "tokenizer")]
#[test]
fn another_tokenizer_may_count_the_same_context() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let cost = |tokenizer| {
        let options = ["--step", &step, "--budget", "1000", "--tokenizer", tokenizer];
        told(folder.path(), "solve", &options)["cost"].as_u64().unwrap()
    };
    let costs = ["bytes", "cl100k_base", "o200k_base"].map(cost);
    assert!(costs[0] < costs[1] && costs[0] < costs[2], "{costs:?}");
}

#[test]
fn what_cannot_be_meant_is_told_with_what_to_do() {
    let folder = talk(TIGHT);
    let (steps, step) = (reader(folder.path()).count(), step_of(folder.path(), "critic"));
    fs::write(folder.path().join("problem.json"), r#"{"budget": 9, "items": []}"#).unwrap();
    fs::write(folder.path().join("empty.ndjson"), "").unwrap();
    let range = format!("expected a number from 1 to {steps}");
    for (arguments, expected) in [
        (&[TRACE][..], &["which step", "--step 9", "orchestrion show talk.trace.ndjson"][..]),
        (&[TRACE, "--step", "0"], &["talk.trace.ndjson", "no step 0", &range]),
        (&[TRACE, "--step", "999"], &["no step 999", &range]),
        (&[TRACE, "--step", "1"], &["after step 1 no module is waited for", "--module"]),
        (
            &[TRACE, "--step", &steps.to_string()],
            &["no module is waited for", "or a step that asks one, as --step"],
        ),
        (
            &[TRACE, "--step", &step, "--module", "crtic"],
            &["no module `crtic`", "did you mean `critic`?", "planner"],
        ),
        (&[TRACE, "--step", &step, "--tokenizer", "o200"], &["no tokenizer `o200`", "o200k_base"]),
        (
            &[TRACE, "--step", &step, "--budget", "9"],
            &["10 tokens are reserved of a budget of 9", "larger --budget"],
        ),
        (
            &[TRACE, "--step", &step, "--budget", "12"],
            &["critic: what must be shown takes", "larger --budget"],
        ),
        (&[TRACE, "--step", &step, "--budget", "9999999999"], &["too large", "at most 4294967295"]),
        (&["problem.json", "--step", "3"], &["--step is about a trace", "problem.json is none"]),
        (&["problem.json", "--module", "critic"], &["--module is about a trace"]),
        (&["problem.json", "--tokenizer", "bytes"], &["--tokenizer is about a trace"]),
        (&["empty.ndjson", "--step", "1"], &["empty.ndjson: empty; expected a trace header"]),
        (&["none.ndjson", "--step", "1"], &["none.ndjson: cannot be read"]),
    ] {
        let (_, err) = run(2, folder.path(), &[&["context", "solve"], arguments].concat());
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in expected {
            assert!(err.contains(expected), "{arguments:?}: {err} without {expected:?}");
        }
    }
}

#[test]
fn a_trace_that_was_cut_off_has_the_contexts_of_what_is_left() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let whole = told(folder.path(), "solve", &["--step", &step]);
    let text = fs::read_to_string(folder.path().join(TRACE)).unwrap();
    let kept = step.parse::<usize>().unwrap() + 1;
    let cut: String = text.split_inclusive('\n').take(kept).collect();
    fs::write(folder.path().join(TRACE), cut).unwrap();
    assert_eq!(told(folder.path(), "solve", &["--step", &step]), whole);
    let (_, err) = run(2, folder.path(), &["context", "solve", TRACE, "--step", "40"]);
    assert!(err.contains("does not end the trace"), "{err}");
}

#[test]
fn another_budget_takes_the_place_of_a_problems_own() {
    let folder = tempfile::tempdir().unwrap();
    let problem = json!({"budget": 5, "reserved": 5, "items": [
        {"id": "a", "utility": 2, "cost": 10, "mark": "pinned"}, {"id": "b", "utility": 3, "cost": 10}]});
    fs::write(folder.path().join("problem.json"), problem.to_string()).unwrap();
    run(2, folder.path(), &["context", "solve", "problem.json"]);
    for (budget, selected) in [("15", json!(["a"])), ("25", json!(["a", "b"]))] {
        let arguments = ["context", "solve", "problem.json", "--format", "json", "--budget", budget];
        let answer: Value = serde_json::from_str(&run(0, folder.path(), &arguments).0).unwrap();
        assert_eq!(answer["selected"], selected);
    }
    let (_, err) = run(2, folder.path(), &["context", "solve", "problem.json", "--budget", "14"]);
    assert!(err.contains("`a` is pinned, which takes 10 tokens"), "{err}");
}
