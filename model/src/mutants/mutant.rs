//! One fault in the kernel.

use crate::kernel_under_test::KernelUnderTest;
use crate::scopes::{Model, Remote};

/// The part of the kernel that has the fault. It decides in which models a mutant is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything that works without a network. The models without a network explore it.
    Core,
    /// The network and its workflows. Without a network such a fault changes nothing.
    Network,
}

impl Part {
    /// Returns whether this model explores faults of the part.
    #[must_use]
    pub fn is_explored_in(self, model: &Model) -> bool {
        match self {
            Self::Core => model.free.network == Remote::Nowhere,
            Self::Network => model.free.network != Remote::Nowhere,
        }
    }
}

/// A kernel with one fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The location of the fault: a row, a setting, an event or a field.
    pub location: String,
    /// The fault, as a clause.
    pub fault: String,
    /// The kernel with the fault.
    pub subject: KernelUnderTest,
    /// The position of the changed row. Where it is never enabled, nothing changes.
    pub row: Option<usize>,
    /// The part with the fault.
    pub part: Part,
}
