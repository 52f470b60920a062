//! Expectations of scenarios, by the command: exit codes, places and the golden trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use std::fs;
use std::path::Path;

const SCENARIO: &str = "scenarios/first-request.yaml";

fn edit(folder: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
    fs::write(folder.join(SCENARIO), text.replace(from, to)).unwrap();
}

#[test]
fn unmet_expectation_fails_run_at_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(0, folder, &["init"]);
    let text = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("decision: proceed")).unwrap();
    run(0, folder, &["run", "--quiet"]);
    // The policy changes, not the scenario.
    let policy = fs::read_to_string(folder.join("policies/team.yaml")).unwrap();
    fs::write(
        folder.join("policies/team.yaml"),
        policy.replace("veto_from: 0.85", "veto_from: 0.85\n  proceed_from: 0.8\n  redebate_below: 0.8"),
    )
    .unwrap();
    run(0, folder, &["run", "--quiet"]);
    edit(folder, "critic: {con: {confidence: 0.4,", "critic: {con: {confidence: 1.0,");
    edit(folder, "security: {pro: {confidence: 0.9,", "security: {con: {confidence: 0.84,");
    for command in [&["run", "--quiet"][..], &["run", "--check", "--quiet"], &["run", "--accept"]] {
        let (_, error) = run(1, folder, command);
        assert!(error.contains("decision: expected proceed, found reject"), "{error}");
        assert!(error.contains(&format!("[{SCENARIO}:{line}:")), "{error}");
        assert!(
            error.contains("outcome: expected outcome, found blocked (the consensus is too low)"),
            "{error}"
        );
        assert!(error.contains("help: "), "{error}");
    }
    // What is not expected is not accepted.
    run(1, folder, &["run", "--check"]);
}

#[test]
fn invalid_expectation_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(0, folder, &["init"]);
    let original = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    for (from, to, expected) in [
        ("not_taken: [H04]", "not_taken: [H99]", "unknown transition `H99`"),
        ("{security: 1, executor: 2}", "{securty: 1}", "unknown module `securty`"),
        ("passes: 1", "passes: one", "passes: one"),
        ("outcome: outcome", "outcomes: outcome", "outcomes"),
    ] {
        edit(folder, from, to);
        for command in [&["run", SCENARIO][..], &["run", "--check", SCENARIO]] {
            let (_, error) = run(2, folder, command);
            assert!(error.contains(expected) && error.contains("help: "), "{error}");
            assert!(error.contains(&format!("[{SCENARIO}:")), "{error}");
        }
        fs::write(folder.join(SCENARIO), &original).unwrap();
    }
}

#[test]
fn scenario_without_golden_is_judged_by_expectations() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(0, folder, &["init"]);
    edit(folder, "user: ada\n", "user: ada\ngolden: false\n");
    let golden = folder.join("scenarios/first-request.ndjson");
    fs::remove_file(&golden).unwrap();
    let (checked, _) = run(0, folder, &["run", "--check"]);
    assert!(checked.contains("scenarios/first-request.yaml: judged by its expectations\n"), "{checked}");
    assert!(checked.ends_with("checked 2 of 2: 1 equal, 1 judged by expectations\n"), "{checked}");
    run(0, folder, &["run", "--accept"]);
    assert!(!golden.exists(), "no golden trace is written");
    edit(folder, "passes: 1", "passes: 2");
    run(1, folder, &["run", "--check"]);
    // Without expectations it tests nothing.
    let text = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    let (before, after) = text.split_once("    expect:\n").unwrap();
    let (_, after) = after.split_once("modules:\n").unwrap();
    fs::write(folder.join(SCENARIO), format!("{before}modules:\n{after}")).unwrap();
    let (_, error) = run(2, folder, &["run", "--check", SCENARIO]);
    assert!(error.contains("expected expectations in a scenario without a golden trace"), "{error}");
}
