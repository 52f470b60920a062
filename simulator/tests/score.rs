//! `score` as a user calls it, on timelines made up here.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Runs the verb in a folder, checks its exit code, and gives what it printed on each stream.
fn score(code: i32, folder: &Path, arguments: &[&str]) -> (String, String) {
    runner::run(code, folder, &[&["score"], arguments].concat())
}

/// A roof that was red and is black, with a price that nobody wrote.
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

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("{}\n{}\n", timeline("T-1"), timeline("T-2"));
    fs::write(folder.path().join("two.jsonl"), lines).unwrap();
    folder
}

#[test]
fn a_report_for_people_has_a_row_for_each_track_and_says_what_was_scored() {
    let folder = folder();
    let (out, err) = score(0, folder.path(), &["two.jsonl", "--as", "statebench"]);
    assert!(
        out.contains("made_up") && out.contains("2 of 2  100.0 %") && out.contains("2 of 4   50.0 %"),
        "{out}"
    );
    assert!(out.ends_with("scored: 2 timelines, 2 queries; 2 of 2 links resolved\n"), "{out}");
    assert_eq!(err, "");
    let (out, _) = score(0, folder.path(), &["two.jsonl", "--as", "statebench", "--quiet"]);
    assert_eq!(out.lines().count(), 1);
    fs::write(folder.path().join("one.jsonl"), format!("\u{feff}{}\n", timeline("T-1"))).unwrap();
    let (out, _) = score(0, folder.path(), &["one.jsonl", "--as", "statebench", "--quiet"]);
    assert_eq!(out, "scored: 1 timeline, 1 query; 1 of 1 link resolved\n");
}

#[test]
fn a_report_for_programs_has_every_count() {
    let folder = folder();
    let (out, _) = score(0, folder.path(), &["two.jsonl", "--as", "statebench", "--format", "json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let tally = json!({"queries": 2, "forbidden_queries": 2, "resurrections": 2, "required": 4, "mentioned": 2,
        "context_chars_mean": 56.0});
    let expected = json!({"timelines": 2, "queries": 2, "links": 2, "links_resolved": 2, "overall": tally,
        "tracks": {"made_up": tally}, "faults": []});
    assert_eq!(report, expected);
}

#[test]
fn one_timeline_is_told_with_rules_contexts_and_what_is_wrong_with_them() {
    let folder = folder();
    let (out, _) = score(0, folder.path(), &["two.jsonl", "--as", "statebench", "--show", "T-2"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(out) });
    let (_, err) = score(2, folder.path(), &["two.jsonl", "--as", "statebench", "--show", "T-9"]);
    assert!(err.contains("no timeline has the id T-9"), "{err}");
}

#[test]
fn what_cannot_be_taken_is_named_and_the_exit_code_says_so() {
    let folder = folder();
    let mut odd = timeline("T-3");
    odd["events"][0]["writes"][0]["layer"] = "gossip".into();
    let mut bytes = format!("{}\n{odd}\n", timeline("T-1")).into_bytes();
    bytes.extend(b"\xff\xfe\n{}\n");
    fs::write(folder.path().join("odd.jsonl"), bytes).unwrap();
    let arguments = ["odd.jsonl", "two.jsonl", "none.jsonl", "--as", "statebench"];
    let (out, err) = score(3, folder.path(), &arguments);
    let mut faults = err.lines();
    for begins in [
        "odd.jsonl:2: the write of `roof`: unknown layer `gossip`",
        "odd.jsonl:2: the write of `roof_v2`: it supersedes `roof`, but nothing",
        "odd.jsonl:3: byte 1 of the line is not UTF-8",
        "odd.jsonl:4: no timeline: missing field `id`",
        "none.jsonl: cannot be read:",
    ] {
        let fault = faults.next().unwrap_or_default();
        assert!(fault.starts_with(begins), "{begins}\n{err}");
    }
    assert!(out.ends_with("4 timelines, 4 queries; 3 of 4 links resolved; 5 faults\n"), "{out}");
    let (_, err) = score(3, folder.path(), &["odd.jsonl", "--as", "statebench", "--show", "T-3"]);
    assert!(err.contains("odd.jsonl:3:"), "{err}");
    fs::write(folder.path().join("write.jsonl"), format!("{odd}\n")).unwrap();
    let (out, _) = score(3, folder.path(), &["write.jsonl", "--as", "statebench", "--show", "T-3"]);
    assert!(out.contains("Not taken as it stands"), "{out}");
    score(2, folder.path(), &["none.jsonl", "--as", "statebench"]);
}

#[test]
fn a_file_without_a_line_and_a_folder_are_named() {
    let folder = folder();
    fs::write(folder.path().join("empty.jsonl"), "\n").unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    let (out, err) = score(3, folder.path(), &["two.jsonl", "empty.jsonl", "--as", "statebench"]);
    assert_eq!(err, "empty.jsonl: it has no line; expected one timeline to a line\n");
    assert!(out.ends_with("; 1 fault\n"), "{out}");
    let (_, err) = score(2, folder.path(), &["inner", "--as", "statebench"]);
    assert_eq!(err, "inner: cannot be read: it is a folder; expected a file of timelines\n");
}
