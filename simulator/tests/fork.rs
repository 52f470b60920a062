//! `fork`: the recorded steps stay, the rest follows from what was set.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const GOLDEN: &str = "scenarios/first-request.ndjson";
const VETO: &str = "call.reply={con: {confidence: 0.95, text: No}}";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    folder
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("chain");
        value
    };
    text.lines().map(line).collect()
}

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/scenarios")
}

/// A fork that sets a setting to its value has all steps of the trace: replies, events and random choices that the recorded steps used
/// are skipped, and no others. Scenarios with lists,
/// crashes and random streams are forked at every second step, the others at some.
#[test]
fn fork_without_a_change_repeats_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let often =
        ["random-replies", "parallel-failures", "text-to-writes", "crashed-and-resumed", "sequential-tasks"];
    // A late reply to a call that ended before the fork does not arrive.
    let late = "late-reply";
    let (mut forks, mut names) = (0, 0);
    for entry in fs::read_dir(scenarios()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|extension| extension != "ndjson")
            || name.contains("network")
            || name == late
        {
            continue;
        }
        let recorded = lines(&path);
        let steps = recorded.len() - 2;
        let passes = recorded[0]["policy"]["bounds"]["passes"].as_u64().unwrap();
        let every = if often.contains(&name.as_str()) { 2 } else { 13 };
        names += 1;
        for step in (1..=steps).rev().step_by(every) {
            let (step, set) = (step.to_string(), format!("policy.passes={passes}"));
            let trace = path.to_str().unwrap();
            Command::new(env!("CARGO_BIN_EXE_orchestrion"))
                .args(["fork", trace, "--step", &step, "--set", &set, "--output", "fork.ndjson", "--quiet"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let forked = lines(&folder.path().join("fork.ndjson"));
            fs::remove_file(folder.path().join("fork.ndjson")).unwrap();
            assert_eq!(forked[1..], recorded[1..], "{name} at step {step}");
            forks += 1;
        }
    }
    assert!(names > 40 && forks > 150, "{names} {forks}");
}

#[test]
fn recorded_steps_stay_and_lineage_names_them() {
    let folder = project();
    let path = folder.path();
    let (text, _) = run(0, path, &["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"]);
    assert!(text.contains("forked at step 11, completed in 22 steps, 10 from the"), "{text}");
    let (recorded, forked) = (lines(&path.join(GOLDEN)), lines(&path.join("veto.ndjson")));
    assert_eq!(recorded[1..=10], forked[1..=10]);
    assert_eq!(forked[11]["input"]["reply"]["report"]["argument"]["argument"]["confidence"], 950_000);
    let digest = orchestrion_trace::digest(&fs::read(path.join(GOLDEN)).unwrap());
    let lineage = json!({"parent": "first-request.ndjson", "digest": digest, "step": 11, "set": [VETO]});
    assert_eq!(forked[0]["lineage"], lineage);
    let (replayed, _) = run(0, path, &["replay", "--recorded-policy", "veto.ndjson"]);
    assert!(replayed.contains("veto.ndjson: equal, 22 steps"), "{replayed}");
    let (shown, _) = run(0, path, &["show", "veto.ndjson"]);
    assert!(shown.contains(&format!("forked from first-request.ndjson with the digest {digest}")), "{shown}");
    // An update keeps the lineage; the chain covers it.
    run(0, path, &["replay", "--update", "--yes", "--policy", "policies/team.yaml", "veto.ndjson"]);
    assert_eq!(lines(&path.join("veto.ndjson"))[0]["lineage"], lineage);
    let edited =
        fs::read_to_string(path.join("veto.ndjson")).unwrap().replacen("\"step\":11", "\"step\":12", 1);
    fs::write(path.join("edited.ndjson"), edited).unwrap();
    let (_, error) = run(2, path, &["show", "edited.ndjson"]);
    assert!(error.contains("edited.ndjson:1: chain mismatch"), "{error}");
}

/// The steps depend on the lineage too: another header does not fit them.
#[test]
fn header_of_parent_does_not_fit_the_fork() {
    let folder = project();
    let path = folder.path();
    run(0, path, &["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"]);
    let parent = fs::read_to_string(path.join(GOLDEN)).unwrap();
    let fork = fs::read_to_string(path.join("veto.ndjson")).unwrap();
    let header = parent.split_inclusive('\n').next().unwrap();
    let steps: String = fork.split_inclusive('\n').skip(1).collect();
    fs::write(path.join("mixed.ndjson"), format!("{header}{steps}")).unwrap();
    let (_, error) = run(3, path, &["show", "mixed.ndjson"]);
    assert!(error.contains("mixed.ndjson:2: chain mismatch"), "{error}");
}

#[test]
fn each_kind_of_input_can_be_set() {
    let folder = project();
    let path = folder.path();
    for (step, set, pointer, expected) in [
        ("11", "call.error=timeout", "/input/call_failed/failure", json!("timeout")),
        ("11", "call.reply={fail: error}", "/input/call_failed/failure", json!("error")),
        ("2", "message.text=Do nothing", "/input/user_message/text", json!("Do nothing")),
    ] {
        run(0, path, &["fork", GOLDEN, "--step", step, "--set", set, "--output", "fork.ndjson"]);
        let forked = lines(&path.join("fork.ndjson"));
        assert_eq!(forked[step.parse::<usize>().unwrap()].pointer(pointer), Some(&expected), "{set}");
    }
    let trace = scenarios().join("write-while-running.ndjson");
    let set = "write={fact: {key: price, text: $70}}";
    let recorded = lines(&trace);
    let write = recorded.iter().position(|line| line["input"]["write"].is_object()).unwrap();
    let step = write.to_string();
    // The script answers only to the written prices, so the fork ends without a reply.
    let (_, error) = run(
        2,
        path,
        &["fork", trace.to_str().unwrap(), "--step", &step, "--set", set, "--output", "price.ndjson"],
    );
    assert!(error.contains("no case matches"), "{error}");
}

/// A new policy must decide the earlier steps as recorded.
#[test]
fn policy_that_changes_an_earlier_step_is_refused() {
    let folder = project();
    let path = folder.path();
    run(0, path, &["fork", GOLDEN, "--step", "11", "--set", VETO, "--output", "veto.ndjson"]);
    let scenario = ["--scenario", "scenarios/first-request.yaml", "--output", "f.ndjson"];
    let fork = |step| ["fork", "veto.ndjson", "--step", step, "--set", "policy.veto_from=0.99"];
    let (_, error) = run(2, path, &[&fork("13")[..], &scenario].concat());
    let error = error.replace("\n  │ ", " ");
    for part in [
        "step 11 would be decided differently under the new policy",
        "help: fork at step 11 or earlier: --step 11",
    ] {
        assert!(error.contains(part), "{part:?} in\n{error}");
    }
    assert!(!path.join("f.ndjson").exists());
    run(0, path, &[&fork("11")[..], &scenario].concat());
    let forked = lines(&path.join("f.ndjson"));
    assert_eq!(forked[0]["policy"]["thresholds"]["veto_from"], 990_000);
    assert_eq!(forked[0]["policy"]["name"], "team forked");
}

#[test]
fn bad_arguments_are_refused_with_place_and_remedy() {
    let folder = project();
    let path = folder.path();
    let happy = scenarios().join("happy.ndjson");
    let happy = happy.to_str().unwrap();
    for (step, set, expected) in [
        ("99", "call.error=timeout", "no step 99: expected a number from 1 to 26"),
        ("0", "call.error=timeout", "no step 0: expected a number from 1 to 26"),
        (
            "4",
            "call.error=timeout",
            "call.error at step 4: expected a step that answers a call, found the input `step`",
        ),
        ("3", "message.text=x", "message.text at step 3: expected a user message, found the input `reply`"),
        ("11", "call.error=late", "expected one of error, timeout, malformed"),
        ("11", "call.reply=delivered", "unknown value `delivered`; expected one of pro, con"),
        ("11", "policy.passes=many", "expected a whole number from 0 to 4294967295, found the text `many`"),
        ("11", "policy.foo=1", "unknown setting `foo`"),
        ("11", "policy.passes=3\nname: x", "expected a value on one line"),
        ("11", "reply=x", "unknown key `reply`: expected one of call.reply, call.error, message.text, write"),
        ("11", "call.reply", "expected KEY=VALUE, found no `=`"),
        (
            "13",
            "policy.proceed_from=0.99",
            "thresholds.proceed_from conflicts with thresholds.redebate_below",
        ),
    ] {
        let (_, error) = run(2, path, &["fork", happy, "--step", step, "--set", set, "--output", "f.ndjson"]);
        let error = error.replace("\n  │ ", " ").replace("\n      ", " ");
        assert!(error.contains(expected), "{expected:?} in\n{error}");
        assert!(error.contains("help: "), "{set}\n{error}");
        assert!(!path.join("f.ndjson").exists());
    }
    let two = ["--set", "call.error=timeout", "--set", "call.error=error"];
    let (_, error) = run(2, path, &[&["fork", happy, "--step", "11"][..], &two].concat());
    assert!(error.contains("expected one input for the step, found two"), "{error}");
    for name in ["passes", "bounds.passes"] {
        let two = ["--set", "policy.passes=2", "--set", &format!("policy.{name}=3")];
        let (_, error) = run(2, path, &[&["fork", happy, "--step", "11"][..], &two].concat());
        assert!(error.contains("--set policy.bounds.passes: expected one value, found two"), "{error}");
    }
    fs::copy(happy, path.join("alone.ndjson")).unwrap();
    let (_, error) = run(2, path, &["fork", "alone.ndjson", "--step", "11", "--set", "call.error=timeout"]);
    assert!(error.contains("no scenario to continue with: expected alone.yaml beside the trace"), "{error}");
    let network = scenarios().join("network-request.ndjson");
    let (_, error) =
        run(2, path, &["fork", network.to_str().unwrap(), "--step", "5", "--set", "policy.passes=3"]);
    assert!(error.replace("\n  │ ", " ").contains("expected a scenario without a network"), "{error}");
}

/// A host continues the fork. It gets no call of the recorded steps.
#[test]
fn host_continues_the_fork() {
    let folder = project();
    let path = folder.path();
    let last = lines(&path.join(GOLDEN)).len() - 2;
    let fork = ["fork", GOLDEN, "--set", "policy.passes=3", "--stdio", "--output", "live.ndjson", "--step"];
    let start = |step: &str| {
        Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args([&fork[..], &[step]].concat())
            .current_dir(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut host = start(&last.to_string());
    host.stdin.take().unwrap().write_all(b"\"close\"\n").unwrap();
    let output = host.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("\"call\""), "{text}");
    run(0, path, &["replay", "--recorded-policy", "live.ndjson"]);
    // The journal of a fork is not replaced by another fork.
    let output = start("8").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_file(path.join("live.ndjson")).unwrap();
    // The host that leaves during a request has received the pending call only.
    let host = start("8");
    let output = host.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.matches("\"call\":{").count() <= 1, "{text}");
}

/// The example of the help is the output of its commands.
#[test]
fn example_of_help_is_real() {
    let folder = project();
    let print = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(arguments)
            .current_dir(folder.path())
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let help = print(&["fork", "--help"]);
    let (commands, example) = help.split_once("prints among others:\n").unwrap();
    assert!(commands.contains(VETO));
    print(&["fork", GOLDEN, "--step", "11", "--output", "veto.ndjson", "--set", VETO]);
    let text = print(&["show", "veto.ndjson"]);
    let example: Vec<&str> = example.lines().take_while(|line| !line.is_empty()).collect();
    assert!(example.len() > 3, "{example:?}");
    for line in example {
        assert!(text.lines().any(|printed| printed == line), "{line:?} in\n{text}");
    }
}
