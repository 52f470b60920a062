//! `context` with a trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion_optimizer::SearchLimits;
use orchestrion_selection::{Id, NamedProblem, Solver, TracePoint, solve};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::segments::{TextSelection, erase_texts};
use orchestrion_trace::{Reader, StepMetadata};
use runner::run;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

const TRACE: &str = "talk.trace.ndjson";

/// The request is about the longest tour. One fact matches it, and a newer one does not.
const TALK: &str = "\
description: A tour is looked for, and lunch.
policy: tight.yaml
user: ada
requests:
  - text: Which tour is the longest?
    write:
      - fact: {key: stops, text: The longest tour has nine stops}
      - fact: {key: lunch, text: Lunch is at noon}
      - fact: {key: hours, text: Nine stops take nine hours, depends_on: [stops]}
  - text: And when is lunch?
modules:
  analyst: {pro: {confidence: 0.9, text: Every stop is known}}
  solution: {pro: {confidence: 0.9, text: Done in one step}}
  critic: {con: {confidence: 0.6, text: The lunch is not in it}}
  security: {pro: {confidence: 0.9, text: Nothing is given away}}
  optimizer: {pro: {confidence: 0.8, text: One step is enough}}
";

/// A folder with the trace of the talk, under a policy whose contexts are small.
fn talk(contexts: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("talk.yaml"), TALK).unwrap();
    fs::write(folder.path().join("tight.yaml"), format!("name: tight\ncontexts: {contexts}\n")).unwrap();
    run(0, folder.path(), &["run", "talk.yaml", "--out-dir", "."]);
    folder
}

const TIGHT: &str = "{budget_tokens: 100, reserved_tokens: 10}";

fn json_report(folder: &Path, command: &str, arguments: &[&str]) -> Value {
    let arguments = [&["context", command, TRACE, "--format", "json"], arguments].concat();
    serde_json::from_str(&run(0, folder, &arguments).0).unwrap()
}

fn reader(folder: &Path) -> Reader<BufReader<File>> {
    Reader::new(BufReader::new(File::open(folder.join(TRACE)).unwrap()), TRACE).unwrap()
}

/// The first step after which this module is waited for.
fn step_of(folder: &Path, module: &str) -> String {
    let steps = 1..=reader(folder).count() as u64;
    let asks = |step: &u64| {
        let point = TracePoint { step: *step, module: None, budget: None, tokenizer: None };
        let found = NamedProblem::from_trace(reader(folder), point).ok().and_then(|named| named.module);
        found.is_some_and(|found| found.name() == module)
    };
    steps.into_iter().find(asks).unwrap().to_string()
}

/// In each step in which a call leaves, by this way of counting; some contexts have no room for everything.
fn assert_solution_is_recorded_context(contexts: &str) {
    let folder = talk(contexts);
    let (mut contexts, mut left_out) = (0, 0);
    for step in reader(folder.path()) {
        let step = step.unwrap();
        let Some(recorded) = step.context else { continue };
        let point = TracePoint { step: step.n, module: None, budget: None, tokenizer: None };
        let named = NamedProblem::from_trace(reader(folder.path()), point).unwrap();
        let solved = solve(&named, Solver::Native, SearchLimits::default()).unwrap();
        let ids: Vec<Id<'_>> = recorded.items.iter().map(|item| Id::Number(item.number())).collect();
        let names: Vec<Id<'_>> = named.names(&solved.selection.selected).into_iter().cloned().collect();
        assert_eq!(names, ids, "step {}", step.n);
        assert!(recorded.cost_tokens <= named.problem.budget(), "step {}", step.n);
        contexts += 1;
        left_out += named.ids.len() - ids.len();
    }
    assert!(contexts > 15 && left_out > 15, "{contexts} contexts that leave {left_out} items out");
}

#[test]
fn solution_equals_recorded_context_in_bytes() {
    assert_solution_is_recorded_context(TIGHT);
}

#[cfg(feature = "tokenizer")]
#[test]
fn solution_equals_recorded_context_in_tokens() {
    assert_solution_is_recorded_context("{budget_tokens: 120, reserved_tokens: 10, tokenizer: o200k_base}");
}

#[test]
fn default_module_is_that_of_the_pending_call() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let options = ["--step", &step, "--budget", "1000"];
    let critic = json_report(folder.path(), "solve", &options);
    assert_eq!(critic["module"], "critic");
    let planner = json_report(folder.path(), "solve", &[&options[..], &["--module", "planner"]].concat());
    assert_eq!((&planner["module"], &planner["selected"]), (&json!("planner"), &critic["selected"]));
    assert_ne!(planner["utility"], critic["utility"], "a task is not worth the same to both");
    let (out, _) = run(0, folder.path(), &[&["context", "solve", TRACE], &options[..]].concat());
    assert!(out.starts_with("  module    critic\n  selected  1 fact stops, 2 fact lunch, "), "{out}");
}

#[test]
fn baselines_select_from_a_trace() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    // What is pinned, the payload, and two items more.
    let options = ["--step", &step, "--budget", "88"];
    let exact = json_report(folder.path(), "solve", &options);
    for (solver, is_best) in [("greedy", false), ("ranked", false), ("recent", false), ("ilp", true)] {
        let solution = json_report(folder.path(), "solve", &[&options[..], &["--solver", solver]].concat());
        assert_eq!(solution["utility"] == exact["utility"], is_best, "{solver}: {solution} beside {exact}");
        assert!(solution["cost"].as_u64().unwrap() <= 78, "{solution}");
    }
    let (out, _) = run(0, folder.path(), &[&["context", "solve", TRACE, "--compare"], &options[..]].concat());
    assert_eq!(out.lines().filter(|line| line.starts_with("  recent ")).count(), 1, "{out}");
}

#[test]
fn relevant_fact_outranks_recent_fact() {
    let folder = talk(TIGHT);
    // The facts are written before the memory is called.
    let step = step_of(folder.path(), "memory");
    let account = json_report(folder.path(), "explain", &["--step", &step, "1", "2"]);
    let [stops, lunch] = [0, 1].map(|item| &account["items"][item]);
    assert_eq!((&stops["key"], &lunch["key"]), (&json!("fact stops"), &json!("fact lunch")));
    assert!(stops["utility"].as_u64() > lunch["utility"].as_u64(), "{stops} beside {lunch}");
}

#[test]
fn item_is_explained_by_number() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let (out, _) =
        run(0, folder.path(), &["context", "explain", TRACE, "--step", &step, "--budget", "90", "3"]);
    assert!(out.starts_with("3 fact hours: out, utility "), "{out}");
    assert!(out.contains("with it") && out.contains("budget"), "{out}");
    let (out, _) = run(0, folder.path(), &["context", "explain", TRACE, "--step", &step]);
    assert_eq!(out.lines().filter(|line| line.contains("fact ")).count(), 3, "{out}");
    assert!(!out.contains('#'), "headings are no items: {out}");
}

#[test]
fn curve_excludes_headings() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let curve = json_report(folder.path(), "curve", &["--step", &step]);
    let account = json_report(folder.path(), "explain", &["--step", &step]);
    let last = curve["points"].as_array().unwrap().last().unwrap();
    assert_eq!(last["items"].as_u64().unwrap(), account["items"].as_array().unwrap().len() as u64);
}

#[cfg(feature = "tokenizer")]
#[test]
fn tokenizer_option_changes_costs() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let cost = |tokenizer| {
        let options = ["--step", &step, "--budget", "1000", "--tokenizer", tokenizer];
        json_report(folder.path(), "solve", &options)["cost"].as_u64().unwrap()
    };
    let costs = ["bytes", "cl100k_base", "o200k_base"].map(cost);
    assert!(costs[0] < costs[1] && costs[0] < costs[2], "{costs:?}");
}

#[test]
fn invalid_options_are_refused_with_help() {
    let folder = talk(TIGHT);
    let (steps, step) = (reader(folder.path()).count(), step_of(folder.path(), "critic"));
    fs::write(folder.path().join("problem.json"), r#"{"budget": 9, "items": []}"#).unwrap();
    fs::write(folder.path().join("empty.ndjson"), "").unwrap();
    let range = format!("expected 1 to {steps}");
    for (arguments, expected) in [
        (&[TRACE][..], &["missing option --step", "--step 9", "orchestrion show talk.trace.ndjson"][..]),
        (&[TRACE, "--step", "0"], &["talk.trace.ndjson", "no such step", &range, "found 0"]),
        (&[TRACE, "--step", "999"], &["no such step", &range, "found 999"]),
        (&[TRACE, "--step", "1"], &["no call with a context is pending after step 1", "--module"]),
        (
            &[TRACE, "--step", &steps.to_string()],
            &["no call with a context is pending", "or a step that calls one, such as --step"],
        ),
        (
            &[TRACE, "--step", &step, "--module", "crtic"],
            &["unknown module `crtic`", "did you mean `critic`?", "planner"],
        ),
        (&[TRACE, "--step", &step, "--tokenizer", "o200"], &["unknown tokenizer `o200`", "o200k_base"]),
        (
            &[TRACE, "--step", &step, "--budget", "9"],
            &["expected at least the 10 reserved tokens, found 9", "larger --budget"],
        ),
        (&[TRACE, "--step", &step, "--budget", "12"], &["critic: ", "raise --budget"]),
        (&[TRACE, "--step", &step, "--budget", "9999999999"], &["too large", "at most 4294967295"]),
        (&["problem.json", "--step", "3"], &["--step is for traces", "problem.json is not a trace"]),
        (&["problem.json", "--module", "critic"], &["--module is for traces"]),
        (&["problem.json", "--tokenizer", "bytes"], &["--tokenizer is for traces"]),
        (&["empty.ndjson", "--step", "1"], &["empty.ndjson: empty trace: expected a header"]),
        (&["none.ndjson", "--step", "1"], &["none.ndjson: unreadable trace"]),
    ] {
        let (_, err) = run(2, folder.path(), &[&["context", "solve"], arguments].concat());
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in expected {
            assert!(err.contains(expected), "{arguments:?}: {err} without {expected:?}");
        }
    }
}

#[test]
fn truncated_trace_has_earlier_contexts() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let whole = json_report(folder.path(), "solve", &["--step", &step]);
    let text = fs::read_to_string(folder.path().join(TRACE)).unwrap();
    let kept = step.parse::<usize>().unwrap() + 1;
    let cut: String = text.split_inclusive('\n').take(kept).collect();
    fs::write(folder.path().join(TRACE), cut).unwrap();
    assert_eq!(json_report(folder.path(), "solve", &["--step", &step]), whole);
    let (_, err) = run(2, folder.path(), &["context", "solve", TRACE, "--step", "40"]);
    assert!(err.contains("missing end"), "{err}");
}

/// The trace as a closed journal in which the texts that contain this one are erased.
fn erase(folder: &Path, containing: &str) {
    let trace = reader(folder);
    let header = trace.header().clone().into_journal();
    let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
    for step in trace {
        let step = step.unwrap();
        let metadata = StepMetadata { at_ms: step.at_ms, ..StepMetadata::default() };
        recorder.submit(&step.input, &metadata).unwrap().unwrap();
    }
    let selection = TextSelection { before: None, containing: Some(containing) };
    let mut erased = Vec::new();
    erase_texts(recorder.close().unwrap().as_slice(), TRACE, selection, &mut erased).unwrap();
    fs::write(folder.join("erased.ndjson"), erased).unwrap();
}

/// A placeholder has another cost and another relevance than the text that it replaces.
#[test]
fn erased_text_before_the_step_is_refused() {
    let folder = talk(TIGHT);
    let step = step_of(folder.path(), "critic");
    let solve = ["context", "solve", "erased.ndjson", "--step", &step];
    erase(folder.path(), "longest?");
    let (_, err) = run(2, folder.path(), &solve);
    let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in ["invalid erased text", &format!("expected none up to step {step}, found 1")] {
        assert!(err.contains(expected), "{err}");
    }
    // The second request is after the step.
    erase(folder.path(), "lunch?");
    run(0, folder.path(), &solve);
}

#[test]
fn budget_option_overrides_the_problem() {
    let folder = tempfile::tempdir().unwrap();
    let problem = json!({"budget": 5, "reserved": 5, "items": [
        {"id": "a", "utility": 2, "cost": 10, "inclusion": "pinned"}, {"id": "b", "utility": 3, "cost": 10}]});
    fs::write(folder.path().join("problem.json"), problem.to_string()).unwrap();
    run(2, folder.path(), &["context", "solve", "problem.json"]);
    for (budget, selected) in [("15", json!(["a"])), ("25", json!(["a", "b"]))] {
        let arguments = ["context", "solve", "problem.json", "--format", "json", "--budget", budget];
        let solution: Value = serde_json::from_str(&run(0, folder.path(), &arguments).0).unwrap();
        assert_eq!(solution["selected"], selected);
    }
    let (_, err) = run(2, folder.path(), &["context", "solve", "problem.json", "--budget", "14"]);
    assert!(err.contains("item `a` is pinned and cost 10 tokens"), "{err}");
}
