//! `check --scope FILE`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scopes/failing-tasks.yaml");

/// Runs `check` with this scope file as `mine.yaml`: its exit code and both streams, with single spaces.
fn check(folder: &Path, file: &str, arguments: &[&str]) -> (Option<i32>, String) {
    fs::write(folder.join("mine.yaml"), file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["check", "--scope", "mine.yaml"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let words: Vec<&str> = printed.split_whitespace().filter(|word| *word != "│").collect();
    (output.status.code(), words.join(" "))
}

fn assert_refused(file: &str, arguments: &[&str], parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (code, message) = check(folder.path(), file, arguments);
    assert_eq!(code, Some(2), "{message}");
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in: {message}");
    }
}

#[test]
fn example_is_checked_and_named_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let example = fs::read_to_string(EXAMPLE).unwrap();
    let (code, report) = check(folder.path(), &example, &[]);
    assert_eq!(code, Some(0), "{report}");
    for part in ["policy hardened, scope mine.yaml", "at scope mine.yaml, in custom only"] {
        assert!(report.contains(part), "expected {part:?} in: {report}");
    }
    let (_, json) = check(folder.path(), &example, &["--format", "json", "--quiet"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(
        (runs.len(), &runs[0]["scope"], &runs[0]["model"]),
        (1, &"mine.yaml".into(), &"custom".into())
    );
}

#[test]
fn too_large_scope_is_refused_with_place_and_estimate() {
    let file = "bounds: {requests: 4}\nopen: [debate, execution, environment, failures, cancel, facts]\n";
    assert_refused(
        file,
        &[],
        &[
            "mine.yaml:",
            "by an estimate, expected at most 5·10^8",
            "contributes most",
            "--timeout",
            "--simulate",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let (code, report) = check(folder.path(), file, &["--max-states", "500"]);
    assert_eq!(code, Some(3), "{report}");
    assert!(report.contains("LIMIT REACHED"), "{report}");
}

#[test]
fn flags_that_need_standard_models_are_refused() {
    let file = "open: [cancel]\n";
    assert_refused(file, &["--mutants"], &["mine.yaml:1", "--mutants needs the standard models", "help: "]);
    assert_refused(file, &["--model", "debate"], &["mine.yaml:1", "--model has no effect", "help: "]);
}

#[test]
fn unknown_scope_is_refused_with_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["check", "--scope", "tyny"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("unknown scope `tyny`") && message.contains("did you mean `tiny`?"),
        "{message}"
    );
}

#[test]
fn other_commands_of_check_accept_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = "extends: tiny\nopen: [cancel]\n";
    let (code, report) = check(folder.path(), file, &["--reach", "user message"]);
    assert!(code.is_some_and(|code| code < 2) && report.contains("at scope mine.yaml"), "{report}");
    let (code, report) = check(folder.path(), file, &["--sweep", "passes=1,2"]);
    assert!(code.is_some_and(|code| code != 2) && report.contains("scope mine.yaml"), "{report}");
    fs::write(folder.path().join("orchestrion.yaml"), "scope: mine.yaml\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["check", "--quiet"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("mine.yaml"), "{output:?}");
}

#[test]
fn checkpoint_of_other_contents_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = "extends: tiny\nopen: [environment]\n";
    let checkpoints = ["--checkpoint", "progress", "--checkpoint-states", "5", "--max-states", "20"];
    let (code, report) = check(folder.path(), file, &checkpoints);
    assert_eq!(code, Some(3), "{report}");
    let other = "extends: tiny\nbounds: {requests: 2}\nopen: [environment]\n";
    let (code, message) = check(folder.path(), other, &checkpoints);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("scope") && message.contains("mine.yaml"), "{message}");
    // The parts are contents too.
    let (code, message) = check(folder.path(), "extends: tiny\nopen: [environment, cancel]\n", &checkpoints);
    assert_eq!(code, Some(2), "{message}");
}
