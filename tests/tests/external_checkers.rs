//! SPIN and TLC on the exported control FSM agree with each other and with our models of the kernel.
//!
//! `.ci/peers` finds or installs both and sets `ORCHESTRION_SPIN` and `ORCHESTRION_TLC`. Without them the tests print
//! that they are skipped.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::Policy;
use orchestrion_model::export::{ControlModel, promela::promela, tla};
use orchestrion_model::scopes::SCOPES;
use orchestrion_tests::external_checkers::{
    CheckerReport, CheckerVerdict, Spin, Tlc, check_with_explorer, disagreements, table,
};
use std::path::PathBuf;

fn named(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: {variable} is not set; .ci/peers finds or installs what it names");
    }
    found
}

/// The available tools.
struct Tools {
    spin: Option<Spin>,
    tlc: Option<Tlc>,
}

impl Tools {
    /// Returns the tools; `None` if there are none.
    fn found() -> Option<Self> {
        let spin = named("ORCHESTRION_SPIN").map(|program| Spin { program });
        let tlc = named("ORCHESTRION_TLC").map(|jar| Tlc { jar });
        (spin.is_some() || tlc.is_some()).then_some(Self { spin, tlc })
    }

    /// Runs both tools on two texts in parallel.
    fn opinions(&self, control: &ControlModel, promela: &str, tla: &str) -> Vec<CheckerReport> {
        let folder = tempfile::tempdir().unwrap();
        let said = std::thread::scope(|threads| {
            let tlc = threads.spawn(|| Some(self.tlc.as_ref()?.opinion(control, tla, folder.path())));
            let spin = self.spin.as_ref().map(|spin| spin.opinion(control, promela, folder.path()));
            [spin, tlc.join().unwrap()]
        });
        said.into_iter().flatten().map(|opinion| opinion.unwrap_or_else(|error| panic!("{error}"))).collect()
    }
}

#[test]
fn spin_and_tlc_agree_with_explorer() {
    let Some(tools) = Tools::found() else { return };
    let mut found = Vec::new();
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        let control = ControlModel::new(&policy);
        let opinions: Vec<CheckerReport> = std::thread::scope(|threads| {
            let ours = threads.spawn(|| check_with_explorer(&policy, &SCOPES[0]));
            let theirs = tools.opinions(&control, &promela(&control), &tla::module(&control));
            std::iter::once(ours.join().unwrap().unwrap()).chain(theirs).collect()
        });
        println!("{}", table(&control, &opinions));
        found.extend(disagreements(&control, &opinions));
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn disagreements_are_reported() {
    let control = ControlModel::new(&Policy::hardened());
    let all_hold = || control.claims.iter().map(|stated| (stated.claim.id, CheckerVerdict::Holds));
    let one = CheckerReport {
        of: "one",
        phases: ["Idle", "Done"].into(),
        rows: ["S01"].into(),
        states: Some(2),
        verdicts: all_hold().chain([("C-06", CheckerVerdict::Inconclusive)]).collect(),
    };
    let other = CheckerReport {
        of: "other",
        phases: ["Idle"].into(),
        rows: ["S01", "S02"].into(),
        states: Some(3),
        verdicts: all_hold()
            .chain([("C-01", CheckerVerdict::Fails), ("C-03", CheckerVerdict::NotChecked)])
            .collect(),
    };
    assert_eq!(disagreements(&control, &[one.clone(), one.clone()]), [""; 0]);
    assert_eq!(
        disagreements(&control, &[one, other]),
        [
            "hardened: one reaches the state Done, other does not",
            "hardened: other reaches the row S02, one does not",
            "hardened: the control model has a different number of states: [(\"one\", 2), (\"other\", 3)]",
            "hardened: C-01 (one: holds, other: fails)",
            "hardened: C-03 (one: holds, other: nothing)",
            "hardened: C-06 (one: unsettled, other: holds)",
        ]
    );
}

/// A fault in the effect of a transition: the text to replace after a marker, and its replacement.
struct SeededFault {
    what: &'static str,
    promela: [&'static str; 3],
    tla: [&'static str; 3],
}

const FAULTS: [SeededFault; 5] = [
    SeededFault {
        what: "the row E06 is dropped",
        promela: ["/* E06 (", "d_step { ", "d_step { false && "],
        tla: ["\nE06 ==", "/\\ ", "/\\ FALSE /\\ "],
    },
    SeededFault {
        what: "the guard of T18 is negated",
        promela: ["/* T18 (", "&& vetoed ->", "&& !vetoed ->"],
        tla: ["\nT18 ==", "/\\ vetoed\n", "/\\ ~vetoed\n"],
    },
    SeededFault {
        what: "H05 never finds the repairs spent",
        promela: ["/* H05 (", "repairs >= REPAIRS", "repairs >= REPAIRS + 2"],
        tla: ["\nH05 ==", "repairs >= REPAIRS", "repairs >= REPAIRS + 2"],
    },
    SeededFault {
        what: "H05 may find the repairs spent while one is left",
        promela: ["/* H05 (", "repairs >= REPAIRS", "repairs + 1 >= REPAIRS"],
        tla: ["\nH05 ==", "repairs >= REPAIRS", "repairs + 1 >= REPAIRS"],
    },
    SeededFault {
        what: "E10 writes no audit record",
        promela: ["/* E10 (", "-> audits + 1", "-> audits"],
        tla: ["\nE10 ==", "THEN audits + 1", "THEN audits"],
    },
];

fn seeded(text: &str, [mark, from, to]: [&str; 3]) -> String {
    let (before, after) = text.split_once(mark).unwrap_or_else(|| panic!("there is no {mark:?} any more"));
    let wrong = after.replacen(from, to, 1);
    assert_ne!(after, wrong, "below {mark:?} there is no {from:?} any more");
    format!("{before}{mark}{wrong}")
}

/// Each tool detects each fault: its opinion differs from the one on the exported text.
#[test]
fn seeded_export_fault_is_detected() {
    let Some(tools) = Tools::found() else { return };
    let control = ControlModel::new(&Policy::hardened());
    let (promela, tla) = (promela(&control), tla::module(&control));
    let right = tools.opinions(&control, &promela, &tla);
    for SeededFault { what, promela: in_promela, tla: in_tla } in FAULTS {
        let wrong = tools.opinions(&control, &seeded(&promela, in_promela), &seeded(&tla, in_tla));
        for (right, wrong) in right.iter().zip(wrong) {
            let noticed = disagreements(&control, &[right.clone(), CheckerReport { of: "wrong", ..wrong }]);
            println!("{what}:\n  {}", noticed.join("\n  "));
            assert!(noticed.iter().any(|how| !how.contains("number of states")), "{}: {what}", right.of);
        }
    }
}
