//! Claims of a project, by the command: check, run, replay and a host, with exit codes and places.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The first claim holds in every run; the second one fails where a request succeeds.
const CLAIMS: &str = "\
claims:
- id: verified-tasks
  always: {at: {operation: run_task}, holds: {request.verified: true}}
- id: no-memory
  why: Nothing leaves the machine.
  never: {event: tool_call, operation: store_memory}
";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    fs::write(folder.path().join("mine.yaml"), CLAIMS).unwrap();
    folder
}

fn use_claims(folder: &Path) {
    let file = folder.join("orchestrion.yaml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("claims: [claims.yaml]"));
    fs::write(file, text.replace("claims: [claims.yaml]", "claims: [claims.yaml, mine.yaml]")).unwrap();
}

#[test]
fn check_finds_a_shortest_counterexample() {
    let folder = project();
    let folder = folder.path();
    let arguments = ["check", "--model", "lifecycle"];
    let (out, _) = run(0, folder, &arguments);
    assert!(out.contains("claims of the project"), "{out}");
    assert!(out.contains("no-task-after-veto  (claims.yaml:4)"), "{out}");
    use_claims(folder);
    let (out, _) = run(1, folder, &arguments);
    assert!(out.contains("holds         verified-tasks"), "{out}");
    assert!(out.contains("FAILS         no-memory  (mine.yaml:4)"), "{out}");
    let (json, _) = run(1, folder, &["check", "--model", "lifecycle", "--format", "json", "--quiet"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let claims = report["user_claims"].as_array().unwrap();
    let failed = claims.iter().find(|claim| claim["id"] == "no-memory").unwrap();
    assert_eq!((&failed["verdict"], &failed["evidence"]), (&"fails".into(), &"exhaustive".into()));
    // The last step of the counterexample sends the forbidden call, and no earlier one does.
    let trace = fs::read_to_string(folder.join(failed["trace"].as_str().unwrap())).unwrap();
    let steps: Vec<&str> = trace.lines().filter(|line| line.contains("\"n\":")).collect();
    let calls: Vec<usize> =
        (0..steps.len()).filter(|step| steps[*step].contains("store_memory")).map(|step| step + 1).collect();
    assert_eq!(calls, [usize::try_from(failed["steps"].as_u64().unwrap()).unwrap()]);
}

#[test]
fn traces_are_judged_where_they_are_run_and_replayed() {
    let folder = project();
    let folder = folder.path();
    let golden = "scenarios/first-request.ndjson";
    let (out, _) = run(0, folder, &["replay", golden, "--claims", "claims.yaml"]);
    assert!(out.contains("2 claims on this trace: 1 satisfied, 1 that no event decides"), "{out}");
    for arguments in [
        &["run", "scenarios/first-request.yaml", "--claims", "mine.yaml"][..],
        &["replay", golden, "--claims", "mine.yaml", "--quiet"],
        &["run", "--check", "--quiet", "--claims", "mine.yaml"],
    ] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{out}");
        assert!(out.contains("Nothing leaves the machine."), "{out}");
        assert!(out.contains("mine.yaml:4"), "{out}");
    }
    // Without `--claims`, the claims are those of the project.
    run(0, folder, &["run", "--check", "--quiet"]);
    use_claims(folder);
    for arguments in [
        &["run", "--quiet"][..],
        &["run", "--check", "--quiet"],
        &["replay", "--quiet"],
        &["run", "scenarios/first-request.yaml", "--quiet"],
        &["replay", golden, "--quiet"],
    ] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{arguments:?} {out}");
    }
    // `--claims` adds to the claims of the project; a file of the project is read once.
    fs::write(folder.join("other.yaml"), "claims: [{id: other, never: {event: repair_started}}]\n").unwrap();
    for arguments in [
        &["run", "--quiet", "--claims", "other.yaml"][..],
        &["replay", golden, "--quiet", "--claims", "other.yaml", "--claims", "./mine.yaml"],
    ] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{arguments:?} {out}");
    }
}

#[test]
fn counterexample_of_a_claim_becomes_a_test() {
    let folder = project();
    let folder = folder.path();
    use_claims(folder);
    let (json, _) = run(1, folder, &["check", "--model", "lifecycle", "--format", "json", "--quiet"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let failed = report["user_claims"].as_array().unwrap().iter().find(|claim| claim["verdict"] == "fails");
    let trace = failed.unwrap()["trace"].as_str().unwrap();
    run(0, folder, &["show", trace, "--html", "page.html"]);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    let (_, banner) = page.split_once("class=\"violations\"").unwrap();
    let (banner, _) = banner.split_once("</section>").unwrap();
    assert!(banner.contains("no-memory is violated in step <a href=\"#s"), "{banner}");
    assert!(banner.contains("no tool_call event whose operation is store_memory occurs"), "{banner}");
    assert!(page.contains("Of the project (4)") && page.contains("mine.yaml:4"));
    let (out, _) = run(0, folder, &["promote", trace, "keeps-memory"]);
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("expected to hold: no-memory; the scenario fails until the policy is"), "{out}");
    assert!(!folder.join("scenarios/keeps-memory.ndjson").exists(), "a test has no golden trace");
    let arguments = ["run", "scenarios/keeps-memory.yaml"];
    for arguments in [&arguments[..], &["run", "--check", "scenarios/keeps-memory.yaml"]] {
        let (out, _) = run(1, folder, arguments);
        assert!(out.contains("no-memory VIOLATED at step"), "{out}");
        let show = out.lines().find_map(|line| line.trim().strip_prefix("show     orchestrion ")).unwrap();
        let (out, _) = run(0, folder, &show.split(' ').collect::<Vec<_>>());
        assert!(out.contains("StoringMemory"), "{out}");
    }
    // The claim is corrected: it holds.
    let claims = fs::read_to_string(folder.join("mine.yaml")).unwrap();
    let corrected = claims.replace("{event: tool_call, operation: store_memory}", "{event: veto_raised}");
    fs::write(folder.join("mine.yaml"), corrected).unwrap();
    run(0, folder, &arguments);
}

/// A scenario expects that a claim of the project fails, as it does for one of the catalog.
#[test]
fn expected_violation_is_no_failure() {
    let folder = project();
    let folder = folder.path();
    use_claims(folder);
    let (scenario, golden) = ("scenarios/first-request.yaml", "scenarios/first-request.ndjson");
    let text = fs::read_to_string(folder.join(scenario)).unwrap();
    let expecting = |expected: &str| {
        fs::write(
            folder.join(scenario),
            text.replacen("user: ada\n", &format!("user: ada\nexpect: {expected}\n"), 1),
        )
        .unwrap();
    };
    expecting("{fails: [no-memory], holds: [verified-tasks]}");
    let (out, _) = run(0, folder, &["run", scenario]);
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("1 expected to fail") && !flat.contains("VIOLATED"), "{out}");
    run(0, folder, &["run", "--accept", scenario, "--quiet"]);
    run(0, folder, &["run", "--check", scenario, "--quiet"]);
    run(0, folder, &["run", scenario, "--runs", "1", "--quiet"]);
    let (out, _) = run(0, folder, &["replay", golden]);
    assert!(out.contains("1 expected to fail"), "{out}");
    for (expected, message) in [
        ("{fails: [verified-tasks]}", "claim verified-tasks: expected to fail, found it violated in no"),
        ("{holds: [no-memory]}", "VIOLATED"),
        ("{holds: [no-such]}", "claim no-such: expected to hold, found no such claim"),
    ] {
        expecting(expected);
        for arguments in [&["run", scenario, "--quiet"][..], &["run", "--check", scenario, "--quiet"]] {
            let (out, error) = run(1, folder, arguments);
            assert!(format!("{out}{error}").contains(message), "{arguments:?} {out}{error}");
        }
    }
}

#[test]
fn invalid_files_are_errors() {
    let folder = project();
    let folder = folder.path();
    fs::write(folder.join("wrong.yaml"), "claims:\n- {id: a, never: {event: tool_calls}}\n").unwrap();
    let twin = "claims:\n- {id: no-memory, never: {event: decided}}\n";
    fs::write(folder.join("twin.yaml"), twin).unwrap();
    for (files, expected) in [
        (&["--claims", "wrong.yaml"][..], "wrong.yaml:2:26"),
        (&["--claims", "missing.yaml"], "missing.yaml"),
        (&["--claims", "mine.yaml", "--claims", "twin.yaml"], "mine.yaml:4 states it too"),
    ] {
        for command in [&["check"][..], &["run", "--quiet"], &["replay", "--quiet"]] {
            let (_, error) = run(2, folder, &[command, files].concat());
            assert!(error.contains(expected) && error.contains("help"), "{error}");
        }
    }
}

const ENFORCED: &str = "\
claims:
- id: one-task
  why: One change at a time.
  enforce: true
  at_most: {limit: 1, of: {event: tool_call, operation: run_task}}
- {id: no-memory, shadow: true, never: {event: tool_call, operation: store_memory}}
";

/// The steps of a trace with this text.
fn steps_with(trace: &Path, text: &str) -> usize {
    fs::read_to_string(trace).unwrap().lines().filter(|line| line.contains(text)).count()
}

#[test]
fn enforced_claim_forbids_calls_of_a_scenario() {
    let folder = project();
    let folder = folder.path();
    fs::write(folder.join("mine.yaml"), ENFORCED).unwrap();
    let scenario = folder.join("scenarios/first-request.yaml");
    let text = fs::read_to_string(&scenario).unwrap();
    let (start, modules) = (text.find("    expect:").unwrap(), text.find("modules:").unwrap());
    // Without the expectations of the whole plan; the Critic finds no repair. The executor runs a task and undoes it: a forbidden call is not made.
    let expect = "    expect: {calls: {executor: 2}}\n";
    let text =
        format!("{}{expect}{}  diagnosis: {{no_repair: {{text: none}}}}\n", &text[..start], &text[modules..]);
    // A crash before the second task, and one after it, lose nothing of the count.
    let crashes = text.replacen(
        "  - text: Rename the column mail to email\n",
        "  - text: Rename the column mail to email\n    crash: [{phase: RunningTasks}, {phase: RunningTasks, visit: 2}]\n",
        1,
    );
    let trace = folder.join(".orchestrion/first-request.trace.ndjson");
    for text in [&text, &crashes] {
        fs::write(&scenario, text).unwrap();
        let (out, error) = run(0, folder, &["run", "scenarios/first-request.yaml", "--claims", "mine.yaml"]);
        assert!(out.contains("one-task forbids 1 call, the first at step"), "{out}{error}");
        assert!(out.contains("no-memory would forbid 2 calls, the first at step"), "{out}");
        assert!(out.contains("rolled back: the Critic found no repair"), "{out}");
        assert_eq!(steps_with(&trace, "\"failure\":\"forbidden\""), 1);
        assert_eq!(steps_with(&trace, "\"resume\""), if text == &crashes { 2 } else { 0 });
        // Replay gives the same decisions and the same judgement, and needs no claims for it.
        let (out, _) =
            run(0, folder, &["replay", ".orchestrion/first-request.trace.ndjson", "--claims", "mine.yaml"]);
        assert!(out.contains("equal") && out.contains("one-task forbids 1 call"), "{out}");
    }
    // Golden traces are those of runs with enforcement.
    fs::write(&scenario, &text).unwrap();
    let golden = |code: i32, mode: &str, claims: &str| {
        run(code, folder, &["run", mode, "scenarios/first-request.yaml", "--claims", claims, "--quiet"]).0
    };
    golden(1, "--check", "mine.yaml");
    golden(0, "--accept", "mine.yaml");
    golden(0, "--check", "mine.yaml");
    assert_eq!(steps_with(&folder.join("scenarios/first-request.ndjson"), "\"failure\":\"forbidden\""), 1);
    // Without the claim, the second task runs.
    let out = golden(1, "--check", "claims.yaml");
    assert!(out.contains("CHANGES") || out.contains("DIFFERS"), "{out}");
}

#[test]
fn traces_of_calls_that_were_made_violate() {
    let folder = project();
    let folder = folder.path();
    fs::write(folder.join("mine.yaml"), ENFORCED).unwrap();
    let (out, _) = run(1, folder, &["replay", "scenarios/first-request.ndjson", "--claims", "mine.yaml"]);
    assert!(out.contains("one-task VIOLATED at step"), "{out}");
    assert!(out.contains("a call that the claim forbids was made"), "{out}");
    assert!(!out.contains("no-memory VIOLATED"), "{out}");
    // The decisions are equal.
    assert!(out.contains("replayed 1 of 1: 0 equal, 1 violates a claim"), "{out}");
}

#[test]
fn check_explores_runs_with_enforcement() {
    let folder = project();
    let folder = folder.path();
    let free = ENFORCED.replace("  enforce: true\n", "");
    let arguments = ["check", "--model", "lifecycle", "--claims", "mine.yaml", "--format", "json", "--quiet"];
    let report = |code: i32, claims: &str| {
        fs::write(folder.join("mine.yaml"), claims).unwrap();
        let (json, _) = run(code, folder, &arguments);
        let report: Value = serde_json::from_str(&json).unwrap();
        report["user_claims"]
            .as_array()
            .unwrap()
            .iter()
            .find(|claim| claim["id"] == "one-task")
            .unwrap()
            .clone()
    };
    // The call that violates the claim is the one that enforcement forbids first.
    let (failed, held) = (report(1, &free), report(0, ENFORCED));
    assert_eq!((&failed["verdict"], &held["verdict"]), (&"fails".into(), &"holds".into()));
    assert_eq!((&failed["steps"], &failed["model"]), (&held["forbids"]["steps"], &held["forbids"]["model"]));
    assert_eq!((&failed["forbids"], &held["enforcement"]), (&Value::Null, &"enforced".into()));
    assert!(folder.join(held["forbids"]["trace"].as_str().unwrap()).is_file());
    // Without transitions for failures, the conversation halts where a call is forbidden.
    let none = ENFORCED.replace("limit: 1", "limit: 0");
    fs::write(folder.join("mine.yaml"), none).unwrap();
    let (out, _) = run(1, folder, &[&arguments[..5], &["--policy", "as-drawn"]].concat());
    assert!(out.contains("FAILS         one-task") && out.contains("enable `error_rows`"), "{out}");
}

/// Which claims imply, exclude and contradict each other, on the real machine.
#[test]
fn lint_judges_claims_together() {
    let folder = project();
    let folder = folder.path();
    // The claims of two files are one set.
    let none = "claims: [{id: none, never: {event: repair_started}}]";
    fs::write(folder.join("none.yaml"), none).unwrap();
    let set = "\
claims:
- {id: few, at_most: {limit: 1, of: {event: repair_started}}}
- {id: no-secret, never: {event: final_answer, text: {contains: secret}}}
- {id: approved, precedes: {first: {event: tool_result, approved: true}, then: {event: tool_call, operation: approve}}}
";
    fs::write(folder.join("set.yaml"), set).unwrap();
    let (json, _) = run(1, folder, &["lint", "none.yaml", "set.yaml", "--format", "json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let found = report["diagnostics"].as_array().unwrap().iter();
    let found: Vec<String> =
        found.map(|found| format!("{} {} {}", found["defect"], found["claim"], found["causes"])).collect();
    assert_eq!(found, ["\"implied\" \"few\" [\"none\"]", "\"unreachable_premise\" \"approved\" []"]);
    let trace = report["diagnostics"][0]["trace"].as_str().unwrap();
    let (out, _) = run(
        1,
        folder,
        &["replay", trace, "--claims", "none.yaml", "--claims", "set.yaml", "--recorded-policy"],
    );
    assert!(out.contains("none VIOLATED") && out.contains("few VIOLATED"), "{out}");
    // A project that names no machines: its claims.
    let project = folder.join("orchestrion.yaml");
    let text = fs::read_to_string(&project).unwrap();
    fs::write(&project, text.replace("claims: [claims.yaml]", "claims: [none.yaml, set.yaml]")).unwrap();
    let (out, _) = run(1, folder, &["lint"]);
    assert!(out.contains("implied        few  (set.yaml:2)"), "{out}");
    assert!(out.contains("none.yaml, set.yaml: 4 claims together under the policy team"), "{out}");
}

#[test]
fn lint_of_a_wrong_claim_file_is_an_error() {
    let folder = project();
    fs::write(folder.path().join("wrong.yaml"), "claims:\n- {id: a, never: {event: tool_calls}}\n").unwrap();
    let (_, error) = run(2, folder.path(), &["lint", "wrong.yaml"]);
    assert!(error.contains("wrong.yaml:2:26") && error.contains("did you mean"), "{error}");
    let (_, error) = run(2, folder.path(), &["lint", "mine.yaml", "scenarios/first-request.yaml"]);
    assert!(error.contains("expected claims or state machines, found both"), "{error}");
}
