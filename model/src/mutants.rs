//! Mutation testing: one fault in the kernel at a time, to see which claim detects it.
//!
//! A positive result is worth what the claims would detect. The faults are systematic: each row removed, redirected, or
//! with its guard negated or ignored; each number of the policy changed by the smallest step; each rule toggled; each
//! event dropped, duplicated or altered; each field of the request dropped or overwritten; each rule of reading and
//! selecting ignored. Those of the network concern what a decision reads of it, its constants, its rows and its values. No fault
//! changes the kernel's code: rows, policy, events, state, items and candidates are data.

mod contexts;
mod events;
mod items;
mod mutant;
mod network;
mod policy;
mod request;
mod rows;
mod run;

pub use mutant::{Mutant, Part};
pub use run::{KillReason, MutantStatus};

use crate::scopes::{MODELS, Scope};
use orchestrion_explorer::ModelError;
use orchestrion_kernel::Policy;
use run::{Baseline, QUICK_SCOPE, try_out};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// The status of mutants of a policy at a scope.
#[derive(Clone, Debug)]
pub struct MutationReport {
    /// Each mutant with its status.
    pub mutants: Vec<(Mutant, MutantStatus)>,
    /// The positions of the claims that the unmodified kernel violates; they cannot detect a mutant.
    pub left_out: Vec<usize>,
}

/// Runs mutants of a policy at a scope, several at once. `progress` receives the number of finished mutants and their
/// total.
///
/// # Errors
///
/// [`ModelError`] if the kernel or a mutant is not a function.
pub fn run_mutants(
    mutants: Vec<Mutant>,
    policy: &Policy,
    scope: &Scope,
    jobs: NonZeroUsize,
    mut progress: impl FnMut(usize, usize),
) -> Result<MutationReport, ModelError> {
    progress(0, mutants.len());
    let quick = Baseline::of(policy, QUICK_SCOPE, &MODELS, None)?;
    let whole = Baseline::of(policy, scope.clone(), &MODELS, Some(&quick))?;
    let baselines = [quick, whole];
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut statuses = Vec::new();
    std::thread::scope(|threads| {
        for _ in 0..jobs.get() {
            let (sender, next, mutants, baselines) = (sender.clone(), &next, &mutants, &baselines);
            threads.spawn(move || {
                while let place = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(mutant) = mutants.get(place)
                {
                    // The receiver is gone only after the run was given up.
                    let _ = sender.send((place, try_out(mutant, baselines)));
                }
            });
        }
        drop(sender);
        for status in receiver {
            statuses.push(status);
            progress(statuses.len(), mutants.len());
        }
    });
    statuses.sort_unstable_by_key(|(place, _)| *place);
    let statuses =
        statuses.into_iter().map(|(_, status)| status).collect::<Result<Vec<MutantStatus>, ModelError>>()?;
    let left_out = baselines.iter().flat_map(Baseline::left_out).collect::<BTreeSet<usize>>();
    Ok(MutationReport {
        mutants: mutants.into_iter().zip(statuses).collect(),
        left_out: left_out.into_iter().collect(),
    })
}

/// Every mutant of a policy.
#[must_use]
pub fn all_mutants(policy: &Policy) -> Vec<Mutant> {
    let mut all = rows::mutants(policy);
    all.extend(policy::mutants(policy));
    all.extend(events::mutants(policy));
    all.extend(network::mutants(policy));
    all.extend(request::mutants(policy));
    all.extend(contexts::mutants(policy));
    all
}
