//! An estimate of the number of product states of a model, by a probe that expands a sample of each layer.
//!
//! The probe goes breadth first, without claims. It expands every state of a narrow layer; then the number is exact. In a wide layer it
//! expands a sample: of each phase the share that the phase has in the layer, selected by fingerprints. How often two sampled states
//! share a successor shows how many predecessors a state has, so also how many successors the whole layer has (see `occupied`).
//! The probe cannot see that a state which it meets first behind a sample is also in an earlier layer; and states with many predecessors
//! conceal others of their phase that have few. The first fault makes the estimate too large, the second too small.

use crate::kernel_under_test::KernelUnderTest;
use crate::product::{KernelModel, Product};
use crate::scopes::{Model, Scope};
use orchestrion_explorer::fingerprint;
use orchestrion_kernel::Phase;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::thread;

/// The estimated size of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeEstimate {
    /// The number of product states.
    pub products: f64,
    /// Whether the probe expanded every state, so that the number is exact.
    pub is_exact: bool,
}

/// A state of the probe, and the number of states of its layer that it counts for.
struct Sampled {
    product: Product,
    weight: f64,
}

/// The successors of a sample in one phase.
#[derive(Default)]
struct Successors {
    /// The number of steps that lead to them, and the number that they count for.
    steps: f64,
    weighted_steps: f64,
    products: BTreeMap<u64, Product>,
}

/// The states of a layer that a probe expands, about.
pub const WIDE: usize = 1000;

/// The same for a probe that only compares sizes.
pub const NARROW: usize = 60;

/// The states that the probe expands in all.
const EXPANDED_MAX: usize = 100_000;

/// The share of all states below which a layer counts as nothing, after a sample.
const NEGLIGIBLE: f64 = 1e-4;

/// A number that orders states as if by chance, and always in the same way.
fn shuffled(fingerprint: u64) -> u64 {
    (fingerprint ^ fingerprint >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Estimates the number of product states. The probe expands about `width` states of a layer, and `EXPANDED_MAX` in all; behind
/// these nothing is counted. The result does not depend on the number of threads.
#[must_use]
pub fn estimate_size(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    width: usize,
    threads: NonZeroUsize,
) -> SizeEstimate {
    let kernel = KernelModel::new(subject.clone(), model, scope);
    let start = kernel.start();
    let mut met = BTreeSet::from([fingerprint(&start)]);
    let mut sample = vec![Sampled { product: start, weight: 1.0 }];
    let (mut total, mut expanded, mut is_exact) = (1.0, 0, true);
    while !sample.is_empty() && expanded < EXPANDED_MAX {
        expanded += sample.len();
        let mut new = 0.0;
        let mut unmet = Vec::new();
        for (_, Successors { steps, weighted_steps, products }) in expand(&kernel, &sample, threads) {
            let distinct = products.len() as f64;
            let weight = occupied(distinct, steps, steps / weighted_steps) / distinct;
            let products: Vec<_> = products.into_iter().filter(|(found, _)| met.insert(*found)).collect();
            new += products.len() as f64 * weight;
            unmet.push((weight, products));
        }
        total += new;
        let count: usize = unmet.iter().map(|(_, states)| states.len()).sum();
        is_exact &= count <= width;
        if !is_exact && new < total * NEGLIGIBLE {
            break;
        }
        sample = select(unmet, width);
    }
    SizeEstimate { products: total, is_exact: is_exact && sample.is_empty() }
}

/// Selects at most about `width` states, of each phase the share that it has in the layer.
fn select(phases: Vec<(f64, Vec<(u64, Product)>)>, width: usize) -> Vec<Sampled> {
    let count: usize = phases.iter().map(|(_, states)| states.len()).sum();
    let size: f64 = phases.iter().map(|(weight, states)| weight * states.len() as f64).sum();
    let mut sample = Vec::new();
    for (weight, mut states) in phases {
        let len = states.len();
        let quota =
            if count <= width { len } else { (width as f64 * weight * len as f64 / size).ceil() as usize };
        states.sort_unstable_by_key(|(fingerprint, _)| shuffled(*fingerprint));
        states.truncate(quota);
        let weight = weight * len as f64 / states.len().max(1) as f64;
        sample.extend(states.into_iter().map(|(_, product)| Sampled { product, weight }));
    }
    sample
}

/// Expands states: the distinct products after them. Sums the steps in the order of the sample, for any number of threads.
fn expand(kernel: &KernelModel, sample: &[Sampled], threads: NonZeroUsize) -> BTreeMap<Phase, Successors> {
    let successors_of = |product: &Product| -> BTreeMap<u64, Product> {
        let inputs = kernel.inputs(product);
        let products = inputs.iter().filter_map(|input| kernel.successor(product, input));
        products.map(|product| (fingerprint(&product), product)).collect()
    };
    let successors_of = &successors_of;
    let share = sample.len().div_ceil(threads.get()).max(1);
    let expanded: Vec<BTreeMap<u64, Product>> = thread::scope(|scope| {
        let expand = |part: &[Sampled]| part.iter().map(|state| successors_of(&state.product)).collect();
        let parts: Vec<_> = sample
            .chunks(share)
            .map(|part| scope.spawn(move || -> Vec<BTreeMap<u64, Product>> { expand(part) }))
            .collect();
        let parts = parts.into_iter();
        parts.flat_map(|part| part.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))).collect()
    });
    let mut found: BTreeMap<Phase, Successors> = BTreeMap::new();
    for (Sampled { weight, .. }, products) in sample.iter().zip(expanded) {
        for (fingerprint, product) in products {
            let successors = found.entry(product.state.control().phase()).or_default();
            successors.steps += 1.0;
            successors.weighted_steps += weight;
            successors.products.insert(fingerprint, product);
        }
    }
    found
}

/// The number of distinct states to which all steps of a layer lead, from the steps of a sample. The steps are taken as spread evenly
/// over the states, so a state is not among those to which a share `rate` of all steps leads with probability
/// `(1 - rate)^(steps / rate / states)`.
fn occupied(distinct: f64, steps: f64, rate: f64) -> f64 {
    if rate >= 1.0 || distinct == 0.0 {
        return distinct;
    }
    let (mut low, mut high) = (distinct, steps / rate);
    let seen = |states: f64| states * -(steps / rate / states * (-rate).ln_1p()).exp_m1();
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if seen(middle) < distinct { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scopes::{MODELS, SCOPES};
    use orchestrion_kernel::Policy;

    fn estimate(model: &str, scope: &str) -> SizeEstimate {
        let subject = KernelUnderTest::unmodified(Policy::hardened());
        let (model, scope) = (Model::from_name(model).unwrap(), Scope::by_name(scope).unwrap());
        let one = estimate_size(&subject, model, &scope, WIDE, NonZeroUsize::MIN);
        let three = estimate_size(&subject, model, &scope, WIDE, NonZeroUsize::new(3).unwrap());
        assert_eq!(one, three, "the number of threads changes nothing");
        one
    }

    #[test]
    fn narrow_model_has_its_exact_size() {
        for (model, products) in [("attempts", 831.0), ("ensembles", 2848.0), ("duels", 4579.0)] {
            assert_eq!(estimate(model, "small"), SizeEstimate { products, is_exact: true }, "{model}");
        }
    }

    /// The sizes are those of `check` at scope small.
    #[test]
    fn sampled_model_has_about_its_size() {
        for (model, products) in [("debate", 60_071.0), ("execution", 462_526.0), ("semantic", 36_114.0)] {
            let estimate = estimate(model, "small");
            let ratio = estimate.products / products;
            assert!(!estimate.is_exact && (0.25..2.0).contains(&ratio), "{model}: {ratio}");
        }
    }

    #[test]
    fn occupied_inverts_even_sampling() {
        let states: f64 = 1_000.0;
        for (in_degree, rate) in [(2.0, 0.1), (5.0, 0.03), (1.0, 0.5), (3.0, 1.0)] {
            let distinct = states * (1.0 - (1.0_f64 - rate).powf(in_degree));
            let found = occupied(distinct, states * in_degree * rate, rate);
            assert!((found / states - 1.0).abs() < 1e-6, "{in_degree} {rate}: {found}");
        }
    }

    /// What `read_by` says of a model is what its alphabet, its plans and its limits depend on.
    #[test]
    fn scopes_differ_only_in_bounds_that_are_read() {
        let subject = KernelUnderTest::unmodified(Policy::hardened());
        for model in MODELS.iter().filter(|model| ["duels", "attempts", "ensembles"].contains(&model.name)) {
            let large = SCOPES.into_iter().next_back().unwrap();
            let read = Scope { bounds: large.bounds.read_by(*model), ..large.clone() };
            let size = |scope| estimate_size(&subject, *model, scope, WIDE, NonZeroUsize::MIN);
            assert_eq!(size(&large), size(&read), "{}", model.name);
        }
    }
}
