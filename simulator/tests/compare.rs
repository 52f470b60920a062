//! `compare`: two policies on the same inputs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion::cli::report_schemas;
use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn report(code: i32, folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["compare", "--scope", "tiny", "--format", "json"], arguments].concat();
    let report: Value = serde_json::from_str(&run(code, folder, &arguments).0).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::compare()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

/// Writes a policy that differs from `hardened` in these settings.
fn changed(folder: &Path, name: &str, settings: &str) -> String {
    let file = format!("{name}.yaml");
    fs::write(folder.join(&file), format!("extends: hardened\nname: {name}\n{settings}\n")).unwrap();
    file
}

#[test]
fn same_policy_has_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(0, folder.path(), &["hardened", "hardened", "--model", "debate", "--runs", "50"]);
    assert_eq!((&report["verdict"], &report["difference"]), (&"no_difference".into(), &Value::Null));
    assert_eq!(report["outcomes"]["differing_runs"], 0);
    assert!(report["models"][0]["states"].as_u64().unwrap() > 100, "{report:#}");
    assert!(!folder.path().join(".orchestrion").exists(), "no trace is written");
}

/// Security's veto at the threshold is the first thing that a higher threshold changes.
#[test]
fn shortest_difference_of_a_threshold_is_its_objection() {
    let folder = tempfile::tempdir().unwrap();
    let lenient = changed(folder.path(), "lenient", "thresholds: {veto_from: 0.95}");
    let report = report(1, folder.path(), &["hardened", &lenient, "--model", "debate", "--runs", "50"]);
    assert_eq!(report["settings"][0]["path"], "thresholds.veto_from");
    assert_eq!(report["settings"].as_array().unwrap().len(), 1, "{report:#}");
    let difference = &report["difference"];
    assert_eq!(difference["phase"], "Round_4_Security", "{difference:#}");
    let argument = &difference["input"]["reply"]["report"]["argument"]["argument"];
    assert_eq!(argument["stance"], "con", "{difference:#}");
    let confidence: f64 = argument["confidence"]
        .as_str()
        .map_or_else(|| argument["confidence"].as_f64(), |text| text.parse().ok())
        .unwrap();
    let millionths = if confidence > 1.0 { confidence } else { confidence * 1e6 };
    assert!((900_000.0..950_000.0).contains(&millionths), "{difference:#}");
    // Both traces replay, and differ.
    let [a, b] = ["a", "b"].map(|side| difference["traces"][side].as_str().unwrap());
    run(0, folder.path(), &["replay", a, b]);
    run(1, folder.path(), &["diff", a, b]);
    let step = difference["step"].to_string();
    run(0, folder.path(), &["show", a, "--step", &step]);
    assert!(difference["endings"]["a"].as_str().unwrap().contains("VETO"), "{difference:#}");
    assert!(!difference["endings"]["b"].as_str().unwrap().contains("VETO"), "{difference:#}");
}

/// A run whose results differ is two traces, whose difference is that of the policies.
#[test]
fn first_differing_random_run_has_traces() {
    let folder = tempfile::tempdir().unwrap();
    let lenient = changed(folder.path(), "lenient", "thresholds: {veto_from: 0.95}");
    let report = report(1, folder.path(), &["hardened", &lenient, "--model", "debate", "--runs", "300"]);
    let run_report = &report["outcomes"]["first_differing_run"];
    assert_eq!(run_report["model"], "debate");
    let [a, b] = ["a", "b"].map(|side| run_report["traces"][side].as_str().unwrap());
    let [ends_a, ends_b] = ["a", "b"].map(|side| run_report["endings"][side].as_str().unwrap());
    assert!(ends_a.starts_with("VETO") && !ends_b.starts_with("VETO"), "{run_report:#}");
    run(0, folder.path(), &["replay", a, b]);
    let (differences, _) = run(1, folder.path(), &["diff", a, b]);
    assert!(differences.contains("VETO by Security"), "{differences}");
    assert!(run(0, folder.path(), &["show", a]).0.contains("VETO"));
    assert!(!run(0, folder.path(), &["show", b]).0.contains("VETO"));
}

/// The shortest difference is no longer than the shortest path that one policy alone has to it.
#[test]
fn difference_is_as_short_as_the_path_to_its_transition() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["hardened", "as-drawn", "--model", "lifecycle", "--runs", "1"];
    let one = report(1, folder.path(), &[&arguments[..], &["--jobs", "1"]].concat());
    let two = report(1, folder.path(), &[&arguments[..], &["--jobs", "2"]].concat());
    assert_eq!(one, two);
    // The store's past ratings are the first that as-drawn treats otherwise, at the latest where calls fail.
    assert!(one["difference"]["step"].as_u64().unwrap() <= 4, "{one:#}");
}

#[test]
fn settings_that_the_scope_replaces_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let wide = changed(folder.path(), "wide", "bounds: {parallel_tasks: 7}");
    let report = report(0, folder.path(), &["hardened", &wide, "--model", "workflow", "--runs", "20"]);
    assert_eq!(report["replaced_settings"], serde_json::json!(["bounds.parallel_tasks"]));
}

#[test]
fn limit_makes_no_difference_inconclusive() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["hardened", "hardened", "--model", "debate", "--max-states", "50", "--runs", "5"];
    let limited = report(3, folder.path(), &arguments);
    assert_eq!(limited["verdict"], "inconclusive");
    assert_eq!(limited["models"][0]["limit_reached"]["resource"], "states");
}

/// A scope file that is too large for `check` is too large for a comparison, too.
#[test]
fn models_that_are_too_large_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let confidences: Vec<String> = (0..16).map(|number| format!("0.{:03}", number * 25)).collect();
    let scope = format!("open: [debate]\nconfidences: [{}]\n", confidences.join(", "));
    fs::write(folder.path().join("mine.yaml"), scope).unwrap();
    let arguments = ["compare", "hardened", "hardened", "--scope", "mine.yaml", "--runs", "5"];
    let (_, error) = run(2, folder.path(), &arguments);
    assert!(error.contains("too large to enumerate") && error.contains("mine.yaml:2"), "{error}");
    let (text, _) = run(3, folder.path(), &[&arguments[..], &["--max-states", "100"]].concat());
    assert!(text.contains("INCONCLUSIVE"), "{text}");
}

#[test]
fn report_has_settings_difference_and_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let lenient = changed(folder.path(), "lenient", "thresholds: {veto_from: 0.95}");
    let arguments =
        ["compare", "hardened", &lenient, "--scope", "tiny", "--model", "debate", "--runs", "300"];
    let (text, _) = run(1, folder.path(), &arguments);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn unknown_policies_and_enumerations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, error) = run(2, folder.path(), &["compare", "hardened", "hardend"]);
    assert!(error.contains("unknown policy `hardend`") && error.contains("help"), "{error}");
    let (_, error) = run(2, folder.path(), &["compare", "hardened", "as-drawn", "--model", "ending"]);
    assert!(error.contains("cannot compare in `ending`"), "{error}");
    fs::write(folder.path().join("mine.yaml"), "open: [cancel]\n").unwrap();
    let arguments = ["compare", "hardened", "as-drawn", "--scope", "mine.yaml", "--model", "debate"];
    let (_, error) = run(2, folder.path(), &arguments);
    assert!(error.contains("--model has no effect") && error.contains("mine.yaml:1"), "{error}");
}
