//! The enumerations of control: their sizes, and the faults that they detect.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use orchestrion_kernel::event::Decision;
use orchestrion_kernel::policy::AdditionalDebater;

fn of_control() -> impl Iterator<Item = Enumeration> {
    ENUMERATIONS.into_iter().filter(Enumeration::is_of_control)
}

/// The claims that a step of the enumeration violates under this kernel.
fn violated(enumeration: &Enumeration, subject: &KernelUnderTest) -> Vec<&'static str> {
    let run = enumeration.check(subject, &Scope::by_name("tiny").unwrap(), NonZeroUsize::MIN);
    let found = CLAIMS.iter().zip(&run.found).filter(|(_, found)| found.induction.is_some());
    found.map(|(claim, _)| claim.id).collect()
}

fn with_debaters() -> Policy {
    let additional_debaters = ["validation", "compliance"].map(AdditionalDebater::new).to_vec();
    Policy { additional_debaters, ..Policy::hardened() }
}

/// Every claim is inductive on every enumeration of control, but for those that are listed with a reason.
#[test]
fn claims_are_inductive_on_control() {
    for policy in [Policy::hardened(), with_debaters()] {
        for enumeration in of_control() {
            let name = enumeration.model.name;
            let scope = Scope::by_name("tiny").unwrap();
            let run =
                enumeration.check(&KernelUnderTest::unmodified(policy.clone()), &scope, NonZeroUsize::MIN);
            let listed: Vec<&str> =
                NOT_INDUCTIVE.iter().filter(|(of, _, _)| *of == name).map(|(_, id, _)| *id).collect();
            let found = CLAIMS.iter().zip(&run.found).filter(|(_, found)| found.induction.is_some());
            let found: Vec<_> = found.map(|(claim, found)| (claim.id, found.induction.clone())).collect();
            let ids: Vec<&str> = found.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids, listed, "{name}: {found:#?}");
        }
    }
}

/// The phase and the pending operations of a start.
fn phase_and_operations(events: &[Event]) -> Vec<String> {
    let mut state = initial_state();
    events.iter().for_each(|event| state.apply(event));
    let control = state.control();
    let operations = control.pending_calls().iter().map(|call| format!("{:?}", call.operation));
    [control.phase().to_string()].into_iter().chain(operations).collect()
}

/// A start in which a claim about states fails is left out. If every start with a pending operation is left out, no step from there is
/// checked, and only this test shows that.
#[test]
fn phases_and_operations_of_control_have_starts() {
    let scope = Scope::by_name("tiny").unwrap();
    for policy in [Policy::hardened(), with_debaters()] {
        // `waiting` combines every phase with every operation: most of them cannot occur.
        for enumeration in of_control().filter(|enumeration| enumeration.model.name != "waiting") {
            let subject = KernelUnderTest::unmodified(policy.clone());
            let kernel = KernelModel::new(subject, enumeration.model, &scope);
            let mut has_start: BTreeMap<String, bool> = BTreeMap::new();
            for start in enumeration.starts(&kernel.subject().policy) {
                let Start::Events(events) = &start else { unreachable!("the states are of control") };
                let is_kept = start.product(&kernel).is_some();
                for name in phase_and_operations(events) {
                    *has_start.entry(name).or_default() |= is_kept;
                }
            }
            let without: Vec<_> = has_start.iter().filter(|(_, has)| !**has).map(|(name, _)| name).collect();
            assert!(without.is_empty(), "{}: no start with {without:?}", enumeration.model.name);
        }
    }
}

/// A summary may be made of facts that no other context contains (decision 0030).
#[test]
fn claims_about_summaries_are_inductive_without_facts_in_review() {
    let mut policy = Policy::hardened();
    policy.contexts.needs_review = false;
    let found = violated(&Enumeration::from_name("summaries").unwrap(), &KernelUnderTest::unmodified(policy));
    assert_eq!(found, [""; 0]);
}

/// A fault, the enumeration that detects it, and a claim that fails.
type Fault = (&'static str, fn(&mut KernelUnderTest), &'static str, &'static str);

fn remove(subject: &mut KernelUnderTest, id: &str) {
    subject.rows.iter_mut().filter(|row| row.is_some_and(|row| row.id == id)).for_each(|row| *row = None);
}

const FAULTS: &[Fault] = &[
    ("a revision is not reviewed", |subject| remove(subject, "H02"), "debating", "C-216"),
    ("a veto does not block the plan", |subject| remove(subject, "T18"), "debating", "C-217"),
    ("a rejected plan runs", |subject| remove(subject, "T19"), "debating", "C-217"),
    (
        "an outdated plan runs",
        |subject| {
            remove(subject, "H12");
            remove(subject, "H13");
        },
        "debating",
        "C-109",
    ),
    ("a veto does not end the debate", |subject| remove(subject, "H04"), "debating", "C-11"),
    ("one more pass", |subject| subject.decide_policy.bounds.passes += 1, "debating", "C-215"),
    (
        "vetoes are forgotten",
        |subject| {
            subject.mutate_events =
                Some(|_, events| events.retain(|event| !matches!(event, Event::VetoRaised { .. })));
        },
        "debating",
        "C-69",
    ),
    (
        "decisions name no objection",
        |subject| {
            subject.mutate_events = Some(|_, events| {
                for event in events {
                    if let Event::Decided { decision } = event {
                        *decision = Decision { objection: None, ..*decision };
                    }
                }
            });
        },
        "debating",
        "C-217",
    ),
    ("repairs are not bounded", |subject| remove(subject, "H05"), "running", "C-75"),
    (
        "repairs are not counted",
        |subject| {
            subject.mutate_events = Some(|_, events| events.retain(|event| *event != Event::RepairStarted));
        },
        "running",
        "C-69",
    ),
    (
        "a lost task does not end the run",
        |subject| {
            remove(subject, "P02");
            remove(subject, "E15");
        },
        "running",
        "C-220",
    ),
    ("a failed compensation ends the rollback", |subject| remove(subject, "E08"), "running", "C-14"),
    ("a repaired plan runs without a review", |subject| remove(subject, "H06"), "clearing", "C-76"),
    ("a reviewed plan that is outdated runs", |subject| remove(subject, "H16"), "clearing", "C-109"),
    ("the cloud store is not called", |subject| remove(subject, "T32"), "ending", "C-78"),
    (
        "deliveries are not bounded",
        |subject| subject.decide_policy.bounds.audit_attempts += 1,
        "ending",
        "C-223",
    ),
    (
        "no memory record is written",
        |subject| {
            subject.mutate_events =
                Some(|_, events| events.retain(|event| !matches!(event, Event::MemoryRecorded { .. })));
        },
        "ending",
        "C-223",
    ),
    (
        "a cancel is no conclusion",
        |subject| {
            subject.mutate_events = Some(|_, events| {
                if events.contains(&Event::Cancelled) {
                    events.retain(|event| !matches!(event, Event::Concluded { .. }));
                }
            });
        },
        "waiting",
        "C-222",
    ),
    (
        "an unverified request loads its context",
        |subject| {
            subject.mutate_events = Some(|_, events| {
                for event in events {
                    if let Event::ToolResult {
                        report: orchestrion_kernel::module::Report::Identity { mongodb, .. },
                        ..
                    } = event
                    {
                        *mongodb = false;
                    }
                }
            });
        },
        "waiting",
        "C-213",
    ),
];

#[test]
fn enumerations_of_control_detect_faults() {
    let mut missed = Vec::new();
    for (about, change, name, claim) in FAULTS {
        let mut subject = KernelUnderTest::unmodified(Policy::hardened());
        change(&mut subject);
        let found = violated(&Enumeration::from_name(name).unwrap(), &subject);
        if !found.contains(claim) {
            missed.push((about, claim, found));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Each start of its own of the summaries is a state that counts. A compaction is due in all but four:
/// there the session forgets too much, the user reads too little, the tags have a scope and so belong to no group, or two messages are too
/// few without that of the request.
#[test]
fn starts_of_their_own_reach_what_they_are_for() {
    let enumeration = Enumeration::from_name("summaries").unwrap();
    let subject = KernelUnderTest::unmodified(Policy::hardened());
    let kernel = KernelModel::new(subject, enumeration.model, &Scope::by_name("tiny").unwrap());
    let starts = enumeration.starts(&kernel.subject().policy);
    let is_due = |start: &Start| {
        let product = start.product(&kernel).unwrap_or_else(|| panic!("{start:#?}"));
        summaries::requests().iter().any(|prefix| {
            let mut product = product.clone();
            for input in prefix {
                let Some(next) = kernel.step(&product, input, |_| ()) else { return false };
                product = next;
            }
            product.state.control().phase() == orchestrion_kernel::Phase::Compacting
        })
    };
    let due: Vec<bool> = starts[starts.len() - summaries::ALONE.len()..].iter().map(is_due).collect();
    assert_eq!(due, [true, false, true, false, false, true, true, true, true, true, false]);
}
