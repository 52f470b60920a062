//! Faults in the transition table.

use super::mutant::{Mutant, Part};
use crate::coverage::reachable_rows;
use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::Policy;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};

/// Each enabled row removed, redirected, or with its guard negated or ignored.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    reachable_rows(policy).flat_map(|(place, row)| of_row(policy, place, row)).collect()
}

fn of_row(policy: &Policy, place: usize, row: &'static Transition) -> Vec<Mutant> {
    let real = || KernelUnderTest::unmodified(policy.clone());
    let mutant = |fault: String, subject: KernelUnderTest| Mutant {
        location: row.id.into(),
        fault,
        subject,
        row: Some(place),
        part: Part::Core,
    };
    let with = |other: Option<Transition>| {
        let mut subject = real();
        // A mutated row lives as long as the program, as the table does. There are some hundreds.
        subject.rows[place] = other.map(|row| &*Box::leak(Box::new(row)));
        subject
    };
    let mut all = vec![mutant("is missing".into(), with(None))];
    for to in elsewhere(policy, row) {
        all.push(mutant(format!("leads to {to} instead of {}", row.to), with(Some(redirected(row, to)))));
    }
    if row.when != Guard::Always {
        all.push(mutant(
            format!("is taken unless “{}”", row.when),
            KernelUnderTest { negated: Some(place), ..real() },
        ));
        let unguarded = with(Some(Transition { when: Guard::Always, ..*row }));
        all.push(mutant(format!("is taken whether or not “{}”", row.when), unguarded));
    }
    all
}

/// Wrong targets for a row: those of other rows from the same phase, the phase itself, and the initial phase.
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

/// The row with a different next phase, and with the conclusion and the entry action of a row that leads there: one
/// from the same phase with the same trigger, if there is one.
fn redirected(row: &Transition, to: Phase) -> Transition {
    let redirected = Transition { to, conclusion: None, entry: &[], ..*row };
    if redirected.ignores_cancel() {
        return redirected;
    }
    let is_beside = |other: &Transition| {
        Phase::ALL.iter().any(|phase| row.from.contains(*phase) && other.from.contains(*phase))
    };
    TRANSITIONS
        .iter()
        .filter(|other| other.to == to && !other.ignores_cancel())
        .min_by_key(|other| (!is_beside(other), other.on != row.on))
        .map_or(redirected, |other| Transition {
            conclusion: other.conclusion.filter(|_| is_beside(other)),
            entry: other.entry,
            ..redirected
        })
}
