//! The sources of a crate name each crate on which it depends. A dependency that only tests of other programs need is a
//! dev-dependency.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_tests::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the names of a manifest's section: `[dependencies]` or `[dev-dependencies]`.
fn names(manifest: &str, section: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split(['.', ' ', '=']).next()?.to_owned()))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns whether a source contains the name as a word. `-` of a package is `_` in a source.
fn contains_name(source: &str, package: &str) -> bool {
    let name = package.replace('-', "_");
    source.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Adds the sources of a folder, without the crates inside it.
fn collect(folder: &Path, sources: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.join("Cargo.toml").exists() && !path.ends_with("target") {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            sources.push((path, source));
        }
    }
}

/// Returns the dependencies of a crate that its sources do not name.
fn unused(manifest: &str, folder: &Path, sources: &[(PathBuf, String)]) -> Vec<String> {
    let is_named = |package: &str, within: &Path| {
        sources.iter().any(|(path, source)| path.starts_with(within) && contains_name(source, package))
    };
    let of_program = names(manifest, "[dependencies]").into_iter();
    let unused = of_program
        .filter(|name| !is_named(name, &folder.join("src")) && !is_named(name, &folder.join("targets")));
    unused
        .chain(names(manifest, "[dev-dependencies]").into_iter().filter(|name| !is_named(name, folder)))
        .collect()
}

#[test]
fn every_dependency_is_used() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = workspace.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let folders = members.split('"').skip(1).step_by(2).chain(["python", "tests/fuzz"]);
    let mut checked = 0;
    let mut found = Vec::new();
    for member in folders {
        let folder = root().join(member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut sources = Vec::new();
        collect(&folder, &mut sources);
        checked += names(&manifest, "[dependencies]").len();
        found
            .extend(unused(&manifest, &folder, &sources).into_iter().map(|name| format!("{member}: {name}")));
    }
    assert!(checked > 100, "expected the manifests of the workspace, found {checked} dependencies");
    assert!(found.is_empty(), "remove these dependencies, or move them to [dev-dependencies]: {found:#?}");
}

#[test]
fn unused_dependency_is_found() {
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\n# why\nserde.workspace = true\nserde-json = { version = \"1\" }\nsyn = \"2\"\n\n[dev-dependencies]\nsyn.workspace = true\nureq.workspace = true\n";
    let source = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let sources =
        [source("x/src/lib.rs", "use serde_json::Value; // serde2"), source("x/tests/a.rs", "syn::parse();")];
    assert_eq!(unused(manifest, Path::new("x"), &sources), ["serde", "syn", "ureq"]);
}
