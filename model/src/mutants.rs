//! Faults put into the kernel one at a time, to see whether the claims notice.
//!
//! A green result is worth what the claims would catch. The faults are made systematically: each row of the table
//! dropped, led elsewhere, its guard negated or ignored; each number of the policy moved by the least there is; each
//! rule left out or put in; each event lost, repeated or falsified; each thing that a request remembers forgotten or
//! overwritten. None of them touches the kernel's code: rows, policy, events and request are data on its way.

mod events;
mod memory;
mod numbers;
mod rows;
mod trial;

pub use trial::{Baseline, Fate, Kill, try_out};

use crate::subject::Subject;
use orchestrion_kernel::Policy;

/// A kernel with one fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Where the fault is: a row, a setting, an event, a memory.
    pub place: String,
    /// What is wrong there, as a clause.
    pub fault: String,
    /// The kernel that has it.
    pub subject: Subject,
    /// The row that is wrong, by its place; where it is never tried, nothing changes.
    pub row: Option<usize>,
}

/// Every mutant of a policy.
#[must_use]
pub fn mutants(policy: &Policy) -> Vec<Mutant> {
    let mut all = rows::mutants(policy);
    all.extend(numbers::mutants(policy));
    all.extend(events::mutants(policy));
    all.extend(memory::mutants(policy));
    all
}
