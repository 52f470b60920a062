//! `SECURITY.md` names tests and fuzz targets that exist.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_tests::fuzz_targets::TARGETS;
use orchestrion_tests::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Adds the names of the functions of a folder of sources.
fn collect_functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect_functions(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let after_fn = source.split("fn ").skip(1);
            names.extend(after_fn.filter_map(|rest| rest.split(['(', '<']).next().map(str::to_owned)));
        }
    }
}

/// Returns the names in the last column of the table.
fn named_checks(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let checks = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    checks.flat_map(|column| column.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn security_page_names_existing_checks() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let mut functions = BTreeSet::new();
    ["kernel", "model", "simulator", "tests"]
        .into_iter()
        .for_each(|folder| collect_functions(&root().join(folder), &mut functions));
    let is_known = |name: &str| {
        functions.contains(name)
            || TARGETS.iter().any(|(target, ..)| *target == name)
            || root().join(name).exists()
            || name == "check"
    };
    let checks = named_checks(&page);
    assert!(checks.len() > 15, "found only {checks:?}");
    let unknown: Vec<&str> = checks.into_iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "SECURITY.md names checks that do not exist: {unknown:?}");
}
