//! Faults put into the kernel one at a time, to see whether the claims notice.
//!
//! A green result is worth what the claims would catch. The faults are made systematically: each row of the table
//! dropped, led elsewhere, its guard negated or ignored; each number of the policy moved by the least there is; each
//! rule left out or put in; each event lost, repeated or falsified; each thing that a request remembers forgotten or
//! overwritten. None of them touches the kernel's code: rows, policy, events and request are data on its way.

mod events;
mod items;
mod policy;
mod request;
mod rows;
mod run;

pub use run::{KillReason, MutantStatus};

use crate::kernel_under_test::KernelUnderTest;
use crate::scopes::{SMALL_COMPACTION, Scope};
use orchestrion_explorer::ModelError;
use orchestrion_kernel::Policy;
use run::{Baseline, try_out};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// A kernel with one fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Where the fault is: a row, a setting, an event, a memory.
    pub location: String,
    /// What is wrong there, as a clause.
    pub fault: String,
    /// The kernel that has it.
    pub subject: KernelUnderTest,
    /// The row that is wrong, by its place; where it never fits, nothing changes.
    pub row: Option<usize>,
}

/// A small scope at which most mutants die.
pub(crate) const QUICK_SCOPE: Scope = Scope {
    name: "first",
    requests: 1,
    tasks: 2,
    items: 2,
    compaction: SMALL_COMPACTION,
    context_tokens: 22,
};

/// What became of every mutant of a policy at a scope.
#[derive(Clone, Debug)]
pub struct MutationReport {
    /// Each mutant with its fate.
    pub mutants: Vec<(Mutant, MutantStatus)>,
    /// Claims that the kernel breaks without a fault, by their places: they tell nothing here.
    pub left_out: Vec<usize>,
}

/// Tries every mutant of a policy at a scope, several at once. `tell` hears how many were tried, and of how many.
///
/// # Errors
/// A [`ModelError`] if the kernel, or a mutant of it, does not behave as a model.
pub fn run_mutants(
    policy: &Policy,
    scope: &Scope,
    jobs: NonZeroUsize,
    mut tell: impl FnMut(usize, usize),
) -> Result<MutationReport, ModelError> {
    let mutants = mutants(policy);
    tell(0, mutants.len());
    let baselines = [Baseline::of(policy, QUICK_SCOPE)?, Baseline::of(policy, *scope)?];
    let next = AtomicUsize::new(0);
    let (told, heard) = mpsc::channel();
    let mut fates = Vec::new();
    std::thread::scope(|threads| {
        for _ in 0..jobs.get() {
            let (told, next, mutants, baselines) = (told.clone(), &next, &mutants, &baselines);
            threads.spawn(move || {
                while let place = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(mutant) = mutants.get(place)
                {
                    // Nobody hears only once the study was given up.
                    let _ = told.send((place, try_out(mutant, baselines)));
                }
            });
        }
        drop(told);
        for fate in heard {
            fates.push(fate);
            tell(fates.len(), mutants.len());
        }
    });
    fates.sort_unstable_by_key(|(place, _)| *place);
    let fates = fates.into_iter().map(|(_, fate)| fate).collect::<Result<Vec<MutantStatus>, ModelError>>()?;
    let left_out = baselines.iter().flat_map(Baseline::left_out).collect::<BTreeSet<usize>>();
    Ok(MutationReport {
        mutants: mutants.into_iter().zip(fates).collect(),
        left_out: left_out.into_iter().collect(),
    })
}

/// Every mutant of a policy.
fn mutants(policy: &Policy) -> Vec<Mutant> {
    let mut all = rows::mutants(policy);
    all.extend(policy::mutants(policy));
    all.extend(events::mutants(policy));
    all.extend(request::mutants(policy));
    all
}
