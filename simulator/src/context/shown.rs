//! What modules are shown, as the border measures it.

use orchestrion_kernel::module::Ask;
use orchestrion_kernel::present::{OverBudget, Plain};
use orchestrion_kernel::{Context, Policy, State, present};

/// The context of a call that asks this, with costs and relevance as the border measures them.
///
/// # Errors
/// [`OverBudget`] if what must be shown does not fit, be it only by the kernel's own count.
pub fn shown(policy: &Policy, state: &State, ask: Ask) -> Result<Context, OverBudget> {
    present(policy, state, ask, &Plain)
}
