//! `--format` of `check`, `run`, `replay` and `lint`: every format states the same results, at lines of the files.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion::cli::report_schemas;
use runner::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

const POLICY: &str = "policies/team.yaml";
const SCENARIO: &str = "scenarios/first-request.yaml";
const GOLDEN: &str = "scenarios/first-request.ndjson";

/// Creates a project, then lowers a threshold: the golden trace and two expectations no longer fit.
fn changed_project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    let policy = fs::read_to_string(folder.path().join(POLICY)).unwrap();
    let changed = policy.replace("thresholds:\n", "thresholds:\n  redebate_below: 0.99\n");
    assert_ne!(policy, changed);
    fs::write(folder.path().join(POLICY), changed).unwrap();
    folder
}

/// A result as each format states it: file, line, and the message with its help.
type Result = (String, Option<u64>, String);

fn results_of_json(text: &str) -> Vec<Result> {
    let report: Value = serde_json::from_str(text).unwrap();
    assert!(jsonschema::validator_for(&report_schemas::test()).unwrap().is_valid(&report), "{text}");
    let diagnostics =
        report["cases"].as_array().unwrap().iter().flat_map(|case| {
            case["diagnostics"].as_array().unwrap().iter().filter(|one| one["level"] != "note")
        });
    let result = |one: &Value| {
        let help = one["help"].as_str().map_or_else(String::new, |help| format!("\n{help}"));
        let message = one["message"].as_str().unwrap().to_owned() + &help;
        (one["location"]["file"].as_str().unwrap().to_owned(), one["location"]["line"].as_u64(), message)
    };
    diagnostics.map(result).collect()
}

fn results_of_sarif(text: &str) -> Vec<Result> {
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(text).unwrap();
    let result = |one: &serde_sarif::sarif::Result| {
        let place = one.locations.as_ref().unwrap()[0].physical_location.clone().unwrap();
        let line = place.region.and_then(|region| region.start_line);
        let line = line.map(|line| u64::try_from(line).unwrap());
        (place.artifact_location.unwrap().uri.unwrap(), line, one.message.text.clone().unwrap())
    };
    log.runs[0].results.as_ref().unwrap().iter().map(result).collect()
}

fn results_of_github(text: &str) -> Vec<Result> {
    let lines = text.lines().filter_map(|line| {
        line.strip_prefix("::error ").or_else(|| line.strip_prefix("::warning "))?.split_once("::")
    });
    let result = |(properties, message): (&str, &str)| {
        let value = |name: &str| properties.split(',').find_map(|one| one.strip_prefix(name));
        let line = value("line=").map(|line| line.parse().unwrap());
        (value("file=").unwrap().to_owned(), line, message.replace("%0A", "\n").replace("%25", "%"))
    };
    lines.map(result).collect()
}

/// Runs a command in every format, asserts that all state the same, and returns the results.
fn in_every_format(code: i32, folder: &Path, command: &[&str]) -> Vec<Result> {
    let print = |format| run(code, folder, &[command, &["--format", format]].concat()).0;
    let sarif = results_of_sarif(&print("sarif"));
    assert_eq!(results_of_github(&print("github")), sarif, "{command:?}");
    let human = print("human");
    let github = print("github");
    assert!(github.starts_with(&human), "annotations follow the text:\n{github}");
    let junit = print("junit");
    let xml = roxmltree::Document::parse(&junit).unwrap();
    let failed = |node: &roxmltree::Node<'_, '_>| node.has_tag_name("failure") || node.has_tag_name("error");
    let is_red = xml.descendants().any(|node| failed(&node));
    assert_eq!(is_red, code != 0, "{command:?}\n{junit}");
    for (_, line, message) in &sarif {
        if is_red && line.is_some() {
            let message = message.split('\n').next().unwrap();
            let is_stated = xml
                .descendants()
                .any(|node| failed(&node) && node.text().is_some_and(|text| text.contains(message)));
            assert!(is_stated || message.contains("warning"), "{message}\n{junit}");
        }
    }
    sarif
}

#[test]
fn run_and_replay_state_the_same_in_every_format() {
    let folder = changed_project();
    let folder = folder.path();
    for (command, expected) in [
        (
            &["run", "--check"][..],
            &[
                (GOLDEN, Some(14)),
                (SCENARIO, Some(14)),
                (SCENARIO, Some(16)),
                ("scenarios/in-network.ndjson", Some(1)),
            ][..],
        ),
        (&["run"], &[(SCENARIO, Some(14)), (SCENARIO, Some(16))]),
        (&["replay"], &[(GOLDEN, Some(14))]),
    ] {
        let results = in_every_format(1, folder, command);
        let places: Vec<(&str, Option<u64>)> =
            results.iter().map(|(file, line, _)| (file.as_str(), *line)).collect();
        assert_eq!(places, expected, "{command:?}");
        let json = run(1, folder, &[command, &["--format", "json"]].concat()).0;
        assert_eq!(results_of_json(&json), results, "{command:?}");
    }
    let results = in_every_format(1, folder, &["replay"]);
    let line = fs::read_to_string(folder.join(GOLDEN)).unwrap().lines().nth(13).unwrap().to_owned();
    assert!(line.starts_with("{\"step\":13,") || line.contains("\"n\":13"), "{line}");
    for part in ["step 13", "redebate_below: recorded 0.80, replayed 0.99", "T14", "T13"] {
        assert!(results[0].2.contains(part), "{part}: {results:?}");
    }
}

#[test]
fn diff_states_the_same_in_every_format() {
    let folder = changed_project();
    let folder = folder.path();
    run(1, folder, &["run", "--check", "--quiet"]);
    let now = ".orchestrion/first-request.trace.ndjson";
    let command = ["diff", GOLDEN, now];
    let results = in_every_format(1, folder, &command);
    let [(file, line, message)] = &results[..] else { panic!("{results:?}") };
    assert_eq!((file.as_str(), *line), (now, Some(14)), "{message}");
    for part in
        ["the cause is the policy", "redebate_below: A 0.80, B 0.99", "T14", "T13", "ending of request 1"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let json = run(1, folder, &[&command[..], &["--format", "json"]].concat()).0;
    let schema = jsonschema::validator_for(&report_schemas::diff()).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(&serde_json::from_str(&json).unwrap()).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(in_every_format(0, folder, &["diff", GOLDEN, GOLDEN]), []);
    let [(file, ..)] = &in_every_format(2, folder, &["diff", "nope.ndjson", GOLDEN])[..] else { panic!() };
    assert_eq!(file, "nope.ndjson");
}

#[test]
fn lint_of_claims_states_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The smallest models are those of `as-drawn`.
    fs::write(folder.join("orchestrion.yaml"), "policies: [as-drawn]\n").unwrap();
    let claims = "claims:\n- {id: none, never: {event: veto_raised}}\n\
                  - {id: few, at_most: {limit: 1, of: {event: veto_raised}}}\n";
    fs::write(folder.join("mine.yaml"), claims).unwrap();
    // A warning: the exit code is 0.
    let results = in_every_format(0, folder, &["lint", "mine.yaml", "--quiet"]);
    let [(file, line, message)] = &results[..] else { panic!("{results:?}") };
    assert_eq!((file.as_str(), *line), ("mine.yaml", Some(3)), "{message}");
    assert!(message.starts_with("implied: ") && message.contains("none"), "{message}");
    let json = run(0, folder, &["lint", "mine.yaml", "--format", "json"]).0;
    let json: Value = serde_json::from_str(&json).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::claim_lint()).unwrap();
    assert!(schema.is_valid(&json), "{json:#}");
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 1);
    let error = run(2, folder, &["lint", "mine.yaml", "--reach", "Idle"]).1;
    assert!(error.contains("--reach is for state machines"), "{error}");
}

#[test]
fn equal_project_has_no_result() {
    let folder = tempfile::tempdir().unwrap();
    run(0, folder.path(), &["init"]);
    for command in [&["run", "--check"][..], &["run"], &["replay"]] {
        assert_eq!(in_every_format(0, folder.path(), command), [], "{command:?}");
    }
}

#[test]
fn damaged_and_invalid_files_are_results_at_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(0, folder, &["init"]);
    let golden = fs::read_to_string(folder.join(GOLDEN)).unwrap();
    fs::write(
        folder.join(GOLDEN),
        golden.replacen("\"step\":9", "\"step\":8", 1).replacen("\"n\":9", "\"n\":8", 1),
    )
    .unwrap();
    let replay = in_every_format(3, folder, &["replay"]);
    assert_eq!((replay[0].0.as_str(), replay[0].1), (GOLDEN, Some(10)), "{replay:?}");
    assert!(replay[0].2.starts_with("chain mismatch"), "{replay:?}");
    let scenario = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    fs::write(folder.join(SCENARIO), scenario.replacen("user:", "usr:", 1)).unwrap();
    let results = in_every_format(3, folder, &["run"]);
    let line = 1 + scenario.lines().position(|line| line.starts_with("user:")).unwrap();
    assert_eq!((results[0].0.as_str(), results[0].1), (SCENARIO, Some(line as u64)), "{results:?}");
}

#[test]
fn check_states_failing_claims_with_their_policy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let claims = "claims:\n- id: no-task\n  never: {operation: run_task}\n";
    fs::write(folder.join("mine.yaml"), claims).unwrap();
    let command = [
        "check",
        "--policy",
        "as-drawn",
        "--scope",
        "tiny",
        "--model",
        "debate",
        "--model",
        "lifecycle",
        "--claims",
        "mine.yaml",
        "--quiet",
    ];
    let results = in_every_format(1, folder, &command);
    assert!(results.iter().any(|(file, ..)| file == "as-drawn"), "{results:?}");
    assert!(results.iter().all(|(_, _, message)| message.contains("under as-drawn")), "{results:?}");
    let json = run(1, folder, &[&command[..], &["--format", "json"]].concat()).0;
    let report: Value = serde_json::from_str(&json).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::check()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let failing = |key: &str| {
        let claims = report[key].as_array().unwrap().iter();
        claims.filter(|claim| claim["verdict"] == "fails" || claim["verdict"] == "not_inductive").count()
    };
    assert_eq!(results.len(), failing("claims") + failing("user_claims"));
    assert!(results.iter().any(|(file, line, _)| file == "mine.yaml" && *line == Some(2)), "{results:?}");
}

#[test]
fn other_reports_refuse_formats_for_cases() {
    let folder = tempfile::tempdir().unwrap();
    for (option, more) in [
        ("--reach", &["--reach", "T18"][..]),
        ("--sweep", &["--sweep", "passes=1"]),
        ("--simulate", &["--simulate"]),
    ] {
        let arguments = [&["check", "--format", "junit"], more].concat();
        let error = run(2, folder.path(), &arguments).1;
        assert!(error.contains(&format!("not available with {option}")), "{error}");
    }
}

/// GitHub Actions executes a line that starts with `::`. File names and texts of a trace can contain any line.
#[test]
fn foreign_texts_are_no_workflow_commands() {
    let folder = changed_project();
    let folder = folder.path();
    let name = "::warning::x.yaml";
    let scenario = fs::read_to_string(folder.join(SCENARIO)).unwrap();
    let scenario = scenario.replace("../policies", "policies");
    fs::write(folder.join(name), &scenario).unwrap();
    let command = format!("{} ::stop-commands::pause {}", "word ".repeat(40), "##[error]x ".repeat(40));
    let request = scenario.lines().find(|line| line.trim_start().starts_with("- text: ")).unwrap();
    let (before, _) = request.split_once("- text: ").unwrap();
    let hostile = scenario.replace(request, &format!("{before}- text: \"{command}\""));
    fs::write(folder.join("::error::y.yaml"), hostile).unwrap();
    let mut broken = 0;
    for format in ["human", "github"] {
        let outputs = [
            run(1, folder, &["run", name, "::error::y.yaml", "--format", format]),
            run(2, folder, &["run", "::error::missing.yaml", "--format", format]),
            run(2, folder, &["replay", "::error::y.yaml", "--format", format]),
        ];
        for (out, err) in outputs {
            let is_annotation = |line: &str| {
                ["::error file=", "::warning file=", "::notice file="]
                    .iter()
                    .any(|start| line.starts_with(start))
            };
            let executed = out.lines().chain(err.lines()).filter(|line| {
                (line.trim_start().starts_with("::") && !(format == "github" && is_annotation(line)))
                    || line.contains("##[error]")
            });
            assert_eq!(executed.collect::<Vec<_>>(), Vec::<&str>::new());
            broken += out.matches(": :").count() + err.matches(": :").count();
        }
    }
    assert!(broken > 5, "{broken}");
}

/// A report needs memory for each path.
#[test]
fn folder_with_too_many_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let deep = folder.join("many").join("d".repeat(200)).join("e".repeat(200));
    fs::create_dir_all(&deep).unwrap();
    for number in 0..8_000 {
        fs::File::create(deep.join(format!("{number:05}.ndjson"))).unwrap();
        fs::File::create(deep.join(format!("{number:05}.yaml"))).unwrap();
    }
    for command in ["replay", "run"] {
        let refused = run(2, folder, &[command, "many"]).1;
        let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.contains("too many files: expected paths of at most 4194304 bytes"), "{refused}");
    }
}

/// The machines of all files are in memory together.
#[test]
fn lint_of_many_large_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let states: String = (0..450).map(|number| format!("  S{number}: waiting\n")).collect();
    let rows: String = (0..450)
        .map(|number| format!("  - {{from: S{number}, on: e, to: S{}}}\n", (number + 1) % 450))
        .collect();
    fs::write(folder.join("m.yaml"), format!("start: S0\nstates:\n{states}rows:\n{rows}")).unwrap();
    let files = ["m.yaml"; 113];
    let refused = run(1, folder, &[&["lint"], &files[..]].concat()).1;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refused.contains("expected at most 100000 states and edges in all files"), "{refused}");
    assert_eq!(refused.matches("not linted").count(), 113 - 100_000 / 900, "{refused}");
}

#[test]
fn lint_states_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let machine = "name: shop\nstart: Open\nstates:\n  Open: idle\n  Paying: waiting\n  Lost: waiting\nrows:\n  - {from: Open, on: ordered, to: Paying}\n  - {from: Paying, on: paid, to: Open}\n";
    fs::write(folder.join("shop.yaml"), machine).unwrap();
    fs::write(folder.join("orchestrion.yaml"), "machines: [shop.yaml]\n").unwrap();
    let results = in_every_format(1, folder, &["lint"]);
    assert!(
        results
            .iter()
            .any(|(file, line, message)| file == "shop.yaml" && *line == Some(6) && message.contains("Lost")),
        "{results:?}"
    );
    let json: Value = serde_json::from_str(&run(1, folder, &["lint", "--format", "json"]).0).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::lint()).unwrap();
    assert!(schema.is_valid(&json), "{json:#}");
    let path = run(0, folder, &["lint", "--reach", "Paying", "--dot", "shop.dot"]).0;
    assert!(path.contains("Paying reached by 1 edge\n  shop.yaml:8:"), "{path}");
    let drawing = fs::read_to_string(folder.join("shop.dot")).unwrap();
    assert_eq!(drawing.matches("penwidth=2").count(), 1, "{drawing}");
    run(0, folder, &["lint", "--reach", "Paying", "--dot", "shop.dot"]);
    fs::write(folder.join("shop.dot"), "digraph machines {}\n").unwrap();
    let refused = run(2, folder, &["lint", "--dot", "shop.dot"]).1;
    assert!(refused.contains("is not a drawing of state machines and is not overwritten"), "{refused}");
    let lost = run(1, folder, &["lint", "--reach", "Lost"]).0;
    assert!(lost.contains("Lost NOT REACHED"), "{lost}");
    let unknown = run(2, folder, &["lint", "--reach", "Payng"]).1;
    assert!(unknown.contains("did you mean `Paying`?"), "{unknown}");
    fs::write(folder.join("orchestrion.yaml"), "machines: [shp.yaml]\n").unwrap();
    assert!(run(2, folder, &["lint"]).1.contains("did you mean `shop.yaml`?"));
}

#[test]
fn lint_states_the_unreadable_files_in_every_format() {
    let folder = changed_project();
    let folder = folder.path();
    let orders = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/machines/orders.yaml");
    fs::copy(orders, folder.join("a.yaml")).unwrap();
    let schema = jsonschema::validator_for(&report_schemas::lint()).unwrap();
    for (code, files) in [(3, &["a.yaml", "nope.yaml"][..]), (2, &["nope.yaml"])] {
        let json = run(code, folder, &[&["lint", "--format", "json"], files].concat()).0;
        let report: Value = serde_json::from_str(&json).unwrap();
        assert!(schema.is_valid(&report), "{json}");
        assert_eq!(report["verdict"], "incomplete");
        assert_eq!(report["unreadable"][0]["name"], "nope.yaml");
    }
    let annotations = run(2, folder, &["lint", "nope.yaml", "--format", "github"]).0;
    assert!(annotations.starts_with("::error file=nope.yaml"), "{annotations}");
    let printed = run(3, folder, &["lint", "a.yaml", "nope.yaml"]).0;
    assert!(printed.contains("INCOMPLETE"), "{printed}");
}

#[test]
fn check_states_an_invalid_file_in_every_format() {
    let folder = changed_project();
    let folder = folder.path();
    fs::write(folder.join("mine.yaml"), "extends: hardened\nname: x\nfoo: 1\n").unwrap();
    let results = in_every_format(2, folder, &["check", "--policy", "mine.yaml"]);
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!((results[0].0.as_str(), results[0].1), ("mine.yaml", Some(3)));
    let results = in_every_format(2, folder, &["check", "--policy", "hardened", "--scope", "nope.yaml"]);
    assert_eq!(results[0].0, "nope.yaml");
}
