//! Tests of policy files.

use super::*;
use orchestrion_kernel::policy::{Bound, Rule};
use orchestrion_kernel::{Score, Weight};
use orchestrion_yaml::render_error;

const STRICT: &str = include_str!("samples/strict.yaml");

fn parse_here(text: &str) -> Result<Policy, ReadError> {
    parse("case.yaml", text, Path::new("no-such-folder"))
}

fn render(text: &str) -> String {
    match parse_here(text) {
        Ok(policy) => panic!("{text:?} was parsed as {policy:?}"),
        Err(error) => render_error(&error),
    }
}

#[test]
fn file_overrides_only_its_settings() {
    let policy = parse_here(STRICT).unwrap();
    let expected = {
        let mut policy = Policy { name: "strict".into(), ..Policy::hardened() };
        policy.thresholds.redebate_below = Score::from_decimal("0.85").unwrap();
        policy.thresholds.proceed_from = Score::from_decimal("0.7").unwrap();
        policy.bounds.repairs = Bound::Unbounded;
        policy.weights.critic = Weight::from_decimal("1.75").unwrap();
        policy.rules.cancel = false;
        policy
    };
    assert_eq!(policy, expected);
    assert_eq!(parse_here("name: hardened\n").unwrap(), Policy::hardened());
    assert_eq!(parse_here("name: as-drawn\nextends: as-drawn\n").unwrap(), Policy::as_drawn());
    assert!(render("name: hardened\nrules: {cancel: false}\n").contains("choose another name"));
}

#[test]
fn written_policy_round_trips() {
    let mut odd = parse_here(STRICT).unwrap();
    odd.name = "a \"b\" \\ #: \n\t\u{0}\u{85}\u{2028}\u{feff}é🔑".into();
    odd.thresholds.critique_above = Score::from_millionths(1).unwrap();
    odd.weights.analyst = Weight::MAX;
    for policy in [Policy::hardened(), Policy::as_drawn(), odd] {
        let text = write(&policy);
        assert_eq!(parse_here(&text).unwrap(), policy, "{text}");
        assert_eq!(parse_here(&text.replacen('\n', "\nextends: as-drawn\n", 1)).unwrap(), policy);
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(write(&Policy::hardened())) });
}

#[test]
fn setting_values_determine_policy() {
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        let values = setting_values(&policy);
        assert!(values.contains(&("bounds.passes".to_owned(), "3".to_owned())), "{values:?}");
        let same = set(&Policy::hardened(), &policy.name, &values).unwrap();
        assert_eq!(same, Ok(policy));
    }
}

#[test]
fn invalid_settings_are_reported() {
    let mistakes = [
        "colour: red\n",
        "thresholds: {veto_form: 0.9}\n",
        "thresholds: {veto_from: 0.9, veto_from: 0.8}\n",
        "thresholds: {veto_from: 90%}\n",
        "thresholds: {veto_from: 1.1}\n",
        "thresholds: {veto_from: }\n",
        "thresholds: 3\n",
        "bounds: {passes: many}\n",
        "bounds: {repairs: endless}\n",
        "bounds: {repairs: -1}\n",
        "weights: {security: 1000.5}\n",
        "views: {critic: {budget: 3}}\n",
        "contexts: {budget: 3}\n",
        "contexts: {reserved: 3}\n",
        "module_overrides: {critic: {budget: 3}}\n",
        "module_overrides: {critics: {budget_tokens: 3}}\n",
        "module_overrides: {auditor: {budget_tokens: 9000}}\n",
        "rules: {sticky: true}\n",
        "rules: {sticky_veto: yes}\n",
        "rules: {sticky_veto: true, sticky_veto: false}\n",
        "extends: as_drawn\n",
        "extends: true\n",
    ];
    let mut text = render("extends: hardened\n");
    for mistake in mistakes {
        let rendered = render(&format!("name: case\n{mistake}"));
        for part in ["[case.yaml:", "help: "] {
            assert!(rendered.contains(part), "{mistake:?} is rendered without {part:?}:\n{rendered}");
        }
        text.push('\n');
        text.push_str(&rendered);
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn contradiction_labels_both_settings() {
    let both = "name: case\nthresholds:\n  redebate_below: 0.5\n  proceed_from: 0.7\n";
    insta::assert_snapshot!(render(both), @r#"
     × thresholds.proceed_from conflicts with thresholds.redebate_below: a consensus that ends the debate must suffice to proceed; expected proceed_from ≤ redebate_below
      ╭─[case.yaml:3:19]
    2 │ thresholds:
    3 │   redebate_below: 0.5
      ·                   ─┬─
      ·                    ╰── thresholds.redebate_below is 0.50
    4 │   proceed_from: 0.7
      ·                 ─┬─
      ·                  ╰── thresholds.proceed_from is 0.70
      ╰────
     help: change one of the settings
    "#);
}

#[test]
fn inherited_setting_names_its_policy() {
    insta::assert_snapshot!(render("name: case\nthresholds: {proceed_from: 0.9}\n"), @r#"
     × thresholds.proceed_from conflicts with thresholds.redebate_below: a consensus that ends the debate must suffice to proceed; expected proceed_from ≤ redebate_below
      ╭─[case.yaml:2:28]
    1 │ name: case
    2 │ thresholds: {proceed_from: 0.9}
      ·                            ─┬─
      ·                             ╰── thresholds.proceed_from is 0.90
      ╰────
     help: thresholds.redebate_below is 0.80, inherited from `hardened`; set it in this file to change it
    "#);
    insta::assert_snapshot!(render("name: case\nextends: as-drawn\nbounds: {audit_attempts: 2}\n"), @r"
     × bounds.audit_attempts conflicts with rules.error_rows: a second attempt needs a transition for the failure of the first; expected 1, or error_rows: true
      ╭─[case.yaml:3:26]
    2 │ extends: as-drawn
    3 │ bounds: {audit_attempts: 2}
      ·                          ┬
      ·                          ╰── bounds.audit_attempts is 2
      ╰────
     help: rules.error_rows is false, inherited from `as-drawn`; set it in this file to change it
    ");
}

#[test]
fn invalid_single_setting_is_labeled() {
    insta::assert_snapshot!(render("name: case\nbounds: {passes: 0}\n"), @r#"
     × bounds.passes: the debate needs a pass; expected at least 1
      ╭─[case.yaml:2:18]
    1 │ name: case
    2 │ bounds: {passes: 0}
      ·                  ┬
      ·                  ╰── bounds.passes is 0
      ╰────
     help: change this setting
    "#);
    let mute = "name: case\nweights: {analyst: 0, solution: 0, critic: 0, security: 0, optimizer: 0}\n";
    insta::assert_snapshot!(render(mute), @r"
     × weights: no plan can proceed; expected at least one weight above 0
      ╭─[case.yaml:2:10]
    1 │ name: case
    2 │ weights: {analyst: 0, solution: 0, critic: 0, security: 0, optimizer: 0}
      ·          ┬
      ·          ╰── weights
      ╰────
     help: change this setting
    ");
}

/// Creates these files in a temporary folder.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn policies_extend_by_path() {
    let folder = folder(&[
        ("strict.yaml", STRICT),
        ("stricter.yaml", "name: stricter\nextends: strict.yaml\nbounds: {passes: 2}\n"),
    ]);
    let policy = resolve("stricter.yaml", folder.path()).unwrap();
    assert_eq!(policy, read(&folder.path().join("stricter.yaml")).unwrap());
    assert_eq!((policy.bounds.passes, policy.bounds.repairs), (2, Bound::Unbounded));
    assert!(!policy.rules.has(Rule::Cancel));
    assert_eq!(resolve("as-drawn", folder.path()).unwrap(), Policy::as_drawn());
}

#[test]
fn cyclic_extends_is_an_error() {
    let folder = folder(&[
        ("a.yaml", "name: a\nextends: b.yaml\n"),
        ("b.yaml", "name: b\nextends: ./a.yaml\n"),
        ("self.yaml", "name: self\nextends: self.yaml\n"),
    ]);
    for (name, closes) in [("a.yaml", "./a.yaml"), ("self.yaml", "self.yaml")] {
        let text = render_error(&resolve(name, folder.path()).unwrap_err());
        assert!(text.contains(&format!("lead back to `{closes}`")), "{text}");
        assert!(text.contains(".yaml:2:10]") && text.contains("extended here"), "{text}");
    }
}

#[test]
fn long_extends_chain_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let text = format!("name: p{number}\nextends: p{}.yaml\n", number + 1);
        std::fs::write(folder.path().join(format!("p{number}.yaml")), text).unwrap();
    }
    let error = resolve("p0.yaml", folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "`extends` chain too long: expected at most 32 policies");
}

#[test]
fn unknown_policy_is_an_error() {
    let error = resolve("hardend", Path::new("no-such-folder")).unwrap_err();
    assert_eq!(error.to_string(), "unknown policy `hardend`: expected a built-in policy or a file");
    assert!(error.help_text().starts_with("did you mean `hardened`?"), "{}", error.help_text());
    assert!(read(Path::new("no-such-folder/x.yaml")).is_err());
}

#[test]
fn no_input_panics() {
    for end in (0..STRICT.len()).filter(|end| STRICT.is_char_boundary(*end)) {
        let _ = parse_here(&STRICT[..end]).map_err(|error| render_error(&error));
    }
    for place in 0..STRICT.len() {
        for byte in *b"[{:-#'\"\n\t *&!|3\x00\xc3" {
            let mut bytes = STRICT.as_bytes().to_vec();
            bytes[place] = byte;
            let read = Source::from_bytes("case.yaml", bytes)
                .and_then(|source| extend_base(&source, Path::new(""), &mut Vec::new()));
            let _ = read.map_err(|error| render_error(&error));
        }
    }
}

#[test]
fn schema_accepts_valid_files_only() {
    let validator = jsonschema::validator_for(&policy_schema()).unwrap();
    let json = |text: &str| -> serde_json::Value { serde_saphyr::from_str(text).unwrap() };
    for good in ["name: x\n", STRICT, &write(&Policy::hardened()), &write(&Policy::as_drawn())] {
        let errors: Vec<_> = validator.iter_errors(&json(good)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    for bad in [
        "colour: red\n",
        "thresholds: {veto_form: 0.9}\n",
        "thresholds: {veto_from: 1.5}\n",
        "bounds: {repairs: endless}\n",
        "rules: {sticky: true}\n",
        "rules: {sticky_veto: 1}\n",
        "weights: {judge: 1}\n",
        "weights: {analyst: null}\n",
        "weights: null\n",
    ] {
        assert!(!validator.is_valid(&json(&format!("name: x\n{bad}"))), "{bad}");
    }
    assert!(!validator.is_valid(&json("extends: hardened\n")));
}
