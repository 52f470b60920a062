//! Certificates: what is written verifies, and what is corrupted is believed only where it is true all the same.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod drawn;

use drawn::{Lot, brute, drawn, free};
use orchestrion_kernel::context::{
    Candidate, Certificate, Doubt, Gap, Limits, Mark, Prices, Problem, SLOPES_MAX, Selection, Step, Unproven,
    certify, check, solve, verify,
};
use std::collections::BTreeMap;

/// Problems with their best answers, by trying everything.
fn problems(seed: u64, cases: usize) -> impl Iterator<Item = (Problem, Selection)> {
    let mut lot = Lot(seed);
    (0..cases).filter_map(move |_| {
        let (budget, candidates) = drawn(&mut lot);
        let best = brute(budget, &candidates)?;
        Some((Problem::new(budget, candidates).unwrap(), best))
    })
}

fn cases(unoptimised: usize) -> usize {
    std::env::var("BRUTE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(unoptimised)
}

#[test]
fn what_is_best_is_certified_and_verified() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, (problem, best)) in problems(11, cases(10_000)).enumerate() {
        // Few nodes, so that also what comes late is written.
        let nodes = if place % 2 == 0 { 10_000 } else { 4 + place as u64 % 30 };
        match certify(&problem, &best, Limits { nodes }) {
            Ok(certificate) => {
                assert_eq!(certificate.selection, best);
                assert_eq!(verify(&problem, &certificate), Ok(()), "{problem:?}");
                for step in &certificate.steps {
                    let name = match step {
                        Step::Drop(_) => "drop",
                        Step::Reduce { .. } => "reduce",
                        Step::Branch(_) => "branch",
                        Step::Split(_) => "split",
                        Step::Close(Prices { toll: 0, .. }) => "close",
                        Step::Close(_) => "close with a toll",
                    };
                    *seen.entry(name).or_default() += 1;
                }
            }
            Err(unproven) => assert!(unproven == Unproven::Nodes && nodes < 100, "{unproven:?} {problem:?}"),
        }
    }
    assert!(seen.len() == 6, "{seen:?}");
    println!("{seen:?}");
}
