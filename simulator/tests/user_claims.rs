//! Claims of a project, by the command: check, run, replay and a host, with exit codes and places.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The first claim holds in every run; the second one fails where a request succeeds.
const CLAIMS: &str = "\
claims:
- id: verified-tasks
  always: {at: {operation: run_task}, holds: {request.verified: true}}
- id: no-memory
  why: Nothing leaves the machine.
  never: {event: tool_call, operation: store_memory}
";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    fs::write(folder.path().join("mine.yaml"), CLAIMS).unwrap();
    folder
}

fn use_claims(folder: &Path) {
    let file = folder.join("orchestrion.yaml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("claims: [claims.yaml]"));
    fs::write(file, text.replace("claims: [claims.yaml]", "claims: [claims.yaml, mine.yaml]")).unwrap();
}

#[test]
fn check_finds_a_shortest_counterexample() {
    let folder = project();
    let folder = folder.path();
    let arguments = ["check", "--model", "lifecycle"];
    let (out, _) = run(0, folder, &arguments);
    assert!(out.contains("claims of the project"), "{out}");
    assert!(out.contains("no-task-after-veto  (claims.yaml:4)"), "{out}");
    use_claims(folder);
    let (out, _) = run(1, folder, &arguments);
    assert!(out.contains("holds         verified-tasks"), "{out}");
    assert!(out.contains("FAILS         no-memory  (mine.yaml:4)"), "{out}");
    let (json, _) = run(1, folder, &["check", "--model", "lifecycle", "--format", "json", "--quiet"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let claims = report["user_claims"].as_array().unwrap();
    let failed = claims.iter().find(|claim| claim["id"] == "no-memory").unwrap();
    assert_eq!((&failed["verdict"], &failed["evidence"]), (&"fails".into(), &"exhaustive".into()));
    // The last step of the counterexample sends the forbidden call, and no earlier one does.
    let trace = fs::read_to_string(folder.join(failed["trace"].as_str().unwrap())).unwrap();
    let steps: Vec<&str> = trace.lines().filter(|line| line.contains("\"n\":")).collect();
    let calls: Vec<usize> =
        (0..steps.len()).filter(|step| steps[*step].contains("store_memory")).map(|step| step + 1).collect();
    assert_eq!(calls, [usize::try_from(failed["steps"].as_u64().unwrap()).unwrap()]);
}

#[test]
fn traces_are_judged_where_they_are_run_and_replayed() {
    let folder = project();
    let folder = folder.path();
    let golden = "scenarios/first-request.ndjson";
    let (out, _) = run(0, folder, &["replay", golden, "--claims", "claims.yaml"]);
    assert!(out.contains("2 claims on this trace: 1 satisfied, 1 that no event decides"), "{out}");
    for arguments in [
        &["run", "scenarios/first-request.yaml", "--claims", "mine.yaml"][..],
        &["replay", golden, "--claims", "mine.yaml", "--quiet"],
        &["run", "--check", "--quiet", "--claims", "mine.yaml"],
    ] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{out}");
        assert!(out.contains("Nothing leaves the machine."), "{out}");
        assert!(out.contains("mine.yaml:4"), "{out}");
    }
    // Without arguments, the claims are those of the project.
    run(0, folder, &["run", "--check", "--quiet"]);
    use_claims(folder);
    for arguments in [&["run", "--quiet"][..], &["run", "--check", "--quiet"], &["replay", "--quiet"]] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{arguments:?} {out}");
    }
}

#[test]
fn invalid_files_are_errors() {
    let folder = project();
    let folder = folder.path();
    fs::write(folder.join("wrong.yaml"), "claims:\n- {id: a, never: {event: tool_calls}}\n").unwrap();
    let twin = "claims:\n- {id: no-memory, never: {event: decided}}\n";
    fs::write(folder.join("twin.yaml"), twin).unwrap();
    for (files, expected) in [
        (&["--claims", "wrong.yaml"][..], "wrong.yaml:2:26"),
        (&["--claims", "missing.yaml"], "missing.yaml"),
        (&["--claims", "mine.yaml", "--claims", "twin.yaml"], "mine.yaml:4 states it too"),
    ] {
        for command in [&["check"][..], &["run", "--quiet"], &["replay", "--quiet"]] {
            let (_, error) = run(2, folder, &[command, files].concat());
            assert!(error.contains(expected) && error.contains("help"), "{error}");
        }
    }
}
