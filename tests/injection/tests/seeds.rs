//! Seeds of injected faults: no acknowledged input is lost, no effect happens twice, and no verdict is wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_injection::{Outcome, run_logged_seed, run_seed};
use std::time::Instant;

/// The number in an environment variable.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// 400 seeds; `.ci/nightly` runs 10,000. `FAULT_SEED` repeats one.
#[test]
fn seeds_of_faults_keep_inputs_and_effects() {
    if let Ok(seed) = std::env::var("FAULT_SEED") {
        let (log, result) = run_logged_seed(seed.parse().unwrap());
        log.iter().for_each(|event| println!("{event}"));
        let outcome = result.unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        println!("seed {seed}: {outcome:?}");
        return;
    }
    let (first, count) = (number("FAULT_FIRST_SEED", 0), number("FAULT_SEEDS", 400));
    let start = Instant::now();
    let (mut total, mut failed) = (Outcome::default(), Vec::new());
    for seed in first..first + count {
        match run_seed(seed) {
            Ok(outcome) => total.add(&outcome),
            Err(violation) => failed.push((seed, violation)),
        }
    }
    let Outcome {
        faults,
        processes,
        crashes,
        restarts,
        recovered,
        refused,
        closed,
        acknowledged,
        effects,
        snapshots,
    } = &total;
    println!(
        "{count} seeds from {first} on in {:.1} s: {processes} processes, {crashes} crashes, {restarts} restarts of the machine,",
        start.elapsed().as_secs_f64()
    );
    println!(
        "{recovered} journals recovered, {refused} openings refused, {snapshots} snapshots used, {closed} conversations closed,"
    );
    println!("{acknowledged} inputs acknowledged, {effects} effects executed");
    println!("{faults}");
    for (seed, violation) in failed.iter().take(20) {
        println!("seed {seed}: {violation}");
        println!(
            "  repeat: FAULT_SEED={seed} cargo test -p orchestrion-injection --test seeds seeds_of_faults -- --nocapture"
        );
    }
    assert!(failed.is_empty(), "{} of {count} seeds fail", failed.len());
    assert!(faults.missing().is_empty(), "never injected: {:?}", faults.missing());
}
