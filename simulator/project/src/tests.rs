//! Project files: their meaning, and errors in them.

use super::*;
use orchestrion_yaml::render_error;
use std::fs;

/// Creates a folder with policies, a scenario and this project file, and reads the project.
fn project(text: &str) -> (tempfile::TempDir, Result<Project, ReadError>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    for name in ["policies", "scenarios"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    write("policies/team.yaml", "name: team\n");
    write("policies/again.yaml", "name: team\n");
    write("scenarios/first.yaml", "");
    write(FILE, text);
    let project = Project::read(&folder.path().join(FILE));
    (folder, project)
}

fn rendered_error(text: &str) -> String {
    let (folder, project) = project(text);
    let error = match project.and_then(|project| project.policies()) {
        Ok(policies) => panic!("{text:?} was read, with {policies:?}"),
        Err(error) => error,
    };
    render_error(&error).replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn file_defines_inputs_of_commands() {
    let (folder, project) = project(
        "policies: [policies/team.yaml, as-drawn]\nscope: tiny\nscenarios: [scenarios]\ntraces: [scenarios]\nwaivers:\n  \
         - {claim: C-06, policy: team, reason: ' known ', until: 2027-01-31}\n",
    );
    let project = project.unwrap();
    let names: Vec<_> = project.policies().unwrap().into_iter().map(|policy| policy.name).collect();
    assert_eq!(names, ["team", "as-drawn"]);
    assert_eq!(project.scope().unwrap().unwrap().scope.name, "tiny");
    assert_eq!(project.scenarios(), [folder.path().join("scenarios")]);
    let [waiver] = &project.waivers()[..] else { panic!("one waiver") };
    assert_eq!(
        (waiver.claim, &waiver.reason[..], waiver.until),
        ("C-06", "known", Date::constant(2027, 1, 31))
    );
    assert!(waiver.location.ends_with("orchestrion.yaml:6"), "{}", waiver.location);
    assert!(
        waiver.covers("C-06", "team") && !waiver.covers("C-06", "as-drawn") && !waiver.covers("C-07", "team")
    );
}

#[test]
fn default_policy_is_hardened() {
    let (_folder, project) = project("scenarios: [scenarios/first.yaml]\n");
    let project = project.unwrap();
    assert_eq!(project.policies().unwrap(), [Policy::hardened()]);
    assert!(project.scope().unwrap().is_none());
    assert_eq!((project.traces(), project.waivers()), (Vec::new(), Vec::new()));
}

#[test]
fn errors_are_rendered_with_location() {
    let waiver = |text: &str| format!("waivers: [{{{text}}}]\n");
    let mistakes = [
        "polices: [hardened]\n".to_owned(),
        "policies: hardened\n".to_owned(),
        "policies: []\n".to_owned(),
        "policies: [hardend]\n".to_owned(),
        "policies: [policies/taem.yaml]\n".to_owned(),
        "policies: [policies/team.yaml, policies/again.yaml]\n".to_owned(),
        "policies: [scenarios/first.yaml]\n".to_owned(),
        "scope: tyny\n".to_owned(),
        "scenarios: [scenario]\n".to_owned(),
        "traces:\n  - scenarios\n  - nowhere/at/all.ndjson\n".to_owned(),
        waiver("claim: C-060, reason: known, until: 2027-01-31"),
        waiver("claim: C-06, reason: known, until: 2027-02-29"),
        waiver("claim: C-06, reason: known, until: 20270131"),
        waiver("claim: C-06, reason: known, until: soon"),
        waiver("claim: C-06, until: 2027-01-31"),
        waiver("claim: C-06, reason: ' ', until: 2027-01-31"),
        waiver("claim: C-06, reason: known"),
        waiver("claim: C-06, policy: hardend, reason: known, until: 2027-01-31"),
        waiver(
            "claim: C-06, reason: a, until: 2027-01-31}, {claim: C-06, policy: hardened, reason: b, until: 2027-01-31",
        ),
    ];
    let errors: Vec<String> = mistakes.iter().map(|mistake| rendered_error(mistake)).collect();
    for (mistake, error) in mistakes.iter().zip(&errors) {
        for part in ["[DIR/", "help: "] {
            assert!(error.contains(part), "{mistake:?}: missing {part:?} in\n{error}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(errors.join("\n")) });
}

#[test]
fn schema_accepts_only_valid_files() {
    let schema = jsonschema::validator_for(&project_schema()).unwrap();
    let valid = serde_json::json!({
        "policies": ["hardened"], "scope": "tiny", "scenarios": ["a"], "traces": ["a"],
        "waivers": [{"claim": "C-06", "reason": "known", "until": "2027-01-31"}],
    });
    assert!(schema.is_valid(&valid));
    for (key, invalid) in [
        ("policies", serde_json::json!([])),
        ("scope", serde_json::json!(3)),
        ("waivers", serde_json::json!([{"claim": "C-06", "until": "2027-01-31"}])),
        ("waivers", serde_json::json!([{"claim": "C-999", "reason": "known", "until": "2027-01-31"}])),
        ("colour", serde_json::json!("red")),
    ] {
        let mut file = valid.clone();
        file[key] = invalid;
        assert!(!schema.is_valid(&file), "{file}");
    }
}
