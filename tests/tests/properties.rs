//! Properties of every conversation under every valid policy, checked on random walks with legal and illegal inputs.
//!
//! Stored failures in `tests/regressions` run first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::{Event, State, TimedInput, decide};
use orchestrion_tests::canonicalization::CanonicalizedRun;
use orchestrion_tests::monitored::MonitoredKernel;
use orchestrion_tests::random_walk::conversation;
use orchestrion_tests::regressions::{check_property, random_walks};
use std::collections::BTreeMap;

/// The default number of walks for each property, unless `PROPTEST_CASES` is set; it fits into the CI time limit.
const CASES: u32 = 1_500;
/// The number of walks for transition coverage.
const WALKS: u32 = 2_000;

#[test]
fn kernel_matches_oracle() {
    check_property::<MonitoredKernel>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}

/// A behavior without walks is untested, so every transition must occur, and in several walks.
#[test]
fn random_walks_take_every_transition() {
    let mut taken: BTreeMap<&str, u32> = TRANSITIONS.iter().map(|row| (row.id, 0)).collect();
    let mut steps = 0;
    for (policy, inputs) in random_walks(WALKS) {
        let mut state = State::new(conversation());
        for TimedInput { at, input } in &inputs {
            steps += 1;
            for event in decide(&policy, &state, *at, input).unwrap_or_default() {
                if let Event::Transitioned { row } = event {
                    *taken.entry(row.transition().id).or_default() += 1;
                }
                state.apply(&event);
            }
        }
    }
    println!("{steps} steps of {WALKS} walks, transitions: {taken:?}");
    let rare: Vec<_> = taken.iter().filter(|(_, times)| **times < 3).collect();
    assert!(rare.is_empty(), "transitions with fewer than three occurrences in {WALKS} walks: {rare:?}");
}

#[test]
fn stepping_and_renaming_commute() {
    check_property::<CanonicalizedRun>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}
