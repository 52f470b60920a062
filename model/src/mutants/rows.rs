//! Faults in the transition table.

use super::Mutant;
use crate::coverage::rows_in_force;
use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};

/// Each row in force, dropped, led elsewhere, its guard negated or ignored.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    rows_in_force(policy).flat_map(|(place, row)| of_row(policy, place, row)).collect()
}

fn of_row(policy: &Policy, place: usize, row: &'static Transition) -> Vec<Mutant> {
    let real = || KernelUnderTest::unmodified(policy.clone());
    let mutant = |fault: String, subject: KernelUnderTest| Mutant {
        location: row.id.into(),
        fault,
        subject,
        row: Some(place),
    };
    let with = |other: Option<Transition>| {
        let mut subject = real();
        // A mutant's row lives as long as the program, as the table does: there are some hundreds of them.
        subject.rows[place] = other.map(|row| &*Box::leak(Box::new(row)));
        subject
    };
    let mut all = vec![mutant("is missing".into(), with(None))];
    for to in elsewhere(policy, row) {
        all.push(mutant(
            format!("leads to {to} instead of {}", row.to),
            with(Some(Transition { to, ..copy(row) })),
        ));
    }
    if row.when != Guard::Always {
        all.push(mutant(
            format!("is taken unless “{}”", row.when),
            KernelUnderTest { negated: Some(place), ..real() },
        ));
        let unguarded = with(Some(Transition { when: Guard::Always, ..copy(row) }));
        all.push(mutant(format!("is taken whether or not “{}”", row.when), unguarded));
    }
    all
}

/// Where a row could lead by mistake: where other rows from the same state do, nowhere, or to the start.
fn elsewhere(policy: &Policy, row: &Transition) -> Vec<Phase> {
    let starts = || Phase::ALL.into_iter().filter(|phase| row.from.contains(*phase));
    let beside =
        |other: &&Transition| other.switch.is_on(policy) && starts().any(|phase| other.from.contains(phase));
    let mut phases: Vec<Phase> = TRANSITIONS.iter().filter(beside).map(|other| other.to).collect();
    phases.push(Phase::Idle);
    if let (Some(only), None) = (starts().next(), starts().nth(1)) {
        phases.push(only);
    }
    phases.sort_unstable();
    phases.dedup();
    phases.retain(|phase| *phase != row.to);
    phases
}

const fn copy(row: &Transition) -> Transition {
    Transition { ..*row }
}
