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

fn tool_path(variable: &str) -> Option<PathBuf> {
    let differences = std::env::var_os(variable).map(PathBuf::from);
    if differences.is_none() {
        eprintln!("skipped: {variable} is not set; run .ci/peers to find or install the tool");
    }
    differences
}

/// The available tools.
struct Tools {
    spin: Option<Spin>,
    tlc: Option<Tlc>,
}

impl Tools {
    /// Returns the tools; `None` if there are none.
    fn available() -> Option<Self> {
        let spin = tool_path("ORCHESTRION_SPIN").map(|program| Spin { program });
        let tlc = tool_path("ORCHESTRION_TLC").map(|jar| Tlc { jar });
        (spin.is_some() || tlc.is_some()).then_some(Self { spin, tlc })
    }

    /// Runs both tools on two texts in parallel.
    fn run(&self, control: &ControlModel, promela: &str, tla: &str) -> Vec<CheckerReport> {
        let folder = tempfile::tempdir().unwrap();
        let results = std::thread::scope(|threads| {
            let tlc = threads.spawn(|| Some(self.tlc.as_ref()?.check(control, tla, folder.path())));
            let spin = self.spin.as_ref().map(|spin| spin.check(control, promela, folder.path()));
            [spin, tlc.join().unwrap()]
        });
        results.into_iter().flatten().map(|report| report.unwrap_or_else(|error| panic!("{error}"))).collect()
    }
}

#[test]
fn spin_and_tlc_agree_with_explorer() {
    let Some(tools) = Tools::available() else { return };
    let mut differences = Vec::new();
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        let control = ControlModel::new(&policy);
        let reports: Vec<CheckerReport> = std::thread::scope(|threads| {
            let ours = threads.spawn(|| check_with_explorer(&policy, &SCOPES[0]));
            let theirs = tools.run(&control, &promela(&control), &tla::module(&control));
            std::iter::once(ours.join().unwrap().unwrap()).chain(theirs).collect()
        });
        println!("{}", table(&control, &reports));
        differences.extend(disagreements(&control, &reports));
    }
    assert_eq!(differences, [""; 0]);
}

#[test]
fn disagreements_are_reported() {
    let control = ControlModel::new(&Policy::hardened());
    let all_hold = || control.claims.iter().map(|exported| (exported.claim.id, CheckerVerdict::Holds));
    let one = CheckerReport {
        name: "one",
        phases: ["Idle", "Done"].into(),
        rows: ["S01"].into(),
        states: Some(2),
        verdicts: all_hold().chain([("C-06", CheckerVerdict::Inconclusive)]).collect(),
    };
    let other = CheckerReport {
        name: "other",
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
            "hardened: one reaches the phase Done, other does not",
            "hardened: other reaches the row S02, one does not",
            "hardened: the control model has different numbers of states: [(\"one\", 2), (\"other\", 3)]",
            "hardened: C-01 (one: holds, other: fails)",
            "hardened: C-03 (one: holds, other: not checked)",
            "hardened: C-06 (one: inconclusive, other: holds)",
        ]
    );
}

/// A fault in the effect of a transition: the text to replace after a marker, and its replacement.
struct SeededFault {
    name: &'static str,
    promela: [&'static str; 3],
    tla: [&'static str; 3],
}

const FAULTS: [SeededFault; 5] = [
    SeededFault {
        name: "E06 is never taken",
        promela: ["/* E06 (", "d_step { ", "d_step { false && "],
        tla: ["\nE06 ==", "/\\ ", "/\\ FALSE /\\ "],
    },
    SeededFault {
        name: "the guard of T18 is negated",
        promela: ["/* T18 (", "&& vetoed ->", "&& !vetoed ->"],
        tla: ["\nT18 ==", "/\\ vetoed\n", "/\\ ~vetoed\n"],
    },
    SeededFault {
        name: "H05 misses exhausted repairs",
        promela: ["/* H05 (", "repairs >= REPAIRS", "repairs >= REPAIRS + 2"],
        tla: ["\nH05 ==", "repairs >= REPAIRS", "repairs >= REPAIRS + 2"],
    },
    SeededFault {
        name: "H05 reports exhausted repairs too early",
        promela: ["/* H05 (", "repairs >= REPAIRS", "repairs + 1 >= REPAIRS"],
        tla: ["\nH05 ==", "repairs >= REPAIRS", "repairs + 1 >= REPAIRS"],
    },
    SeededFault {
        name: "E10 writes no audit record",
        promela: ["/* E10 (", "-> audits + 1", "-> audits"],
        tla: ["\nE10 ==", "THEN audits + 1", "THEN audits"],
    },
];

fn seed_fault(text: &str, [marker, from, to]: [&str; 3]) -> String {
    let (before, after) =
        text.split_once(marker).unwrap_or_else(|| panic!("expected the marker {marker:?}, found none"));
    let seeded = after.replacen(from, to, 1);
    assert_ne!(after, seeded, "expected {from:?} after {marker:?}, found none");
    format!("{before}{marker}{seeded}")
}

/// Each tool detects each fault: its report differs from the one on the exported text.
#[test]
fn seeded_export_fault_is_detected() {
    let Some(tools) = Tools::available() else { return };
    let control = ControlModel::new(&Policy::hardened());
    let (promela, tla) = (promela(&control), tla::module(&control));
    let unmodified = tools.run(&control, &promela, &tla);
    for SeededFault { name, promela: in_promela, tla: in_tla } in FAULTS {
        let seeded = tools.run(&control, &seed_fault(&promela, in_promela), &seed_fault(&tla, in_tla));
        for (unmodified, seeded) in unmodified.iter().zip(seeded) {
            let differences =
                disagreements(&control, &[unmodified.clone(), CheckerReport { name: "seeded", ..seeded }]);
            println!("{name}:\n  {}", differences.join("\n  "));
            assert!(
                differences.iter().any(|difference| !difference.contains("numbers of states")),
                "{}: {name}",
                unmodified.name
            );
        }
    }
}
