//! Single edits of a project: each one makes the commands of the workflow fail with a message that names what changed. Comments and the
//! order of keys do not.
//!
//! The scenarios are those of this repository that name no policy, so that they run under the policy of the project.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion_kernel::Policy;
use orchestrion_scenario::policy_file;
use runner::run;
use std::fs;
use std::path::Path;

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");
const POLICY: &str = "policies/team.yaml";
const FIRST: &str = "scenarios/first-request.yaml";
const GOLDEN: &str = "scenarios/first-request.ndjson";
const PROJECT: &str = "orchestrion.yaml";
const CLAIMS: &str = "claims.yaml";

/// Every policy value that a scenario of the project reads, with another value that changes a decision.
const VALUES: [(&str, &str); 38] = [
    ("elo", "standard"),
    ("thresholds.redebate_below", "0.6"),
    ("thresholds.proceed_from", "0"),
    ("thresholds.veto_from", "1"),
    ("thresholds.objection_from", "0"),
    ("thresholds.critique_above", "0"),
    ("bounds.passes", "1"),
    ("bounds.repairs", "0"),
    ("bounds.audit_attempts", "1"),
    ("bounds.parallel_tasks", "1"),
    ("weights.analyst", "0"),
    ("weights.solution", "0"),
    ("weights.critic", "0"),
    ("weights.security", "0"),
    ("weights.optimizer", "0"),
    ("writes.strict_ranks", "true"),
    ("compaction.from_items", "0"),
    ("compaction.from_tokens", "0"),
    ("compaction.session_items_max", "1"),
    ("contexts.recency", "0"),
    ("contexts.relevance", "0"),
    ("contexts.provenance", "false"),
    ("contexts.needs_review", "false"),
    ("situation.max_history", "1"),
    ("situation.summary_chars_max", "1"),
    ("situation.result_chars_max", "1"),
    ("situation.argue_mode", "fast"),
    ("situation.run_task_mode", "deep"),
    ("rules.audited_abort", "false"),
    ("rules.veto_ends_debate", "false"),
    ("rules.named_objections", "false"),
    ("rules.below_threshold_label", "false"),
    ("rules.current_facts", "false"),
    ("rules.recorded_stores", "false"),
    ("rules.typed_kinds", "false"),
    ("rules.effects_ledger", "false"),
    ("rules.cancel", "false"),
    ("rules.approver", "true"),
];

/// Creates a project whose policy file has every value of `hardened`.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    let policy = policy_file::write(&Policy { name: "team".to_owned(), ..Policy::hardened() });
    fs::write(folder.path().join(POLICY), policy).unwrap();
    for entry in fs::read_dir(SCENARIOS).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|end| end == "yaml"))
        else {
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        let names = |key: &str| text.lines().any(|line| line.starts_with(key));
        if !names("policy:") && !names("network: ../") {
            fs::write(folder.path().join("scenarios").join(name), text).unwrap();
        }
    }
    run(0, folder.path(), &["run", "--accept", "--quiet"]);
    assert!(commands(folder.path()).is_none());
    folder
}

/// Runs the commands of the workflow that play and replay, up to the first that fails, as the workflow does. Returns what it prints.
fn commands(folder: &Path) -> Option<String> {
    let file = fs::read_to_string(folder.join(".github/workflows/orchestrion.yaml")).unwrap();
    let lines = file.lines().filter_map(|line| line.trim().strip_prefix("run: orchestrion "));
    let commands: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
    const FORMAT: [&str; 2] = ["--format", "github"];
    let expected = [&["check"][..], &["run", "--check", "--quiet"], &["replay", "--quiet"]];
    assert_eq!(commands, expected.map(|command| [command, &FORMAT].concat()));
    // `check` reads no scenario, and takes a minute.
    commands[1..].iter().find_map(|command| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(command)
            .current_dir(folder)
            .env("COLUMNS", "200")
            .output()
            .unwrap();
        let failure =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(!failure.contains("panicked"), "{failure}");
        (!output.status.success()).then_some(failure)
    })
}

/// Applies an edit, runs the commands, and undoes the edit.
fn with_edit(folder: &Path, file: &str, edit: impl FnOnce(&str) -> String) -> Option<String> {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    let edited = edit(&text);
    assert_ne!(edited, text, "{file}");
    fs::write(&path, edited).unwrap();
    let failures = commands(folder);
    fs::write(&path, text).unwrap();
    failures
}

/// Replaces a part that occurs once.
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
    text.replace(from, to)
}

/// Replaces the value of a setting in a policy file.
fn with_value(policy: &str, path: &str, value: &str) -> String {
    let (section, key) = path.split_once('.').unwrap_or((path, ""));
    let mut is_in_section = false;
    let line = |line: &str| {
        if !line.starts_with([' ', '#']) && !line.is_empty() {
            is_in_section = line.starts_with(&format!("{section}:"));
        }
        let name = if key.is_empty() { format!("{section}:") } else { format!("  {key}:") };
        if is_in_section && line.starts_with(&name) {
            format!("{name} {value}\n")
        } else {
            format!("{line}\n")
        }
    };
    policy.lines().map(line).collect()
}

#[test]
fn every_read_policy_value_makes_commands_fail() {
    let folder = project();
    for (path, value) in VALUES {
        let failures = with_edit(folder.path(), POLICY, |text| with_value(text, path, value));
        let failures = failures.unwrap_or_else(|| panic!("{path}: {value} changes nothing"));
        assert!(failures.contains(&format!("policy   {path}: golden ")), "{path}\n{failures}");
        assert!(failures.contains(": DIFFERS from scenarios/"), "{path}\n{failures}");
        let kinds = ["  decision first at step ", "  text     first at step ", "  input    first at step "];
        assert!(kinds.iter().any(|kind| failures.contains(kind)), "{path}\n{failures}");
        assert!(failures.contains("  ending   "), "{path}\n{failures}");
    }
}

#[test]
fn unread_policy_value_makes_commands_fail() {
    let folder = project();
    for (path, value) in [
        ("situation.undo_task_mode", "deep"),
        ("contexts.nodes_max", "1999"),
        ("compaction.cluster_items", "31"),
    ] {
        let failures = with_edit(folder.path(), POLICY, |text| with_value(text, path, value));
        let failures = failures.unwrap_or_else(|| panic!("{path}: {value} changes nothing"));
        assert!(failures.contains(&format!("policy   {path}: golden ")), "{path}\n{failures}");
        assert!(failures.contains("golden traces, and no decision"), "{path}\n{failures}");
    }
}

#[test]
fn edited_scenario_expectation_or_golden_makes_commands_fail() {
    let folder = project();
    for (file, from, to, expected) in [
        // Answers of scenarios.
        (
            FIRST,
            "critic: {con: {confidence: 0.4,",
            "critic: {con: {confidence: 0.5,",
            "input    first at step ",
        ),
        (FIRST, "similarity: 0.7}", "similarity: 0.8}", "input    first at step "),
        (
            FIRST,
            "a hundred of a hundred are equal",
            "ninety of a hundred are equal",
            "input    first at step ",
        ),
        (FIRST, "1: {ok: \"3,120 rows copied\"}", "1: {fail: error}", "outcome: expected outcome, found "),
        (
            FIRST,
            "text: Rename the column mail to email\n",
            "text: Rename the column mail\n",
            "contexts of planner: expected one that contains",
        ),
        (FIRST, "user: ada", "user: eve", "input    first at step 1, the input"),
        (
            FIRST,
            "user: ada\n",
            "user: ada\nstarts_at: 2026-02-01T09:00:00Z\n",
            "first at step 1, the time of the input",
        ),
        (
            FIRST,
            "policy: ../policies/team.yaml",
            "policy: as-drawn",
            "name: golden \"team\", now \"as-drawn\"",
        ),
        // Expectations.
        (FIRST, "outcome: outcome", "outcome: blocked", "outcome: expected blocked, found outcome"),
        (FIRST, "decision: proceed", "decision: veto", "decision: expected veto, found proceed"),
        (FIRST, "passes: 1", "passes: 2", "passes: expected 2, found 1"),
        (FIRST, "not_taken: [H04]", "taken: [H04]", "transition H04: expected taken, found not taken"),
        (FIRST, "security: 1", "security: 2", "calls of security: expected 2, found 1"),
        (FIRST, "contains: Rename", "lacks: Rename", "contexts of planner: expected none that contains"),
        // Lines of a golden trace.
        (GOLDEN, "\"row\":\"S01\"", "\"row\":\"S02\"", "scenarios/first-request.ndjson:"),
        (GOLDEN, "{\"end\":", "{\"enb\":", "scenarios/first-request.ndjson:"),
        (GOLDEN, "\"veto_from\":900000", "\"veto_from\":910000", "scenarios/first-request.ndjson:1"),
    ] {
        let failures = with_edit(folder.path(), file, |text| replaced(text, from, to));
        let failures = failures.unwrap_or_else(|| panic!("{to} changes nothing"));
        assert!(failures.contains(expected), "{to}: expected {expected:?} in\n{failures}");
        assert!(failures.contains("first-request."), "{to}\n{failures}");
    }
    // A line less, in the middle and at the end.
    for line in [9, 25] {
        let without = |text: &str| {
            let lines = text.split_inclusive('\n').enumerate().filter(|(at, _)| at + 1 != line);
            lines.map(|(_, line)| line).collect()
        };
        let failures = with_edit(folder.path(), GOLDEN, without).unwrap();
        assert!(failures.contains("scenarios/first-request.ndjson:"), "{failures}");
    }
    fs::remove_file(folder.path().join(GOLDEN)).unwrap();
    let failures = commands(folder.path()).unwrap();
    assert!(failures.contains("NO GOLDEN TRACE: expected scenarios/first-request.ndjson"), "{failures}");
}

#[test]
fn edited_claim_makes_commands_fail() {
    let folder = project();
    for (from, to, expected) in [
        ("after: {event: veto_raised}", "after: {event: user_msg}", "no-task-after-veto VIOLATED at step "),
        (
            "label: [consensus_reached, proceed_below_threshold]",
            "label: [proceed_below_threshold]",
            "decision-before-each-task VIOLATED at step ",
        ),
        ("  precedes:", "  precede:", "claims.yaml"),
        ("- id: decision-before-each-task", "- id: no-task-after-veto", "claims.yaml"),
        ("operation: run_task}\n\n", "operation: run_tasks}\n\n", "claims.yaml"),
    ] {
        let failures = with_edit(folder.path(), CLAIMS, |text| replaced(text, from, to));
        let failures = failures.unwrap_or_else(|| panic!("{to} changes nothing"));
        assert!(failures.contains(expected), "{to}: expected {expected:?} in\n{failures}");
        assert!(failures.contains("claims.yaml"), "{to}\n{failures}");
    }
}

#[test]
fn comment_and_key_order_keep_commands_green() {
    let folder = project();
    for (file, from, to) in [
        (FIRST, "modules:\n", "# A comment.\nmodules:\n"),
        (FIRST, "outcome: outcome\n      decision: proceed\n", "decision: proceed\n      outcome: outcome\n"),
        (FIRST, "{security: 1, executor: 2}", "{executor: 2, security: 1}"),
        (FIRST, "policy: ../policies/team.yaml\nuser: ada\n", "user: ada\npolicy: ../policies/team.yaml\n"),
        (POLICY, "\nthresholds:\n", "\n# A comment.\nthresholds:\n"),
        (POLICY, "  passes: 3\n", "  passes: 3 # A comment.\n"),
        (CLAIMS, "- id: decision", "# A comment.\n- id: decision"),
        (
            CLAIMS,
            "{event: tool_call, operation: run_task}\n\n",
            "{operation: run_task, event: tool_call}\n\n",
        ),
        (PROJECT, "scenarios: [scenarios]\n", "scenarios: [scenarios] # A comment.\n"),
    ] {
        let failures = with_edit(folder.path(), file, |text| replaced(text, from, to));
        assert_eq!(failures, None, "{to}");
    }
    // The sections of the policy and the keys of the project in the opposite order.
    let reversed = |text: &str| {
        let blocks: Vec<&str> = text.split("\n\n").collect();
        blocks.into_iter().rev().map(|block| format!("{}\n\n", block.trim_end())).collect()
    };
    for file in [POLICY, PROJECT] {
        assert_eq!(with_edit(folder.path(), file, reversed), None, "{file}");
    }
}
