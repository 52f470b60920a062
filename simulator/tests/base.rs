//! `show --base` and `export base` against a second reader of the trace.
//!
//! The second reader parses the raw lines with `serde_json` and expands text references by the published format. It shares no
//! code with the projection.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "base/raw_trace.rs"]
mod raw_trace;
mod runner;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "show/trace_builder.rs"]
mod trace_builder;

use orchestrion_kernel::Policy;
use orchestrion_kernel::module::Failure;
use raw_trace::{Json, RawStep, read_steps};
use runner::run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use trace_builder::TraceBuilder;
use unicode_width::UnicodeWidthStr;

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");

/// The tags of Σ_B (000 §3.2), as the export and `show` write them.
const KINDS: [(&str, &str); 7] = [
    ("user_msg", "UserMsg"),
    ("tool_call", "ToolCall"),
    ("tool_result", "ToolResult"),
    ("add_item", "AddItem"),
    ("update_item", "UpdateItem"),
    ("forget_items", "ForgetItems"),
    ("final_answer", "FinalAnswer"),
];

fn goldens() -> Vec<PathBuf> {
    let entries = fs::read_dir(SCENARIOS).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == "ndjson")).collect();
    paths.sort();
    assert!(paths.len() > 20, "{paths:?}");
    paths
}

/// An expected line of the export.
struct Expected {
    step: u64,
    kind: &'static str,
    /// The line without the text of a call.
    line: Value,
    /// The digest of the context that the step records. A call that is not made or reads no context has none.
    digest: Option<String>,
}

fn expected_lines(steps: &[RawStep]) -> Vec<Expected> {
    let mut lines = Vec::new();
    for step in steps {
        for event in &step.events {
            let (tag, fields) = match event.variant() {
                ("network", Some(event)) => event.variant(),
                variant => variant,
            };
            // 000 has no event for a failed call or a failed attempt: it is a tool result.
            let tag = if matches!(tag, "call_failed" | "attempt_failed") { "tool_result" } else { tag };
            let Some((kind, _)) = KINDS.into_iter().find(|(kind, _)| *kind == tag) else { continue };
            let keys: &[&str] = match kind {
                "user_msg" => &["user", "text"],
                "tool_call" => &["call"],
                "tool_result" => &["module", "call", "failure"],
                "add_item" | "update_item" => &["item", "deps"],
                "forget_items" => &["ids"],
                "final_answer" => &["text"],
                other => panic!("{other}"),
            };
            let fields = fields.unwrap();
            let mut line: serde_json::Map<String, Value> = keys
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), fields.get(key)?.to_value())))
                .collect();
            if kind == "tool_result" {
                let text = fields.get("report").map_or(String::new(), Json::to_text);
                line.insert("text".into(), text.into());
            }
            lines.push(Expected { step: step.number, kind, line: line.into(), digest: step.digest.clone() });
        }
    }
    lines
}

/// Returns the words of a wrapped text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 128 bits of BLAKE3 in hexadecimal, as the format defines a digest.
fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// 000-3.8, 000-3.9: the word has the events of the seven kinds, in their order, and no other. Each has its parts: 000-3.1, 000-3.2,
/// 000-3.3, 000-3.4, 000-3.5, 000-3.6, 000-3.7.
#[test]
fn export_is_the_projection_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut kinds_found = Vec::new();
    for path in goldens() {
        let name = path.display().to_string();
        let expected = expected_lines(&read_steps(&fs::read_to_string(&path).unwrap()));
        let (out, err) = run(0, folder.path(), &["export", "base", &name]);
        assert_eq!(err, "", "{name}");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{name}");
        for (line, expected) in lines.iter().zip(&expected) {
            let mut line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["step"], expected.step, "{name}: {line}");
            assert_eq!(line.as_object().unwrap().len(), 2, "{name}: {line}");
            let fields = line[expected.kind]
                .as_object_mut()
                .unwrap_or_else(|| panic!("{name}: {expected_kind}", expected_kind = expected.kind));
            if expected.kind == "tool_call" {
                // The module of a call is the module of its result, which the result checks.
                fields.remove("module").unwrap();
                let text = fields.remove("text").unwrap();
                let text = text.as_str().unwrap();
                let found = (!text.is_empty()).then(|| digest(text));
                assert_eq!(found, expected.digest, "{name}: {text}");
                assert!(fields.remove("not_made").is_none() || text.is_empty(), "{name}: {text}");
            }
            assert_eq!(Value::from(fields.clone()), expected.line, "{name} step {}", expected.step);
            kinds_found.push(expected.kind);
        }
        check_modules(&lines, &name);
    }
    for (kind, _) in KINDS {
        assert!(kinds_found.contains(&kind), "no golden trace has the event {kind}");
    }
}

/// Checks that each result has the module of the call with its id.
fn check_modules(lines: &[&str], name: &str) {
    let mut modules = std::collections::BTreeMap::new();
    for line in lines {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(call) = line.get("tool_call") {
            modules.insert(call["call"].as_u64(), call["module"].clone());
        }
        if let Some(result) = line.get("tool_result") {
            assert_eq!(modules.get(&result["call"].as_u64()), Some(&result["module"]), "{name}: {line}");
        }
    }
}

/// 000-7.8, 000-3.9.
#[test]
fn show_lists_the_events_of_the_export() {
    let folder = tempfile::tempdir().unwrap();
    for path in goldens() {
        let name = path.display().to_string();
        let expected = expected_lines(&read_steps(&fs::read_to_string(&path).unwrap()));
        let (out, _) = run(0, folder.path(), &["show", "--base", &name]);
        // A row starts with the number of its step; a continuation line is indented further, the summary is not.
        let rows = out.lines().filter(|line| line.starts_with("  ")).filter_map(|line| {
            let mut words = line.get(..20)?.split_whitespace();
            Some((words.next()?.parse::<u64>().ok()?, words.next()?.to_owned()))
        });
        let title = |kind: &str| KINDS.iter().find(|(found, _)| *found == kind).unwrap().1.to_owned();
        let expected_rows: Vec<_> = expected.iter().map(|line| (line.step, title(line.kind))).collect();
        assert_eq!(rows.collect::<Vec<_>>(), expected_rows, "{name}\n{out}");
        let of = |(kind, title): (&str, &str)| {
            format!("{} {title}", expected.iter().filter(|line| line.kind == kind).count())
        };
        let counts = format!("{} base events: {}", expected.len(), KINDS.map(of).join(", "));
        let out = one_line(&out);
        assert!(out.contains(&counts) && out.contains("a word of Σ_B"), "{name}: {counts}\n{out}");
    }
}

#[test]
fn lines_fit_the_width() {
    let folder = tempfile::tempdir().unwrap();
    let trace = format!("{SCENARIOS}/compaction.ndjson");
    for columns in ["60", "80", "120", "200"] {
        for arguments in [&["show", "--base", &trace][..], &["show", "--base", "--step", "10", &trace]] {
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"))
                .args(arguments)
                .current_dir(folder.path())
                .env("COLUMNS", columns)
                .output()
                .unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            let max: usize = columns.parse().unwrap();
            assert!(out.lines().all(|line| line.width() <= max), "{columns}\n{out}");
        }
    }
}

#[test]
fn step_shows_full_texts() {
    let folder = tempfile::tempdir().unwrap();
    let trace = format!("{SCENARIOS}/compaction.ndjson");
    insta::assert_snapshot!(
        "base_step",
        run(0, folder.path(), &["show", "--base", "--step", "10", &trace]).0
    );
    let (out, _) = run(0, folder.path(), &["show", "--base", "--step", "20", &trace]);
    assert!(out.contains("\n0 base events: 0 UserMsg, "), "{out}");
    let (_, err) = run(2, folder.path(), &["show", "--base", "--step", "999", &trace]);
    assert!(err.contains("no step 999: the trace has "), "{err}");
}

/// A request whose message exceeds the budget of every module that receives it.
fn over_budget() -> Vec<u8> {
    let mut policy = Policy::hardened();
    policy.contexts.budget_tokens = 40;
    policy.contexts.reserved_tokens = 0;
    let mut builder = TraceBuilder::new(policy);
    builder.send_message(&"Put release 2.4 on the staging cluster. ".repeat(10));
    builder.reply(orchestrion_kernel::module::Report::Identity { gcp: true, mongodb: true });
    builder.run_steps();
    builder.fail(Failure::OverBudget);
    builder.finish()
}

#[test]
fn call_over_budget_has_no_text() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("over.ndjson"), over_budget()).unwrap();
    let (out, _) = run(0, folder.path(), &["export", "base", "over.ndjson"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let not_made = lines.iter().position(|line| line["tool_call"].get("not_made").is_some()).unwrap();
    let call = &lines[not_made]["tool_call"];
    assert_eq!(call["text"], "");
    assert!(call["not_made"].as_str().unwrap().starts_with("context over budget: expected at most 40 "));
    assert!(call.get("unconfirmed").is_none(), "{call}");
    let result = &lines[not_made + 1]["tool_result"];
    assert_eq!((&result["call"], &result["failure"]), (&call["call"], &"over_budget".into()));
    let (out, _) = run(0, folder.path(), &["show", "--base", "over.ndjson"]);
    let out = one_line(&out);
    assert!(out.contains("not made: context over budget: expected at most 40 tokens, found"), "{out}");
    assert!(out.contains(" 1 call not made, because no context fits the budget "), "{out}");
}

#[test]
fn redacted_trace_has_redacted_texts() {
    let folder = tempfile::tempdir().unwrap();
    let golden = format!("{SCENARIOS}/repaired.ndjson");
    run(0, folder.path(), &["show", &golden, "--redact", "public.ndjson"]);
    let (original, _) = run(0, folder.path(), &["export", "base", &golden]);
    let (redacted, _) = run(0, folder.path(), &["export", "base", "public.ndjson"]);
    assert!(original.contains("Publish the release notes") && !redacted.contains("Publish the release"));
    let kinds = |text: &str| -> Vec<(Value, Option<String>)> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| {
                (line["step"].clone(), line.as_object().unwrap().keys().find(|key| *key != "step").cloned())
            })
            .collect()
    };
    assert_eq!(kinds(&original), kinds(&redacted));
    assert!(!redacted.contains("unconfirmed"));
    run(0, folder.path(), &["show", "--base", "public.ndjson"]);
}

#[test]
fn damaged_trace_is_projected_to_its_damage() {
    let folder = tempfile::tempdir().unwrap();
    let golden = fs::read_to_string(format!("{SCENARIOS}/repaired.ndjson")).unwrap();
    let complete = run_base(folder.path(), 0, &golden).0;
    let (torn, err) = run_base(folder.path(), 3, &golden[..golden.len() / 2]);
    assert!(complete.starts_with(&torn) && torn.lines().count() > 20, "{torn}");
    assert!(err.contains("trace.ndjson:"), "{err}");
    let edited = golden.replacen("Forty changes", "Fifty changes", 1);
    let (valid, err) = run_base(folder.path(), 3, &edited);
    assert!(complete.starts_with(&valid) && err.contains("chain mismatch"), "{err}");
    let (out, err) = run(3, folder.path(), &["show", "--base", "trace.ndjson"]);
    assert!(out.contains("the valid part of the log") && err.contains("chain mismatch"), "{out}{err}");
    run_base(folder.path(), 2, "not a trace\n");
    run(2, folder.path(), &["show", "--base", "trace.ndjson"]);
    run(2, folder.path(), &["show", "--base", "missing.ndjson"]);
}

fn run_base(folder: &Path, code: i32, trace: &str) -> (String, String) {
    fs::write(folder.join("trace.ndjson"), trace).unwrap();
    run(code, folder, &["export", "base", "trace.ndjson"])
}

/// The chain is intact, but the digest of a context is that of another text, as in a trace of another version.
#[test]
fn unconfirmed_text_is_marked() {
    use orchestrion_trace::{Reader, StepMetadata, StepRecord, Writer};
    let golden = fs::read(format!("{SCENARIOS}/happy.ndjson")).unwrap();
    let reader = Reader::new(&golden[..], "happy.ndjson").unwrap();
    let mut writer = Writer::new(Vec::new(), reader.header()).unwrap();
    for step in reader {
        let mut step = step.unwrap();
        match step.n {
            4 => step.context.as_mut().unwrap().digest = "0".repeat(32),
            5 => step.context = None,
            _ => {}
        }
        let record = match &step.refused {
            Some(sentence) => StepRecord::refused(sentence),
            None => StepRecord::accepted(&step.events, step.context.as_ref()),
        };
        writer.write_step(&StepMetadata::default(), &step.input, record).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.ndjson"), writer.end().unwrap()).unwrap();
    let (out, err) = run(3, folder.path(), &["export", "base", "trace.ndjson"]);
    let found: Vec<&str> = out
        .lines()
        .filter_map(|line| Some(line.split_once("\"unconfirmed\":\"")?.1.split_once('"')?.0))
        .collect();
    assert_eq!(found, ["digest_differs", "not_recorded"]);
    assert!(err.contains("unconfirmed texts of calls: 2"), "{err}");
    let (out, _) = run(3, folder.path(), &["show", "--base", "trace.ndjson"]);
    assert!(out.contains("(not the recorded text)") && out.contains("(not recorded)"), "{out}");
}

#[test]
fn control_characters_are_escaped() {
    let mut builder = TraceBuilder::new(Policy::hardened());
    let message = "Say \u{1b}[31mred\u{9b}2J \u{7f} \u{202e}gnp.exe\u{e0041}";
    builder.send_message(message);
    builder.prepare();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.ndjson"), builder.finish()).unwrap();
    let hostile =
        |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || "\u{202e}\u{e0041}".contains(c));
    for target in ["base", "itf"] {
        let (out, _) = run(0, folder.path(), &["export", target, "trace.ndjson"]);
        assert!(!hostile(&out), "{out:?}");
    }
    let (out, _) = run(0, folder.path(), &["export", "base", "trace.ndjson"]);
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!(line["user_msg"]["text"], message);
    for arguments in
        [&["show", "--base", "trace.ndjson"][..], &["show", "--base", "--step", "2", "trace.ndjson"]]
    {
        let (out, _) = run(0, folder.path(), arguments);
        assert!(!hostile(&out), "{out:?}");
    }
}

#[test]
fn export_overwrites_only_a_projection() {
    let folder = tempfile::tempdir().unwrap();
    let golden = format!("{SCENARIOS}/happy.ndjson");
    let (expected, _) = run(0, folder.path(), &["export", "base", &golden]);
    for _ in 0..2 {
        let (out, _) = run(0, folder.path(), &["export", "base", &golden, "--output", "happy.base.ndjson"]);
        assert!(out.starts_with("exported: ") && out.contains(" base events: 1 UserMsg, "), "{out}");
        assert_eq!(fs::read_to_string(folder.path().join("happy.base.ndjson")).unwrap(), expected);
    }
    fs::copy(&golden, folder.path().join("mine.ndjson")).unwrap();
    let (_, err) = run(2, folder.path(), &["export", "base", "mine.ndjson", "--output", "mine.ndjson"]);
    assert!(err.contains("is not a projection of a trace and is not overwritten"), "{err}");
    run(0, folder.path(), &["replay", "mine.ndjson"]);
}

#[test]
fn wrong_usage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let golden = format!("{SCENARIOS}/happy.ndjson");
    let (_, err) = run(2, folder.path(), &["export", "base"]);
    assert!(err.contains("missing argument TRACE") && err.contains("orchestrion export base "), "{err}");
    for option in [&["--item", "1"][..], &["--html", "a.html"], &["--redact", "a.ndjson"]] {
        let arguments = [&["show", &golden, "--base"], option].concat();
        let (_, err) = run(2, folder.path(), &arguments);
        assert!(err.contains("'--base' cannot be used with"), "{err}");
    }
    let (_, err) = run(2, folder.path(), &["export", "claims", &golden]);
    assert!(err.contains("use `export base`"), "{err}");
}
