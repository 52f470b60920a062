//! The command `replay`: strictness, directories and updates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");

/// Runs `orchestrion replay` without a terminal, asserts its exit code, and returns its output.
fn replay(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .arg("replay")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}");
    assert!(!printed.contains("panicked"), "{arguments:?}\n{printed}");
    printed
}

/// A folder whose path is too long for the system is an error, not a folder without traces.
#[test]
fn too_deep_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ok.ndjson"), golden("happy")).unwrap();
    // No single path may be longer than 4,096 bytes, so the deeper half is moved to its place.
    let (outer, inner) = ("d/".repeat(1400), "e/".repeat(1400));
    fs::create_dir_all(folder.path().join(&outer)).unwrap();
    fs::create_dir_all(folder.path().join(&inner)).unwrap();
    fs::write(folder.path().join(&inner).join("bad.ndjson"), "junk\n").unwrap();
    fs::rename(folder.path().join("e"), folder.path().join(&outer).join("e")).unwrap();
    let printed = replay(2, folder.path(), &["."]);
    assert!(printed.contains("cannot be read"), "{printed}");
}

/// A line of a name could be read as a message of the command.
#[test]
fn arguments_with_line_breaks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\n::error file=x::forged\nb.ndjson";
    fs::write(folder.path().join(name), "junk").unwrap();
    for arguments in [
        vec!["show", name],
        vec!["diff", name, name],
        vec!["migrate", name],
        vec!["route", name],
        vec!["check", "--scope", name],
        vec!["check", "--claims", name],
        vec!["explore", "run", name],
        vec!["keys", "create", name],
        vec!["show", "a", name],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(&arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{printed}");
        assert!(!printed.contains("\n::error"), "{arguments:?}\n{printed}");
    }
}

fn golden(name: &str) -> String {
    fs::read_to_string(format!("{SCENARIOS}/{name}.ndjson")).unwrap()
}

/// Returns the steps of a trace with every text reference resolved.
fn expanded_steps(trace: &str) -> Vec<serde_json::Value> {
    let mut reader = orchestrion_trace::Reader::new(trace.as_bytes(), "trace.ndjson").unwrap();
    let mut steps = Vec::new();
    while reader.advance().unwrap() {
        steps.push(serde_json::from_str(reader.text()).unwrap());
    }
    steps
}

/// Returns a trace with changed lines and valid chains.
fn forged(trace: &str, change: impl Fn(usize, &str) -> String) -> String {
    let mut chain = String::new();
    let line = |(i, line): (usize, &str)| {
        let (body, _) = line.rsplit_once(",\"chain\":").unwrap();
        let body = change(i + 1, &format!("{body}}}"));
        let own = orchestrion_trace::digest(format!("{chain}{body}").as_bytes());
        // The chain of the steps starts from the header without `kernel` and `table`.
        chain = match (i, body.split_once("\"kernel\":"), body.find("\"conversation\":")) {
            (0, Some((format, _)), Some(rest)) => {
                orchestrion_trace::digest(format!("{format}{}", &body[rest..]).as_bytes())
            }
            _ => own.clone(),
        };
        format!("{},\"chain\":\"{own}\"}}\n", body.strip_suffix('}').unwrap())
    };
    trace.lines().enumerate().map(line).collect()
}

/// Returns a trace with one replacement in one line.
fn forged_at(trace: &str, at: usize, from: &str, to: &str) -> String {
    forged(trace, |line, body| {
        if line != at {
            return body.to_string();
        }
        assert!(body.contains(from), "{body}");
        body.replacen(from, to, 1)
    })
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

#[test]
fn equivalent_json_replays_equal() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    assert_eq!(forged(&happy, |_, body| body.to_string()), happy);
    let expanded = expanded_steps(&happy);
    let reordered = forged(&happy, |line, body| match expanded.get(line.wrapping_sub(2)) {
        Some(step) => step.to_string(),
        None => body.to_string(),
    });
    assert!(reordered.contains("{\"context\":"), "the keys stand in another order");
    let cases = [
        ("reordered", reordered),
        ("spaces after the number", forged_at(&happy, 4, ",\"input\":", " , \"input\": ")),
        ("spaces in the input", forged_at(&happy, 4, "{\"reply\":", "{ \"reply\" :  ")),
        ("spaces after the input", forged_at(&happy, 4, ",\"events\":", " , \"events\" : ")),
        ("escapes in a text", forged_at(&happy, 3, "Encrypt", "\\u0045ncrypt")),
        ("null for what is left out", forged_at(&happy, 4, ",\"events\":", ",\"refused\":null,\"events\":")),
    ];
    for (name, trace) in cases {
        assert_ne!(trace, happy, "{name}");
        write(folder.path(), "spelt.ndjson", &trace);
        let printed = replay(0, folder.path(), &["spelt.ndjson"]);
        assert!(printed.starts_with("spelt.ndjson: equal"), "{name}\n{printed}");
    }
}

#[test]
fn malformed_lines_with_valid_chains_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    let last = happy.lines().count();
    let malformed = "malformed line: ";
    let cases = [
        (
            "unknown in the step",
            forged_at(&happy, 4, ",\"events\":", ",\"more\":1,\"events\":"),
            4,
            malformed,
        ),
        (
            "unknown before the input",
            forged_at(&happy, 4, ",\"input\":", ",\"more\":1,\"input\":"),
            4,
            malformed,
        ),
        ("unknown at the end", forged_at(&happy, 4, "}]}", "}],\"more\":1}"), 4, malformed),
        ("unknown in the input", forged_at(&happy, 4, "\"gcp\":", "\"more\":1,\"gcp\":"), 4, malformed),
        ("twice", forged_at(&happy, 4, ",\"events\":", ",\"input\":\"step\",\"events\":"), 4, malformed),
        ("something behind", forged_at(&happy, 4, "}]}", "}]}}"), 4, malformed),
        ("a plus in the number", forged_at(&happy, 4, "\"n\":3", "\"n\":+3"), 4, malformed),
        ("a zero in the number", forged_at(&happy, 4, "\"n\":3", "\"n\":03"), 4, malformed),
        (
            "another number",
            forged_at(&happy, 4, "\"n\":3", "\"n\":4"),
            4,
            "step out of order: expected step 3, found step 4",
        ),
        ("another end", forged_at(&happy, last, "\"steps\":", "\"steps\":1"), last, "step out of order"),
        (
            "not what was decided",
            forged_at(&happy, 4, "T02", "T03"),
            0,
            "decision first at step 3, event 3 of 3",
        ),
    ];
    for (name, trace, line, expected) in cases {
        write(folder.path(), "forged.ndjson", &trace);
        let printed = replay(if line == 0 { 1 } else { 3 }, folder.path(), &["forged.ndjson"]);
        assert!(printed.contains(expected), "{name}\n{printed}");
        assert!(line == 0 || printed.contains(&format!("forged.ndjson:{line}: ")), "{name}\n{printed}");
    }
}

/// Creates forty traces: one in ten differs, and one in ten is torn.
fn many(folder: &Path) -> usize {
    let happy = golden("happy");
    for i in 0..40 {
        let trace = match i % 10 {
            3 => forged_at(&happy, 4, "T02", "T03"),
            7 => happy[..happy.len() - 1].to_string(),
            _ => happy.clone(),
        };
        write(folder, &format!("traces/{}/{i:02}.ndjson", i % 3), &trace);
    }
    write(folder, "traces/readme.txt", "no trace");
    40
}

#[test]
fn replay_order_is_independent_of_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let count = many(folder.path());
    let alone = replay(1, folder.path(), &["traces", "--jobs", "1"]);
    assert!(
        alone.ends_with("replayed 40 of 40: 32 equal, 4 differ, 4 incomplete or unreadable\n"),
        "{alone}"
    );
    let names: Vec<&str> = alone.lines().filter_map(|line| line.strip_prefix("traces/")).collect();
    assert_eq!(names.len(), count);
    assert!(names.is_sorted(), "{alone}");
    for jobs in ["2", "3", "16"] {
        assert_eq!(replay(1, folder.path(), &["traces", "--jobs", jobs]), alone, "{jobs} jobs");
    }
    let first = replay(1, folder.path(), &["traces", "--fail-fast", "--jobs", "1"]);
    assert!(first.ends_with("replayed 2 of 40: 1 equal, 1 differ, 38 skipped\n"), "{first}");
    for jobs in ["2", "16"] {
        let printed = replay(1, folder.path(), &["traces", "--fail-fast", "--jobs", jobs]);
        assert_eq!(printed, first, "{jobs} jobs");
    }
    assert!(replay(2, folder.path(), &["traces", "--jobs", "0"]).contains("--jobs"));
}

/// A line of a report that begins with `::` is a command for GitHub.
#[cfg(unix)]
#[test]
fn names_with_line_breaks_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let name = "traces/a\n::warning file=x::pwn.ndjson";
    fs::create_dir(folder.path().join("traces")).unwrap();
    write(folder.path(), name, &golden("happy"));
    for (code, target) in [(2, name), (2, "traces")] {
        let printed = replay(code, folder.path(), &[target, "--format", "github"]);
        assert!(printed.contains("without control characters"), "{printed}");
        assert!(!printed.lines().any(|line| line.starts_with("::warning")), "{printed}");
    }
}

#[test]
fn directory_without_traces_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "empty/notes.txt", "nothing");
    let printed = replay(2, folder.path(), &["empty"]);
    assert!(printed.contains("empty: no trace found: expected a file *.ndjson"), "{printed}");
    write(folder.path(), "one.ndjson", &golden("happy"));
    let printed = replay(3, folder.path(), &["empty", "one.ndjson"]);
    assert!(printed.contains("replayed 2 of 2: 1 equal, 1 incomplete or unreadable"), "{printed}");
}

#[test]
fn update_without_confirmation_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stale = forged_at(&golden("happy"), 4, "T02", "T03");
    write(folder.path(), "stale.ndjson", &stale);
    let printed = replay(1, folder.path(), &["--update", "stale.ndjson"]);
    assert!(printed.contains("stale.ndjson: WOULD CHANGE in 1 of "), "{printed}");
    assert!(
        printed.contains("step 3, event 3 of 3\n    recorded {\"transitioned\":{\"row\":\"T03\"}}\n"),
        "{printed}"
    );
    assert!(printed.contains("new      {\"transitioned\":{\"row\":\"T02\"}}\n"), "{printed}");
    assert!(printed.contains("not written"), "{printed}");
    assert!(printed.contains("orchestrion replay --update --yes stale.ndjson\n"), "{printed}");
    assert!(printed.contains("recorded from happy"), "{printed}");
    assert_eq!(fs::read_to_string(folder.path().join("stale.ndjson")).unwrap(), stale);
    assert!(replay(2, folder.path(), &["--yes", "stale.ndjson"]).contains("--update"));
}

#[test]
fn confirmed_update_replays_equal() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    write(folder.path(), "stale.ndjson", &forged_at(&happy, 4, "T02", "T03"));
    write(folder.path(), "old.ndjson", &forged_at(&happy, 1, "\"kernel\":\"0", "\"kernel\":\"9.0"));
    write(folder.path(), "fine.ndjson", &happy);
    let printed = replay(0, folder.path(), &["--update", "--yes", "."]);
    assert!(printed.contains("old.ndjson: WOULD CHANGE in its header only"), "{printed}");
    assert!(printed.contains("kernel version: recorded 9.0"), "{printed}");
    assert!(printed.ends_with("replayed 3 of 3: 1 equal, 2 updated\n"), "{printed}");
    for name in ["stale.ndjson", "old.ndjson", "fine.ndjson"] {
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), happy, "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no draft is left");
    let printed = replay(0, folder.path(), &["--update", "--quiet", "."]);
    assert_eq!(printed.lines().last(), Some("replayed 3 of 3: 3 equal"));
    assert!(
        printed.starts_with("judged under the recorded policies: there is no orchestrion.yaml"),
        "{printed}"
    );
}

#[test]
fn update_keeps_inputs_and_records_refusals() {
    let folder = tempfile::tempdir().unwrap();
    let veto = golden("veto-in-pass-one");
    write(folder.path(), "veto.ndjson", &veto);
    let arguments = ["--update", "veto.ndjson", "--policy", "as-drawn"];
    let printed = replay(1, folder.path(), &arguments);
    assert!(printed.contains("policy: recorded hardened, here as-drawn"), "{printed}");
    assert!(printed.contains("accepted inputs would be refused"), "{printed}");
    assert!(printed.contains("--update --yes --policy as-drawn veto.ndjson\n"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() < 250), "{printed}");
    replay(0, folder.path(), &["--yes", "--update", "veto.ndjson", "--policy", "as-drawn"]);
    replay(0, folder.path(), &["veto.ndjson"]);
    let inputs = |trace: &str| -> Vec<serde_json::Value> {
        expanded_steps(trace).into_iter().map(|mut step| step["input"].take()).collect()
    };
    let updated = fs::read_to_string(folder.path().join("veto.ndjson")).unwrap();
    assert_eq!(inputs(&updated), inputs(&veto));
    assert!(updated.contains("\"refused\":"), "{updated}");
}

#[test]
fn incomplete_trace_is_not_updated() {
    let folder = tempfile::tempdir().unwrap();
    let stale = forged_at(&golden("happy"), 4, "T02", "T03");
    let torn = &stale[..stale.len() - 40];
    write(folder.path(), "torn.ndjson", torn);
    let printed = replay(3, folder.path(), &["--update", "--yes", "torn.ndjson"]);
    assert!(printed.contains("torn.ndjson: INCOMPLETE, not updated"), "{printed}");
    assert_eq!(fs::read_to_string(folder.path().join("torn.ndjson")).unwrap(), torn);
    write(folder.path(), "empty.ndjson", "");
    replay(2, folder.path(), &["--update", "--yes", "empty.ndjson"]);
}

#[cfg(unix)]
#[test]
fn update_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "real/trace.ndjson", &forged_at(&golden("happy"), 4, "T02", "T03"));
    let real = folder.path().join("real/trace.ndjson");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, folder.path().join("link.ndjson")).unwrap();
    replay(0, folder.path(), &["--update", "--yes", "link.ndjson"]);
    assert!(folder.path().join("link.ndjson").is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), golden("happy"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn changed_text_of_a_golden_trace_fails_check() {
    let folder = tempfile::tempdir().unwrap();
    let happy = golden("happy");
    let line = 1 + happy.lines().position(|line| line.contains("\"final_answer\":{\"trace\"")).unwrap();
    write(folder.path(), "happy.yaml", &fs::read_to_string(format!("{SCENARIOS}/happy.yaml")).unwrap());
    // The text of the final answer is a reference to an earlier one.
    let start = "\"request\":1},\"text\":";
    let (_, rest) = happy.lines().nth(line - 1).unwrap().split_once(start).unwrap();
    let (reference, _) = rest.split_once('}').unwrap();
    let forged = forged_at(&happy, line, &format!("{start}{reference}}}"), &format!("{start}\"other\""));
    write(folder.path(), "happy.ndjson", &forged);
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["run", "--check", "happy.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("  text     first at step "), "{printed}");
    assert!(printed.contains("DIFFERS from happy.ndjson in 1 of "), "{printed}");
}
