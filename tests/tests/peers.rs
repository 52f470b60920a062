//! SPIN and TLC, on the control FSM as it is exported, agree with each other and with our models of the kernel.
//!
//! `.ci/peers` finds or installs both and names them in `ORCHESTRION_SPIN` and `ORCHESTRION_TLC`. Without them these tests
//! say that they are skipped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::Policy;
use orchestrion_model::export::{Control, promela::promela, tla};
use orchestrion_model::scopes::SCOPES;
use orchestrion_tests::peers::{Opinion, Spin, Tlc, disagreements, ours, table};
use std::path::PathBuf;

fn named(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: {variable} is not set; .ci/peers finds or installs what it names");
    }
    found
}

/// What the tools that are there say of two texts.
fn peers(control: &Control, promela: &str, tla: &str) -> Vec<Opinion> {
    let spin = named("ORCHESTRION_SPIN").map(|program| Spin { program });
    let tlc = named("ORCHESTRION_TLC").map(|jar| Tlc { jar });
    let folder = tempfile::tempdir().unwrap();
    let spin = spin.map(|spin| spin.opinion(control, promela, folder.path()));
    let tlc = tlc.map(|tlc| tlc.opinion(control, tla, folder.path()));
    spin.into_iter().chain(tlc).map(|opinion| opinion.unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn other_peoples_checkers_agree_with_ours() {
    let mut found = Vec::new();
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        let control = Control::of(&policy);
        let t = std::time::Instant::now();
        let mut opinions = peers(&control, &promela(&control), &tla::module(&control));
        eprintln!("{:?}", t.elapsed());
        if opinions.is_empty() {
            return;
        }
        opinions.insert(0, ours(&policy, &SCOPES[0]));
        eprintln!("{:?}", t.elapsed());
        println!("{}", table(&control, &opinions));
        found.extend(disagreements(&control, &opinions));
    }
    assert_eq!(found, [""; 0]);
}
