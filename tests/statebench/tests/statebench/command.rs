//! The program as a user runs it, on small invented timelines.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the program in a folder, checks its exit code, and returns standard output and standard error.
fn run(code: i32, folder: &Path, arguments: &[&str]) -> (String, String) {
    let program = env!("CARGO_BIN_EXE_statebench");
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}{err}");
    (out, err)
}

/// A timeline in which the roof was red and is black, and a price that no event mentions is required.
fn timeline(id: &str) -> Value {
    let fact = |key: &str, value: &str, supersedes: Value| {
        json!({"id": "W", "layer": "persistent_facts", "key": key, "value": value, "supersedes": supersedes,
            "source": {"type": "user", "authority": "peer"}})
    };
    let event =
        |kind: &str, writes: Value| json!({"ts": "2025-01-01T10:00:00", "type": kind, "writes": writes});
    json!({"id": id, "track": "made_up",
        "initial_state": {
            "identity_role": {"user_name": "Ada", "authority": "Cook", "department": "Kitchen", "organization": "Inn"},
            "persistent_facts": [], "working_set": [], "environment": {"now": "2025-01-01T09:00:00"}},
        "events": [
            event("state_write", json!([fact("roof", "red", Value::Null)])),
            event("supersession", json!([fact("roof_v2", "black", "roof".into())])),
            {"ts": "2025-01-01T11:00:00", "type": "query", "prompt": "Which roof?",
                "ground_truth": {"must_mention": ["black", "price"], "must_not_mention": ["red", "Inn"]}}]})
}

/// A folder with a file of two timelines.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("{}\n{}\n", timeline("T-1"), timeline("T-2"));
    fs::write(folder.path().join("two.jsonl"), lines).unwrap();
    folder
}

#[test]
fn human_report_has_one_row_per_track() {
    let folder = folder();
    let (out, err) = run(0, folder.path(), &["two.jsonl"]);
    assert!(
        out.contains("made_up") && out.contains("2 of 2  100.0 %") && out.contains("2 of 4   50.0 %"),
        "{out}"
    );
    assert!(out.ends_with("scored: 2 timelines, 2 queries; 2 of 2 links resolved\n"), "{out}");
    assert_eq!(err, "");
    let (out, _) = run(0, folder.path(), &["two.jsonl", "--quiet"]);
    assert_eq!(out.lines().count(), 1);
    fs::write(folder.path().join("one.jsonl"), format!("\u{feff}{}\n", timeline("T-1"))).unwrap();
    let (out, _) = run(0, folder.path(), &["one.jsonl", "--quiet"]);
    assert_eq!(out, "scored: 1 timeline, 1 query; 1 of 1 link resolved\n");
}

#[test]
fn json_report_has_every_count() {
    let folder = folder();
    let (out, _) = run(0, folder.path(), &["two.jsonl", "--format", "json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let counts = json!({"queries": 2, "forbidden_queries": 2, "resurrections": 2, "required": 4, "mentioned": 2,
        "context_chars_mean": 56.0});
    let expected = json!({"timelines": 2, "queries": 2, "links": 2, "links_resolved": 2, "overall": counts,
        "tracks": {"made_up": counts}, "faults": [], "faults_omitted": 0});
    assert_eq!(report, expected);
}

#[test]
fn timeline_report_has_rules_contexts_and_verdicts() {
    let folder = folder();
    let (out, _) = run(0, folder.path(), &["two.jsonl", "--timeline", "T-2"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(out) });
    let (_, err) = run(2, folder.path(), &["two.jsonl", "--timeline", "T-9"]);
    assert!(err.contains("unknown timeline `T-9`"), "{err}");
}

#[test]
fn invalid_input_is_reported_with_file_and_line() {
    let folder = folder();
    let mut odd = timeline("T-3");
    odd["events"][0]["writes"][0]["layer"] = "gossip".into();
    let mut bytes = format!("{}\n{odd}\n", timeline("T-1")).into_bytes();
    bytes.extend(b"\xff\xfe\n{}\n");
    fs::write(folder.path().join("odd.jsonl"), bytes).unwrap();
    let (out, err) = run(3, folder.path(), &["odd.jsonl", "two.jsonl", "none.jsonl"]);
    let places: Vec<&str> = err.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(places, ["odd.jsonl:2", "odd.jsonl:2", "odd.jsonl:3", "odd.jsonl:4", "none.jsonl"], "{err}");
    assert!(out.contains("4 timelines, 4 queries; 3 of 4 links resolved; 5 "), "{out}");
    let (_, err) = run(3, folder.path(), &["odd.jsonl", "--timeline", "T-3"]);
    assert!(err.contains("odd.jsonl:3:"), "{err}");
    fs::write(folder.path().join("write.jsonl"), format!("{odd}\n")).unwrap();
    run(3, folder.path(), &["write.jsonl", "--timeline", "T-3"]);
    run(2, folder.path(), &["none.jsonl"]);
}

#[test]
fn empty_files_and_folders_are_reported() {
    let folder = folder();
    fs::write(folder.path().join("empty.jsonl"), "\n").unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    let (_, err) = run(3, folder.path(), &["two.jsonl", "empty.jsonl"]);
    assert!(err.starts_with("empty.jsonl: "), "{err}");
    let (_, err) = run(2, folder.path(), &["inner"]);
    assert!(err.starts_with("inner: ") && err.contains("expected a file, found a folder"), "{err}");
}

#[test]
fn diagnostics_are_counted_beyond_limit() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("many.jsonl"), "x\n".repeat(1500)).unwrap();
    let (out, err) = run(2, folder.path(), &["many.jsonl"]);
    assert_eq!(err.lines().count(), 1001, "{}", err.len());
    assert!(err.ends_with("500 further diagnostics are not shown\n"));
    assert!(out.contains("1500 diagnostics"), "{out}");
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, err) = run(2, folder.path(), &["/dev/zero"]);
    assert!(err.contains("expected a file, found a device"), "{err}");
}
