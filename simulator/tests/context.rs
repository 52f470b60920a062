//! `context` as a user calls it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const LOOKUP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/problems/lookup.json");

/// The problem of the help page.
fn lookup() -> Value {
    serde_json::from_str(&fs::read_to_string(LOOKUP).unwrap()).unwrap()
}

/// A conversation: a question, two answers that rest on it, one of them long, and notes.
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

/// Runs the verb in a folder, checks its exit code, and gives what it printed on each stream.
fn context(code: i32, folder: &Path, arguments: &[&str]) -> (String, String) {
    runner::run(code, folder, &[&["context"], arguments].concat())
}

fn solved(problem: &Value, arguments: &[&str]) -> Value {
    let folder = folder(problem);
    let arguments = [&["solve", "problem.json", "--format", "json"], arguments].concat();
    serde_json::from_str(&context(0, folder.path(), &arguments).0).unwrap()
}

#[test]
fn the_example_of_the_help_page_is_solved() {
    let folder = tempfile::tempdir().unwrap();
    let (help, _) = context(0, folder.path(), &["--help"]);
    let begins = help.find("{\"budget\"").unwrap();
    let ends = help[begins..].find("}]}").unwrap() + begins + 3;
    let example: Value = serde_json::from_str(&help[begins..ends]).unwrap();
    assert_eq!(example, lookup());
    let mut answer = solved(&example, &[]);
    assert!(answer["nodes"].is_u64());
    answer["nodes"] = Value::Null;
    let expected = json!({"status": "optimal", "utility": 100, "cost": 75, "bound": 100,
        "selected": ["call", "policy", "result", "summary"], "nodes": null, "solver": "native"});
    assert_eq!(answer, expected);
}

#[test]
fn every_solver_says_what_it_chose_and_what_is_proven() {
    for (solver, status, utility, selected) in [
        ("native", "optimal", 63, json!([1, 2, "note"])),
        ("ilp", "optimal", 63, json!([1, 2, "note"])),
        ("greedy", "optimal", 63, json!([1, 2, "note"])),
        ("ranked", "bounded", 8, json!(["note"])),
        ("recent", "bounded", 11, json!(["a", "note"])),
    ] {
        let answer = solved(&talk(), &["--solver", solver]);
        assert_eq!(answer["solver"], solver);
        assert_eq!((&answer["status"], &answer["utility"]), (&status.into(), &utility.into()), "{answer}");
        assert_eq!((&answer["bound"], &answer["selected"]), (&63.into(), &selected), "{answer}");
    }
}

#[test]
fn ids_come_back_as_they_were_written_and_in_order() {
    let problem = json!({"budget": 9, "items": [
        {"id": "b", "utility": 1, "cost": 1}, {"id": "7", "utility": 1, "cost": 1},
        {"id": 10, "utility": 1, "cost": 1}, {"id": 9, "utility": 1, "cost": 1}, {"id": "B", "utility": 1, "cost": 1}]});
    assert_eq!(solved(&problem, &[])["selected"], json!([9, 10, "7", "B", "b"]));
}

#[test]
fn of_choices_that_are_as_good_the_cheapest_is_taken_and_then_the_first() {
    let problem = json!({"budget": 10, "items": [
        {"id": "c", "utility": 4, "cost": 5}, {"id": "a", "utility": 4, "cost": 9},
        {"id": "b", "utility": 4, "cost": 5}, {"id": "free", "utility": 0, "cost": 0}]});
    for solver in ["native", "ilp"] {
        let answer = solved(&problem, &["--solver", solver]);
        assert_eq!((&answer["cost"], &answer["selected"]), (&10.into(), &json!(["b", "c"])), "{answer}");
    }
    let one = json!({"budget": 5, "items": problem["items"]});
    for solver in ["native", "ilp"] {
        assert_eq!(solved(&one, &["--solver", solver])["selected"], json!(["b"]));
    }
}

#[test]
fn a_comparison_tells_what_each_rule_loses() {
    let folder = folder(&talk());
    let (out, _) = context(0, folder.path(), &["solve", "problem.json", "--compare"]);
    // How many nodes it takes is the solver's own affair.
    let (before, rest) = out.split_once("native, ").unwrap();
    let told = format!("{before}native{}", &rest[rest.find(';').unwrap()..]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(told) });
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
fn a_search_that_is_cut_short_says_so_with_a_proven_bound() {
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
    let (out, _) = context(3, folder.path(), &["solve", "problem.json", "--nodes", "1"]);
    assert!(
        out.contains("cut short after 1 node: no choice has more than") && out.ends_with("exit 3\n"),
        "{out}"
    );
    let (out, _) = context(3, folder.path(), &["solve", "problem.json", "--nodes", "1", "--format", "json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["status"], "bounded");
    let numbers =
        [&answer["utility"], &best["utility"], &answer["bound"]].map(|number| number.as_u64().unwrap());
    assert!(numbers.is_sorted(), "{numbers:?}");
    for verb in ["explain", "curve"] {
        let (out, _) = context(3, folder.path(), &[verb, "problem.json", "--nodes", "1"]);
        assert!(out.contains("CUT SHORT"), "{out}");
    }
}

#[test]
fn each_item_is_explained_in_a_line_and_one_in_full() {
    let folder = folder(&talk());
    let (all, _) = context(0, folder.path(), &["explain", "problem.json"]);
    let (some, _) = context(0, folder.path(), &["explain", "problem.json", "1", "10", "a"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(format!("{all}\n{some}")) });
    let (out, _) = context(0, folder.path(), &["explain", "problem.json", "10", "--format", "json"]);
    let account: Value = serde_json::from_str(&out).unwrap();
    let expected = json!([{"id": 10, "chosen": false, "utility": 70, "cost": 55, "reason": "over_budget", "needed_by": [],
        "needs": 75, "budget": {"chosen": 75}}]);
    assert_eq!(account["items"], expected, "{account}");
    let (_, err) = context(2, folder.path(), &["explain", "problem.json", "11"]);
    assert!(err.contains("there is no item `11`"), "{err}");
}

#[test]
fn the_curve_is_told_and_drawn_over_an_earlier_picture_and_nothing_else() {
    let folder = folder(&lookup());
    let (out, _) = context(0, folder.path(), &["curve", "problem.json"]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(out) });
    let curve = ["curve", "problem.json", "--svg", "curve.svg", "--format", "json"];
    let (out, _) = context(0, folder.path(), &curve);
    let curve_told: Value = serde_json::from_str(&out).unwrap();
    let steps: Vec<_> = curve_told["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| ["from", "to", "utility", "items"].map(|key| point[key].as_u64().unwrap()))
        .collect();
    assert_eq!(steps, [[10, 29, 0, 1], [30, 54, 40, 2], [55, 74, 60, 3], [75, 80, 100, 4]]);
    assert_eq!((&curve_told["complete"], &curve_told["budget"]), (&true.into(), &80.into()));
    let picture = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    assert!(
        picture.contains("all 4 steps of the curve") && picture.contains("80 tokens buy 100"),
        "{picture}"
    );
    context(0, folder.path(), &curve);
    assert_eq!(fs::read_to_string(folder.path().join("curve.svg")).unwrap(), picture);
    fs::write(folder.path().join("curve.svg"), "<svg>precious</svg>").unwrap();
    let (_, err) = context(2, folder.path(), &curve);
    assert!(err.contains("curve.svg is no budget curve, and is not overwritten"), "{err}");
    assert_eq!(fs::read(folder.path().join("curve.svg")).unwrap(), b"<svg>precious</svg>");
}

#[test]
fn nothing_in_a_name_acts_on_the_terminal_or_in_the_picture() {
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

/// What is wrong, in a file of its own, and what is said of it.
#[test]
fn what_is_wrong_in_a_problem_is_named_with_file_place_and_item() {
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
            &[":3:", "item `x`: `cost` is -3, negative", "whole number from 0 to 2^62"],
        ),
        ("fraction", item("utility", "2.5").into(), &[":3:", "item `x`: `utility` is 2.5, no whole number"]),
        ("whole", item("utility", "1.0").into(), &["item `x`: `utility` is 1.0, no whole number"]),
        (
            "item-list",
            br#"{"budget": 10, "items": [["x", 1, 1]]}"#.to_vec(),
            &[":1:", "item 1 of the list: invalid type: sequence, expected an object"],
        ),
        (
            "text",
            item("deps", "[\"5\"]").into(),
            &["item `x` depends on `\"5\"`, and there is no such item", "did you mean `5`?"],
        ),
        (
            "large",
            item("utility", "4611686018427387905").into(),
            &["`utility` is 4611686018427387905, too large"],
        ),
        ("larger", item("cost", "1e300").into(), &["`cost` is 1e300, too large"]),
        (
            "sum",
            item("cost", "4611686018427387904").into(),
            &[":3:3", "with item `x` the sum", "beyond 2^62"],
        ),
        ("words", item("cost", "\"ten\"").into(), &["item `x`: ", "`cost` to be a whole number"]),
        (
            "missing",
            item("cost", "1").replace(", \"cost\": 1, \"deps\": []", "").into(),
            &["item `x`: missing field `cost`"],
        ),
        (
            "field",
            item("weight", "1").into(),
            &[":3:", "item `x`: unknown field `weight`, expected one of `id`"],
        ),
        ("twice", item("cost", "1, \"cost\": 2").into(), &["item `x`: duplicate field `cost`"]),
        (
            "unknown",
            item("deps", "[\"y\", 6]").into(),
            &[":3:3", "item `x` depends on `y`, and there is no such item"],
        ),
        ("near", item("deps", "[\"X\"]").into(), &["depends on `X`", "did you mean `x`?"]),
        (
            "duplicate",
            item("id", "5").into(),
            &[":3:3", "item 2 of the list has the id `5`, as an item before it"],
        ),
        (
            "id",
            item("id", "-1").into(),
            &[":3:", "item 2 of the list: ", "expected an id: a text, or a whole number"],
        ),
        (
            "mark",
            item("mark", "\"pined\"").into(),
            &["item `x`: `mark` is \"pined\"; expected \"pinned\" or \"forbidden\""],
        ),
        (
            "null",
            item("mark", "null").into(),
            &["item `x`: invalid type: null, expected `mark` to be \"pinned\""],
        ),
        (
            "layer",
            item("layer", "3").into(),
            &["item `x`: invalid type: integer `3`, expected `layer` to be \"fact\" or"],
        ),
        (
            "pinned",
            item("mark", "\"pinned\"").replace("10", "0").into(),
            &[":3:3", "item `x` is pinned, which takes 1 tokens", "leaves 0"],
        ),
        (
            "contradiction",
            item("mark", "\"pinned\"")
                .replace("\"cost\": 1}", "\"cost\": 1, \"mark\": \"forbidden\"}")
                .replace("[]", "[5]")
                .into(),
            &[":3:3", "item `x` is pinned, and needs `5`, which is forbidden"],
        ),
        (
            "reserved",
            br#"{"budget": 5, "reserved": 6, "items": []}"#.to_vec(),
            &["6 tokens are reserved of a budget of 5"],
        ),
        ("budget", br#"{"budget": -5, "items": []}"#.to_vec(), &[":1:", "`budget` is -5, negative"]),
        ("no-budget", br#"{"items": []}"#.to_vec(), &["missing field `budget`"]),
        ("top", br#"{"budget": 5, "items": [], "tems": []}"#.to_vec(), &["unknown field `tems`"]),
        ("lists", b"[10, 0, []]".to_vec(), &[":1:", "invalid type: sequence, expected an object"]),
        ("no-json", b"{\"budget\": 5,\n \"items\": [}".to_vec(), &[":2:", "no JSON: "]),
        ("more", br#"{"budget": 5, "items": []} x"#.to_vec(), &["no JSON: trailing characters"]),
        ("empty", b"".to_vec(), &["no JSON: "]),
        ("no-text", b"{\"budget\": 5,\n\"items\": [\xff]}".to_vec(), &[":2:11: expected UTF-8 text"]),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, told) in cases {
        let file = format!("{name}.json");
        fs::write(folder.path().join(&file), bytes).unwrap();
        for verb in ["solve", "explain", "curve"] {
            let (out, err) = context(2, folder.path(), &[verb, &file]);
            // Errors are wrapped as they are drawn.
            let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
            assert!(err.contains(&file) && out.is_empty(), "{name}: {err}");
            for told in told {
                assert!(err.contains(told), "{name}: expected {told}\n{err}");
            }
        }
    }
    fs::write(folder.path().join("marked.json"), format!("\u{feff}{}", lookup())).unwrap();
    context(0, folder.path(), &["solve", "marked.json"]);
    let (_, err) = context(2, folder.path(), &["solve", "none.json"]);
    assert!(err.contains("none.json: the file could not be read"), "{err}");
}

#[test]
fn a_choice_is_certified_and_its_certificate_verified() {
    let folder = folder(&talk());
    let certify = ["solve", "problem.json", "--certify", "proof.json"];
    let (out, _) = context(0, folder.path(), &certify);
    assert!(out.contains("OPTIMAL") && out.contains("certified  in 2 steps"), "{out}");
    let (out, _) = context(0, folder.path(), &["verify", "problem.json", "proof.json"]);
    assert!(out.starts_with("verified: utility 63 is the most that fits (cost 58). exit 0\n"), "{out}");
    let verdict = |code, certificate: &str| -> Value {
        let arguments = ["verify", "problem.json", certificate, "--format", "json"];
        serde_json::from_str(&context(code, folder.path(), &arguments).0).unwrap()
    };
    let expected = json!({"verified": true, "utility": 63, "cost": 58, "steps": 2});
    assert_eq!(verdict(0, "proof.json"), expected);
    // The same again, over itself.
    let proof = fs::read(folder.path().join("proof.json")).unwrap();
    let answer = context(0, folder.path(), &[&certify[..], &["--format", "json"]].concat()).0;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["certificate"], json!({"steps": 2}));
    assert_eq!(fs::read(folder.path().join("proof.json")).unwrap(), proof);
    let proof: Value = serde_json::from_slice(&proof).unwrap();
    let with = |edit: &dyn Fn(&mut Value)| {
        let mut proof = proof.clone();
        edit(&mut proof);
        fs::write(folder.path().join("other.json"), proof.to_string()).unwrap();
        verdict(1, "other.json")
    };
    let refuted = with(&|proof| proof["steps"] = json!([{"branch": 2}]));
    assert_eq!(refuted["reason"], "after the last step, cases are open; expected steps that close them");
    let refuted = with(&|proof| proof["steps"][1]["close"]["flow"] = json!([["note", "a", "1"]]));
    let told = "step 2: weight flows from `note` to `a`, which it does not need";
    assert_eq!((&refuted["reason"], &refuted["step"]), (&told.into(), &2.into()));
    let refuted = with(&|proof| proof["steps"] = json!([{"branch": 9}]));
    assert_eq!(refuted["reason"], "step 1: `9` is named, and the problem has no such item");
    // As good as the answer is said to be, but no choice.
    let refuted = with(&|proof| proof["selected"] = json!([2, "note"]));
    assert_eq!(refuted["reason"], "the answer is none: `2` is chosen without `1`, which it needs");
    let worse = with(&|proof| {
        proof["selected"] = json!([1, 2]);
        (proof["utility"], proof["cost"]) = (55.into(), 50.into());
    });
    assert_eq!((&worse["verified"], &worse["step"]), (&false.into(), &2.into()), "{worse}");
}

#[test]
fn what_is_no_certificate_or_one_of_another_problem_proves_nothing() {
    let folder = folder(&talk());
    context(0, folder.path(), &["solve", "problem.json", "--certify", "proof.json"]);
    let proof = fs::read(folder.path().join("proof.json")).unwrap();
    fs::write(folder.path().join("lookup.json"), lookup().to_string()).unwrap();
    let (out, _) = context(1, folder.path(), &["verify", "lookup.json", "proof.json"]);
    assert_eq!(out, "not proven: `1` is named, and the problem has no such item. exit 1\n");
    let (mut less, told) = (talk(), "the cost is 58; expected at most the budget, 57");
    less["budget"] = 57.into();
    fs::write(folder.path().join("less.json"), less.to_string()).unwrap();
    let (out, _) = context(1, folder.path(), &["verify", "less.json", "proof.json"]);
    assert!(out.contains(told), "{out}");
    for (name, bytes, told) in [
        ("truncated", &proof[..proof.len() / 2], "no certificate: EOF while parsing"),
        ("empty", b"", "no certificate: EOF while parsing a value"),
        ("no-json", b"proof", "no certificate: expected value"),
        ("problem", lookup().to_string().as_bytes(), "no certificate: unknown field `budget`"),
        ("later", br#"{"format": "orchestrion-certificate/2"}"#, "expected \"orchestrion-certificate/1\""),
        ("no-text", b"{\xff}", "expected UTF-8 text"),
    ] {
        let file = format!("{name}.bad");
        fs::write(folder.path().join(&file), bytes).unwrap();
        let (out, err) = context(2, folder.path(), &["verify", "problem.json", &file]);
        let err = err.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(out.is_empty() && err.contains(&file) && err.contains(told), "{name}: {err}");
    }
    fs::write(folder.path().join("precious"), "precious").unwrap();
    let (_, err) = context(2, folder.path(), &["solve", "problem.json", "--certify", "precious"]);
    assert!(err.contains("precious is no certificate, and is not overwritten"), "{err}");
    assert_eq!(fs::read(folder.path().join("precious")).unwrap(), b"precious");
    let (_, err) = context(2, folder.path(), &["verify", "problem.json", "none.json"]);
    assert!(err.contains("none.json: the file could not be read"), "{err}");
}

#[test]
fn only_a_proven_choice_of_the_native_solver_is_certified() {
    let folder = folder(&talk());
    for solver in ["ilp", "greedy", "ranked", "recent"] {
        let arguments = ["solve", "problem.json", "--solver", solver, "--certify", "proof.json"];
        let (_, err) = context(2, folder.path(), &arguments);
        assert!(err.contains(&format!("the solver `{solver}` gives no certificates")), "{err}");
    }
    let arguments = ["solve", "problem.json", "--nodes", "0", "--certify", "proof.json"];
    let (out, err) = context(3, folder.path(), &arguments);
    assert!(out.contains("no certificate") && err.contains("no certificate is written: "), "{out}{err}");
    assert!(!folder.path().join("proof.json").exists());
}

#[test]
fn floating_point_is_not_trusted_with_large_numbers() {
    let problem = json!({"budget": 1, "items": [{"id": 1, "utility": 4_000_000_007_u64, "cost": 1}, {"id": 2, "utility": 1, "cost": 1}]});
    let folder = folder(&problem);
    let (_, err) = context(2, folder.path(), &["solve", "problem.json", "--solver", "ilp"]);
    assert!(
        err.contains("the utilities sum to 4000000008") && err.contains("leave out --solver ilp"),
        "{err}"
    );
    let halves = json!({"budget": 1, "items": [{"id": 1, "utility": 4_000_000_000_u64, "cost": 1}]});
    assert_eq!(solved(&halves, &["--solver", "ilp"])["utility"], 4_000_000_000_u64);
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let folder = folder(&talk());
    let validator = |of: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(["export", "schema", "--of", of])
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
        [("format", json!("1")), ("steps", json!([{"split": -1}])), ("selected", json!([1.5]))]
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
        ("mark", json!("pined")),
        ("weight", json!(1)),
    ] {
        let mut problem = lookup();
        problem["items"][0][field] = value;
        assert!(!validator.is_valid(&problem), "{problem}");
    }
}

#[test]
fn each_verb_has_a_page_in_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrion"));
    let done = command.args(["export", "man", "--to", "man1"]).current_dir(folder.path()).status().unwrap();
    assert!(done.success());
    for verb in ["context", "context-solve", "context-explain", "context-curve", "context-verify"] {
        let page = fs::read_to_string(folder.path().join(format!("man1/orchestrion-{verb}.1"))).unwrap();
        assert!(page.contains(".SH EXAMPLES"), "{verb}\n{page}");
    }
}
