//! `diff`: aligned steps, the first cause, its consequences, and both endings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

const GOLDEN: &str = "scenarios/first-request.ndjson";
const VETO: &str = "call.reply={con: {confidence: 0.95, text: No}}";

/// Creates a project, with a scenario whose golden trace the tests compare.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    folder
}

/// Runs an edited scenario of the project without its expectations, and returns its trace.
fn edited(folder: &Path, name: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(folder.join("scenarios/first-request.yaml")).unwrap();
    let (before, after) = text.split_once("    expect:\n").unwrap();
    let modules = after.split_once("modules:\n").unwrap().1;
    // The conversation is that of the other scenario.
    let text = format!("conversation: first-request\n{before}modules:\n{modules}");
    assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
    fs::write(folder.join(format!("scenarios/{name}.yaml")), text.replace(from, to)).unwrap();
    run(0, folder, &["run", &format!("scenarios/{name}.yaml"), "--quiet"]);
    format!(".orchestrion/{name}.trace.ndjson")
}

/// Equal lines are malformed in both traces.
#[test]
fn equal_malformed_lines_are_incomplete() {
    let folder = project();
    let golden = fs::read_to_string(folder.path().join(GOLDEN)).unwrap();
    let header = golden.lines().next().unwrap();
    let (before, rest) = header.split_once("\"kernel\":").unwrap();
    let (conditions, _) = rest[rest.find("\"conversation\":").unwrap()..].split_once(",\"chain\"").unwrap();
    let seed = orchestrion_trace::digest(format!("{before}{conditions}}}").as_bytes());
    for (body, code) in [(r#"{"n":1,"input":"tick","evil":1}"#, 3), (r#"{"n":2,"input":"tick"}"#, 3)] {
        let chain = orchestrion_trace::digest(format!("{seed}{body}").as_bytes());
        let step = body.strip_suffix('}').unwrap();
        fs::write(folder.path().join("a.ndjson"), format!("{header}\n{step},\"chain\":\"{chain}\"}}\n"))
            .unwrap();
        let (out, err) = run(code, folder.path(), &["diff", "a.ndjson", "a.ndjson"]);
        assert!(!format!("{out}{err}").contains("chain mismatch"), "{out}{err}");
    }
}

fn json(code: i32, folder: &Path, a: &str, b: &str) -> Value {
    serde_json::from_str(&run(code, folder, &["diff", a, b, "--format", "json"]).0).unwrap()
}

/// The changes as pairs of step numbers; 0 where a trace has no step.
fn changes(report: &Value) -> Vec<(u64, u64)> {
    let number = |side: &Value| side["step"].as_u64().unwrap_or_default();
    let changes = report["changes"].as_array().unwrap().iter();
    changes.map(|change| (number(&change["a"]), number(&change["b"]))).collect()
}

#[test]
fn equal_traces_are_equal() {
    let folder = project();
    let (text, _) = run(0, folder.path(), &["diff", GOLDEN, GOLDEN]);
    assert_eq!(text, format!("{GOLDEN} and {GOLDEN}: equal, 25 steps\n"));
    assert_eq!(run(0, folder.path(), &["diff", GOLDEN, GOLDEN, "--quiet"]).0, "");
    assert_eq!(json(0, folder.path(), GOLDEN, GOLDEN)["verdict"], "equal");
}

/// A write in the planning phase shifts the numbers of all later steps and items.
#[test]
fn inserted_step_changes_no_later_step() {
    let folder = project();
    let write = "    write:\n      - fact: {key: colour, text: red}\n        phase: Planning\nmodules:\n";
    let other = edited(folder.path(), "inserted", "modules:\n", write);
    for (a, b, side) in [(GOLDEN, other.as_str(), "only_b"), (other.as_str(), GOLDEN, "only_a")] {
        let report = json(1, folder.path(), a, b);
        assert_eq!(report["changed_steps"], 1, "{report:#}");
        assert_eq!(report["changes"][0]["change"], side);
        assert_eq!(report["cause"]["kind"], "input");
        assert_eq!(report["endings"]["a"], report["endings"]["b"]);
        // The modules see the fact.
        assert!(report["contexts"]["steps"].as_u64().unwrap() > 3, "{report:#}");
    }
}

#[test]
fn another_reply_is_cause_outside_of_kernel() {
    let folder = project();
    let fork = ["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"];
    run(0, folder.path(), &fork);
    let report = json(1, folder.path(), GOLDEN, "veto.ndjson");
    assert_eq!(report["cause"]["kind"], "input");
    assert_eq!(report["cause"]["steps"], serde_json::json!({"a": 11, "b": 11}));
    assert_eq!(report["settings"], serde_json::json!([]));
    // The steps of the tasks are only in A, and the closing is aligned.
    let changes = changes(&report);
    assert!(changes.contains(&(18, 0)) && changes.contains(&(22, 19)), "{changes:?}");
    assert!(!changes.contains(&(14, 14)), "{changes:?}");
    let (text, _) = run(1, folder.path(), &["diff", GOLDEN, "veto.ndjson"]);
    for part in [
        "another input: the cause is outside of the kernel",
        "at step 11 of A and step 11 of B, in Round_4_Security",
        "0.269889, but a veto ends the debate",
        "ToolResult, AddItem, VetoRaised, Transitioned, ToolCall",
        "VETO by Security, blocked: Security vetoed the plan",
    ] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
}

#[test]
fn another_decision_names_policy() {
    let folder = project();
    let set = "policy.redebate_below=0.99";
    run(0, folder.path(), &["fork", GOLDEN, "--step", "13", "--set", set, "--output", "again.ndjson"]);
    let report = json(1, folder.path(), GOLDEN, "again.ndjson");
    assert_eq!(report["cause"]["kind"], "policy");
    let decisions = &report["cause"]["decisions"];
    assert!(decisions["a"].as_str().unwrap().starts_with("T14 to Aggregating"), "{decisions}");
    assert!(decisions["b"].as_str().unwrap().starts_with("T13 to Round_2_Solution"), "{decisions}");
    assert_eq!(report["settings"][1]["name"], "thresholds.redebate_below");
    let (text, _) = run(1, folder.path(), &["diff", GOLDEN, "again.ndjson", "--quiet"]);
    assert!(text.contains("the cause is the policy") && !text.contains("consequences"), "{text}");
}

/// A policy value that no decision reads is a difference without a changed step.
#[test]
fn unused_policy_value_differs() {
    let folder = project();
    let set = "policy.veto_from=0.9";
    run(0, folder.path(), &["fork", GOLDEN, "--step", "13", "--set", set, "--output", "other.ndjson"]);
    let report = json(1, folder.path(), GOLDEN, "other.ndjson");
    assert_eq!((&report["cause"]["kind"], &report["changed_steps"]), (&"unused_policy".into(), &0.into()));
}

/// The same steps at other times differ, and no step is listed: neither those with a time, nor a fact that is as old as its write.
#[test]
fn other_times_are_counted() {
    let folder = project();
    let write = "    write:\n      - fact: {key: colour, text: red}\nmodules:\n";
    let early = edited(folder.path(), "early", "modules:\n", write);
    let text = fs::read_to_string(folder.path().join("scenarios/early.yaml")).unwrap();
    let later = format!("starts_at: 2026-02-02T00:00:00Z\n{text}");
    fs::write(folder.path().join("scenarios/later.yaml"), later).unwrap();
    run(0, folder.path(), &["run", "scenarios/later.yaml", "--quiet"]);
    let report = json(1, folder.path(), &early, ".orchestrion/later.trace.ndjson");
    assert_eq!(report["changed_steps"], 0, "{report:#}");
    assert_eq!(report["times"]["steps"], 26);
    assert_eq!(report["cause"], Value::Null);
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let folder = project();
    let path = folder.path();
    let text = fs::read_to_string(path.join(GOLDEN)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(path.join("cut.ndjson"), lines[..13].concat()).unwrap();
    fs::write(path.join("old.ndjson"), text.replacen("orchestrion-trace/5", "orchestrion-trace/4", 1))
        .unwrap();
    let (text, error) = run(3, path, &["diff", GOLDEN, "cut.ndjson"]);
    assert!(text.contains("INCOMPLETE, equal as far as both are readable"), "{text}");
    assert!(error.contains("cut.ndjson:13: missing end"), "{error}");
    let report = json(3, path, "cut.ndjson", GOLDEN);
    assert_eq!((&report["verdict"], &report["changed_steps"]), (&"incomplete".into(), &0.into()));
    let (_, error) = run(2, path, &["diff", GOLDEN, "old.ndjson"]);
    assert!(error.contains("old.ndjson:1: unsupported trace format"), "{error}");
    let (_, error) = run(2, path, &["diff", "none.ndjson", GOLDEN]);
    assert!(error.contains("none.ndjson: unreadable trace"), "{error}");
}

/// The first lines of a fork of the golden trace at its step 11, as `cut.ndjson`.
fn cut_fork(folder: &Path, set: &str, lines: usize) {
    run(0, folder, &["fork", GOLDEN, "--step", "11", "--set", set, "--output", "fork.ndjson"]);
    let text = fs::read_to_string(folder.join("fork.ndjson")).unwrap();
    let cut: String = text.split_inclusive('\n').take(lines).collect();
    fs::write(folder.join("cut.ndjson"), cut).unwrap();
    fs::remove_file(folder.join("fork.ndjson")).unwrap();
}

/// The last readable step has no counterpart in the other trace, whose further steps are no difference.
#[test]
fn last_readable_step_is_the_cause() {
    let folder = project();
    let path = folder.path();
    cut_fork(path, "call.error=timeout", 12);
    for (a, b, change) in [(GOLDEN, "cut.ndjson", (0, 11)), ("cut.ndjson", GOLDEN, (11, 0))] {
        let report = json(3, path, a, b);
        assert_eq!(report["cause"]["kind"], "input", "{report:#}");
        assert_eq!(report["cause"]["steps"], serde_json::json!({"a": 11, "b": 11}));
        assert_eq!(changes(&report), [change]);
    }
    let (text, _) = run(3, path, &["diff", GOLDEN, "cut.ndjson"]);
    for part in ["INCOMPLETE, DIFFER", "at step 11 of A and step 11 of B, in Round_4_Security", "timeout"] {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
}

/// A readable trace has its ending; a damaged one has what it reached.
#[test]
fn endings_include_steps_that_are_not_compared() {
    let folder = project();
    let path = folder.path();
    cut_fork(path, VETO, 13);
    let report = json(3, path, GOLDEN, "cut.ndjson");
    assert_eq!(report["cause"]["steps"], serde_json::json!({"a": 11, "b": 11}), "{report:#}");
    assert_eq!(report["endings"]["a"][0], "PROCEED, consensus reached, outcome: every task succeeded");
    assert_eq!(report["endings"]["b"][0], "no decision, no conclusion");
    let (text, _) = run(3, path, &["diff", "cut.ndjson", GOLDEN]);
    assert!(text.contains("A        no decision, no conclusion, as far as it is readable"), "{text}");
    assert!(text.contains("B        PROCEED, consensus reached, outcome: every task succeeded"), "{text}");
}

#[test]
fn trace_and_journal_are_two_formats() {
    let folder = project();
    let path = folder.path();
    let header = orchestrion_trace::Header::new(
        orchestrion_kernel::ConversationId::new("live"),
        orchestrion_kernel::Policy::hardened(),
        None,
    );
    let journal = orchestrion_trace::Writer::new(Vec::new(), &header.into_journal()).unwrap().end().unwrap();
    fs::write(path.join("live.ndjson"), journal).unwrap();
    let (_, error) = run(2, path, &["diff", GOLDEN, "live.ndjson"]);
    for part in [
        "live.ndjson:1: traces of two formats: expected orchestrion-trace/5",
        "orchestrion journal join live.ndjson",
    ] {
        assert!(error.contains(part), "{part:?} in\n{error}");
    }
}

/// An id that names another item, call or request is a difference, although the step without its numbers is equal.
#[test]
fn wrong_reference_is_found() {
    let folder = project();
    let path = folder.path();
    let reader = orchestrion_trace::Reader::new(
        fs::File::open(path.join(GOLDEN)).map(std::io::BufReader::new).unwrap(),
        GOLDEN,
    )
    .unwrap();
    let mut writer = orchestrion_trace::Writer::new(Vec::new(), reader.header()).unwrap();
    let mut changed = 0;
    for step in reader {
        let mut step = step.unwrap();
        for event in &mut step.events {
            if let orchestrion_kernel::Event::AddItem { item, deps } = event
                && item.id.number() == 6
            {
                *deps = deps.iter().map(|dep| orchestrion_kernel::ItemId::new(dep.number() + 1)).collect();
                changed = step.n;
            }
        }
        let metadata = orchestrion_trace::StepMetadata { at_ms: step.at_ms, ..Default::default() };
        let record = orchestrion_trace::StepRecord {
            events: &step.events,
            refused: step.refused.as_deref(),
            context: step.context.as_ref(),
        };
        writer.write_step(&metadata, &step.input, record).unwrap();
    }
    fs::write(path.join("wrong.ndjson"), writer.end().unwrap()).unwrap();
    let report = json(1, path, GOLDEN, "wrong.ndjson");
    assert_eq!(changes(&report), [(changed, changed)]);
    assert_eq!(report["changes"][0]["part"], "the same, about other items, calls or requests");
    assert_eq!(report["cause"]["kind"], "recording");
}

/// The example of the help is the output of its commands.
#[test]
fn example_of_help_is_real() {
    let folder = project();
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"));
    let help = { help }.args(["diff", "--help"]).env("COLUMNS", "80").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (commands, example) = help.split_once("prints among others:\n").unwrap();
    assert!(commands.contains(VETO));
    run(0, folder.path(), &["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"]);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["diff", GOLDEN, "veto.ndjson"])
        .current_dir(folder.path())
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let example: Vec<&str> = example.lines().take_while(|line| !line.is_empty()).collect();
    assert!(example.len() > 8, "{example:?}");
    for line in example {
        assert!(text.lines().any(|printed| printed == line), "{line:?} in\n{text}");
    }
}

#[test]
fn report_fits_its_width() {
    let folder = project();
    run(0, folder.path(), &["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"]);
    for columns in [60, 80, 120] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(["diff", GOLDEN, "veto.ndjson"])
            .current_dir(folder.path())
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let wide = text.lines().find(|line| line.chars().count() > columns);
        assert_eq!(wide, None, "{columns} columns");
    }
}
