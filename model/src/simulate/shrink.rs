//! Shrinking: omits inputs of a run as long as it still violates a claim.

use crate::coverage::Observation;
use crate::product::KernelModel;
use orchestrion_kernel::Input;

/// Omits inputs, ever fewer at once, until each one is needed. The inputs violate the claim.
pub(super) fn shrink(kernel: &KernelModel, claim: usize, mut inputs: Vec<Input>) -> Vec<Input> {
    let mut len = inputs.len().div_ceil(2);
    while len > 0 {
        let (mut at, mut is_shorter) = (0, false);
        while at < inputs.len() {
            let end = inputs.len().min(at + len);
            let fewer = inputs[..at].iter().chain(&inputs[end..]);
            match violating(kernel, claim, fewer) {
                Some(shorter) => (inputs, is_shorter) = (shorter, true),
                None => at = end,
            }
        }
        // Without one input, another may no longer be needed.
        if len > 1 || !is_shorter {
            len /= 2;
        }
    }
    inputs
}

/// The inputs that are accepted, up to the first violation of the claim; `None` without one. The last input may be refused, if that
/// is the violation.
fn violating<'a>(
    kernel: &KernelModel,
    claim: usize,
    inputs: impl Iterator<Item = &'a Input>,
) -> Option<Vec<Input>> {
    let (mut product, mut taken) = (kernel.start(), Vec::new());
    if !kernel.holds(claim, &product) {
        return Some(taken);
    }
    for input in inputs {
        let mut is_violated = false;
        let next = kernel.step(&product, input, |observation| {
            is_violated |= observation == Observation::Violation(claim);
        });
        is_violated |= next.as_ref().is_some_and(|next| !kernel.holds(claim, next));
        if next.is_some() || is_violated {
            taken.push(input.clone());
        }
        if is_violated {
            return Some(taken);
        }
        product = next.unwrap_or(product);
    }
    None
}
