//! The catalogue of claims.
//!
//! Every claim has a premise: a state in which it applies. A claim whose premise is never reached is vacuous. In the formulas,
//! `r` is the running request, and it *ends* when control enters a phase in which no request runs.

use crate::Claim;
pub use contexts::{has_unproven_context, is_unproven_context};
use prelude::CLAIM;
pub(crate) use prelude::of_request;

mod aggregation;
mod answers;
mod attempts;
mod capacity;
mod compaction;
mod contexts;
mod decisions;
mod findings;
mod interactions;
mod kernel;
mod knowledge;
mod layers;
mod network;
mod ordering;
mod phase_tables;
mod phases;
mod prelude;
mod reading;
mod records;
mod reports;
mod reviews;
mod scopes;
mod serialization;
mod situation;
mod transitions;
mod trust;
mod workflows;
mod writes;

/// Every claim, in the order in which reports list them.
pub static CLAIMS: &[Claim] = &CONCATENATED;

static CONCATENATED: [Claim; claim_count()] = concat_claims();

const PARTS: &[&[Claim]] = &[
    findings::FINDINGS,
    ordering::ORDER,
    knowledge::KNOWLEDGE,
    layers::LAYERS,
    writes::WRITES,
    reading::READING,
    compaction::COMPACTION,
    capacity::CAPACITY,
    situation::SITUATION,
    contexts::CONTEXTS,
    serialization::SERIALIZATION,
    reviews::REVIEWS,
    reports::REPORTS,
    scopes::SCOPES,
    records::RECORDS,
    answers::ANSWERS,
    decisions::DECISIONS,
    transitions::TURNS,
    phases::PHASES,
    network::NETWORK,
    attempts::ATTEMPTS,
    workflows::WORKFLOWS,
    aggregation::AGGREGATION,
    trust::TRUST,
    interactions::INTERACTIONS,
    kernel::KERNEL,
];

/// Concatenates the parts at compile time.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn concat_claims() -> [Claim; claim_count()] {
    let mut all = [CLAIM; claim_count()];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut i = 0;
        while i < PARTS[part].len() {
            all[at] = PARTS[part][i];
            i += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn claim_count() -> usize {
    let (mut part, mut claims) = (0, 0);
    while part < PARTS.len() {
        claims += PARTS[part].len();
        part += 1;
    }
    claims
}
