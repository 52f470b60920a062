//! Faults in the network and its workflows.
//!
//! Routing, handoffs and attempts are decided from the state, so their faults are in the state that a decision reads, in the trust
//! policy, or in the events. Trust, loads and statuses are applied, so their faults are in the network after a batch.

mod events;
mod memory;
mod rows;
mod trust_policy;
mod views;

use super::mutant::{Mutant, Part};
use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::Policy;

/// Each fault in the network.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let real = || KernelUnderTest::unmodified(policy.clone());
    let mutant = |location: &str, fault: &str, subject: KernelUnderTest| Mutant {
        location: location.to_string(),
        fault: fault.to_string(),
        subject,
        row: None,
        part: Part::Network,
    };
    let mut all = Vec::new();
    for (location, fault, change) in events::faults() {
        all.push(mutant(location, fault, KernelUnderTest { mutate_events: Some(*change), ..real() }));
    }
    for (location, fault, change) in views::FAULTS {
        all.push(mutant(location, fault, KernelUnderTest { mutate_view: Some(*change), ..real() }));
    }
    for (location, fault, change) in trust_policy::FAULTS {
        all.push(mutant(location, fault, KernelUnderTest { mutate_trust_policy: Some(*change), ..real() }));
    }
    for (location, fault, change) in memory::FAULTS.iter().chain(rows::FAULTS) {
        all.push(mutant(location, fault, KernelUnderTest { mutate_network: Some(*change), ..real() }));
    }
    all
}
