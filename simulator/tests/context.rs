//! The command `context`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const LOOKUP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/problems/lookup.json");

/// Returns the problem of the help text.
fn lookup() -> Value {
    serde_json::from_str(&fs::read_to_string(LOOKUP).unwrap()).unwrap()
}

/// Returns a problem of a question, two dependent replies and notes.
fn talk() -> Value {
    json!({"budget": 60, "items": [
        {"id": 1, "utility": 5, "cost": 20},
        {"id": 2, "utility": 50, "cost": 30, "deps": [1]},
        {"id": 10, "utility": 70, "cost": 55, "deps": [1]},
        {"id": "note", "utility": 8, "cost": 8, "layer": "working"},
        {"id": "a", "utility": 3, "cost": 12}]})
}

fn folder(problem: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("problem.json"), problem.to_string()).unwrap();
    folder
}

/// Runs `context` in a folder, asserts its exit code, and returns the output of each stream.
fn context(code: i32, folder: &Path, arguments: &[&str]) -> (String, String) {
    runner::run(code, folder, &[&["context"], arguments].concat())
}

fn solved(problem: &Value, arguments: &[&str]) -> Value {
    let folder = folder(problem);
    let arguments = [&["solve", "problem.json", "--format", "json"], arguments].concat();
    serde_json::from_str(&context(0, folder.path(), &arguments).0).unwrap()
}

#[test]
fn example_of_help_is_solved() {
    let folder = tempfile::tempdir().unwrap();
    let (help, _) = context(0, folder.path(), &["--help"]);
    let begins = help.find("{\"budget\"").unwrap();
    let ends = help[begins..].find("}]}").unwrap() + begins + 3;
    let example: Value = serde_json::from_str(&help[begins..ends]).unwrap();
    assert_eq!(example, lookup());
    let mut solution = solved(&example, &[]);
    assert!(solution["nodes"].is_u64());
    solution["nodes"] = Value::Null;
    let expected = json!({"status": "optimal", "utility": 100, "cost": 75, "bound": 100,
        "selected": ["call", "policy", "result", "summary"], "nodes": null, "solver": "native"});
    assert_eq!(solution, expected);
}

#[test]
fn each_solver_reports_selection_and_bound() {
    for (solver, status, utility, selected) in [
        ("native", "optimal", 63, json!([1, 2, "note"])),
        ("ilp", "optimal", 63, json!([1, 2, "note"])),
        ("greedy", "optimal", 63, json!([1, 2, "note"])),
        ("ranked", "bounded", 8, json!(["note"])),
        ("recent", "bounded", 11, json!(["a", "note"])),
    ] {
        let solution = solved(&talk(), &["--solver", solver]);
        assert_eq!(solution["solver"], solver);
        assert_eq!(
            (&solution["status"], &solution["utility"]),
            (&status.into(), &utility.into()),
            "{solution}"
        );
        assert_eq!((&solution["bound"], &solution["selected"]), (&63.into(), &selected), "{solution}");
    }
}

#[test]
fn ids_are_preserved_and_sorted() {
    let problem = json!({"budget": 9, "items": [
        {"id": "b", "utility": 1, "cost": 1}, {"id": "7", "utility": 1, "cost": 1},
        {"id": 10, "utility": 1, "cost": 1}, {"id": 9, "utility": 1, "cost": 1}, {"id": "B", "utility": 1, "cost": 1}]});
    assert_eq!(solved(&problem, &[])["selected"], json!([9, 10, "7", "B", "b"]));
}

#[test]
fn ties_are_broken_by_cost_then_ids() {
    let problem = json!({"budget": 10, "items": [
        {"id": "c", "utility": 4, "cost": 5}, {"id": "a", "utility": 4, "cost": 9},
        {"id": "b", "utility": 4, "cost": 5}, {"id": "free", "utility": 0, "cost": 0}]});
    for solver in ["native", "ilp"] {
        let solution = solved(&problem, &["--solver", solver]);
        assert_eq!(
            (&solution["cost"], &solution["selected"]),
            (&10.into(), &json!(["b", "c"])),
            "{solution}"
        );
    }
    let one = json!({"budget": 5, "items": problem["items"]});
    for solver in ["native", "ilp"] {
        assert_eq!(solved(&one, &["--solver", solver])["selected"], json!(["b"]));
    }
}

#[test]
fn comparison_shows_loss_of_baselines() {
    let folder = folder(&talk());
    let (out, _) = context(0, folder.path(), &["solve", "problem.json", "--compare"]);
    // How many nodes it takes is the solver's own affair.
    let (before, rest) = out.split_once("native, ").unwrap();
    let expected_text = format!("{before}native{}", &rest[rest.find(';').unwrap()..]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(expected_text) });
    let compared = solved(&talk(), &["--compare"])["compared"].clone();
    let losses: Vec<_> = compared
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["solver"].as_str().unwrap(), row["loss"].as_u64()))
        .collect();
    assert_eq!(
        losses,
        [("native", Some(0)), ("greedy", Some(0)), ("ranked", Some(55)), ("recent", Some(52))]
    );
}

#[test]
fn limited_search_reports_proven_bound() {
    // Utility follows cost closely, headings are worth nothing, and many items share what they need: that takes many nodes.
    let mut x: u64 = 1;
    let mut roll = |most: u64| {
        x = x * 48_271 % 2_147_483_647;
        x % most
    };
    let mut items = Vec::new();
    for id in 0..120_u64 {
        let (cost, noise) = (5 + roll(1_996), roll(400_000));
        let utility = if id < 40 && id % 2 == 0 { 0 } else { cost * 500 + noise };
        let deps: Vec<u64> = if id < 20 { vec![] } else { vec![roll(id - id % 20), roll(id - id % 20)] };
        items.push(json!({"id": id, "utility": utility, "cost": cost, "deps": deps}));
    }
    let problem = json!({"budget": 15_000, "items": items});
    let best = solved(&problem, &[]);
    let folder = folder(&problem);
    let (out, _) = context(3, folder.path(), &["solve", "problem.json", "--max-nodes", "1"]);
    assert!(out.contains("stopped after 1 node: upper bound") && out.ends_with("exit 3\n"), "{out}");
    let (out, _) =
        context(3, folder.path(), &["solve", "problem.json", "--max-nodes", "1", "--format", "json"]);
    let solution: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(solution["status"], "bounded");
    let numbers =
        [&solution["utility"], &best["utility"], &solution["bound"]].map(|number| number.as_u64().unwrap());
    assert!(numbers.is_sorted(), "{numbers:?}");
    for command in ["explain", "curve"] {
        let (out, _) = context(3, folder.path(), &[command, "problem.json", "--max-nodes", "1"]);
        assert!(out.contains("INCOMPLETE"), "{out}");
    }
}

#[test]
fn items_are_explained_briefly_and_in_full() {
    let folder = folder(&talk());
    let (all, _) = context(0, folder.path(), &["explain", "problem.json"]);
    let (some, _) = context(0, folder.path(), &["explain", "problem.json", "1", "10", "a"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(format!("{all}\n{some}")) });
    let (out, _) = context(0, folder.path(), &["explain", "problem.json", "10", "--format", "json"]);
    let account: Value = serde_json::from_str(&out).unwrap();
    let expected = json!([{"id": 10, "selected": false, "utility": 70, "cost": 55, "reason": "over_budget", "dependents": [],
        "required_cost": 75, "required_budget": {"selected": 75}}]);
    assert_eq!(account["items"], expected, "{account}");
    let (_, err) = context(2, folder.path(), &["explain", "problem.json", "11"]);
    assert!(err.contains("unknown item `11`"), "{err}");
}

#[test]
fn curve_overwrites_only_an_earlier_curve() {
    let folder = folder(&lookup());
    let (out, _) = context(0, folder.path(), &["curve", "problem.json"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(out) });
    let curve = ["curve", "problem.json", "--svg", "curve.svg", "--format", "json"];
    let (out, _) = context(0, folder.path(), &curve);
    let curve_json: Value = serde_json::from_str(&out).unwrap();
    let steps: Vec<_> = curve_json["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| ["from", "to", "utility", "items"].map(|key| point[key].as_u64().unwrap()))
        .collect();
    assert_eq!(steps, [[10, 29, 0, 1], [30, 54, 40, 2], [55, 74, 60, 3], [75, 80, 100, 4]]);
    assert_eq!((&curve_json["complete"], &curve_json["budget"]), (&true.into(), &80.into()));
    let picture = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    assert!(picture.contains("all 4 steps") && picture.contains("80 tokens: utility 100"), "{picture}");
    context(0, folder.path(), &curve);
    assert_eq!(fs::read_to_string(folder.path().join("curve.svg")).unwrap(), picture);
    fs::write(folder.path().join("curve.svg"), "<svg>precious</svg>").unwrap();
    let (_, err) = context(2, folder.path(), &curve);
    assert!(err.contains("curve.svg is not a budget curve and is not overwritten"), "{err}");
    assert_eq!(fs::read(folder.path().join("curve.svg")).unwrap(), b"<svg>precious</svg>");
}

#[test]
fn names_are_sanitized_in_terminal_and_svg() {
    let name = "\u{1b}[31mred<script>\u{202e}";
    let problem = json!({"budget": 1, "items": [{"id": name, "utility": 1, "cost": 1}]});
    let folder = folder(&problem);
    for arguments in [["solve", "problem.json"], ["explain", "problem.json"]] {
        let (out, _) = context(0, folder.path(), &arguments);
        assert!(out.contains("␛[31mred<script>⟨U+202E⟩") && !out.contains('\u{1b}'), "{out}");
    }
    fs::rename(folder.path().join("problem.json"), folder.path().join("<b>.json")).unwrap();
    context(0, folder.path(), &["curve", "<b>.json", "--svg", "curve.svg"]);
    let picture = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    assert!(picture.contains("&lt;b&gt;.json") && !picture.contains("<b>"), "{picture}");
}

#[test]
fn invalid_problem_is_reported_with_location_and_item() {
    let item = |field: &str, value: &str| {
        let fields = [("id", "\"x\""), ("utility", "1"), ("cost", "1"), ("deps", "[]")];
        let fields =
            fields.map(|(name, own)| format!("\"{name}\": {}", if name == field { value } else { own }));
        let extra = if fields.iter().any(|own| own.starts_with(&format!("\"{field}\""))) {
            String::new()
        } else {
            format!(", \"{field}\": {value}")
        };
        format!(
            "{{\"budget\": 10, \"items\": [\n  {{\"id\": 5, \"utility\": 1, \"cost\": 1}},\n  {{{}{extra}}}]}}",
            fields.join(", ")
        )
    };
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        (
            "negative",
            item("cost", "-3").into(),
            &[
                ":3:",
                "item `x`: `cost`: expected a whole number from 0 to 2^62, found -3 (negative)",
                "whole number from 0 to 2^62",
            ],
        ),
        ("fraction", item("utility", "2.5").into(), &[":3:", "found 2.5 (not a whole number)"]),
        ("whole", item("utility", "1.0").into(), &["found 1.0 (not a whole number)"]),
        (
            "item-list",
            br#"{"budget": 10, "items": [["x", 1, 1]]}"#.to_vec(),
            &[":1:", "item 1 of the list: invalid type: sequence, expected an object"],
        ),
        (
            "text",
            item("deps", "[\"5\"]").into(),
            &["item `x` depends on the unknown item `\"5\"`", "did you mean `5`?"],
        ),
        ("large", item("utility", "4611686018427387905").into(), &["found 4611686018427387905 (too large)"]),
        ("larger", item("cost", "1e300").into(), &["found 1e300 (too large)"]),
        (
            "sum",
            item("cost", "4611686018427387904").into(),
            &[":3:3", "with item `x`, the sum", "exceeds 2^62"],
        ),
        ("words", item("cost", "\"ten\"").into(), &["item `x`: ", "`cost` to be a whole number"]),
        (
            "missing",
            item("cost", "1").replace(", \"cost\": 1, \"deps\": []", "").into(),
            &["item `x`: missing field `cost`"],
        ),
        (
            "old-key",
            item("mark", "\"pinned\"").into(),
            &["item `x`: unknown field `mark`", "rename the key to `inclusion`"],
        ),
        (
            "field",
            item("weight", "1").into(),
            &[":3:", "item `x`: unknown field `weight`, expected one of `id`"],
        ),
        ("twice", item("cost", "1, \"cost\": 2").into(), &["item `x`: duplicate field `cost`"]),
        ("unknown", item("deps", "[\"y\", 6]").into(), &[":3:3", "item `x` depends on the unknown item `y`"]),
        ("near", item("deps", "[\"X\"]").into(), &["depends on the unknown item `X`", "did you mean `x`?"]),
        (
            "duplicate",
            item("id", "5").into(),
            &[":3:3", "item 2 of the list has the id `5` of an earlier item"],
        ),
        (
            "id",
            item("id", "-1").into(),
            &[":3:", "item 2 of the list: ", "expected an id: a text, or a whole number"],
        ),
        (
            "inclusion",
            item("inclusion", "\"pined\"").into(),
            &["item `x`: `inclusion`: expected \"pinned\" or \"forbidden\", found \"pined\""],
        ),
        (
            "null",
            item("inclusion", "null").into(),
            &["item `x`: invalid type: null, expected `inclusion` to be \"pinned\""],
        ),
        (
            "layer",
            item("layer", "3").into(),
            &["item `x`: invalid type: integer `3`, expected `layer` to be \"fact\" or"],
        ),
        (
            "pinned",
            item("inclusion", "\"pinned\"").replace("10", "0").into(),
            &[":3:3", "item `x` is pinned and cost 1 tokens", "found 0"],
        ),
        (
            "contradiction",
            item("inclusion", "\"pinned\"")
                .replace("\"cost\": 1}", "\"cost\": 1, \"inclusion\": \"forbidden\"}")
                .replace("[]", "[5]")
                .into(),
            &[":3:3", "item `x` is pinned, but depends on `5`, which is forbidden"],
        ),
        (
            "reserved",
            br#"{"budget": 5, "reserved": 6, "items": []}"#.to_vec(),
            &["expected at least the 6 reserved tokens, found 5"],
        ),
        (
            "budget",
            br#"{"budget": -5, "items": []}"#.to_vec(),
            &[":1:", "`budget`: expected a whole number from 0 to 2^62, found -5 (negative)"],
        ),
        ("no-budget", br#"{"items": []}"#.to_vec(), &["missing field `budget`"]),
        ("top", br#"{"budget": 5, "items": [], "tems": []}"#.to_vec(), &["unknown field `tems`"]),
        ("lists", b"[10, 0, []]".to_vec(), &[":1:", "invalid type: sequence, expected an object"]),
        ("no-json", b"{\"budget\": 5,\n \"items\": [}".to_vec(), &[":2:", "invalid JSON: "]),
        ("more", br#"{"budget": 5, "items": []} x"#.to_vec(), &["invalid JSON: trailing characters"]),
        ("empty", b"".to_vec(), &["invalid JSON: "]),
        (
            "no-text",
            b"{\"budget\": 5,\n\"items\": [\xff]}".to_vec(),
            &[":2:11: invalid text: expected UTF-8"],
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, expected_text) in cases {
        let file = format!("{name}.json");
        fs::write(folder.path().join(&file), bytes).unwrap();
        for command in ["solve", "explain", "curve"] {
            let (out, err) = context(2, folder.path(), &[command, &file]);
            // Errors are wrapped as they are drawn.
            let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
            assert!(err.contains(&file) && out.is_empty(), "{name}: {err}");
            for expected_text in expected_text {
                assert!(err.contains(expected_text), "{name}: expected {expected_text}\n{err}");
            }
        }
    }
    fs::write(folder.path().join("marked.json"), format!("\u{feff}{}", lookup())).unwrap();
    context(0, folder.path(), &["solve", "marked.json"]);
    let (_, err) = context(2, folder.path(), &["solve", "none.json"]);
    assert!(err.contains("none.json: cannot read the file"), "{err}");
}

#[test]
fn certificate_is_written_and_verified() {
    let folder = folder(&talk());
    let certify = ["solve", "problem.json", "--certify", "proof.json"];
    let (out, _) = context(0, folder.path(), &certify);
    assert!(out.contains("OPTIMAL") && out.contains("certified in 2 steps"), "{out}");
    let (out, _) = context(0, folder.path(), &["verify", "problem.json", "proof.json"]);
    assert!(out.starts_with("verified: maximum utility 63, minimum cost 58. exit 0\n"), "{out}");
    let verdict = |code, certificate: &str| -> Value {
        let arguments = ["verify", "problem.json", certificate, "--format", "json"];
        serde_json::from_str(&context(code, folder.path(), &arguments).0).unwrap()
    };
    let expected = json!({"verified": true, "utility": 63, "cost": 58, "steps": 2});
    assert_eq!(verdict(0, "proof.json"), expected);
    // The same again, over itself.
    let proof = fs::read(folder.path().join("proof.json")).unwrap();
    let solution = context(0, folder.path(), &[&certify[..], &["--format", "json"]].concat()).0;
    let solution: Value = serde_json::from_str(&solution).unwrap();
    assert_eq!(solution["certificate"], json!({"steps": 2}));
    assert_eq!(fs::read(folder.path().join("proof.json")).unwrap(), proof);
    let proof: Value = serde_json::from_slice(&proof).unwrap();
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut proof = proof.clone();
        edit(&mut proof);
        fs::write(folder.path().join("other.json"), proof.to_string()).unwrap();
        verdict(1, "other.json")
    };
    let rejected = with(&|proof| proof["steps"] = json!([{"branch": 2}]));
    assert_eq!(rejected["reason"], "open nodes: expected steps that prune every node");
    let rejected = with(&|proof| proof["steps"][1]["prune_by_bound"]["flow"] = json!([["note", "a", "1"]]));
    let expected_text = "step 2: flow without dependency: `note` does not depend on `a`";
    assert_eq!((&rejected["reason"], &rejected["step"]), (&expected_text.into(), &2.into()));
    let rejected = with(&|proof| proof["steps"] = json!([{"branch": 9}]));
    assert_eq!(rejected["reason"], "step 1: unknown item `9`");
    // Utility and cost as stated, but not closed.
    let rejected = with(&|proof| proof["selected"] = json!([2, "note"]));
    assert_eq!(rejected["reason"], "invalid selection: missing dependency: `2` is selected without `1`");
    let worse = with(&|proof| {
        proof["selected"] = json!([1, 2]);
        (proof["utility"], proof["cost"]) = (55.into(), 50.into());
    });
    assert_eq!((&worse["verified"], &worse["step"]), (&false.into(), &2.into()), "{worse}");
}

#[test]
fn invalid_or_foreign_certificate_is_rejected() {
    let folder = folder(&talk());
    context(0, folder.path(), &["solve", "problem.json", "--certify", "proof.json"]);
    let proof = fs::read(folder.path().join("proof.json")).unwrap();
    fs::write(folder.path().join("lookup.json"), lookup().to_string()).unwrap();
    let (out, _) = context(1, folder.path(), &["verify", "lookup.json", "proof.json"]);
    assert_eq!(out, "not verified: unknown item `1`. exit 1\n");
    let (mut less, expected_text) = (talk(), "over budget: expected a cost of at most 57, found 58");
    less["budget"] = 57.into();
    fs::write(folder.path().join("less.json"), less.to_string()).unwrap();
    let (out, _) = context(1, folder.path(), &["verify", "less.json", "proof.json"]);
    assert!(out.contains(expected_text), "{out}");
    for (name, bytes, expected_text) in [
        ("truncated", &proof[..proof.len() / 2], "invalid certificate: EOF while parsing"),
        ("empty", b"", "invalid certificate: EOF while parsing a value"),
        ("no-json", b"proof", "invalid certificate: expected value"),
        ("problem", lookup().to_string().as_bytes(), "invalid certificate: unknown field `budget`"),
        ("later", br#"{"format": "orchestrion-certificate/3"}"#, "expected \"orchestrion-certificate/2\""),
        ("earlier", br#"{"format": "orchestrion-certificate/1"}"#, "version 2 renames the steps"),
        ("no-text", b"{\xff}", "expected UTF-8"),
    ] {
        let file = format!("{name}.bad");
        fs::write(folder.path().join(&file), bytes).unwrap();
        let (out, err) = context(2, folder.path(), &["verify", "problem.json", &file]);
        let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(out.is_empty() && err.contains(&file) && err.contains(expected_text), "{name}: {err}");
    }
    fs::write(folder.path().join("precious"), "precious").unwrap();
    let (_, err) = context(2, folder.path(), &["solve", "problem.json", "--certify", "precious"]);
    assert!(err.contains("precious is not a certificate and is not overwritten"), "{err}");
    assert_eq!(fs::read(folder.path().join("precious")).unwrap(), b"precious");
    let (_, err) = context(2, folder.path(), &["verify", "problem.json", "none.json"]);
    assert!(err.contains("none.json: cannot read the file"), "{err}");
}

#[test]
fn only_native_optimal_solution_is_certified() {
    let folder = folder(&talk());
    for solver in ["ilp", "greedy", "ranked", "recent"] {
        let arguments = ["solve", "problem.json", "--solver", solver, "--certify", "proof.json"];
        let (_, err) = context(2, folder.path(), &arguments);
        assert!(err.contains(&format!("expected native, found {solver}")), "{err}");
    }
    let arguments = ["solve", "problem.json", "--max-nodes", "0", "--certify", "proof.json"];
    let (out, err) = context(3, folder.path(), &arguments);
    assert!(out.contains("no certificate") && err.contains("no certificate was written: "), "{out}{err}");
    assert!(!folder.path().join("proof.json").exists());
}

#[test]
fn ilp_distinguishes_large_numbers() {
    // As floating-point numbers, the utilities of both items are equal.
    let utilities = [(1_u64 << 60) - 1, 1_u64 << 60];
    assert_eq!(utilities[0] as f64, utilities[1] as f64);
    let items = [1, 2].map(|id| json!({"id": id, "utility": utilities[id - 1], "cost": 1}));
    let problem = json!({"budget": 1, "items": items});
    for solver in ["native", "ilp"] {
        assert_eq!(solved(&problem, &["--solver", solver])["selected"], json!([2]), "{solver}");
    }
}

#[test]
fn schema_accepts_what_the_reader_accepts() {
    let folder = folder(&talk());
    let validator = |of: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(["export", "schema", "--schema", of])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    };
    context(0, folder.path(), &["solve", "problem.json", "--certify", "proof.json"]);
    let proof: Value = serde_json::from_slice(&fs::read(folder.path().join("proof.json")).unwrap()).unwrap();
    let certificate = validator("certificate");
    assert!(certificate.is_valid(&proof), "{proof}");
    for (field, value) in
        [("format", json!("1")), ("steps", json!([{"branch_on_count": -1}])), ("selected", json!([1.5]))]
    {
        let mut other = proof.clone();
        other[field] = value;
        assert!(!certificate.is_valid(&other), "{other}");
    }
    let validator = validator("problem");
    for problem in [lookup(), talk()] {
        assert!(validator.is_valid(&problem), "{problem}");
    }
    for (field, value) in [
        ("cost", json!(-1)),
        ("cost", json!(1.5)),
        ("id", json!(null)),
        ("inclusion", json!("pined")),
        ("weight", json!(1)),
    ] {
        let mut problem = lookup();
        problem["items"][0][field] = value;
        assert!(!validator.is_valid(&problem), "{problem}");
    }
}

#[test]
fn each_context_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrion"));
    let done =
        command.args(["export", "man", "--output", "man1"]).current_dir(folder.path()).status().unwrap();
    assert!(done.success());
    for command in ["context", "context-solve", "context-explain", "context-curve", "context-verify"] {
        let page = fs::read_to_string(folder.path().join(format!("man1/orchestrion-{command}.1"))).unwrap();
        assert!(page.contains(".SH EXAMPLES"), "{command}\n{page}");
    }
}
