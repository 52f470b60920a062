//! Golden traces judge the project as it is: `replay`, `run --check` and `run --accept` (decision 0058).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use runner::run;
use std::fs;
use std::path::Path;

const POLICY: &str = "policies/team.yaml";
const SCENARIO: &str = "scenarios/first-request.yaml";
const GOLDEN: &str = "scenarios/first-request.ndjson";

/// Creates a project in which Security vetoes with 0.86 from a threshold of 0.85.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    edit(folder.path(), SCENARIO, "security: {pro: {confidence: 0.9,", "security: {con: {confidence: 0.86,");
    fs::write(folder.path().join(SCENARIO), without_expectations(&read(folder.path(), SCENARIO))).unwrap();
    run(0, folder.path(), &["run", "--accept"]);
    folder
}

/// Removes the expectations of a scenario, so that only its golden trace judges it.
fn without_expectations(text: &str) -> String {
    let (before, after) = text.split_once("    expect:\n").unwrap_or((text, ""));
    let rest = after.split_inclusive('\n').skip_while(|line| line.starts_with("      "));
    before.chars().chain(rest.flat_map(str::chars)).collect()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let text = read(folder, file);
    assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
    fs::write(folder.join(file), text.replace(from, to)).unwrap();
}

/// Asserts that a text contains these parts in this order.
fn assert_parts(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("expected {part:?} in\n{rest}\nof\n{text}")
        };
        rest = after;
    }
}

#[test]
fn changed_policy_value_fails_check_and_replay() {
    let folder = project();
    let folder = folder.path();
    for command in [&["run", "--check"][..], &["replay"]] {
        run(0, folder, command);
    }
    edit(folder, POLICY, "veto_from: 0.85", "veto_from: 0.99");
    let decision = [
        "thresholds.veto_from",
        "0.85",
        "0.99",
        "first at step 11, event 3 of 5",
        "veto_raised",
        "first at step 13, from Multi_Pass_Check",
        "H04 to Aggregating, on step if vetoed",
        "T13 to Round_2_Solution",
        "VETO by Security, blocked: Security vetoed the plan",
        "REJECT, consensus too low, blocked: the consensus is too low",
    ];
    let (checked, _) = run(1, folder, &["run", "--check", "--quiet"]);
    assert_parts(&checked, &["scenarios/first-request.yaml: DIFFERS from scenarios/first-request.ndjson"]);
    assert_parts(&checked, &decision);
    assert_parts(&checked, &["checked 2 of 2: 0 equal, 2 differ\n"]);
    let (replayed, _) = run(1, folder, &["replay", "--quiet"]);
    assert_parts(&replayed, &["scenarios/first-request.ndjson: DIFFERS, 11 steps"]);
    assert_parts(&replayed, &decision);
    assert_parts(&replayed, &["judged under the policies of this project\n", "1 equal, 1 differ\n"]);
    // The command that the report suggests shows the step of the new run.
    run(0, folder, &["show", ".orchestrion/first-request.trace.ndjson", "--step", "11"]);
    let (replayed, _) = run(0, folder, &["replay", "--recorded-policy"]);
    assert_parts(&replayed, &["judged under the recorded policies\n", "2 equal\n"]);
    run(2, folder, &["replay", "--recorded-policy", "--policy", "hardened"]);
    // The policy is that of the scenario, also where the project has another one.
    fs::write(
        folder.join("orchestrion.yaml"),
        "policies: [hardened]\nscenarios: [scenarios]\ntraces: [scenarios]\n",
    )
    .unwrap();
    run(1, folder, &["replay", "--quiet"]);
}

#[test]
fn trace_without_scenario_is_judged_under_project_policy() {
    let folder = project();
    let folder = folder.path();
    fs::create_dir(folder.join("production")).unwrap();
    fs::rename(folder.join(GOLDEN), folder.join("production/a.ndjson")).unwrap();
    fs::copy(folder.join("production/a.ndjson"), folder.join(GOLDEN)).unwrap();
    edit(folder, "orchestrion.yaml", "traces: [scenarios]", "traces: [scenarios, production]");
    run(0, folder, &["replay"]);
    run(0, folder, &["run", "--check"]);
    edit(folder, POLICY, "veto_from: 0.85", "veto_from: 0.99");
    let (replayed, _) = run(1, folder, &["replay", "production"]);
    assert_parts(
        &replayed,
        &[
            "production/a.ndjson: DIFFERS",
            "recorded VETO by Security",
            "not known without a scenario",
            "promote",
        ],
    );
    // Of several policies, the one with the recorded name judges; without one, the first.
    fs::write(folder.join("policies/other.yaml"), "name: other\nthresholds: {veto_from: 0.85}\n").unwrap();
    let policies = |list: &str| {
        let text = format!("policies: [{list}]\nscenarios: [scenarios]\n");
        fs::write(folder.join("orchestrion.yaml"), text).unwrap();
    };
    policies("policies/other.yaml, policies/team.yaml");
    run(1, folder, &["replay", "production"]);
    policies("policies/other.yaml");
    let (replayed, _) = run(0, folder, &["replay", "production"]);
    assert_parts(&replayed, &["equal", "policy: recorded team, here other"]);
}

#[test]
fn edited_scenario_fails_check() {
    let folder = project();
    let folder = folder.path();
    edit(folder, SCENARIO, "confidence: 0.86", "confidence: 0.84");
    let (checked, _) = run(1, folder, &["run", "--check"]);
    assert_parts(
        &checked,
        &["input    first at step 11", "860000", "840000", "H04 to Aggregating", "ending   of request 1"],
    );
    run(0, folder, &["replay"]);
    let golden = read(folder, GOLDEN);
    let (accepted, _) = run(0, folder, &["run", "--accept"]);
    assert_parts(
        &accepted,
        &[
            "CHANGES scenarios/first-request.ndjson",
            "H04 to Aggregating",
            "wrote    scenarios/first-request.ndjson",
            "1 unchanged, 1 changed\n",
        ],
    );
    assert_ne!(read(folder, GOLDEN), golden);
    run(0, folder, &["run", "--check"]);
}

#[test]
fn comment_and_key_order_change_nothing() {
    let folder = project();
    let folder = folder.path();
    let golden = read(folder, GOLDEN);
    edit(folder, SCENARIO, "modules:\n", "# A comment.\nmodules:\n");
    edit(folder, SCENARIO, "user: ada\n", "");
    edit(folder, SCENARIO, "description:", "user: ada\ndescription:");
    edit(folder, POLICY, "extends: hardened\n", "");
    edit(folder, POLICY, "name: team\n", "# A comment.\nextends: hardened\nname: team\n");
    run(0, folder, &["run", "--check"]);
    run(0, folder, &["replay"]);
    let (accepted, _) = run(0, folder, &["run", "--accept"]);
    assert_parts(&accepted, &["2 unchanged\n"]);
    assert_eq!(read(folder, GOLDEN), golden, "an unchanged golden trace is not written");
}

#[test]
fn unread_setting_fails_check_and_is_named() {
    let folder = project();
    let folder = folder.path();
    edit(folder, POLICY, "veto_from: 0.85", "veto_from: 0.851");
    let (checked, _) = run(1, folder, &["run", "--check"]);
    assert_parts(
        &checked,
        &[
            "scenarios/first-request.yaml, scenarios/in-network.yaml: the policy DIFFERS from that of 2 golden\n",
            "traces, and no decision\n",
            "thresholds.veto_from: golden 0.85, now 0.851",
            "accept   orchestrion run --accept\n",
        ],
    );
    run(0, folder, &["replay"]);
    let (accepted, _) = run(0, folder, &["run", "--accept"]);
    assert_parts(&accepted, &["in its policy only", "thresholds.veto_from", "wrote"]);
    run(0, folder, &["run", "--check"]);
}

#[test]
fn changed_network_is_named() {
    let folder = project();
    let folder = folder.path();
    edit(folder, "network.yaml", "trust: 0.8\n", "trust: 0.75\n");
    let (checked, _) = run(1, folder, &["run", "--check"]);
    assert_parts(
        &checked,
        &["  input    first at step 1, the input\n  network  nodes.ana.trust: golden 0.8, now 0.75\n"],
    );
    let traces = ["diff", "scenarios/in-network.ndjson", ".orchestrion/in-network.trace.ndjson"];
    let (text, _) = run(1, folder, &traces);
    assert_parts(&text, &["  network  nodes.ana.trust: A 0.8, B 0.75\n"]);
    let (sarif, _) = run(1, folder, &[&traces[..], &["--format", "sarif"]].concat());
    assert_parts(&sarif, &["network nodes.ana.trust: A 0.8, B 0.75"]);
}

#[test]
fn missing_and_unreadable_golden_traces_are_reported() {
    let folder = project();
    let folder = folder.path();
    let golden = read(folder, GOLDEN);
    fs::remove_file(folder.join(GOLDEN)).unwrap();
    let (checked, _) = run(1, folder, &["run", "--check", "--quiet"]);
    assert_parts(
        &checked,
        &[
            "scenarios/first-request.yaml: NO GOLDEN TRACE: expected scenarios/first-request.ndjson",
            "1 without a golden trace",
        ],
    );
    let (accepted, _) = run(0, folder, &["run", "--accept", SCENARIO]);
    assert_parts(&accepted, &["first-request.yaml: NEW", "ending   VETO by Security", "wrote", "1 new\n"]);
    assert_eq!(read(folder, GOLDEN), golden);
    // One changed byte: the chain does not hold.
    fs::write(folder.join(GOLDEN), golden.replacen("860000", "870000", 1)).unwrap();
    let (checked, _) = run(3, folder, &["run", "--check"]);
    assert_parts(
        &checked,
        &["first-request.yaml: UNREADABLE golden trace", "scenarios/first-request.ndjson:12", "1 unreadable"],
    );
    // Another file is not overwritten.
    fs::write(folder.join(GOLDEN), "mine").unwrap();
    let (_, error) = run(3, folder, &["run", "--accept"]);
    assert_parts(&error, &["first-request.ndjson"]);
    assert_eq!(read(folder, GOLDEN), "mine");
}

#[test]
fn failing_run_is_not_accepted() {
    let folder = project();
    let folder = folder.path();
    let golden = read(folder, GOLDEN);
    edit(
        folder,
        SCENARIO,
        "  - text: Rename the column mail to email\n",
        "  - text: Rename\n    write: {fact: {key: a, text: b, supersedes: c}}\n",
    );
    let (accepted, error) = run(1, folder, &["run", "--accept"]);
    assert_parts(&accepted, &["CHANGES", "not written: the run is not what its scenario expects"]);
    assert_parts(&error, &["write refused"]);
    assert_eq!(read(folder, GOLDEN), golden);
    run(2, folder, &["run", "--accept", "--check"]);
    run(2, folder, &["run", "--accept", "--cross-check"]);
    // A scenario that is not valid is reported, and the others are compared.
    edit(folder, SCENARIO, "user: ada\n", "");
    let (checked, error) = run(3, folder, &["run", "--check"]);
    assert_parts(&error, &["first-request.yaml"]);
    assert_parts(&checked, &["checked 2 of 2: 1 equal, 1 not played\n"]);
    // Its golden trace has no policy to be judged under.
    let (_, error) = run(3, folder, &["replay"]);
    assert_parts(
        &error,
        &[
            "first-request.ndjson: no policy: its scenario is not valid: missing key `user`; find the place with: orchestrion run scenarios/first-request.yaml",
        ],
    );
}

#[test]
fn project_policy_is_default_of_scenarios() {
    let folder = project();
    let folder = folder.path();
    edit(folder, SCENARIO, "policy: ../policies/team.yaml\n", "");
    run(0, folder, &["run", "--check"]);
    fs::write(folder.join("policies/lax.yaml"), "name: lax\nthresholds: {veto_from: 0.99}\n").unwrap();
    edit(
        folder,
        "orchestrion.yaml",
        "policies: [policies/team.yaml]",
        "policies: [policies/lax.yaml, policies/team.yaml]",
    );
    let (checked, _) = run(1, folder, &["run", "--check", SCENARIO]);
    assert_parts(&checked, &["name: golden \"team\", now \"lax\"", "ending   of request 1"]);
    run(1, folder, &["replay"]);
    // Outside the project the default is `hardened`, under which 0.86 is no veto.
    let outside = tempfile::tempdir().unwrap();
    fs::copy(folder.join(SCENARIO), outside.path().join("a.yaml")).unwrap();
    fs::copy(folder.join(GOLDEN), outside.path().join("a.ndjson")).unwrap();
    let (checked, _) = run(1, outside.path(), &["run", "--check", "."]);
    assert_parts(&checked, &["name: golden \"team\", now \"hardened\""]);
    let (replayed, _) = run(0, outside.path(), &["replay", "."]);
    assert_parts(
        &replayed,
        &["judged under the recorded policies: there is no orchestrion.yaml in this folder or above it\n"],
    );
}

/// The traces of scenarios with one file name do not replace each other, and a scenario that is named twice runs once.
#[test]
fn scenarios_of_two_folders_may_have_one_name() {
    let folder = project();
    let folder = folder.path();
    fs::create_dir(folder.join("scenarios/more")).unwrap();
    for file in [SCENARIO, GOLDEN] {
        let other = file.replace("scenarios/", "scenarios/more/");
        let text = read(folder, file).replace("../policies", "../../policies");
        fs::write(folder.join(other), text).unwrap();
    }
    run(0, folder, &["run", "--accept"]);
    let (out, _) = run(0, folder, &["run", "--check", "scenarios", SCENARIO]);
    assert!(out.contains("checked 3 of 3: 3 equal"), "{out}");
    run(0, folder, &["run", "--runs", "2"]);
    edit(folder, POLICY, "veto_from: 0.85", "veto_from: 0.99");
    run(1, folder, &["run", "--check"]);
    for file in ["first-request", "first-request.2"] {
        run(0, folder, &["replay", &format!(".orchestrion/{file}.trace.ndjson")]);
    }
}
