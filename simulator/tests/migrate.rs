//! Traces of each landed format: they replay, migrate, or are refused with what they lack.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion_trace::schema::trace_schema;
use orchestrion_trace::{Reader, Step};
use runner::run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate")
}

/// Copies a fixture to a folder of its own.
fn fixture(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixtures().join(name), folder.path().join(name)).unwrap();
    folder
}

fn steps(path: &Path) -> Vec<Step> {
    Reader::new(fs::read(path).unwrap().as_slice(), "a trace").unwrap().map(Result::unwrap).collect()
}

#[test]
fn current_traces_replay_and_stay() {
    for name in ["trace-5.ndjson", "trace-5-journal.ndjson"] {
        let folder = fixture(name);
        let (text, _) = run(0, folder.path(), &["migrate", name]);
        assert!(text.contains(&format!("{name}: current, orchestrion-trace/5")), "{text}");
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), fs::read(fixtures().join(name)).unwrap());
        let (text, _) = run(0, folder.path(), &["replay", "--recorded-policy", name]);
        assert!(text.contains("equal, 5 steps"), "{text}");
    }
}

#[test]
fn older_traces_migrate_and_replay() {
    for (name, conversions, steps) in
        [("trace-4.ndjson", &["format", "policy"][..], 5), ("trace-5-early.ndjson", &["policy"], 22)]
    {
        let folder = fixture(name);
        // Not read as it is.
        let (_, error) = run(2, folder.path(), &["show", name]);
        assert!(error.contains("orchestrion migrate TRACE"), "{error}");
        let (text, _) = run(1, folder.path(), &["migrate", name]);
        assert!(text.contains("not written: no terminal for confirmation"), "{text}");
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), fs::read(fixtures().join(name)).unwrap());
        let (text, _) = run(0, folder.path(), &["migrate", "--yes", name]);
        for conversion in conversions {
            assert!(text.lines().any(|line| line.starts_with(&format!("  {conversion:<9}"))), "{text}");
        }
        let migrated = fs::read(folder.path().join(name)).unwrap();
        let policy = Reader::new(migrated.as_slice(), name).unwrap().header().policy.clone();
        assert_eq!(
            policy.compaction.session_items_max,
            u32::MAX,
            "a limit that did not exist limits nothing"
        );
        let (text, _) = run(0, folder.path(), &["replay", "--recorded-policy", name]);
        assert!(text.contains(&format!("{name}: equal, {steps} steps")), "{text}");
        let (text, _) = run(0, folder.path(), &["migrate", name]);
        assert!(text.contains(": current, "), "{text}");
    }
}

/// The conversion keeps inputs, events and contexts, and stores the contexts as differences.
#[test]
fn migration_changes_no_step() {
    let folder = fixture("trace-4-contexts.ndjson");
    run(0, folder.path(), &["migrate", "--output", "new", "trace-4-contexts.ndjson"]);
    let migrated = folder.path().join("new/trace-4-contexts.ndjson");
    let text = fs::read_to_string(&migrated).unwrap();
    assert!(text.contains("\"items\":{\"from\":"), "{text}");
    let older = fs::read_to_string(folder.path().join("trace-4-contexts.ndjson")).unwrap();
    // A line ends in its context and its chain.
    let before_context = |line: &str| {
        let end = line.find(",\"context\":").or_else(|| line.find(",\"chain\":")).unwrap();
        line[..end].to_owned()
    };
    let mut contexts = 0;
    let steps = steps(&migrated);
    assert_eq!(steps.len(), 22);
    for ((step, line), before) in steps.iter().zip(text.lines().skip(1)).zip(older.lines().skip(1)) {
        assert_eq!(before_context(line), before_context(before), "step {}", step.n);
        let before: Value = serde_json::from_str(before).unwrap();
        let context = serde_json::to_value(&step.context).unwrap();
        assert_eq!(context, before.get("context").cloned().unwrap_or_default(), "step {}", step.n);
        contexts += u32::from(step.context.is_some());
    }
    assert!(contexts > 5, "{contexts}");
    // The other file is not replaced.
    let (_, error) = run(2, folder.path(), &["migrate", "--output", "new", "trace-4-contexts.ndjson"]);
    assert!(error.contains("exists, and is not replaced"), "{error}");
}

#[test]
fn traces_without_information_are_refused() {
    for (name, expected) in [
        ("trace-1.ndjson", "it records neither the times of its inputs, nor the ranks of users"),
        ("trace-2.ndjson", "it records neither the times of its inputs, nor how good its contexts are"),
        ("trace-3.ndjson", "it does not record the times of its inputs, on which decisions depend"),
        ("trace-4-early.ndjson", "the header does not record all settings of the policy: missing field `"),
    ] {
        let folder = fixture(name);
        let (_, error) = run(2, folder.path(), &["migrate", "--yes", name]);
        let error = error.replace("\n  │ ", " ");
        assert!(
            error.contains(expected) && error.contains("run its scenario again"),
            "{expected:?} in\n{error}"
        );
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), fs::read(fixtures().join(name)).unwrap());
    }
}

/// A migrated trace vouches for nothing that was edited before.
#[test]
fn edited_older_trace_is_refused() {
    let name = "trace-4.ndjson";
    let folder = fixture(name);
    let path = folder.path().join(name);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"n\":3", "\"n\":4", 1)).unwrap();
    let (_, error) = run(2, folder.path(), &["migrate", "--yes", name]);
    assert!(error.contains("trace-4.ndjson:4: chain mismatch"), "{error}");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&path, lines[..4].concat()).unwrap();
    let (_, error) = run(2, folder.path(), &["migrate", "--yes", name]);
    assert!(error.contains("missing end"), "{error}");
}

fn goldens() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/scenarios");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
    assert!(paths.len() > 50, "{paths:?}");
    paths
}

/// Programs that end lines with two bytes change no chain.
#[test]
fn windows_line_ends_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["trace-5.ndjson", "trace-5-journal.ndjson"] {
        let text = fs::read_to_string(fixtures().join(name)).unwrap();
        fs::write(folder.path().join(name), text.replace('\n', "\r\n")).unwrap();
        let (text, _) = run(0, folder.path(), &["replay", "--recorded-policy", name]);
        assert!(text.contains("equal, 5 steps"), "{text}");
    }
    // Elsewhere in a line, the byte is an edit.
    let text = fs::read_to_string(fixtures().join("trace-5.ndjson")).unwrap();
    fs::write(folder.path().join("edited.ndjson"), text.replacen("\"}\n", "\"}\r\r\n", 1)).unwrap();
    let (_, error) = run(2, folder.path(), &["replay", "edited.ndjson"]);
    assert!(error.contains("edited.ndjson:1: "), "{error}");
}

#[test]
fn schema_accepts_every_golden_line_and_no_other() {
    let schema = jsonschema::validator_for(&trace_schema()).unwrap();
    let mut lines = 0;
    let journal = fixtures().join("trace-5-journal.ndjson");
    for path in goldens().into_iter().chain([journal, fixtures().join("trace-5.ndjson")]) {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let error = schema.iter_errors(&value).next().map(|error| error.to_string());
            assert_eq!(error, None, "{}: {line}", path.display());
            lines += 1;
        }
    }
    assert!(lines > 1000, "{lines}");
    let golden = goldens().into_iter().find(|path| path.ends_with("happy.ndjson")).unwrap();
    let line = |number: usize| -> Value {
        serde_json::from_str(fs::read_to_string(&golden).unwrap().lines().nth(number).unwrap()).unwrap()
    };
    for (number, pointer, value) in [
        (0, "/format", Value::from("orchestrion-trace/4")),
        (0, "/table", Value::from("none")),
        (3, "/n", Value::from(0)),
        (3, "/chain", Value::from("00")),
        (3, "/input", Value::from("steps")),
        (3, "/input/reply/call", Value::from("1")),
        (3, "/events/0", serde_json::json!({"tool_results": {}})),
        (3, "/events/0/tool_result", serde_json::json!({"call": 1})),
        (4, "/context/status", Value::from("best")),
        (27, "/end/steps", Value::from(-1)),
    ] {
        let mut edited = line(number);
        *edited.pointer_mut(pointer).unwrap() = value;
        assert!(!schema.is_valid(&edited), "{pointer} of line {number}");
    }
    for number in [0, 3, 27] {
        let mut edited = line(number);
        edited["more"] = true.into();
        assert!(!schema.is_valid(&edited), "line {number}");
    }
}

/// The program on the page verifies golden traces, and finds an edited line.
#[test]
fn program_of_page_verifies_the_chain() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: program_of_page_verifies_the_chain: there is no python3 here");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/pages/trace-format.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```python\n").unwrap();
    let program = rest.split("```").next().unwrap();
    assert!(program.lines().filter(|line| !line.is_empty()).count() <= 20, "{program}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("verify.py"), program).unwrap();
    // The program imports a package; this file stands beside it under its name.
    fs::copy(fixtures().join("blake3.py"), folder.path().join("blake3.py")).unwrap();
    let verify = |trace: &Path| {
        Command::new("python3").arg(folder.path().join("verify.py")).arg(trace).output().unwrap()
    };
    for name in ["happy.ndjson", "identity-mismatch.ndjson", "guest-session.ndjson"] {
        let path = goldens().into_iter().find(|path| path.ends_with(name)).unwrap();
        let output = verify(&path);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{lines} lines, the chain matches\n"));
        let edited = folder.path().join("edited.ndjson");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&edited, text.replacen("\"n\":3", "\"n\":33", 1)).unwrap();
        let output = verify(&edited);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "line 4: the chain does not match\n");
        fs::write(&edited, text.replacen("\"kernel\":\"0", "\"kernel\":\"1", 1)).unwrap();
        assert_eq!(String::from_utf8_lossy(&verify(&edited).stderr), "line 1: the chain does not match\n");
    }
}
