//! What project files mean, and how mistakes in them are drawn.

use super::*;
use orchestrion_yaml::render_error;
use std::fs;

/// A folder with a policy, a scenario's file and this project file.
fn project(text: &str) -> (tempfile::TempDir, Result<Project, ReadError>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    for there in ["policies", "scenarios"] {
        fs::create_dir(folder.path().join(there)).unwrap();
    }
    write("policies/team.yaml", "name: team\n");
    write("policies/again.yaml", "name: team\n");
    write("scenarios/first.yaml", "");
    write(FILE, text);
    let project = Project::read(&folder.path().join(FILE));
    (folder, project)
}

fn drawn(text: &str) -> String {
    let (folder, project) = project(text);
    let error = match project.and_then(|project| project.policies()) {
        Ok(policies) => panic!("{text:?} was read, with {policies:?}"),
        Err(error) => error,
    };
    render_error(&error).replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn a_file_says_what_the_verbs_are_about() {
    let (folder, project) = project(
        "policies: [policies/team.yaml, as-drawn]\nscope: tiny\nscenarios: [scenarios]\ntraces: [scenarios]\nwaivers:\n  \
         - {claim: C-06, policy: team, reason: ' known ', until: 2027-01-31}\n",
    );
    let project = project.unwrap();
    let names: Vec<_> = project.policies().unwrap().into_iter().map(|policy| policy.name).collect();
    assert_eq!(names, ["team", "as-drawn"]);
    assert_eq!(project.scope(), Scope::by_name("tiny"));
    assert_eq!(project.scenarios(), [folder.path().join("scenarios")]);
    let [waiver] = &project.waivers()[..] else { panic!("one waiver") };
    assert_eq!(
        (waiver.claim, &waiver.reason[..], waiver.until),
        ("C-06", "known", Date::constant(2027, 1, 31))
    );
    assert!(waiver.place.ends_with("orchestrion.yaml:6"), "{}", waiver.place);
    assert!(
        waiver.covers("C-06", "team") && !waiver.covers("C-06", "as-drawn") && !waiver.covers("C-07", "team")
    );
}

#[test]
fn a_file_that_leaves_out_its_policies_means_hardened() {
    let (_folder, project) = project("scenarios: [scenarios/first.yaml]\n");
    let project = project.unwrap();
    assert_eq!(project.policies().unwrap(), [Policy::hardened()]);
    assert_eq!((project.scope(), project.traces(), project.waivers()), (None, Vec::new(), Vec::new()));
}

#[test]
fn mistakes_are_drawn_where_they_are() {
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
    let drawn: Vec<String> = mistakes.iter().map(|mistake| drawn(mistake)).collect();
    for (mistake, drawn) in mistakes.iter().zip(&drawn) {
        for part in ["[DIR/", "help: "] {
            assert!(drawn.contains(part), "{mistake:?} is drawn without {part:?}:\n{drawn}");
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(drawn.join("\n")) });
}

#[test]
fn the_schema_takes_what_is_right_and_refuses_what_is_not() {
    let schema = jsonschema::validator_for(&project_schema()).unwrap();
    let right = serde_json::json!({
        "policies": ["hardened"], "scope": "tiny", "scenarios": ["a"], "traces": ["a"],
        "waivers": [{"claim": "C-06", "reason": "known", "until": "2027-01-31"}],
    });
    assert!(schema.is_valid(&right));
    for (key, wrong) in [
        ("policies", serde_json::json!([])),
        ("scope", serde_json::json!("huge")),
        ("waivers", serde_json::json!([{"claim": "C-06", "until": "2027-01-31"}])),
        ("waivers", serde_json::json!([{"claim": "C-999", "reason": "known", "until": "2027-01-31"}])),
        ("colour", serde_json::json!("red")),
    ] {
        let mut file = right.clone();
        file[key] = wrong;
        assert!(!schema.is_valid(&file), "{file}");
    }
}
