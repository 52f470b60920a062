//! The command `check`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Runs `check` at the tiny scope, asserts its exit code, and returns the output of both streams.
fn check(code: i32, folder: &TempDir, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .arg("check")
        .args(["--scope", "tiny"])
        .args(arguments)
        .current_dir(folder.path())
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}");
    assert!(!printed.contains("panicked"), "{arguments:?}\n{printed}");
    printed
}

fn json(code: i32, folder: &TempDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&check(code, folder, &[arguments, &["--format", "json", "--quiet"]].concat()))
        .unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn orchestrion(folder: &Path, arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_orchestrion")).args(arguments).current_dir(folder).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{printed}");
    printed
}

#[test]
fn full_check_reaches_all_expected_observations() {
    let report = json(0, &folder(), &[]);
    assert_eq!(report["verdict"], "holds");
    let coverage = &report["coverage"][0];
    assert_eq!(
        (&coverage["exhaustive"], &coverage["unreached"]),
        (&true.into(), &Value::Array(vec![])),
        "{coverage}"
    );
    assert!(coverage["expected"].as_u64().unwrap() > 100 && coverage["reached"] == coverage["expected"]);
    assert!(coverage["collision_probability"].as_f64().unwrap() > 0.0);
    let claims = report["claims"].as_array().unwrap();
    let not_checked: Vec<&Value> =
        claims.iter().filter(|claim| claim["verdict"] != "holds").map(|claim| &claim["id"]).collect();
    assert_eq!(not_checked, ["C-19", "C-115"]);
    let runs = report["runs"].as_array().unwrap();
    for run in runs {
        assert!(
            run["steps"].as_u64() > run["product_states"].as_u64() && run["limit_reached"].is_null(),
            "{run}"
        );
    }
    // The counts detect changes of the models. If a count changes, check that the change explains the difference.
    let counts: Vec<_> = runs
        .iter()
        .take(orchestrion_model::scopes::MODELS.len())
        .map(|run| {
            let count = |key: &str| run[key].as_u64().unwrap();
            (run["model"].as_str().unwrap(), count("states"), count("product_states"))
        })
        .collect();
    assert_eq!(
        counts,
        [
            ("debate", 50_375, 60_071),
            ("ratings", 3_839, 4_597),
            ("duels", 3_821, 4_579),
            ("answers", 8_507, 8_507),
            ("execution", 199_351, 209_953),
            ("lifecycle", 1_915, 2_079),
            ("semantic", 36_114, 36_114),
            ("scopes", 6_651, 6_651),
            ("facts", 30_096, 30_340),
            ("contexts", 7_972, 7_972),
            ("situation", 28_022, 28_022),
            ("workflow", 18_131, 21_244),
            ("handoffs", 18_782, 18_892),
            ("nodes", 15_889, 15_889),
            ("attempts", 6_605, 6_643),
            ("ensembles", 5_226, 5_226),
            ("interactions", 10_714, 10_714),
            ("network", 8_319, 9_269),
        ]
    );
}

#[test]
fn check_of_one_model_reports_partial_coverage() {
    let folder = folder();
    let printed = check(0, &folder, &["--model", "lifecycle"]);
    assert!(printed.contains("models other than lifecycle may reach them"), "{printed}");
    assert!(printed.contains("at scope tiny, in lifecycle only"), "{printed}");
    assert!(
        !printed.contains("VACUOUS") && printed.contains("this model does not reach the premises of"),
        "{printed}"
    );
    let report = json(0, &folder, &["--model", "lifecycle", "--exact"]);
    let not_in_model =
        report["claims"].as_array().unwrap().iter().filter(|claim| claim["verdict"] == "not_in_model");
    assert!(report["verdict"] == "holds" && not_in_model.count() > 0);
    let coverage = &report["coverage"][0];
    assert_eq!((&coverage["exhaustive"], &coverage["collision_probability"]), (&false.into(), &0.0.into()));
    assert!(!coverage["unreached"].as_array().unwrap().is_empty());
}

#[test]
fn limit_is_reported_with_explored_depth() {
    let folder = folder();
    let printed = check(3, &folder, &["--model", "lifecycle", "--max-states", "500"]);
    assert!(printed.contains("LIMIT REACHED: states (--max-states)"), "{printed}");
    assert!(!printed.contains("HOLDS") && !printed.contains("  holds  "), "{printed}");
    let report = json(3, &folder, &["--model", "lifecycle", "--max-states", "500"]);
    let limit = &report["runs"][0]["limit_reached"];
    assert_eq!((&report["verdict"], &limit["resource"]), (&"inconclusive".into(), &"states".into()));
    assert!(
        limit["explored_steps"].as_u64() < report["runs"][0]["depth"].as_u64()
            && limit["frontier"].as_u64() > Some(0)
    );
}

#[test]
fn counterexample_fails_a_limited_check() {
    let arguments =
        ["--policy", "as-drawn", "--model", "lifecycle", "--model", "debate", "--max-states", "2000"];
    let report = json(1, &folder(), &arguments);
    assert_eq!(report["verdict"], "fails");
    let runs = report["runs"].as_array().unwrap();
    let limited: Vec<bool> = runs.iter().map(|run| !run["limit_reached"].is_null()).collect();
    assert_eq!(limited, [true, false], "only the debate hits the limit");
    let verdicts =
        report["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].as_str().unwrap());
    let words: std::collections::BTreeSet<&str> = verdicts.collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["fails", "inconclusive", "not_checked"]);
}

#[test]
fn infinite_counterexample_has_a_cycle() {
    let folder = folder();
    let report = json(1, &folder, &["--policy", "as-drawn", "--model", "execution"]);
    let claims = report["claims"].as_array().unwrap();
    let endless = |claim: &&Value| !claim["counterexample"]["cycle"].is_null();
    let claim = claims.iter().find(endless).expect("as-drawn does not bound repairs");
    let path = &claim["counterexample"];
    let (first, last) = (&path["cycle"]["first_step"], &path["cycle"]["last_step"]);
    let (first, last) = (first.as_u64().unwrap(), last.as_u64().unwrap());
    assert_eq!(path["steps"].as_u64().unwrap(), 2 * last + 1 - first, "stem and two cycles");
    let printed = check(1, &folder, &["--policy", "as-drawn", "--model", "execution", "--quiet"]);
    let trace = path["trace"].as_str().unwrap();
    assert!(
        printed.contains(&format!("infinite counterexample: steps {first} to {last} repeat")),
        "{printed}"
    );
    assert!(printed.contains(&format!("show {trace} --step {first}\n")), "{printed}");
    orchestrion(folder.path(), &["replay", trace]);
    let itf: Value =
        serde_json::from_slice(&fs::read(folder.path().join(path["itf"].as_str().unwrap())).unwrap())
            .unwrap();
    let states = itf["states"].as_array().unwrap();
    assert_eq!(states.len() as u64, path["steps"].as_u64().unwrap(), "the last state starts the cycle");
    assert_eq!(itf["loop"].as_u64(), Some(last));
    assert_eq!(states[last as usize]["phase"], states[first as usize - 1]["phase"]);
}

#[test]
fn drawing_marks_the_counterexample() {
    let folder = folder();
    let arguments = ["--policy", "as-drawn", "--model", "lifecycle", "--dot", "explored.dot"];
    check(1, &folder, &arguments);
    let drawn = fs::read_to_string(folder.path().join("explored.dot")).unwrap();
    for text in [
        "digraph explored {",
        "policy as-drawn, scope tiny: lifecycle; counterexample of C-01",
        "step 2: T01",
    ] {
        assert!(drawn.contains(text), "{text}\n{drawn}");
    }
    check(1, &folder, &arguments);
    assert_eq!(fs::read_to_string(folder.path().join("explored.dot")).unwrap(), drawn);
    for precious in ["precious", "digraph mine {}\n", "digraph explored { own }\n"] {
        fs::write(folder.path().join("explored.dot"), precious).unwrap();
        let refused = check(2, &folder, &arguments);
        assert!(refused.contains("is not a drawing of explored states and is not overwritten"), "{refused}");
        assert_eq!(fs::read_to_string(folder.path().join("explored.dot")).unwrap(), precious);
    }
}

#[test]
fn reach_finds_a_shortest_path() {
    let folder = folder();
    let two = ["--model", "debate", "--model", "lifecycle"];
    for (what, model, row) in [
        ("T18", "debate", "T18"),
        ("blocked", "lifecycle", "E04"),
        ("not T19", "debate", "T20"),
        ("receipt", "lifecycle", "H11"),
        ("C-27", "lifecycle", "T33"),
        ("nothing to resume", "debate", "refused: nothing to resume"),
        ("wrong user", "debate", "refused: wrong user"),
    ] {
        let arguments = [&["--reach", what][..], &two].concat();
        let report = json(0, &folder, &arguments);
        let path = &report["paths"][0];
        assert_eq!((&path["verdict"], &path["model"]), (&"reached".into(), &model.into()), "{what}");
        let runs = path["runs"].as_array().unwrap();
        let least = runs.iter().filter_map(|run| run["steps"].as_u64()).min();
        assert_eq!((runs.len(), path["steps"].as_u64()), (2, least), "{what}: shortest path of both models");
        let trace = path["trace"].as_str().unwrap();
        orchestrion(folder.path(), &["replay", trace]);
        let step = orchestrion(folder.path(), &["show", trace, "--step", &least.unwrap().to_string()]);
        assert!(step.contains(row.trim_start_matches("refused: ")), "{what}: {row}\n{step}");
        if row.starts_with("refused") || row == "E04" {
            let printed = check(0, &folder, &arguments);
            assert!(printed.contains("REACHED: ") && printed.contains("  shortest path, "), "{printed}");
            assert!(printed.contains(row), "{what}: {row}\n{printed}");
        }
    }
    // The path depends on limits of the model, which the evidence must record.
    let report = json(0, &folder, &["--reach", "K01", "--model", "semantic"]);
    let trace = report["paths"][0]["trace"].as_str().unwrap();
    let row =
        orchestrion(folder.path(), &["show", trace, "--step", &report["paths"][0]["steps"].to_string()]);
    assert!(row.contains("K01"), "{row}");
    assert!(orchestrion(folder.path(), &["replay", trace]).contains("equal"));

    let printed = check(0, &folder, &["--reach", "Idle", "--model", "lifecycle"]);
    assert!(printed.contains("holds in the initial state") && !printed.contains("  show "), "{printed}");
}

/// A matcher of transitions and the observation of a transition are found by two searches.
#[test]
fn reach_of_matcher_is_as_short_as_its_observation() {
    let folder = folder();
    for (matcher, name) in [
        ("{transition: T18}", "T18"),
        ("{event: transitioned, to: Blocked}", "Blocked"),
        ("{transition: H11, request.phase: Idle}", "H11"),
    ] {
        let steps = |target: &str| {
            let report = json(0, &folder, &["--reach", target, "--model", "debate"]);
            report["paths"][0]["steps"].as_u64().unwrap()
        };
        assert_eq!(steps(matcher), steps(name), "{matcher}");
    }
}

#[test]
fn reach_of_matcher_stops_at_the_first_witness() {
    let folder = folder();
    let of = |target: &str| json(0, &folder, &["--reach", target, "--model", "debate"]);
    let (first, second) = (of("{label: vetoed}"), of("{label: vetoed, request.pass: {at_least: 2}}"));
    let path = |report: &Value, key: &str| report["paths"][0][key].as_u64().unwrap();
    assert!(path(&first, "steps") < path(&second, "steps"));
    let states = |report: &Value| report["paths"][0]["runs"][0]["product_states"].as_u64().unwrap();
    assert!(states(&first) < states(&second), "{} {}", states(&first), states(&second));
    let trace = second["paths"][0]["trace"].as_str().unwrap();
    assert!(orchestrion(folder.path(), &["replay", trace]).contains("equal"));
    let shown = orchestrion(folder.path(), &["show", trace]);
    assert!(shown.contains("VETO"), "{shown}");

    let unreached =
        ["--reach", "{label: vetoed, request.pass: 1, score: {at_least: 0.99}}", "--model", "lifecycle"];
    let printed = check(1, &folder, &unreached);
    assert!(printed.contains("NOT REACHED: {label: vetoed, request.pass: 1"), "{printed}");
}

#[test]
fn wrong_matchers_are_refused_with_place() {
    let folder = folder();
    for (matcher, parts) in [
        ("{lable: vetoed}", ["unknown field `lable`", "did you mean `label`?"]),
        ("{label: vetod}", ["unknown value `vetod` of `label`", "did you mean `vetoed`?"]),
        ("{score: {below: 0.5}}", ["unknown", "at_most"]),
        ("{event: decided, stance: con}", ["the event `decided` has no field `stance`", "tool_result"]),
        ("{}", ["expected an event or a field, found an empty mapping", "for example"]),
        ("{label: vetoed", ["--reach", "help"]),
    ] {
        let printed = check(2, &folder, &["--reach", matcher]);
        for part in parts {
            assert!(printed.contains(part), "{matcher}: {part}\n{printed}");
        }
    }
}

#[test]
fn sweep_has_outcomes_of_common_random_runs() {
    let folder = folder();
    let sweep = ["--model", "debate", "--sweep", "veto_from=0.8..1:0.1"];
    let report = json(0, &folder, &sweep);
    assert_eq!(report["random_runs"]["runs"], 1000);
    let rows = report["rows"].as_array().unwrap();
    let blocked: Vec<u64> = rows
        .iter()
        .map(|row| {
            let outcomes = row["outcomes"].as_array().unwrap();
            let total: u64 = outcomes.iter().map(|outcome| outcome["count"].as_u64().unwrap()).sum();
            assert_eq!(total, 1000, "{row:#}");
            outcomes.iter().find(|outcome| outcome["outcome"] == "blocked").unwrap()["count"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(blocked.len(), 3);
    // A higher threshold vetoes fewer of the same debates.
    assert!(blocked[0] > blocked[1] && blocked[1] > blocked[2], "{blocked:?}");
    assert_eq!(
        report["rows"],
        without_times(json(0, &folder, &[&sweep[..], &["--jobs", "1"]].concat()), &report)
    );
    let printed = check(0, &folder, &sweep);
    assert!(printed.contains("outcomes of 1,000 random runs in each row"), "{printed}");
}

/// Returns the rows of a report with the times of another one.
fn without_times(mut report: Value, other: &Value) -> Value {
    let rows = report["rows"].as_array_mut().unwrap();
    for (row, other) in rows.iter_mut().zip(other["rows"].as_array().unwrap()) {
        row["seconds"] = other["seconds"].clone();
    }
    report["rows"].clone()
}

#[test]
fn unreached_target_is_reported() {
    let folder = folder();
    let printed = check(1, &folder, &["--reach", "T03", "--model", "lifecycle"]);
    assert!(
        printed.contains("NOT REACHED: T03 not in lifecycle, explored exhaustively, at scope tiny"),
        "{printed}"
    );
    assert!(printed.contains("the policy enables no transition that leads to it"), "{printed}");
    let printed = check(3, &folder, &["--reach", "T18", "--model", "debate", "--max-states", "100"]);
    assert!(printed.contains("INCONCLUSIVE: T18 not reached before a resource limit"), "{printed}");
    assert!(!folder.path().join(".orchestrion").exists(), "without a path there is no evidence");
    let printed = check(2, &folder, &["--reach", "Bloked"]);
    assert!(
        printed.contains("unknown target `Bloked`") && printed.contains("did you mean `Blocked`?"),
        "{printed}"
    );
    let printed = check(2, &folder, &["--reach", "C-19"]);
    assert!(printed.contains("the policy has no approver"), "{printed}");
}

#[test]
fn sweep_prints_one_row_per_combination() {
    let folder = folder();
    let arguments = ["--model", "lifecycle", "--sweep", "max_audit_attempts=0..2"];
    let report = json(3, &folder, &arguments);
    let rows = report["rows"].as_array().unwrap();
    let verdicts: Vec<&str> = rows.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["invalid", "holds", "holds"], "{report}");
    assert!(rows[0]["error"].as_str().unwrap().contains("expected at least 1"), "{report}");
    assert!(
        rows[1]["product_states"].as_u64() < rows[2]["product_states"].as_u64(),
        "more attempts, more states: {report}"
    );
    let not_in_model = rows[1]["not_in_model"].as_array().unwrap();
    assert!(!not_in_model.is_empty() && rows[1]["vacuous"].as_array().unwrap().is_empty(), "{report}");
    assert_eq!(rows[2]["settings"]["bounds.audit_attempts"], "2");
    let printed = check(3, &folder, &arguments);
    assert!(printed.contains("invalid policy: bounds.audit_attempts: "), "{printed}");
    assert!(printed.contains(" hold; ") && printed.contains(" not in model\n"), "{printed}");
    assert!(printed.ends_with("2 of 3 combinations hold at scope tiny; 1 invalid. exit 3\n"), "{printed}");
    let cut = check(
        3,
        &folder,
        &["--model", "lifecycle", "--sweep", "max_audit_attempts=1", "--max-states", "100"],
    );
    assert!(cut.ends_with("; 1 inconclusive or vacuous. exit 3\n"), "{cut}");
}

#[test]
fn sweep_finds_the_failing_setting() {
    let folder = folder();
    let sweep = ["--sweep", "sticky_veto=true,false", "--sweep", "passes=1", "--model", "debate"];
    let report = json(1, &folder, &sweep);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["fails"].as_array().unwrap().is_empty(), "{report}");
    let failing =
        rows[1]["fails"].as_array().unwrap().iter().find(|failure| failure["claim"] == "C-06").unwrap();
    orchestrion(folder.path(), &["replay", failing["trace"].as_str().unwrap()]);
    let printed = check(1, &folder, &sweep);
    assert!(printed.contains("FAILS C-06") && printed.contains("  show     orchestrion show "), "{printed}");
}

#[test]
fn invalid_arguments_are_refused_before_exploration() {
    let folder = folder();
    fs::write(folder.path().join("mine.yaml"), "name: mine\n").unwrap();
    for (arguments, expected) in [
        (&["--max-memory", "5"][..], "such as 512MiB or 2GiB"),
        (&["--max-memory", "much"], "such as 512MiB or 2GiB"),
        (&["--timeout", "x"], "such as 90s"),
        (&["--timeout", "0s"], "such as 90s"),
        (&["--timeout=-3s"], "such as 90s"),
        (&["--max-states", "0"], "--max-states"),
        (&["--jobs", "0"], "--jobs"),
        (&["--sweep", "passes=1", "--reach", "T18"], "cannot be used with"),
        (&["--sweep", "pases=1..6"], "did you mean `passes`?"),
        (&["--sweep", "passes=x", "--policy", "mine.yaml"], "passes: x"),
        (&["--sweep", "elo=fast"], "expected one of incremental, standard"),
    ] {
        let printed = check(2, &folder, arguments);
        assert!(printed.contains(expected), "{arguments:?}\n{printed}");
    }
}

#[test]
fn unproven_contexts_leave_optimality_inconclusive() {
    let folder = folder();
    fs::write(folder.path().join("one.yaml"), "name: one\ncontexts: {nodes_max: 1}\n").unwrap();
    let arguments = ["--policy", "one.yaml", "--model", "semantic"];
    let printed = check(3, &folder, &arguments);
    assert!(printed.contains("contexts not proven optimal"), "{printed}");
    let report = json(3, &folder, &arguments);
    assert!(report["runs"][0]["unproven_contexts"].as_u64().unwrap() > 0);
    let claims = report["claims"].as_array().unwrap();
    let inconclusive: Vec<&Value> =
        claims.iter().filter(|claim| claim["verdict"] == "inconclusive").map(|claim| &claim["id"]).collect();
    assert_eq!(inconclusive, ["C-96"]);
    let proven = json(0, &folder, &["--model", "semantic"]);
    assert_eq!(proven["runs"][0]["unproven_contexts"], 0);
}

#[test]
fn simulation_reports_coverage_and_violations() {
    let folder = folder();
    let arguments = ["--simulate", "--runs", "12", "--depth", "60", "--seed", "3"];
    let printed = check(0, &folder, &arguments);
    assert!(printed.contains("policy hardened, scope tiny, seed 3"), "{printed}");
    assert!(printed.contains("need an exploration: C-03"), "{printed}");
    assert!(printed.contains("NO VIOLATION of"), "{printed}");
    let more = ["--policy", "as-drawn", "--counterexamples", "2"];
    let report = json(1, &folder, &[&arguments[..], &more].concat());
    assert_eq!(report["verdict"], "fails");
    let policy = &report["policies"][0];
    assert_eq!((&policy["runs"][0]["model"], &policy["runs"][0]["runs"]), (&"composed".into(), &12.into()));
    let violations = policy["violations"].as_array().unwrap();
    assert!(!violations.is_empty());
    for violation in violations {
        orchestrion(folder.path(), &["replay", violation["trace"].as_str().unwrap()]);
        assert!(violation["steps"].as_u64() <= violation["steps_of_run"].as_u64(), "{violation}");
    }
}

/// Gives these lines to `check --step`, and returns what it prints.
fn step(folder: &TempDir, arguments: &[&str], lines: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(["check", "--step"])
        .args(arguments)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    printed
}

#[test]
fn models_are_stepped_through_by_hand() {
    let folder = folder();
    let lines = "1\n1\n/both\n/locks\nb\n9999\nw\ns\nq\n";
    let printed = step(&folder, &["--model", "lifecycle"], lines);
    for expected in [
        "Step 2 of conversation step",
        "after 2 steps, in VerifyingIdentity",
        "identity locks",
        "no input contains `both`",
        "after 1 step, in Idle",
        "found `9999`",
        "\"semantic\"",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    let mut files =
        fs::read_dir(folder.path().join(".orchestrion")).unwrap().map(|file| file.unwrap().path());
    let trace = files.find(|file| file.to_str().unwrap().ends_with(".trace.ndjson")).unwrap();
    orchestrion(folder.path(), &["replay", trace.to_str().unwrap()]);
    // The end of the input ends the command.
    step(&folder, &["--model", "debate"], "1");
    // A violation is shown at the step that has it.
    let printed = step(&folder, &["--model", "lifecycle", "--policy", "as-drawn"], "1\n1\n");
    assert!(printed.contains("C-14   VIOLATED"), "{printed}");
}

#[test]
fn stepping_needs_one_explored_model() {
    let printed = check(2, &folder(), &["--step", "--model", "debate", "--model", "facts"]);
    assert!(printed.contains("expected 1, found 2 (debate, facts)"), "{printed}");
    for mode in [&["--step"][..], &["--simulate"], &["--reach", "Blocked"], &["--statistics"]] {
        let printed = check(2, &folder(), &[mode, &["--model", "rivals"]].concat());
        assert!(printed.contains("cannot run `rivals`"), "{printed}");
    }
}

#[test]
fn project_claims_are_checked_or_listed() {
    let folder = folder();
    let claims = "claims:\n- {id: no-call, never: {event: tool_call}}\n";
    fs::write(folder.path().join("mine.yaml"), claims).unwrap();
    let printed = step(&folder, &["--model", "lifecycle", "--claims", "mine.yaml"], "1\n1\n");
    assert_eq!(printed.matches("no-call VIOLATED, event tool_call").count(), 1, "{printed}");
    for mode in [&["--simulate"][..], &["--reach", "Blocked"], &["--statistics"], &["--mutants"]] {
        let printed = check(2, &folder, &[mode, &["--claims", "mine.yaml"]].concat());
        assert!(printed.contains("cannot be used with"), "{printed}");
    }
    fs::write(folder.path().join("orchestrion.yaml"), "policies: [hardened]\nclaims: [mine.yaml]\n").unwrap();
    let report = json(0, &folder, &["--simulate", "--runs", "1", "--depth", "5"]);
    let not_checked = report["policies"][0]["not_checked"].as_array().unwrap();
    assert!(not_checked.contains(&"no-call".into()), "{not_checked:?}");
}

#[test]
fn several_counterexamples_are_from_different_models() {
    let models = ["--model", "execution", "--model", "lifecycle"];
    let arguments = [&["--policy", "as-drawn", "--counterexamples", "2"], &models[..]].concat();
    let report = json(1, &folder(), &arguments);
    let claims = report["claims"].as_array().unwrap();
    let several =
        claims.iter().filter(|claim| !claim["other_counterexamples"].as_array().unwrap().is_empty());
    let mut count = 0;
    for claim in several {
        let (first, other) = (&claim["counterexample"], &claim["other_counterexamples"][0]);
        assert_ne!(first["model"], other["model"], "{claim}");
        assert_eq!(first["model"], claim["model"], "{claim}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn shard_without_mutants_is_refused() {
    let printed = check(2, &folder(), &["--mutants", "--shard", "10000/10000"]);
    assert!(printed.contains("--shard 10000/10000 has no mutants"), "{printed}");
    let printed = check(2, &folder(), &["--mutants", "--shard", "3/2"]);
    assert!(printed.contains("expected a part such as 2/3"), "{printed}");
}
