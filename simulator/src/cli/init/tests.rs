//! What `init` writes is read by our own readers, and nothing of anybody's is lost.

use super::*;
use crate::project::Project;
use orchestrion_kernel::Policy;
use std::fs;

const FILES: [&str; 5] = [project::FILE, POLICY, SCENARIO, TRACE, WORKFLOW];

/// Every file and folder below, by its path, in order.
fn below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(below(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn every_file_is_read_by_our_own_readers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("not/there/yet");
    let written = begin(&folder).unwrap();
    assert_eq!(written, FILES.map(|file| folder.join(file)));
    let project = Project::read(&folder.join(project::FILE)).unwrap();
    let policies = project.policies().unwrap();
    let [policy] = &policies[..] else { panic!("one policy, found {policies:?}") };
    assert_ne!(*policy, Policy { name: policy.name.clone(), ..Policy::hardened() }, "it changes something");
    let scenario = Scenario::read(&folder.join(SCENARIO)).unwrap();
    assert_eq!(scenario.policy, *policy);
    let played = run_scenario(scenario).unwrap();
    assert!(
        played.halted.is_none() && played.unused_events.is_empty() && played.unexpected_writes.is_empty()
    );
    assert_eq!(played.trace, fs::read(folder.join(TRACE)).unwrap());
}

#[test]
fn every_file_is_what_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    begin(folder.path()).unwrap();
    let schemas = [
        (project::FILE, project::project_schema()),
        (POLICY, policy_file::policy_schema()),
        (SCENARIO, orchestrion_scenario::scenario_schema()),
    ];
    for (file, schema) in schemas {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        assert!(value.is_object() && schema.is_valid(&value), "{file}: {:?}", schema.validate(&value));
    }
}

/// The example in the project file is one that can be had by taking the signs away.
#[test]
fn the_waiver_that_is_shown_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    begin(folder.path()).unwrap();
    let file = folder.path().join(project::FILE);
    let text = fs::read_to_string(&file).unwrap();
    let (before, waivers) = text.split_once("# waivers:\n").unwrap();
    let waivers = waivers.replace("#   ", "  ");
    fs::write(&file, format!("{before}waivers:\n{waivers}")).unwrap();
    let project = Project::read(&file).unwrap();
    project.policies().unwrap();
    assert_eq!(project.waivers().len(), 1);
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written() {
    for there in FILES {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join(there);
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "mine").unwrap();
        let before = below(folder.path());
        let error = begin(folder.path()).unwrap_err().to_string();
        assert!(error.contains(there) && error.contains("nothing was written"), "{error}");
        assert_eq!(below(folder.path()), before);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    }
}

#[test]
fn a_project_begins_in_a_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes");
    fs::write(&file, "mine").unwrap();
    let error = begin(&file).unwrap_err().to_string();
    assert!(error.contains("notes is no folder"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn what_cannot_be_finished_is_taken_back() {
    // A file where a folder is needed: it is met after others have been written.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".github"), "mine").unwrap();
    let before = below(folder.path());
    begin(folder.path()).unwrap_err();
    assert_eq!(below(folder.path()), before);
}

#[test]
fn what_was_written_is_told_with_what_to_do_next() {
    let mut told = Vec::new();
    let folder = Path::new("my demo");
    tell(folder, &FILES.map(|file| in_folder(folder, file)), &mut told).unwrap();
    let told = String::from_utf8(told).unwrap();
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(told) });
}
