//! `check`, called as a user calls it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs `check` at the tiny scope, checks its exit code, and gives what it printed on both streams.
fn check(code: i32, folder: &TempDir, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .arg("check")
        .args(["--scope", "tiny"])
        .args(arguments)
        .current_dir(folder.path())
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}");
    assert!(!printed.contains("panicked"), "{arguments:?}\n{printed}");
    printed
}

fn json(code: i32, folder: &TempDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&check(code, folder, &[arguments, &["--format", "json"]].concat())).unwrap()
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
fn a_whole_check_reaches_everything_that_can_be_expected() {
    let report = json(0, &folder(), &[]);
    assert_eq!(report["verdict"], "holds");
    let extent = &report["extents"][0];
    assert_eq!(
        (&extent["complete"], &extent["unreached"]),
        (&true.into(), &Value::Array(vec![])),
        "{extent}"
    );
    assert!(extent["expected"].as_u64().unwrap() > 100 && extent["reached"] == extent["expected"]);
    assert!(extent["collision_probability"].as_f64().unwrap() > 0.0);
    for run in report["runs"].as_array().unwrap() {
        assert!(run["steps"].as_u64() > run["products"].as_u64() && run["cut"].is_null(), "{run}");
    }
}

#[test]
fn a_check_of_one_model_says_that_it_is_none_of_all() {
    let folder = folder();
    let printed = check(0, &folder, &["--model", "lifecycle"]);
    assert!(printed.contains("other models than lifecycle may"), "{printed}");
    assert!(printed.contains("at scope tiny, in lifecycle only"), "{printed}");
    assert!(
        !printed.contains("VACUOUS")
            && printed.contains("have nothing to say in this model; without --model"),
        "{printed}"
    );
    let report = json(0, &folder, &["--model", "lifecycle", "--exact"]);
    let outside = report["claims"].as_array().unwrap().iter().filter(|claim| claim["verdict"] == "outside");
    assert!(report["verdict"] == "holds" && outside.count() > 0);
    let extent = &report["extents"][0];
    assert_eq!((&extent["complete"], &extent["collision_probability"]), (&false.into(), &0.0.into()));
    assert!(!extent["unreached"].as_array().unwrap().is_empty());
}

#[test]
fn what_is_cut_short_says_what_ran_out_and_how_far_it_came() {
    let folder = folder();
    let printed = check(3, &folder, &["--model", "lifecycle", "--states", "500"]);
    assert!(printed.contains("CUT SHORT") && printed.contains("out of states (--states)"), "{printed}");
    assert!(!printed.contains("HOLDS") && !printed.contains("  holds  "), "{printed}");
    let report = json(3, &folder, &["--model", "lifecycle", "--states", "500"]);
    let cut = &report["runs"][0]["cut"];
    assert_eq!((&report["verdict"], &cut["out_of"]), (&"inconclusive".into(), &"states".into()));
    assert!(
        cut["covered_steps"].as_u64() < report["runs"][0]["depth"].as_u64()
            && cut["waiting"].as_u64() > Some(0)
    );
}

#[test]
fn a_claim_that_fails_fails_however_far_the_search_came() {
    let arguments = ["--policy", "as-drawn", "--model", "lifecycle", "--model", "debate", "--states", "2000"];
    let report = json(1, &folder(), &arguments);
    assert_eq!(report["verdict"], "fails");
    let cut: Vec<bool> = report["runs"].as_array().unwrap().iter().map(|run| !run["cut"].is_null()).collect();
    assert_eq!(cut, [true, false], "the debate is cut short, the lifecycle is not");
    let verdicts =
        report["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].as_str().unwrap());
    let words: std::collections::BTreeSet<&str> = verdicts.collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["fails", "inconclusive", "not_checked"]);
}

#[test]
fn a_run_without_end_is_told_with_its_loop() {
    let folder = folder();
    let report = json(1, &folder, &["--policy", "as-drawn", "--model", "execution"]);
    let claims = report["claims"].as_array().unwrap();
    let endless = |claim: &&Value| !claim["counterexample"]["loop"].is_null();
    let claim = claims.iter().find(endless).expect("repair has no bound as drawn");
    let way = &claim["counterexample"];
    let (first, last) = (&way["loop"]["first_step"], &way["loop"]["last_step"]);
    let (first, last) = (first.as_u64().unwrap(), last.as_u64().unwrap());
    assert_eq!(way["steps"].as_u64().unwrap(), 2 * last + 1 - first, "stem and two rounds");
    let printed = check(1, &folder, &["--policy", "as-drawn", "--model", "execution", "--quiet"]);
    let trace = way["trace"].as_str().unwrap();
    assert!(printed.contains(&format!("for ever steps {first} to {last}, again and again")), "{printed}");
    assert!(printed.contains(&format!("show {trace} --at {first}\n")), "{printed}");
    orchestrion(folder.path(), &["replay", trace]);
    let itf: Value =
        serde_json::from_slice(&fs::read(folder.path().join(way["itf"].as_str().unwrap())).unwrap()).unwrap();
    let states = itf["states"].as_array().unwrap();
    assert_eq!(states.len() as u64, way["steps"].as_u64().unwrap(), "the last one is where the loop begins");
    assert_eq!(itf["loop"].as_u64(), Some(last));
    assert_eq!(states[last as usize]["phase"], states[first as usize - 1]["phase"]);
}

#[test]
fn what_was_explored_is_drawn_with_the_run_that_fails() {
    let folder = folder();
    let arguments = ["--policy", "as-drawn", "--model", "lifecycle", "--dot", "explored.dot"];
    check(1, &folder, &arguments);
    let drawn = fs::read_to_string(folder.path().join("explored.dot")).unwrap();
    for told in [
        "digraph explored {",
        "policy as-drawn, scope tiny: lifecycle; a run that breaks C-01",
        "step 2: T01",
    ] {
        assert!(drawn.contains(told), "{told}\n{drawn}");
    }
    check(1, &folder, &arguments);
    assert_eq!(fs::read_to_string(folder.path().join("explored.dot")).unwrap(), drawn);
    fs::write(folder.path().join("explored.dot"), "precious").unwrap();
    let refused = check(2, &folder, &arguments);
    assert!(refused.contains("is no drawing, and is not overwritten"), "{refused}");
}

#[test]
fn a_shortest_way_leads_to_whatever_has_a_name() {
    let folder = folder();
    let two = ["--model", "debate", "--model", "lifecycle"];
    for (what, model, row) in [
        ("T18", "debate", "T18"),
        ("blocked", "lifecycle", "E04"),
        ("not T19", "debate", "T20"),
        ("a receipt", "lifecycle", "H11"),
        ("C-27", "lifecycle", "T33"),
        ("nothing to resume", "debate", "refused: a resume came"),
        ("wrong user", "debate", "refused: stranger spoke"),
    ] {
        let arguments = [&["--reach", what][..], &two].concat();
        let report = json(0, &folder, &arguments);
        let way = &report["ways"][0];
        assert_eq!((&way["verdict"], &way["run"]), (&"reached".into(), &model.into()), "{what}");
        let runs = way["runs"].as_array().unwrap();
        let least = runs.iter().filter_map(|run| run["steps"].as_u64()).min();
        assert_eq!((runs.len(), way["steps"].as_u64()), (2, least), "{what}: the shortest of both models");
        let trace = way["trace"].as_str().unwrap();
        orchestrion(folder.path(), &["replay", trace]);
        let step = orchestrion(folder.path(), &["show", trace, "--at", &least.unwrap().to_string()]);
        assert!(step.contains(row.trim_start_matches("refused: ")), "{what}: {row}\n{step}");
        if row.starts_with("refused") || row == "E04" {
            let printed = check(0, &folder, &arguments);
            assert!(printed.contains("REACHED: ") && printed.contains("  a shortest way, "), "{printed}");
            assert!(printed.contains(row), "{what}: {row}\n{printed}");
        }
    }
    // The model has limits of its own, without which the way would not lead there.
    let report = json(0, &folder, &["--reach", "K01", "--model", "semantic"]);
    let trace = report["ways"][0]["trace"].as_str().unwrap();
    let row = orchestrion(folder.path(), &["show", trace, "--at", &report["ways"][0]["steps"].to_string()]);
    assert!(row.contains("K01"), "{row}");
    assert!(orchestrion(folder.path(), &["replay", trace]).contains("equal"));

    let printed = check(0, &folder, &["--reach", "Idle", "--model", "lifecycle"]);
    assert!(printed.contains("there from the start") && !printed.contains("look "), "{printed}");
}

#[test]
fn what_is_not_reached_is_said_plainly() {
    let folder = folder();
    let printed = check(1, &folder, &["--reach", "T03", "--model", "lifecycle"]);
    assert!(printed.contains("NOT REACHED: T03 not in lifecycle, exhausted, at scope tiny"), "{printed}");
    assert!(printed.contains("no row that the policy switches on leads there"), "{printed}");
    let printed = check(3, &folder, &["--reach", "T18", "--model", "debate", "--states", "100"]);
    assert!(printed.contains("NOT SHOWN: T18 not so far"), "{printed}");
    assert!(!folder.path().join(".orchestrion").exists(), "nothing was found that could be kept");
    let printed = check(2, &folder, &["--reach", "Bloked"]);
    assert!(
        printed.contains("is called `Bloked`") && printed.contains("did you mean `Blocked`?"),
        "{printed}"
    );
    let printed = check(2, &folder, &["--reach", "C-19"]);
    assert!(printed.contains("the policy wants no approver"), "{printed}");
}

#[test]
fn a_sweep_prints_a_row_for_each_combination() {
    let folder = folder();
    let arguments = ["--model", "lifecycle", "--sweep", "max_audit_attempts=0..2"];
    let report = json(3, &folder, &arguments);
    let rows = report["rows"].as_array().unwrap();
    let verdicts: Vec<&str> = rows.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["contradictory", "holds", "holds"], "{report}");
    assert!(rows[0]["contradiction"].as_str().unwrap().contains("at least once"), "{report}");
    assert!(
        rows[1]["products"].as_u64() < rows[2]["products"].as_u64(),
        "more attempts, more states: {report}"
    );
    let outside = rows[1]["outside"].as_array().unwrap();
    assert!(!outside.is_empty() && rows[1]["vacuous"].as_array().unwrap().is_empty(), "{report}");
    assert_eq!(rows[2]["settings"]["bounds.audit_attempts"], "2");
    let printed = check(3, &folder, &arguments);
    assert!(printed.contains("\n               0  contradicts itself: bounds.audit_attempts: "), "{printed}");
    assert!(printed.contains(" hold; ") && printed.contains(" outside\n"), "{printed}");
    assert!(
        printed.ends_with("2 of 3 combinations hold at scope tiny; 1 contradict themselves. exit 3\n"),
        "{printed}"
    );
    let cut =
        check(3, &folder, &["--model", "lifecycle", "--sweep", "max_audit_attempts=1", "--states", "100"]);
    assert!(cut.ends_with("; 1 inconclusive or vacuous. exit 3\n"), "{cut}");
}

#[test]
fn a_sweep_finds_where_a_claim_begins_to_fail() {
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
    assert!(printed.contains("FAILS C-06") && printed.contains("  look   orchestrion show "), "{printed}");
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_explored() {
    let folder = folder();
    fs::write(folder.path().join("mine.yaml"), "name: mine\n").unwrap();
    for (arguments, told) in [
        (&["--memory", "5"][..], "such as 512MiB or 2GiB"),
        (&["--memory", "much"], "such as 512MiB or 2GiB"),
        (&["--time", "x"], "such as 90s"),
        (&["--time", "0s"], "such as 90s"),
        (&["--time=-3s"], "such as 90s"),
        (&["--states", "0"], "--states"),
        (&["--jobs", "0"], "--jobs"),
        (&["--sweep", "passes=1", "--reach", "T18"], "cannot be used with"),
        (&["--sweep", "pases=1..6"], "did you mean `passes`?"),
        (&["--sweep", "passes=x", "--policy", "mine.yaml"], "passes: x"),
        (&["--sweep", "elo=fast"], "write `incremental` or `standard`"),
    ] {
        let printed = check(2, &folder, arguments);
        assert!(printed.contains(told), "{arguments:?}\n{printed}");
    }
}
