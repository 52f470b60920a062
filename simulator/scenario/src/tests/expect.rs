//! Tests of expectations: met, not met, and invalid.

use super::{HEAD, parse, render_errors};
use crate::run::run_scenario;
use crate::{ScenarioFile, scenario_schema, write};
use orchestrion_yaml::render_error;

const MODULES: &str = "modules:\n  analyst: {pro: {confidence: 0.9}}\n  solution: {pro: {confidence: 0.9}}\n  \
                       critic: {pro: {confidence: 0.9}}\n  security: {con: {confidence: 0.95}}\n  \
                       optimizer: {pro: {confidence: 0.9}}\n";

/// Returns the scenario of a vetoed request with these expectations of the request and of the run.
fn vetoed(request: &str, run: &str) -> String {
    let request = if request.is_empty() { String::new() } else { format!("    expect: {{{request}}}\n") };
    let run = if run.is_empty() { String::new() } else { format!("expect: {{{run}}}\n") };
    format!("{HEAD}{request}{run}{MODULES}")
}

/// Returns the expectations that the run of a scenario does not meet.
fn unmet(text: &str) -> Vec<String> {
    let result = run_scenario(parse(text).unwrap()).unwrap();
    assert!(result.unexpected_writes.is_empty() && result.unused_events.is_empty());
    result.unmet_expectations.iter().map(|error| render_error(error)).collect()
}

#[test]
fn met_expectations_give_no_error() {
    let request = "outcome: blocked, decision: veto, label: vetoed, passes: 1, taken: [T11, H04], not_taken: [T13], \
                   calls: {security: 1, executor: 0}, \
                   contexts: [{module: planner, contains: Add encryption, lacks: password}, {module: executor, lacks: a}]";
    assert_eq!(unmet(&vetoed(request, "holds: [C-06]")), [""; 0]);
}

#[test]
fn unmet_expectations_name_expected_and_found() {
    for (request, run, expected) in [
        ("outcome: outcome", "", "outcome: expected outcome, found blocked (Security vetoed the plan)"),
        ("decision: proceed", "", "decision: expected proceed, found veto"),
        ("label: rejected", "", "label: expected rejected, found vetoed"),
        ("passes: 2", "", "passes: expected 2, found 1"),
        ("taken: [T13]", "", "transition T13: expected taken, found not taken; the request takes T01, "),
        ("not_taken: [T11, H04]", "", "transition H04: expected not taken, found taken"),
        ("calls: {security: 2}", "", "calls of security: expected 2, found 1"),
        ("calls: {executor: 1}", "", "calls of executor: expected 1, found 0"),
        (
            "contexts: {module: planner, contains: password}",
            "",
            "contexts of planner: expected one that contains \"password\", found none of 1 with it",
        ),
        (
            "contexts: {module: planner, lacks: encryption}",
            "",
            "contexts of planner: expected none that contains \"encryption\", found 1 of 1 with it",
        ),
        (
            "contexts: {module: executor, contains: encryption}",
            "",
            "contexts of executor: expected one that contains \"encryption\", found none of 0 with it",
        ),
        ("", "fails: [C-06]", "claim C-06: expected to fail, found it violated in no step: "),
    ] {
        let unmet = unmet(&vetoed(request, run));
        assert!(unmet.iter().all(|error| error.contains("[case.yaml:5:")), "{unmet:?}");
        assert!(unmet.iter().any(|error| error.contains(expected)), "{expected}\n{unmet:?}");
        assert_eq!(unmet.len(), request.matches("T11").count() + 1, "{unmet:?}");
    }
}

#[test]
fn each_request_has_its_expectations() {
    let modules =
        MODULES.replace("{con: {confidence: 0.95}}", "[{con: {confidence: 0.95}}, {pro: {confidence: 0.9}}]");
    let requests = "  - text: And now?\n    expect: {outcome: blocked, calls: {security: 1}}\n";
    let unmet = unmet(&format!(
        "{HEAD}    expect: {{outcome: blocked, contexts: {{module: planner, lacks: And now}}}}\n{requests}{modules}"
    ));
    let [error] = &unmet[..] else { panic!("one error, found {unmet:?}") };
    assert!(error.contains("outcome: expected blocked, found outcome (every task succeeded)"), "{error}");
    assert!(error.contains("[case.yaml:7:"), "{error}");
}

#[test]
fn request_after_halt_is_unmet() {
    // Under `as-drawn`, a missing summary of the Critic's diagnosis ends the conversation in a dead end.
    let text = "description: A test.\npolicy: as-drawn\nuser: ada\nrequests:\n  - text: a\n  - text: b\n    expect: {passes: 1}\n\
                modules:\n  classifier: {fail: error}\n";
    let unmet = unmet(text);
    assert!(unmet.len() == 1 && unmet[0].contains("the request: expected to start"), "{unmet:?}");
}

#[test]
fn claims_of_a_faulty_policy_fail() {
    let text = vetoed("", "holds: [C-06]").replace("user: ada", "policy: as-drawn\nuser: ada").replace(
        "security: {con: {confidence: 0.95}}",
        "security: [{con: {confidence: 0.95}}, {pro: {confidence: 0.9}}]",
    );
    let text = text.replace(
        "critic: {pro: {confidence: 0.9}}",
        "critic: [{con: {confidence: 1.0}}, {pro: {confidence: 0.9}}]",
    );
    let unmet = unmet(&text);
    assert!(
        unmet.len() == 1 && unmet[0].contains("claim C-06: expected to hold, found it violated at step "),
        "{unmet:?}"
    );
    assert_eq!(self::unmet(&text.replace("holds:", "fails:")), [""; 0]);
}

#[test]
fn invalid_expectations_are_reported() {
    let request = |text: &str| format!("    expect: {{{text}}}\n");
    let mistakes = [
        request("result: blocked"),
        request("outcome: stopped"),
        request("decision: vetoed"),
        request("label: veto"),
        request("passes: many"),
        request("passes: -1"),
        request("taken: T11"),
        request("taken: [T99]"),
        request("taken: [11]"),
        request("calls: {secruity: 1}"),
        request("calls: [security]"),
        request("calls: {security: some}"),
        request("contexts: {contains: a}"),
        request("contexts: {module: planner}"),
        request("contexts: {module: auditor, contains: a}"),
        request("contexts: {module: plan, contains: a}"),
        request("contexts: []"),
        "    expect:\n".to_owned(),
        "expect: {hold: [C-06]}\n".to_owned(),
        "expect: {holds: C-06}\n".to_owned(),
        "expect: {holds: [C-999]}\n".to_owned(),
        "expect: {holds: [C-03]}\n".to_owned(),
        "expect: {holds: [C-06], fails: [C-06]}\n".to_owned(),
        "script: loose\n".to_owned(),
        "golden: false\n".to_owned(),
        "golden: maybe\nexpect: {holds: [C-06]}\n".to_owned(),
    ];
    let mistakes: Vec<&str> = mistakes.iter().map(String::as_str).collect();
    snapshot!(render_errors(HEAD, &mistakes));
}

#[test]
fn expectations_round_trip_and_match_schema() {
    let text = vetoed(
        "outcome: rolled_back, decision: outdated, label: outdated, passes: 0, taken: [T11], not_taken: [H04], \
         calls: {security: 1}, contexts: {module: planner, contains: a, lacks: b}",
        "holds: [C-06], fails: [C-11]",
    );
    let file = ScenarioFile::parse("case.yaml", &text).unwrap();
    assert_eq!(ScenarioFile::parse("written.yaml", &write(&file).unwrap()).unwrap(), file);
    let schema = jsonschema::validator_for(&scenario_schema()).unwrap();
    let valid = |text: &str| {
        let value: serde_json::Value = serde_saphyr::from_str(text).unwrap();
        schema.is_valid(&value)
    };
    assert!(valid(&text));
    for (from, to) in [
        ("outcome: rolled_back", "outcome: stopped"),
        ("decision: outdated", "decision: vetoed"),
        ("passes: 0", "passes: -1"),
        ("taken: [T11]", "taken: [T99]"),
        ("security: 1", "secruity: 1"),
        ("module: planner, ", ""),
        ("holds: [C-06]", "holds: [C-999]"),
        ("holds: [C-06]", "hold: [C-06]"),
    ] {
        assert!(text.contains(from) && !valid(&text.replace(from, to)), "{to}");
    }
}

#[test]
fn partial_script_needs_no_exact_replies() {
    // The lists of Critic and Security are too short for a second pass, and the request is never in the phase of the cancel.
    let modules = MODULES
        .replace("critic: {pro: {confidence: 0.9}}", "critic: [{con: {confidence: 1.0}}]")
        .replace("security: {con: {confidence: 0.95}}", "security: [{con: {confidence: 0.8}}]")
        .replace("  optimizer: {pro: {confidence: 0.9}}\n", "");
    let exact = format!("{HEAD}    cancel: {{phase: RepairReview}}\n{modules}");
    let error = run_scenario(parse(&exact).unwrap()).unwrap_err();
    assert!(error.to_string().contains("expected a scripted reply, found none"), "{error}");
    let partial = exact.replace("user: ada\n", "user: ada\nscript: partial\n");
    let result = run_scenario(parse(&partial).unwrap()).unwrap();
    assert!(result.halted.is_none() && result.unused_events.is_empty(), "{result:?}");
    // After the last replies every debater agrees.
    let expected = partial
        .replace("    cancel:", "    expect: {outcome: outcome, decision: proceed, passes: 2}\n    cancel:");
    assert_eq!(unmet(&expected), [""; 0]);
}
