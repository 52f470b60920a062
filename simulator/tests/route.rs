//! The command `route`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const NETWORKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/networks");

const DESK: [&str; 5] = ["invoices.yaml", "--from", "desk", "--capability", "translate"];

/// Runs `route` in the folder of the examples, asserts its exit code, and returns the output of each stream.
fn route(code: i32, arguments: &[&str]) -> (String, String) {
    runner::run(code, Path::new(NETWORKS), &[&["route"], arguments].concat())
}

/// Routes from `desk` with more options, and returns the report as JSON.
fn report(code: i32, arguments: &[&str]) -> Value {
    let (out, _) = route(code, &[&DESK, arguments, &["--format", "json"]].concat());
    serde_json::from_str(&out).unwrap()
}

/// Routes in a copy of the example with one change. The place to change must occur once.
fn changed(code: i32, from: &str, to: &str, arguments: &[&str]) -> (String, String) {
    let text = fs::read_to_string(format!("{NETWORKS}/invoices.yaml")).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("invoices.yaml"), text.replace(from, to)).unwrap();
    runner::run(code, folder.path(), &[&["route"], arguments].concat())
}

/// 001-6.4: a candidate above the overload limit is named. 001-8.1: an ensemble is routed.
#[test]
fn explanation_lists_factors_and_filters() {
    let explain = [&DESK[..], &["--explain"]].concat();
    let (selected, _) = route(0, &explain);
    let task = ["invoices.yaml", "--from", "desk", "--task", "urgent-translation.task.yaml", "--explain"];
    let (with_task, _) = route(0, &task);
    let (local, _) = route(0, &["invoices.yaml", "--from", "desk", "--capability", "extract", "--explain"]);
    let (ensemble, _) = route(0, &[&explain[..], &["--ensemble", "2"]].concat());
    insta::assert_snapshot!([selected, with_task, local, ensemble].join("----\n"));
}

#[test]
fn explanation_fits_narrow_terminals() {
    for columns in [44, 60, 80, 200] {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .arg("route")
            .args(DESK)
            .arg("--explain")
            .current_dir(NETWORKS)
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {text}");
    }
}

#[test]
fn json_has_every_factor() {
    let printed = serde_json::to_string_pretty(&report(0, &["--explain"])).unwrap();
    insta::assert_snapshot!(printed);
    let keys = |report: &Value| report.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let selected = report(0, &[]);
    assert_eq!(keys(&selected), keys(&report(0, &["--ensemble", "9"])));
    assert_eq!(selected["explanation"], Value::Null);
}

/// 001-4.1, 001-4.2, 001-4.3, 001-4.7, 001-4.8, 001-4.9: the score is the product of the factors (001-2.7, 001-7.6); a preference
/// raises it (001-3.6).
#[test]
fn score_is_the_product_computed_by_hand() {
    let explanation = &report(0, &["--explain"])["explanation"];
    let score = |node: &str| {
        let candidates = explanation["candidates"].as_array().unwrap();
        candidates.iter().find(|candidate| candidate["node"] == node).unwrap()["score"].clone()
    };
    // S = T · q_cap · (1 − load) · w · (1 − threat)
    // ana: 0.85 · 0.90 · (1 − 1/4)   · 0.8 · (1 − 0)   = 0.765 · 0.75 · 0.8 = 0.459
    // cleo: 0.70 · 0.88 · (1 − 0/2)   · 0.6 · (1 − 0.5) = 0.616 · 0.3       = 0.1848
    // ben: 0.90 · 0.95 · (1 − 24/25) · 0.9 · (1 − 0)   = 0.855 · 0.036     = 0.03078
    assert_eq!([score("ana"), score("cleo"), score("ben")], [json!(0.459), json!(0.1848), json!(0.03078)]);
    // The preference bonus of 1.2, TRUST: 0.03078 · 1.2 = 0.036936.
    let task = ["--task", "urgent-translation.task.yaml", "--explain"];
    assert_eq!(report(0, &task)["explanation"]["candidates"][1]["score"], json!(0.036936));
    // A stranger has no connections and no beliefs. cleo: 0.616 · 0.3 = 0.1848; ana: 0.765 · 0.75 · 0.3 = 0.172125.
    let (stranger, _) = route(0, &["invoices.yaml", "--capability", "translate"]);
    assert_eq!(stranger, "SELECTED: cleo, score 0.1848, for translate from outside the network. exit 0\n");
}

/// 001-4.4: a node that can execute a task executes it itself.
#[test]
fn local_execution_has_no_handoff() {
    let arguments = ["invoices.yaml", "--from", "desk", "--capability", "extract"];
    let (out, _) = route(0, &arguments);
    assert_eq!(out, "LOCAL: desk executes the task itself (extract, load 0.25), no handoff. exit 0\n");
    let policy = "policy: {routing: {local_preference: false}}\ncapabilities:\n  extract:";
    let (out, _) =
        changed(0, "capabilities:\n  extract:", policy, &[&arguments[..], &["--explain"]].concat());
    assert!(out.starts_with("candidates: 1 of 5 nodes"), "{out}");
    assert!(out.contains("\nLOCAL: desk executes the task itself"), "{out}");
}

/// 001-4.10: without a candidate, the result names the filter that emptied the list: 001-3.5, 001-3.7, 001-4.5, 001-4.6,
/// 001-7.4.
#[test]
fn missing_candidates_name_the_last_filter() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("task.yaml");
    let constraints = "{min_trust: 0.75, excluded_nodes: [ana, ben]}";
    fs::write(&task, format!("required_capabilities: [translate]\nconstraints: {constraints}\n")).unwrap();
    let task = task.to_str().unwrap();
    let (out, _) = route(1, &["invoices.yaml", "--from", "desk", "--task", task]);
    insta::assert_snapshot!(out);
    let report = report(1, &["--task", task, "--ensemble", "2"]);
    assert_eq!(report["result"], "no_candidates");
    let expected = json!({"emptied_by": "min_trust",
        "removed": {"missing_capability": 1, "unavailable": 1, "excluded": 2, "min_trust": 1}});
    assert_eq!(report["no_candidates"], expected);
}

/// 001-2.3, 001-2.4, 001-3.3: types and limits of a capability filter nodes.
#[test]
fn filtered_nodes_show_the_compared_numbers() {
    for (requirement, reason) in [
        (
            "constraints: {min_quality: 0.89}",
            "cleo  has a lower quality than required: quality 0.88, required 0.89",
        ),
        (
            "constraints: {timeout_ms: 59999}",
            "ana   may take longer than the task allows: 60000 ms, allowed 59999 ms",
        ),
        ("input_size: 50001", "ana   accepts only smaller inputs: at most 50000, input 50001"),
        ("input_type: pdf", "ana   does not accept the type of the input"),
        ("output_type: pdf", "ana   does not produce the expected type of output"),
        ("constraints: {excluded_nodes: [ana]}", "ana   is excluded by the task"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let task = folder.path().join("task.yaml");
        fs::write(&task, format!("required_capabilities: [translate]\n{requirement}\n")).unwrap();
        let network = format!("{NETWORKS}/invoices.yaml");
        let arguments = ["route", &network, "--task", "task.yaml", "--from", "desk", "--explain"];
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(&format!("  {reason}\n")), "{requirement}: {printed}");
    }
}

/// 001-8.2, 001-8.3: an ensemble is not all of one cluster.
#[test]
fn ensemble_is_diversified_by_cluster() {
    let ensemble = [&DESK[..], &["--ensemble", "2"]].concat();
    let (out, _) = route(0, &ensemble);
    assert_eq!(out, "ENSEMBLE: ana 0.459, cleo 0.1848, for translate from desk; 2 of 2 wanted. exit 0\n");
    let (from, to) = ("status: member\n    cluster: lisbon", "status: member\n    cluster: porto");
    let (out, _) = changed(0, from, to, &ensemble);
    assert_eq!(
        out,
        "ENSEMBLE: ana 0.459, ben 0.03078, for translate from desk; 2 of 2 wanted; the best 2 are of one\n  \
         cluster, so other clusters come first; ben refuses the handoff: load 0.96, at most 0.95. exit 0\n"
    );
    // No candidate is of another cluster.
    let (from, to) = ("max_capacity: 2}", "max_capacity: 2, available: false}");
    let (out, _) = changed(0, from, to, &ensemble);
    assert_eq!(
        out,
        "ENSEMBLE: ana 0.459, ben 0.03078, for translate from desk; 2 of 2 wanted; all candidates are of\n  \
         one cluster; ben refuses the handoff: load 0.96, at most 0.95. exit 0\n"
    );
    let (json, _) = changed(0, from, to, &[&ensemble[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["ensemble"]["is_diversified"], json!(false));
    let (out, _) = route(0, &[&DESK[..], &["--ensemble", "9"]].concat());
    assert!(out.contains("cleo 0.1848, ben 0.03078, for translate from desk; 3 of 9 wanted"), "{out}");
}

/// A network whose nodes have the quality 0.9, trust in the order of the list, and these numbers of tasks of at most 5.
fn route_to_loaded(code: i32, policy: &str, nodes: &[(&str, u32)], arguments: &[&str]) -> String {
    let mut text =
        format!("policy: {policy}\ncapabilities:\n  send: {{name: Send, category: transformation}}\n");
    text.push_str("nodes:\n  office: {trust: 0.6}\n");
    for (at, (node, tasks)) in nodes.iter().enumerate() {
        let held = format!("{{quality: 0.9, tasks: {tasks}, max_capacity: 5}}");
        text.push_str(&format!(
            "  {node}: {{trust: 0.{}, load: 0.5, capabilities: {{send: {held}}}}}\n",
            9 - at
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("net.yaml"), text).unwrap();
    let route = ["route", "net.yaml", "--from", "office", "--capability", "send"];
    runner::run(code, folder.path(), &[&route[..], arguments].concat()).0
}

/// The nodes report the load 0.5, so that an overloaded node can have the best score.
#[test]
fn next_best_node_gets_a_refused_task() {
    let nodes = [("ana", 5), ("ben", 5), ("cleo", 0)];
    let out = route_to_loaded(0, "{}", &nodes, &[]);
    assert_eq!(
        out,
        "SELECTED: cleo, score 0.0945, for send from office; ana refuses the handoff: load 1.00, at most\n  \
         0.95; ben refuses the handoff: load 1.00, at most 0.95. exit 0\n"
    );
    let report: Value =
        serde_json::from_str(&route_to_loaded(0, "{}", &nodes, &["--format", "json"])).unwrap();
    assert_eq!([&report["result"], &report["node"]], ["selected", "cleo"]);
    let refusal = |node: &str| json!({"node": node, "load": 1.0, "overload_above": 0.95});
    assert_eq!(report["refused"], json!([refusal("ana"), refusal("ben")]));
}

#[test]
fn task_refused_by_every_node_has_no_candidates() {
    let out = route_to_loaded(1, "{}", &[("courier", 5)], &[]);
    assert_eq!(
        out,
        "NO_CANDIDATES: for send from office; courier refuses the handoff: load 1.00, at most 0.95. exit 1\n"
    );
    let policy = "{workflow: {max_retries: 1}}";
    let out = route_to_loaded(1, policy, &[("ana", 5), ("ben", 5), ("cleo", 0)], &["--quiet"]);
    assert!(
        out.starts_with("NO_CANDIDATES: for send from office; no retry is left, max_retries is 1; "),
        "{out}"
    );
}

#[test]
fn refusing_members_of_an_ensemble_are_named() {
    let ensemble = ["--ensemble", "2"];
    let out = route_to_loaded(0, "{}", &[("ana", 0), ("ben", 5)], &ensemble);
    assert!(out.contains("; 2 of 2 wanted; ben refuses the handoff:\n"), "{out}");
    let out = route_to_loaded(1, "{}", &[("ana", 5), ("ben", 5)], &ensemble);
    assert!(out.starts_with("ENSEMBLE: ana") && out.ends_with(" exit 1\n"), "{out}");
}

#[test]
fn quiet_report_is_one_line() {
    let (out, _) = route(0, &[&DESK[..], &["--explain", "--quiet"]].concat());
    assert_eq!(out, "SELECTED: ana, score 0.459, for translate from desk. exit 0\n");
}

#[test]
fn invalid_inputs_are_reported_with_place_and_help() {
    let mut text = String::new();
    let mut add = |error: (String, String)| {
        assert_eq!(error.0, "");
        text.push_str(&error.1.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>());
        text.push_str("----\n");
    };
    add(changed(2, "ana: {w: 0.8,", "anna: {w: 0.8,", &DESK));
    add(changed(2, "extract: {quality: 0.75", "extrakt: {quality: 0.75", &DESK));
    add(changed(2, "trust: 0.85", "trust: 1.85", &DESK));
    add(changed(2, "tasks: 24, max_capacity: 25", "tasks: 26, max_capacity: 25", &DESK));
    add(changed(2, "  dai:\n", "  ana:\n", &DESK));
    add(changed(2, "available: false", "availble: false", &DESK));
    add(changed(2, "trust: 0.85", "public_key: abc", &DESK));
    add(route(2, &["invoices.yaml"]));
    add(route(2, &["invoices.yaml", "--capability", "translat"]));
    add(route(2, &["invoices.yaml", "--capability", "translate", "--from", "dessk"]));
    add(route(2, &["missing.yaml", "--capability", "translate"]));
    insta::assert_snapshot!(text);
}

#[test]
fn example_of_help_has_the_stated_scores() {
    let (help, _) = route(0, &["--help"]);
    let begin = help.find("  capabilities:\n").unwrap();
    let network = help[begin..].split("\n\n").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("net.yaml"), network).unwrap();
    let arguments = ["route", "net.yaml", "--from", "desk", "--capability", "translate", "--ensemble", "2"];
    let (out, _) = runner::run(0, folder.path(), &arguments);
    assert!(out.starts_with("ENSEMBLE: ana 0.459, cleo 0.1848, "), "{out}");
    assert!(help.contains("= 0.459, cleo 0.7 * 0.88 * 1 * 0.6 * 0.5 = 0.1848"), "{help}");
}

#[test]
fn examples_are_valid_by_the_published_schemas() {
    for (schema, file) in [("network", "invoices.yaml"), ("task", "urgent-translation.task.yaml")] {
        let (schema, _) = runner::run(0, Path::new(NETWORKS), &["export", "schema", "--schema", schema]);
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
        let text = fs::read_to_string(format!("{NETWORKS}/{file}")).unwrap();
        let example: Value = serde_saphyr::from_str(&text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&example).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{file}: {errors:?}");
        let misspelled: Value =
            serde_saphyr::from_str(&text.replace("trust:", "trsut:").replace("min_trust", "min_trsut"))
                .unwrap();
        assert!(!validator.is_valid(&misspelled), "{file}");
    }
}
