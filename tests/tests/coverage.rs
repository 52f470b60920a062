//! Every row of the transition table is taken by some golden trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion::trace::Reader;
use orchestrion_kernel::Event;
use orchestrion_kernel::control::table::TRANSITIONS;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

/// The rows that golden traces take, each with the traces that do.
fn rows_taken() -> BTreeMap<&'static str, Vec<String>> {
    let mut taken: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(orchestrion_tests::root().join("specs/scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ndjson") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for step in Reader::new(BufReader::new(File::open(&path).unwrap()), &name).unwrap() {
            for event in step.unwrap().events {
                if let Event::Moved { row } = event {
                    let by = taken.entry(row.row().id).or_default();
                    if by.last() != Some(&name) {
                        by.push(name.clone());
                    }
                }
            }
        }
    }
    taken
}

#[test]
fn every_row_is_taken_by_a_golden_trace() {
    let taken = rows_taken();
    let missed: Vec<&str> =
        TRANSITIONS.iter().map(|row| row.id).filter(|id| !taken.contains_key(id)).collect();
    assert_eq!(missed, [""; 0], "write a scenario in specs/scenarios that takes these rows");
}
