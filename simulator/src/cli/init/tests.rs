//! Files of `init`: valid, and no existing file is overwritten.

use super::*;
use orchestrion_kernel::Policy;
use orchestrion_project::Project;
use std::fs;

const FILES: [&str; 14] = [
    orchestrion_project::FILE,
    POLICY,
    CLAIMS,
    SCENARIO,
    TRACE,
    NETWORK,
    NETWORK_SCENARIO,
    WORKFLOW,
    IGNORE_FILE,
    NETWORK_TRACE,
    "keys/ana.key",
    "keys/ben.key",
    "keys/office.key",
    "keys/.gitignore",
];

/// Returns the sorted paths of all files and folders below a folder.
fn paths_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(paths_below(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn existing_ignore_file_is_kept_and_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(IGNORE_FILE), "target\n").unwrap();
    let written = create_project(folder.path()).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(IGNORE_FILE)).unwrap(), "target\n");
    let mut report = Vec::new();
    print_report(folder.path(), &written, &mut report).unwrap();
    let report = String::from_utf8(report).unwrap();
    assert!(report.contains("  ignore   add the line `.orchestrion/` to "), "{report}");
}

#[test]
fn created_files_are_readable() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("not/there/yet");
    let written = create_project(&folder).unwrap();
    assert_eq!(written, FILES.map(|file| folder.join(file)));
    let project = Project::read(&folder.join(orchestrion_project::FILE)).unwrap();
    let policies = project.policies().unwrap();
    let [policy] = &policies[..] else { panic!("one policy, found {policies:?}") };
    assert_ne!(
        *policy,
        Policy { name: policy.name.clone(), ..Policy::hardened() },
        "the policy changes a setting"
    );
    let scenario = Scenario::read(&folder.join(SCENARIO)).unwrap();
    assert_eq!(scenario.policy, *policy);
    let result = run_scenario(scenario).unwrap();
    assert!(
        result.halted.is_none()
            && result.unused_events.is_empty()
            && result.unexpected_writes.is_empty()
            && result.unmet_expectations.is_empty()
    );
    assert_eq!(result.trace, fs::read(folder.join(TRACE)).unwrap());
    // The trace of the network does not depend on its keys.
    let result = run_scenario(Scenario::read(&folder.join(NETWORK_SCENARIO)).unwrap()).unwrap();
    assert!(result.halted.is_none() && result.unused_events.is_empty());
    assert_eq!(result.trace, fs::read(folder.join(NETWORK_TRACE)).unwrap());
}

#[test]
fn created_files_match_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    create_project(folder.path()).unwrap();
    let schemas = [
        (orchestrion_project::FILE, orchestrion_project::project_schema()),
        (POLICY, policy_file::policy_schema()),
        (CLAIMS, orchestrion_user_claims::claim_schema()),
        (SCENARIO, orchestrion_scenario::scenario_schema()),
        (NETWORK_SCENARIO, orchestrion_scenario::scenario_schema()),
        (NETWORK, orchestrion_network::network_schema()),
    ];
    for (file, schema) in schemas {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        assert!(value.is_object() && schema.is_valid(&value), "{file}: {:?}", schema.validate(&value));
    }
}

#[test]
fn commented_waiver_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    create_project(folder.path()).unwrap();
    let file = folder.path().join(orchestrion_project::FILE);
    let text = fs::read_to_string(&file).unwrap();
    let (before, waivers) = text.split_once("# waivers:\n").unwrap();
    let waivers = waivers.replace("#   ", "  ");
    fs::write(&file, format!("{before}waivers:\n{waivers}")).unwrap();
    let project = Project::read(&file).unwrap();
    project.policies().unwrap();
    assert_eq!(project.waivers().len(), 1);
}

#[test]
fn existing_file_prevents_init() {
    for existing in FILES.iter().take(8).chain([&KEYS]) {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join(existing);
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "mine").unwrap();
        let before = paths_below(folder.path());
        let error = create_project(folder.path()).unwrap_err().to_string();
        assert!(error.contains(*existing) && error.contains("no file was written"), "{error}");
        assert_eq!(paths_below(folder.path()), before);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }
}

#[test]
fn init_requires_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes");
    fs::write(&file, "mine").unwrap();
    let error = create_project(&file).unwrap_err().to_string();
    assert!(error.contains("notes is not a folder"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn incomplete_init_is_undone() {
    // A file in place of a folder: the error occurs after other files are written.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".github"), "mine").unwrap();
    let before = paths_below(folder.path());
    create_project(folder.path()).unwrap_err();
    assert_eq!(paths_below(folder.path()), before);
}

#[test]
fn failed_network_files_are_undone() {
    // A folder in place of the trace of the network: the error occurs after the other files are written.
    let folder = tempfile::tempdir().unwrap();
    let paths = [NETWORK_TRACE, KEYS].map(|name| folder.path().join(name));
    fs::create_dir_all(&paths[0]).unwrap();
    fs::write(folder.path().join(NETWORK), include_str!("network.yaml")).unwrap();
    fs::write(folder.path().join(NETWORK_SCENARIO), include_str!("network_scenario.yaml")).unwrap();
    fs::create_dir(folder.path().join("policies")).unwrap();
    fs::write(folder.path().join(POLICY), include_str!("policy.yaml")).unwrap();
    add_network_files(folder.path(), &paths).unwrap_err();
    assert!(!paths[1].exists());
}

#[test]
fn report_names_files_and_next_commands() {
    let mut out = Vec::new();
    let folder = Path::new("my demo");
    print_report(folder, &FILES.map(|file| in_folder(folder, file)), &mut out).unwrap();
    let report = String::from_utf8(out).unwrap();
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(report) });
}
