//! Runs every fuzz target on every file of its corpus.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::Event;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_tests::fuzz_targets::{TARGETS, drive};
use orchestrion_tests::generators::RandomSource;
use orchestrion_tests::root;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn fuzz_targets_accept_their_corpus() {
    for (name, target, folders) in TARGETS {
        let own = files(root().join("tests/fuzz/corpus").join(name));
        assert!(!own.is_empty(), "tests/fuzz/corpus/{name}: expected at least one file, found none");
        let more = folders.iter().flat_map(|folder| files(root().join(folder)));
        for file in own.into_iter().chain(more) {
            println!("{name}: {}", file.display());
            target(&fs::read(&file).unwrap());
        }
    }
}

/// `.ci/fuzz` runs each file of the folder `targets`, which is a program of the manifest.
#[test]
fn every_target_is_a_program() {
    let names: Vec<String> = TARGETS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let programs: Vec<String> = files(root().join("tests/fuzz/targets")).into_iter().map(stem).collect();
    assert_eq!(programs, names);
    let manifest = fs::read_to_string(root().join("tests/fuzz/Cargo.toml")).unwrap();
    for name in &names {
        let path = format!("name = \"{name}\"\npath = \"targets/{name}.rs\"");
        assert!(manifest.contains(&path), "tests/fuzz/Cargo.toml has no program {name}");
        let program = fs::read_to_string(root().join(format!("tests/fuzz/targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("fuzz_targets::{name}(bytes)")), "{program}");
    }
    let corpora: u64 = names
        .iter()
        .flat_map(|name| files(root().join("tests/fuzz/corpus").join(name)))
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    assert!(corpora < 200_000, "the corpora have {corpora} bytes: minimize them");
}

/// A change of the generators changes the meaning of the bytes. A corpus that no longer takes every transition is
/// regenerated: random inputs, as long as they take a transition that no earlier input takes. Commit the result.
#[test]
fn decide_corpus_takes_every_transition() {
    let folder = root().join("tests/fuzz/corpus/decide");
    let mut seen = BTreeSet::new();
    for file in files(folder.clone()) {
        seen.extend(transitions_of(&fs::read(file).unwrap()));
    }
    if seen.len() == TRANSITIONS.len() {
        return;
    }
    files(folder.clone()).into_iter().for_each(|file| fs::remove_file(file).unwrap());
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::default());
    seen.clear();
    for _ in 0..9_000 {
        if seen.len() == TRANSITIONS.len() {
            break;
        }
        let mut bytes = vec![0; 100 + rng.below(500) as usize];
        rng.fill_bytes(&mut bytes);
        let rows = transitions_of(&bytes);
        if let Some(first) = rows.difference(&seen).next() {
            fs::write(folder.join(first), &bytes).unwrap();
        }
        seen.extend(rows);
    }
    let missing: Vec<&str> = TRANSITIONS.iter().map(|row| row.id).filter(|id| !seen.contains(id)).collect();
    panic!(
        "tests/fuzz/corpus/decide was stale and is regenerated; commit it. Transitions that no input takes: {missing:?}"
    );
}

fn transitions_of(bytes: &[u8]) -> BTreeSet<&'static str> {
    let mut rows = BTreeSet::new();
    drive(bytes, |kernel| {
        rows.extend(kernel.latest().filter_map(|event| match event {
            Event::Transitioned { row } => Some(row.transition().id),
            _ => None,
        }));
    });
    rows
}
