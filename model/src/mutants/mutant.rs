//! One fault in the kernel.

use crate::kernel_under_test::KernelUnderTest;

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
}
