//! `run --runs` and `run --seed`: many runs of a scenario.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion::cli::report_schemas;
use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/scenarios");

/// One request whose Critic objects strongly in a quarter of the runs.
const COIN: &str = "
description: A coin
user: ada
requests: [{text: Toss it}]
modules:
  planner: {plan: [{task: 1, do: Toss, undo: Catch}]}
  analyst: {pro: {confidence: 0.9}}
  solution: {pro: {confidence: 0.9}}
  critic: {pro: {confidence: 0.9}}
  security:
    random:
      seed: security
      choices:
        - {weight: 3, reply: {pro: {confidence: 0.9}}}
        - {weight: 1, reply: {con: {confidence: 0.99}}}
  optimizer: {pro: {confidence: 0.9}}
";

fn random_replies() -> String {
    format!("{SCENARIOS}/random-replies.yaml")
}

fn report(code: i32, folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["run", "--format", "json"], arguments].concat();
    let report: Value = serde_json::from_str(&run(code, folder, &arguments).0).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::runs()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

#[test]
fn runs_are_equal_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let of = |jobs: &str| {
        report(0, folder.path(), &[&random_replies(), "--runs", "60", "--seed", "3", "--jobs", jobs])
    };
    let one = of("1");
    assert_eq!(one, of("3"));
    assert_eq!(one, of("7"));
    let scenario = &one["scenarios"][0];
    assert_eq!((&scenario["runs"], &scenario["is_random"]), (&60.into(), &true.into()));
    assert_eq!(scenario["requests"].as_array().unwrap().len(), 4);
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "no trace is written");
}

/// Each run of a summary is the run with its seed: counted one by one, they give the same counts.
#[test]
fn summary_counts_the_runs_of_its_seeds() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("coin.yaml"), COIN).unwrap();
    let report = report(0, folder.path(), &["coin.yaml", "--runs", "12", "--seed", "5"]);
    let request = &report["scenarios"][0]["requests"][0];
    let mut blocked = Vec::new();
    for seed in 5..17 {
        run(0, folder.path(), &["run", "coin.yaml", "--seed", &seed.to_string()]);
        let trace =
            fs::read_to_string(folder.path().join(format!(".orchestrion/coin.seed-{seed}.trace.ndjson")));
        let trace = trace.unwrap();
        assert!(
            trace.starts_with("{\"format\"") && trace.contains(&format!("\"seed\":\"{seed}\"")),
            "{trace}"
        );
        if trace.contains("\"kind\":\"blocked\"") {
            blocked.push(seed);
        }
    }
    assert!((1..12).contains(&blocked.len()), "{blocked:?}");
    let ending = |name: &str| {
        let endings = request["endings"].as_array().unwrap();
        endings.iter().find(|ending| ending["value"].as_str().unwrap().starts_with(name)).unwrap().clone()
    };
    assert_eq!(ending("blocked")["count"], blocked.len());
    assert_eq!(ending("blocked")["first_seed"], blocked[0]);
    assert_eq!(ending("outcome")["count"], 12 - blocked.len());
    let interval = &ending("blocked")["interval"];
    let (lower, rate, upper) = (&interval["lower"], &ending("blocked")["rate"], &interval["upper"]);
    assert!(lower.as_f64() < rate.as_f64() && rate.as_f64() < upper.as_f64(), "{request:#}");
}

#[test]
fn rates_follow_scripted_weights() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("coin.yaml"), COIN).unwrap();
    let report = report(0, folder.path(), &["coin.yaml", "--runs", "400"]);
    let decisions = report["scenarios"][0]["requests"][0]["decisions"].as_array().unwrap();
    let veto = decisions.iter().find(|decision| decision["value"] == "VETO").unwrap();
    // Security speaks once: a quarter, within four standard deviations of 400 runs.
    let rate = veto["rate"].as_f64().unwrap();
    assert!((rate - 0.25).abs() < 0.087, "{rate}");
}

#[test]
fn report_names_intervals_and_first_seeds() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("coin.yaml"), COIN).unwrap();
    let (text, _) = run(0, folder.path(), &["run", "coin.yaml", "--runs", "200", "--seed", "1"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn scenario_without_choice_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let happy = format!("{SCENARIOS}/happy.yaml");
    let (text, _) = run(0, folder.path(), &["run", &happy, "--runs", "1000"]);
    assert!(text.contains("1 run instead of 1,000") && text.contains("every run is equal"), "{text}");
    assert!(text.contains("random: {seed: critic, choices:"), "{text}");
    let report = report(0, folder.path(), &[&happy, "--runs", "1000"]);
    assert_eq!(
        (&report["scenarios"][0]["runs"], &report["scenarios"][0]["is_random"]),
        (&1.into(), &false.into())
    );
}

#[test]
fn unmet_expectations_and_crashes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let expecting = COIN.replace("{text: Toss it}", "{text: Toss it, expect: {outcome: outcome}}");
    fs::write(folder.path().join("expecting.yaml"), &expecting).unwrap();
    let unmet = report(1, folder.path(), &["expecting.yaml", "--runs", "100"]);
    let scenario = &unmet["scenarios"][0];
    let blocked = scenario["requests"][0]["endings"].as_array().unwrap();
    let blocked = blocked.iter().find(|ending| ending["value"] != "outcome: every task succeeded").unwrap();
    assert_eq!(scenario["unmet_expectations"]["count"], blocked["count"]);
    // With a crash the run is recorded, and gives the same.
    let crashing = COIN.replace("{text: Toss it}", "{text: Toss it, crash: {phase: Planning}}");
    fs::write(folder.path().join("crashing.yaml"), crashing).unwrap();
    let crashed = report(0, folder.path(), &["crashing.yaml", "--runs", "100"]);
    let plain = Path::new("coin.yaml");
    fs::write(folder.path().join(plain), COIN).unwrap();
    let plain = report(0, folder.path(), &["coin.yaml", "--runs", "100"]);
    let endings = |report: &Value| report["scenarios"][0]["requests"][0]["endings"].clone();
    assert_eq!(endings(&crashed), endings(&plain));
    assert_ne!(crashed["scenarios"][0]["steps"], plain["scenarios"][0]["steps"]);
}

#[test]
fn impossible_runs_make_the_report_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    // Only an objecting Critic makes a second pass, for which the list of Solution has no reply.
    let critic = "critic: {random: {seed: critic, choices: [{weight: 2, reply: {pro: {confidence: 0.9}}}, {reply: {con: {confidence: 0.9}}}]}}";
    let exhausted = COIN
        .replace("solution: {pro: {confidence: 0.9}}", "solution: [{pro: {confidence: 0.9}}]")
        .replace("critic: {pro: {confidence: 0.9}}", critic);
    fs::write(folder.path().join("exhausted.yaml"), exhausted).unwrap();
    let report = report(3, folder.path(), &["exhausted.yaml", "--runs", "40"]);
    let error = &report["scenarios"][0]["errors"][0];
    assert!(error["error"].as_str().unwrap().contains("expected a scripted reply"), "{error}");
    assert!((1..40).contains(&error["runs"].as_u64().unwrap()), "{error}");
}

#[test]
fn fork_continues_with_the_recorded_seed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("coin.yaml"), COIN).unwrap();
    // The seed of the scenario, 0, has another reply of Security than the first seed with a veto.
    let counted = report(0, folder.path(), &["coin.yaml", "--runs", "50", "--seed", "1"]);
    let decisions = counted["scenarios"][0]["requests"][0]["decisions"].as_array().unwrap();
    let seed =
        decisions.iter().find(|decision| decision["value"] == "VETO").unwrap()["first_seed"].to_string();
    run(0, folder.path(), &["run", "coin.yaml", "--seed", &seed, "--out-dir", "."]);
    let trace = format!("coin.seed-{seed}.trace.ndjson");
    run(
        0,
        folder.path(),
        &["fork", &trace, "--step", "5", "--set", "policy.proceed_from=0.55", "--output", "f.ndjson"],
    );
    let fork = fs::read_to_string(folder.path().join("f.ndjson")).unwrap();
    assert!(
        fork.contains("\"kind\":\"blocked\"") && fork.contains(&format!("\"seed\":\"{seed}\"")),
        "{fork}"
    );
}

#[test]
fn unsuitable_options_are_refused_with_reason() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = random_replies();
    let mut text = String::new();
    for arguments in [
        &["--runs", "2", "--check"][..],
        &["--seed", "2", "--accept"],
        &["--runs", "2", "--cross-check"],
        &["--runs", "0"],
        &["--runs", "2", "--seed", "18446744073709551615"],
        &["--runs", "2", "--format", "junit"],
        &["--jobs", "2"],
    ] {
        let all = [&["run", &scenario], arguments].concat();
        let (_, error) = run(2, folder.path(), &all);
        text.push_str(&format!("$ run {}\n{error}\n", arguments.join(" ")));
    }
    let (_, error) = run(2, folder.path(), &["run", "--stdio", &scenario, "--seed", "2"]);
    text.push_str(&format!("$ run --stdio --seed 2\n{error}\n"));
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}
