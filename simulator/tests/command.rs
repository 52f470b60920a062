//! The command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");

fn orchestrion(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

/// Runs the command, asserts its exit code, and returns the output of both streams.
fn expect(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let output = orchestrion(folder, arguments);
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}");
    assert!(!printed.contains("panicked"), "{arguments:?}\n{printed}");
    printed
}

fn golden_scenario(name: &str) -> String {
    format!("{SCENARIOS}/{name}.yaml")
}

fn golden(name: &str) -> String {
    format!("{SCENARIOS}/{name}.ndjson")
}

#[test]
fn check_as_drawn_reports_findings_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let printed =
        expect(1, folder.path(), &["check", "--policy", "as-drawn", "--scope", "tiny", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["verdict"], "fails");
    assert_eq!(report["runs"].as_array().unwrap().len(), 31);
    let claims = report["claims"].as_array().unwrap();
    let f6 = claims.iter().find(|claim| claim["finding"] == "F6").unwrap();
    assert_eq!((&f6["verdict"], &f6["kind"]), (&"fails".into(), &"trace".into()));
    let trace = f6["counterexample"]["trace"].as_str().unwrap();
    expect(0, folder.path(), &["replay", trace]);
    let timeline = expect(0, folder.path(), &["show", trace]);
    assert!(timeline.contains("VETO"), "{timeline}");
    let not_checked = claims.iter().filter(|claim| claim["verdict"] == "not_checked");
    assert!(not_checked.clone().all(|claim| claim["counterexample"].is_null() && claim["model"].is_null()));
    assert_eq!(not_checked.count(), 32);
}

#[test]
fn quiet_check_lists_failures() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["check", "--policy", "as-drawn", "--scope", "tiny", "--model", "ratings", "--quiet"];
    let printed = expect(1, folder.path(), &arguments);
    assert!(printed.contains("C-06   FAILS"), "{printed}");
    assert!(printed.contains("  show     orchestrion show .orchestrion/C-06-"), "{printed}");
    assert!(printed.ends_with("32 not checked. exit 1\n"), "{printed}");
    assert!(!printed.contains('\u{1b}'), "colors in a pipe");
}

#[test]
fn scenario_runs_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = expect(0, folder.path(), &["run", &format!("{SCENARIOS}/happy.yaml")]);
    assert!(timeline.contains("completed in"), "{timeline}");
    let trace = ".orchestrion/happy.trace.ndjson";
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(read(folder.path().join(trace)), read(golden("happy").into()));
    expect(0, folder.path(), &["replay", trace]);
    let step = expect(0, folder.path(), &["show", trace, "--step", "3"]);
    assert!(step.contains("T02"), "{step}");
    let beyond = expect(2, folder.path(), &["show", trace, "--step", "999"]);
    assert!(beyond.contains("999"), "{beyond}");
}

#[test]
fn color_requires_terminal_or_option() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    assert!(!expect(0, folder.path(), &["show", &happy]).contains('\u{1b}'));
    assert!(expect(0, folder.path(), &["show", &happy, "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn replay_under_other_policy_reports_difference() {
    let folder = tempfile::tempdir().unwrap();
    let printed = expect(1, folder.path(), &["replay", &golden("veto-in-pass-one"), "--policy", "as-drawn"]);
    assert!(printed.contains("policy: recorded hardened, here as-drawn"), "{printed}");
    assert!(printed.contains("decision first at step"), "{printed}");
    let header = printed.find("header").unwrap();
    assert!(header < printed.find("decision first").unwrap(), "header differences come first: {printed}");
}

#[test]
fn damaged_traces_are_reported_with_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(golden("happy")).unwrap();
    let damaged = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
    };
    damaged("torn.ndjson", text[..text.len() - 40].to_string());
    damaged("edited.ndjson", text.replacen("\"gcp\":true", "\"gcp\":false", 1));
    damaged("other.ndjson", text.replace("\"chain\"", "\"chian\""));
    damaged("empty.ndjson", String::new());
    damaged("binary.ndjson", "\u{0}\u{1}\n".to_string());

    let lines = text.lines().count();
    let torn = expect(3, folder.path(), &["replay", "torn.ndjson"]);
    assert!(torn.contains(&format!("torn.ndjson:{lines}: torn")), "{torn}");
    let edited = expect(3, folder.path(), &["replay", "edited.ndjson"]);
    assert!(edited.contains("edited.ndjson:4: chain mismatch"), "{edited}");
    let cut = text.lines().take(10).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(folder.path().join("cut.ndjson"), cut).unwrap();
    let cut = expect(3, folder.path(), &["replay", "cut.ndjson"]);
    assert!(cut.contains("cut.ndjson:10: missing end"), "{cut}");
    let timeline = expect(3, folder.path(), &["show", "cut.ndjson"]);
    assert!(timeline.contains("cut.ndjson:10: missing end"), "{timeline}");
    for name in ["other.ndjson", "empty.ndjson", "binary.ndjson", "missing.ndjson"] {
        let printed = expect(2, folder.path(), &["replay", name]);
        assert!(printed.contains(name), "{printed}");
    }
    let several = expect(3, folder.path(), &["replay", "empty.ndjson", &golden("happy")]);
    assert!(several.contains("1 equal, 1 incomplete or unreadable"), "{several}");
}

#[test]
fn trace_of_other_version_is_refused() {
    use orchestrion_trace::{Header, Writer};
    let folder = tempfile::tempdir().unwrap();
    let policy = orchestrion_kernel::Policy::hardened();
    let mut header = Header::new(orchestrion_kernel::ConversationId::new("old"), policy, None);
    header.format = "orchestrion-trace/0".to_string();
    let trace = Writer::new(Vec::new(), &header).unwrap().end().unwrap();
    fs::write(folder.path().join("old.ndjson"), trace).unwrap();
    let printed = expect(2, folder.path(), &["replay", "old.ndjson"]);
    assert!(printed.contains(
        "old.ndjson:1: unsupported trace format: expected orchestrion-trace/5, found orchestrion-trace/0"
    ));
}

#[test]
fn only_traces_are_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let happy = format!("{SCENARIOS}/happy.yaml");
    let file = folder.path().join(".orchestrion/happy.trace.ndjson");
    fs::create_dir(folder.path().join(".orchestrion")).unwrap();
    fs::write(&file, "precious").unwrap();
    let printed = expect(2, folder.path(), &["run", &happy]);
    assert!(printed.contains("is not a trace with all events and is not overwritten"), "{printed}");
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    fs::remove_file(&file).unwrap();
    expect(0, folder.path(), &["run", &happy]);
    expect(0, folder.path(), &["run", &happy]);
    // A scenario that is named twice runs once.
    expect(0, folder.path(), &["run", &happy, &happy]);
    let promote = ["promote", ".orchestrion/happy.trace.ndjson", "kept", "--scenario-dir", "."];
    expect(0, folder.path(), &promote);
    let again = expect(2, folder.path(), &promote);
    assert!(again.contains("kept.yaml exists already"), "{again}");
    assert_eq!(fs::read(folder.path().join("kept.ndjson")).unwrap().last(), Some(&b'\n'));
    expect(0, folder.path(), &["run", "kept.yaml", "--quiet"]);
}

#[test]
fn suggested_commands_are_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let command = "check --policy as-drawn --scope tiny --model lifecycle --quiet --out-dir";
    let arguments: Vec<&str> = command.split(' ').chain(["my out"]).collect();
    let printed = expect(1, folder.path(), &arguments);
    assert!(printed.contains("  show     orchestrion show 'my out/C-01-"), "{printed}");
    let refused = expect(2, folder.path(), &["promote", &golden("happy"), "--scenario-dir", ".", "--", "-x"]);
    assert!(refused.contains("-x"), "{refused}");
}

#[test]
fn unused_cancel_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let happy = fs::read_to_string(format!("{SCENARIOS}/happy.yaml")).unwrap();
    let cancelled =
        happy.replace("profiles at rest\n", "profiles at rest\n    cancel: {phase: SelfHealingActive}\n");
    fs::write(folder.path().join("never.yaml"), cancelled).unwrap();
    let printed = expect(3, folder.path(), &["run", "never.yaml", "--quiet"]);
    assert!(
        printed.contains("unused cancel: the request did not reach visit 1 of SelfHealingActive"),
        "{printed}"
    );
}

#[test]
fn unused_replies_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let happy = fs::read_to_string(format!("{SCENARIOS}/happy.yaml")).unwrap();
    let cases = "  local_store: {cases: [{when: {pass: 2}, reply: refused}, {reply: stored}]}\n  cloud_store: [stored, stored]\n";
    fs::write(folder.path().join("never.yaml"), format!("{happy}{cases}")).unwrap();
    let printed = expect(3, folder.path(), &["run", "never.yaml", "--quiet"]);
    let line = happy.lines().count() + 1;
    for report in [
        format!("unused replies on line {line}: case 1 of `local_store` matched no call"),
        format!("unused replies on line {}: `cloud_store` used 1 of 2", line + 1),
    ] {
        assert!(printed.contains(&report), "{printed}");
    }
}

/// Returns a scenario whose request makes these writes, and whose debaters agree.
fn writing(writes: &str) -> String {
    let voices = ["analyst", "solution", "critic", "security", "optimizer"];
    let voices: String =
        voices.iter().map(|voice| format!("  {voice}: {{pro: {{confidence: 0.9}}}}\n")).collect();
    format!(
        "description: A trial.\nuser: ada\nrequests:\n  - text: Go\n    write:\n{writes}modules:\n{voices}"
    )
}

#[test]
fn refused_write_is_reported_unless_expected() {
    let folder = tempfile::tempdir().unwrap();
    let expired = "      - working: {key: w, text: x, expires_at: 2025-12-31T23:59:59Z}\n";
    let cases = [
        (
            "nothing",
            "      - fact: {key: a, text: red, supersedes: zzz}\n",
            "6:9",
            "unknown superseded item: expected one of the same layer",
        ),
        (
            "dangling",
            "      - fact: {key: a, text: red, depends_on: [nope]}\n",
            "6:9",
            "unknown dependency `nope`",
        ),
        ("expired", expired, "6:9", "expected an expiry after 2026-01-01T00:00:00Z"),
    ];
    for (name, writes, place, why) in cases {
        let file = format!("{name}.yaml");
        fs::write(folder.path().join(&file), writing(writes)).unwrap();
        for quiet in [
            &["run", &file, "--quiet"][..],
            &["run", &file],
            &["run", &file, "-q", &golden_scenario("happy")],
        ] {
            let output = orchestrion(folder.path(), quiet);
            let report = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{quiet:?}\n{report}");
            for part in [&format!("[{file}:{place}]"), "write refused: ", why, "add `refused: true` if"] {
                assert!(report.contains(part), "{part}\n{report}");
            }
        }
        let announced = format!("{}        refused: true\n", writes);
        fs::write(folder.path().join(&file), writing(&announced)).unwrap();
        assert_eq!(expect(0, folder.path(), &["run", &file, "--quiet"]), "");
    }
    let taken = writing("      - fact: {key: a, text: red}\n        refused: true\n");
    fs::write(folder.path().join("taken.yaml"), taken).unwrap();
    let report = expect(1, folder.path(), &["run", "taken.yaml", "--quiet"]);
    assert!(
        report.contains("[taken.yaml:6:9]") && report.contains("write accepted: expected a refusal"),
        "{report}"
    );
}

#[test]
fn identity_and_sources_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let writes =
        "      - fact: {key: a, text: red}\n      - fact: {key: b, text: blue, source: CFO, derived: true}\n";
    let scenario =
        writing(writes).replace("user: ada\n", "user: ada\nidentity: {name: Ivo, authority: intern}\n");
    fs::write(folder.path().join("sources.yaml"), scenario).unwrap();
    let report = expect(0, folder.path(), &["run", "sources.yaml"]);
    for line in [
        "opens a session as Ivo, intern",
        "fact a: \"red\", source session user",
        "fact b: \"blue\", source CFO, named in a text",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

#[test]
fn refused_identity_halts_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let identity = "user: ada\nidentity: {name: Ivo, authority: intern, rank: policy}\n";
    fs::write(
        folder.path().join("intern.yaml"),
        writing("      - fact: {key: a, text: red}\n").replace("user: ada\n", identity),
    )
    .unwrap();
    let report = expect(1, folder.path(), &["run", "intern.yaml", "--quiet"]);
    assert!(report.contains("rank of `intern` too high: expected at most guest, found policy"), "{report}");
}

#[test]
fn invalid_files_are_reported_with_line_and_help() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("unknown.yaml", "description: x\nuser: u\nrequests: [{text: a}]\nmoduels: {}\n", "unknown.yaml:4"),
        ("type.yaml", "description: x\nuser: u\nrequests: [{text: 3}]\n", "type.yaml:3"),
        (
            "short.yaml",
            "description: x\nuser: u\nrequests: [{text: a}]\nmodules:\n  analyst: {pro: {confidence: 1, text: y}}\n",
            "the solution",
        ),
        (
            "policy.yaml",
            "description: x\npolicy: nowhere.yaml\nuser: u\nrequests: [{text: a}]\n",
            "policy.yaml:2",
        ),
    ];
    for (name, text, place) in cases {
        fs::write(folder.path().join(name), text).unwrap();
        let printed = expect(2, folder.path(), &["run", name]);
        assert!(printed.to_lowercase().contains(place) && printed.contains("help:"), "{name}\n{printed}");
        assert!(!folder.path().join(".orchestrion").exists(), "{name} left something behind");
    }
    let contradiction = "name: odd\nthresholds:\n  proceed_from: 0.9\n  redebate_below: 0.7\n";
    fs::write(folder.path().join("odd.yaml"), contradiction).unwrap();
    let printed = expect(2, folder.path(), &["check", "--policy", "odd.yaml"]);
    assert!(printed.contains("odd.yaml:3") && printed.contains("conflicts with"), "{printed}");
}

#[test]
fn export_prints_each_target() {
    let folder = tempfile::tempdir().unwrap();
    let starts = [
        (vec!["export", "mermaid"], "stateDiagram-v2\n"),
        (vec!["export", "dot"], "digraph control {\n"),
        (vec!["export", "claims"], "# Claims\n"),
        (vec!["export", "promela", "--policy", "as-drawn"], "/*\n * The control FSM"),
        (vec!["export", "tla"], "---- MODULE Control ----\n"),
        (vec!["export", "table", "--policy", "as-drawn"], "# Transition table"),
        (vec!["export", "schema", "--schema", "policy"], "{\n"),
        (vec!["export", "schema", "--schema", "scope"], "{\n"),
    ];
    for (arguments, start) in starts {
        assert!(expect(0, folder.path(), &arguments).starts_with(start), "{arguments:?}");
    }
    let policy = expect(0, folder.path(), &["export", "policy"]);
    fs::write(folder.path().join("mine.yaml"), policy).unwrap();
    expect(0, folder.path(), &["export", "mermaid", "--policy", "mine.yaml"]);
    let report = expect(0, folder.path(), &["export", "tla", "--output", "control"]);
    assert!(report.contains("Control.tla") && report.contains("Control.cfg"), "{report}");
    assert!(
        fs::read_to_string(folder.path().join("control/Control.cfg")).unwrap().contains("PROPERTY C_03\n")
    );
    expect(0, folder.path(), &["export", "promela", "--output", "control"]);
    expect(2, folder.path(), &["export", "promela", "--output", "control"]);
    for unread in [
        &["export", "claims", "--policy", "as-drawn"][..],
        &["export", "tla", "--all"],
        &["export", "tla", "--schema", "claims"],
        &["export", "man", "--shell", "bash"],
    ] {
        let printed = expect(2, folder.path(), unread);
        assert!(printed.contains("expected a target that reads it"), "{printed}");
    }
}

#[test]
fn every_verb_has_a_worked_example_in_its_help() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["init", "check", "run", "replay", "show", "promote", "context", "lint", "export"] {
        let help = expect(0, folder.path(), &[command, "--help"]);
        assert!(help.contains("Examples:\n  orchestrion "), "{help}");
    }
}

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/machines");

#[test]
fn foreign_machine_is_linted() {
    let folder = tempfile::tempdir().unwrap();
    let check = |code, machine: &str, more: &[&str]| {
        let file = format!("{MACHINES}/{machine}");
        expect(code, folder.path(), &[&["lint", &file], more].concat())
    };
    let drawn = check(1, "004.mmd", &[]);
    for part in ["004.mmd:6:", "dead end: `[*] of SandboxedExecution`", "    help   ", "    reason "] {
        assert!(drawn.contains(part), "{part} in {drawn}");
    }
    assert!(drawn.ends_with("exit 1\n"), "{drawn}");
    let clean = check(0, "orders.yaml", &["--quiet"]);
    assert!(clean.starts_with("HOLDS: ") && clean.lines().count() == 1, "{clean}");
    let report: serde_json::Value =
        serde_json::from_str(&check(1, "agent.yaml", &["--format", "json"])).unwrap();
    assert_eq!((&report["verdict"], &report["machines"][0]["name"]), (&"fails".into(), &"agent".into()));
    let reached = &report["machines"][0]["rules"][0];
    assert_eq!((&reached["name"], &reached["verdict"]), (&"unreachable-state".into(), &"fails".into()));
    assert_eq!(reached["diagnostics"][0]["locations"][0]["line"], 13);

    fs::write(
        folder.path().join("slip.yaml"),
        "start: A\nstates: {A: idle}\nrows: [{from: A, on: x, too: A}]\n",
    )
    .unwrap();
    let slip = expect(2, folder.path(), &["lint", "slip.yaml"]);
    assert!(slip.contains("slip.yaml:3:") && slip.contains("did you mean `to`?"), "{slip}");
    let other = expect(2, folder.path(), &["lint", &golden("happy")]);
    assert!(other.contains("no state diagram"), "{other}");
    expect(2, folder.path(), &["lint", "nowhere.mmd"]);
}

#[test]
fn a_trace_is_exported_as_itf() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    let printed = expect(0, folder.path(), &["export", "itf", &happy]);
    let trace: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let states = trace["states"].as_array().unwrap();
    assert_eq!(states[0]["phase"], "Idle");
    assert!(states.iter().any(|state| state["phase"] == "ResolvingDecision"), "{printed}");
    assert!(states.iter().enumerate().all(|(i, state)| state["#meta"]["index"] == i));
    // Every step of the trace was accepted: one state each, and the one before.
    assert_eq!(states.len(), fs::read_to_string(&happy).unwrap().lines().count() - 2 + 1);

    let written = expect(0, folder.path(), &["export", "itf", &happy, "--output", "happy.itf.json"]);
    assert!(written.contains("happy.itf.json"), "{written}");
    let file = folder.path().join("happy.itf.json");
    assert_eq!(fs::read_to_string(&file).unwrap(), printed);
    // Over itself, but over nothing else.
    expect(0, folder.path(), &["export", "itf", &happy, "--output", "happy.itf.json"]);
    fs::write(&file, "precious").unwrap();
    expect(2, folder.path(), &["export", "itf", &happy, "--output", "happy.itf.json"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");

    expect(2, folder.path(), &["export", "itf"]);
    expect(2, folder.path(), &["export", "itf", "nowhere.ndjson"]);
    expect(2, folder.path(), &["export", "claims", &happy]);
    let cut: String =
        fs::read_to_string(&happy).unwrap().lines().take(5).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("cut.ndjson"), cut).unwrap();
    let cut = expect(3, folder.path(), &["export", "itf", "cut.ndjson"]);
    assert!(cut.contains("cut.ndjson:5: missing end"), "{cut}");
}
