//! One fault at each operation of a process, and one change of each byte of a journal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_injection::{
    Damage, FaultKind, IntactJournal, OPERATION_FAULTS, Outcome, TornLine, run_single_fault,
};

/// The number in an environment variable.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Each fault at each operation of a conversation, and then a crash of the machine. `.ci/nightly` runs more conversations.
#[test]
fn fault_at_each_operation_is_survived() {
    let mut total = Outcome::default();
    for seed in 0..number("SWEEP_SEEDS", 2) {
        for kind in OPERATION_FAULTS {
            for operation in 0.. {
                let result = run_single_fault(seed, kind, operation);
                match result
                    .unwrap_or_else(|violation| panic!("seed {seed}, {kind:?} at {operation}: {violation}"))
                {
                    Some(outcome) => total.add(&outcome),
                    None => break,
                }
            }
        }
    }
    println!("{}", total.faults);
    // A fault of reading occurs while a journal is opened only.
    for kind in OPERATION_FAULTS {
        let expected = if matches!(kind, FaultKind::ReadError | FaultKind::CorruptedRead) { 1 } else { 20 };
        assert!(total.faults.get(kind) >= expected, "{kind:?}: {}", total.faults.get(kind));
    }
}

/// Every byte of every line. Each place gets one change, and with `DAMAGE_ALL` each of them, with and without an acknowledged step.
#[test]
fn damaged_byte_is_refused_or_recovered() {
    let is_full = number("DAMAGE_ALL", 0) > 0;
    for has_step in [false, true].into_iter().take(if is_full { 2 } else { 1 }) {
        // The first seed whose requests have so many effects.
        let journals = (0..).map(|seed| IntactJournal::new(seed, EFFECTS, has_step).unwrap());
        let journal = journals.take(100).find(|journal| journal.effects() == EFFECTS).unwrap();
        let mut total = Outcome::default();
        for at in 0..journal.len_bytes() {
            for (n, damage) in Damage::ALL.into_iter().enumerate() {
                if !is_full && n != at % Damage::ALL.len() {
                    continue;
                }
                let outcome = journal.run_damaged(at, damage);
                total
                    .add(&outcome.unwrap_or_else(|violation| panic!("{damage:?} at byte {at}: {violation}")));
            }
        }
        let Outcome { refused, recovered, closed, .. } = total;
        println!(
            "{} bytes, step: {has_step}: {refused} refused, {recovered} recovered, {closed} closed",
            journal.len_bytes()
        );
        assert!(refused > 1000 && (has_step || recovered > 10), "{refused} refused, {recovered} recovered");
    }
}

/// The call of an effect is lost with a torn tail, and its step was not stored. A fault at each operation that replaces the tail, and a crash
/// of the next process soon after it opened the journal: the effect happens once.
#[test]
fn fault_while_torn_tail_is_replaced_repeats_no_effect() {
    const KINDS: [FaultKind; 6] = [
        FaultKind::ProcessCrash,
        FaultKind::MachineCrash,
        FaultKind::WriteError,
        FaultKind::DiskFull,
        FaultKind::ShortWrite,
        FaultKind::SyncError,
    ];
    const TORN: [TornLine; 4] = [
        TornLine::Cut { bytes: 1 },
        TornLine::Cut { bytes: 90 },
        TornLine::LostStart { bytes: 20 },
        TornLine::LostStart { bytes: 90 },
    ];
    // Opening the journal takes fewer.
    const OPERATIONS: u64 = 16;
    let (mut total, mut runs) = (Outcome::default(), 0);
    for effects in [1, 3, EFFECTS] {
        let journals = (0..100).map(|seed| IntactJournal::new(seed, effects, true).unwrap());
        let journal = journals.into_iter().find(|journal| journal.effects() == effects).unwrap();
        for (kind, operation) in KINDS.iter().flat_map(|kind| (0..OPERATIONS).map(move |at| (*kind, at))) {
            for torn in TORN {
                for second in [(FaultKind::ProcessCrash, operation), (FaultKind::MachineCrash, 12)] {
                    let outcome = journal.run_torn(runs, torn, &[(kind, operation), second]);
                    total.add(&outcome.unwrap_or_else(|violation| {
                        panic!(
                            "{effects} effects, {torn:?}, {kind:?} at {operation}, {second:?}: {violation}"
                        )
                    }));
                    runs += 1;
                }
            }
        }
    }
    let Outcome { recovered, closed, crashes, .. } = total;
    println!("{runs} runs, {recovered} recovered, {closed} closed, {crashes} crashes");
    assert_eq!(closed, runs, "a torn tail is never refused");
    assert!(recovered > runs && crashes > runs, "{recovered} recovered, {crashes} crashes");
}

/// The effects until the process ends: those of a request and of a part of the next one.
const EFFECTS: usize = 7;
