//! What no verb may do to a file that exists: replace a live, unfinished or foreign one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");

/// Starts a host's conversation with a journal, or resumes it, and waits until the journal has a step.
fn open_conversation(folder: &Path, journal: &str, is_resumed: bool) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["run", "--stdio", "hardened", "--journal", journal])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let opened = lines.next().unwrap().unwrap();
    assert!(opened.contains("opened"), "{opened}");
    if !is_resumed {
        // A call is sent after its step is durable.
        let request = b"{\"request\":{\"user\":\"ada\",\"text\":\"hello\"}}\n";
        child.stdin.as_mut().unwrap().write_all(request).unwrap();
        let call = lines.next().unwrap().unwrap();
        assert!(call.contains("\"call\""), "{call}");
    }
    child
}

/// Commands that write the file `live.trace.ndjson`.
fn writers<'a>(scenario: &'a str, golden: &'a str, segment: &'a str) -> [Vec<&'a str>; 5] {
    let live = "live.trace.ndjson";
    [
        vec!["run", scenario, "--out-dir", "."],
        vec!["show", golden, "--redact", live],
        vec!["journal", "join", segment, "--out", live],
        vec!["journal", "erase", live, "--before", "2"],
        vec!["replay", "--update", "--yes", live],
    ]
}

fn assert_no_command_replaces(folder: &Path, before: &[u8]) {
    let golden = format!("{SCENARIOS}/happy.ndjson");
    for arguments in writers("live.yaml", &golden, &golden) {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(&arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{arguments:?}\n{err}");
        assert_eq!(fs::read(folder.join("live.trace.ndjson")).unwrap(), before, "{arguments:?}\n{err}");
    }
    let (_, err) = run(2, folder, &["run", "live.yaml", "--out-dir", "."]);
    assert!(err.contains("is not a trace with all events and is not overwritten"), "{err}");
}

#[test]
fn open_journal_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.trace.ndjson");
    let scenario = fs::read_to_string(format!("{SCENARIOS}/happy.yaml")).unwrap();
    fs::write(folder.path().join("live.yaml"), scenario).unwrap();
    let mut child = open_conversation(folder.path(), "live.trace.ndjson", false);
    let before = fs::read(&path).unwrap();
    assert!(!before.is_empty());
    assert_no_command_replaces(folder.path(), &before);
    // The host is gone, and the conversation can still be resumed.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_no_command_replaces(folder.path(), &before);
    // It is still the journal of a conversation.
    let mut resumed = open_conversation(folder.path(), "live.trace.ndjson", true);
    drop(resumed.stdin.take());
    resumed.wait().unwrap();
}

#[test]
fn journal_without_end_is_not_cleared() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".orchestrion")).unwrap();
    let path = folder.path().join(".orchestrion/hardened.trace.ndjson");
    let golden = fs::read_to_string(format!("{SCENARIOS}/happy.ndjson")).unwrap();
    let lines: Vec<&str> = golden.lines().collect();
    // Cut, and damaged in the middle: a person may still recover steps of it.
    let cut = lines[..lines.len() - 1].join("\n") + "\n";
    let damaged = cut.replacen("\"at_ms\"", "\"at_sm\"", 1);
    assert_ne!(cut, damaged);
    for kept in [cut, damaged] {
        fs::write(&path, &kept).unwrap();
        let (_, err) = run(2, folder.path(), &["run", "--stdio", "hardened"]);
        assert!(err.contains("was not closed"), "{err}");
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
    }
}

/// Two processes in each round. `.ci/nightly` runs 10,000 rounds.
#[test]
fn one_of_two_promotions_succeeds() {
    let rounds = std::env::var("RACE_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    // Two recordings, so that the files show whose scenario they are.
    let goldens = ["happy", "rolled-back"].map(|name| format!("{SCENARIOS}/{name}.ndjson"));
    for round in 0..rounds {
        let name = format!("case-{round}");
        let children = goldens.each_ref().map(|golden| {
            Command::new(env!("CARGO_BIN_EXE_orchestrion"))
                .args(["promote", golden, &name, "--scenario-dir", "cases"])
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        });
        let codes = children.map(|mut child| child.wait().unwrap().code().unwrap());
        assert!(matches!(codes, [0, 2] | [2, 0]), "round {round}: {codes:?}");
        let cases = folder.path().join("cases");
        let files: Vec<_> = fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files.len(), 2, "round {round}: {files:?}");
        // The scenario and the trace are those of one process: the trace names the digest of the scenario.
        let (out, _) =
            run(0, folder.path(), &["run", &format!("cases/{name}.yaml"), "--out-dir", "out", "--quiet"]);
        assert_eq!(out, "", "round {round}");
        let golden = fs::read(cases.join(format!("{name}.ndjson"))).unwrap();
        let again = fs::read(folder.path().join(format!("out/{name}.trace.ndjson"))).unwrap();
        assert_eq!(golden, again, "round {round}");
        fs::remove_dir_all(&cases).unwrap();
    }
}

/// Two processes write the same trace: both succeed, and the trace is whole.
#[test]
fn two_runs_write_one_trace() {
    let rounds = std::env::var("RACE_ROUNDS").map_or(50, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!("{SCENARIOS}/happy.yaml");
    for round in 0..rounds {
        let children = [0, 1].map(|_| {
            Command::new(env!("CARGO_BIN_EXE_orchestrion"))
                .args(["run", &scenario, "--out-dir", "out", "--quiet"])
                .current_dir(folder.path())
                .spawn()
                .unwrap()
        });
        let codes = children.map(|mut child| child.wait().unwrap().code().unwrap());
        assert_eq!(codes, [0, 0], "round {round}");
        let expected = fs::read(format!("{SCENARIOS}/happy.ndjson")).unwrap();
        assert_eq!(fs::read(folder.path().join("out/happy.trace.ndjson")).unwrap(), expected);
        if round % 2 == 0 {
            fs::remove_dir_all(folder.path().join("out")).unwrap();
        }
    }
}

/// The journal of a closed conversation is finished, and the only record of the conversation.
#[test]
fn run_replaces_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::copy(format!("{SCENARIOS}/happy.yaml"), folder.join("live.yaml")).unwrap();
    let trace = fs::read_to_string(format!("{SCENARIOS}/happy.ndjson")).unwrap();
    let journal = trace.replacen("orchestrion-trace/5\"", "orchestrion-trace/5-journal\"", 1);
    assert_ne!(trace, journal);
    fs::create_dir(folder.join("out")).unwrap();
    for (file, arguments, help) in [
        ("out/live.trace.ndjson", &["run", "live.yaml", "--out-dir", "out"][..], "--out-dir"),
        ("live.ndjson", &["run", "live.yaml", "--accept"], "golden trace"),
    ] {
        fs::write(folder.join(file), &journal).unwrap();
        let (_, error) = run(2, folder, arguments);
        assert!(error.contains("is not a trace with all events and is not overwritten"), "{error}");
        assert!(error.contains(help), "{error}");
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), journal);
    }
    // The name of a scenario says nothing about the format of its trace.
    fs::copy(format!("{SCENARIOS}/happy.yaml"), folder.join("my-journal.yaml")).unwrap();
    for _ in 0..2 {
        run(0, folder, &["run", "my-journal.yaml", "--quiet"]);
    }
}
