//! Properties that hold of every conversation under every valid policy, tried on random walks, legal and not.
//!
//! What once failed stands in `tests/regressions` and is tried first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::{Event, State, decide};
use orchestrion_tests::canonicalization::CanonicalizedRun;
use orchestrion_tests::monitored::MonitoredKernel;
use orchestrion_tests::random_walk::conversation;
use orchestrion_tests::regressions::{check_property, drawn_walks};
use std::collections::BTreeMap;

/// Walks of each property, unless `PROPTEST_CASES` says otherwise; as many as CI has time for.
const CASES: u32 = 1_500;
/// Walks whose rows are counted.
const WALKS: u32 = 2_000;

#[test]
fn the_kernel_does_what_the_oracle_expects() {
    check_property::<MonitoredKernel>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}

/// What no walk comes to is not tried: every row is to be taken, and not by one lucky walk only.
#[test]
fn random_walks_take_every_row() {
    let mut taken: BTreeMap<&str, u32> = TRANSITIONS.iter().map(|row| (row.id, 0)).collect();
    let mut steps = 0;
    for (policy, inputs) in drawn_walks(WALKS) {
        let mut state = State::new(conversation());
        for input in &inputs {
            steps += 1;
            for event in decide(&policy, &state, input).unwrap_or_default() {
                if let Event::Transitioned { row } = event {
                    *taken.entry(row.transition().id).or_default() += 1;
                }
                state.apply(&event);
            }
        }
    }
    println!("{steps} steps of {WALKS} walks, by the rows that they take: {taken:?}");
    let rare: Vec<_> = taken.iter().filter(|(_, times)| **times < 3).collect();
    assert!(rare.is_empty(), "{WALKS} walks hardly ever take these rows: {rare:?}");
}

#[test]
fn stepping_and_renaming_commute() {
    check_property::<CanonicalizedRun>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}
