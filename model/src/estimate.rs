//! An estimate of the number of product states of a model, by a probe that expands a sample of each layer.
//!
//! The probe goes breadth first, without claims. It expands every state of a narrow layer; then the number is exact. In a wide layer it
//! expands a sample: of each phase the share that the phase has in the layer, selected by fingerprints. How many successors one and two
//! sampled states share shows how many successors the whole layer has (see `unseen`). The probe cannot see that a state which it meets
//! first behind a sample is also in an earlier layer, so the estimate of a model with many layers can be too large; and a layer in
//! which some states have far more predecessors than others of their phase counts as too small.

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

/// The progress of a probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbeProgress {
    /// The number of layers that are expanded.
    pub depth: usize,
    /// The estimated number of product states in these layers.
    pub products: f64,
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
    /// The number of steps to each successor, by its fingerprint.
    steps_to: BTreeMap<u64, usize>,
    /// The first unmet ones in the order of `shuffled`. A sample needs no others, and all of them would not fit the memory.
    first: BTreeMap<u64, Product>,
}

/// The unmet successors in one phase.
struct Unmet {
    /// The number of states of the layer that one of them counts for.
    weight: f64,
    count: usize,
    /// As in [`Successors`].
    first: BTreeMap<u64, Product>,
}

/// The sampled states whose successors are in memory at the same time.
const TOGETHER: usize = 64;

/// The states of a layer that the probe expands, about, while the estimate is precise.
const WIDE: usize = 1000;

/// The same afterwards.
const NARROW: usize = 40;

/// The states that the probe expands before its samples become narrow, and in all.
const EXPANDED_WIDE: usize = 20_000;
const EXPANDED_MAX: usize = 60_000;

/// The share of all states below which a layer counts as nothing, after a sample.
const NEGLIGIBLE: f64 = 1e-4;

/// A number that orders states as if by chance, and always in the same way.
fn shuffled(fingerprint: u64) -> u64 {
    (fingerprint ^ fingerprint >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Estimates the number of product states, and reports each layer. The probe takes small samples once the estimate exceeds
/// `precise_up_to`, or `EXPANDED_WIDE` states are expanded. It expands at most `EXPANDED_MAX` states; behind these nothing is counted.
/// The result does not depend on the number of threads.
#[must_use]
pub fn estimate_size(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    precise_up_to: f64,
    threads: NonZeroUsize,
    on_layer: &mut dyn FnMut(&ProbeProgress),
) -> SizeEstimate {
    let kernel = KernelModel::new(subject.clone(), model, scope);
    let start = kernel.start();
    let mut met = BTreeSet::from([fingerprint(&start)]);
    let mut sample = vec![Sampled { product: start, weight: 1.0 }];
    let (mut total, mut expanded, mut is_exact) = (1.0, 0, true);
    for depth in 0.. {
        if sample.is_empty() || expanded >= EXPANDED_MAX {
            break;
        }
        on_layer(&ProbeProgress { depth, products: total });
        expanded += sample.len();
        let mut new = 0.0;
        let mut unmet = Vec::new();
        for (_, successors) in expand(&kernel, &sample, &met, threads) {
            let Successors { steps, weighted_steps, steps_to, first } = successors;
            let reached = |times| steps_to.values().filter(|steps| **steps == times).count() as f64;
            let (once, twice) = (reached(1), reached(2));
            let weight = 1.0 + unseen(once, twice, steps / weighted_steps) / steps_to.len() as f64;
            let count = steps_to.into_keys().filter(|found| met.insert(*found)).count();
            new += count as f64 * weight;
            unmet.push(Unmet { weight, count, first });
        }
        total += new;
        let is_precise = total <= precise_up_to && expanded <= EXPANDED_WIDE;
        let width = if is_precise { WIDE } else { NARROW };
        let count: usize = unmet.iter().map(|states| states.count).sum();
        is_exact &= count <= width;
        if !is_exact && new < total * NEGLIGIBLE {
            break;
        }
        sample = select(unmet, width);
    }
    SizeEstimate { products: total, is_exact: is_exact && sample.is_empty() }
}

/// Selects at most about `width` states, of each phase the share that it has in the layer.
fn select(phases: Vec<Unmet>, width: usize) -> Vec<Sampled> {
    let all: usize = phases.iter().map(|states| states.count).sum();
    let size: f64 = phases.iter().map(|states| states.weight * states.count as f64).sum();
    let mut sample = Vec::new();
    for Unmet { weight, count, first } in phases {
        let quota =
            if all <= width { count } else { (width as f64 * weight * count as f64 / size).ceil() as usize };
        let quota = quota.min(first.len());
        let weight = weight * count as f64 / quota.max(1) as f64;
        sample.extend(first.into_values().take(quota).map(|product| Sampled { product, weight }));
    }
    sample
}

/// Expands states: the distinct products after them. Sums the steps in the order of the sample, for any number of threads.
fn expand(
    kernel: &KernelModel,
    sample: &[Sampled],
    met: &BTreeSet<u64>,
    threads: NonZeroUsize,
) -> BTreeMap<Phase, Successors> {
    let successors_of = |product: &Product| -> BTreeMap<u64, Product> {
        let inputs = kernel.inputs(product);
        let products = inputs.iter().filter_map(|input| kernel.successor(product, input));
        products.map(|product| (fingerprint(&product), product)).collect()
    };
    let successors_of = &successors_of;
    let mut found: BTreeMap<Phase, Successors> = BTreeMap::new();
    for sample in sample.chunks(TOGETHER) {
        let share = sample.len().div_ceil(threads.get()).max(1);
        let expanded: Vec<BTreeMap<u64, Product>> = thread::scope(|scope| {
            let expand = |part: &[Sampled]| part.iter().map(|state| successors_of(&state.product)).collect();
            let parts: Vec<_> = sample
                .chunks(share)
                .map(|part| scope.spawn(move || -> Vec<BTreeMap<u64, Product>> { expand(part) }))
                .collect();
            let parts = parts.into_iter();
            parts
                .flat_map(|part| part.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
                .collect()
        });
        for (Sampled { weight, .. }, products) in sample.iter().zip(expanded) {
            for (fingerprint, product) in products {
                let successors = found.entry(product.state.control().phase()).or_default();
                successors.steps += 1.0;
                successors.weighted_steps += weight;
                let steps = successors.steps_to.entry(fingerprint).or_default();
                *steps += 1;
                if *steps == 1 && !met.contains(&fingerprint) {
                    successors.first.insert(shuffled(fingerprint), product);
                    if successors.first.len() > WIDE {
                        successors.first.pop_last();
                    }
                }
            }
        }
    }
    found
}

/// The number of states to which steps of the layer lead, but no step of the sample, from the number to which one step and two steps
/// of the sample lead. `rate` is the share of the steps that are in the sample. This is the lower bound of Chao and Lin (2012) for
/// samples without replacement: states with many predecessors do not lower it, as they are not among those met once.
fn unseen(once: f64, twice: f64, rate: f64) -> f64 {
    if rate >= 1.0 || once == 0.0 {
        return 0.0;
    }
    once * once / (2.0 * twice + rate / (1.0 - rate) * once)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scopes::{MODELS, SCOPES};
    use orchestrion_kernel::Policy;

    fn estimate(model: &str, scope: &str) -> SizeEstimate {
        let subject = KernelUnderTest::unmodified(Policy::hardened());
        let (model, scope) = (Model::from_name(model).unwrap(), Scope::by_name(scope).unwrap());
        let estimate = |threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            estimate_size(&subject, model, &scope, f64::INFINITY, threads, &mut |_| {})
        };
        let (one, three) = (estimate(1), estimate(3));
        assert_eq!(one, three, "the number of threads changes nothing");
        one
    }

    #[test]
    fn narrow_model_has_its_exact_size() {
        for (model, products) in [("attempts", 6643.0), ("ensembles", 5226.0), ("duels", 4579.0)] {
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

    /// States of the same number of predecessors are counted exactly; of a mixture, not more than there are.
    #[test]
    fn unseen_states_are_those_that_no_step_of_the_sample_leads_to() {
        let of = |states: f64, in_degree: i32, rate: f64| {
            let (all, pairs) = (f64::from(in_degree), f64::from(in_degree * (in_degree - 1) / 2));
            let once = states * all * rate * (1.0 - rate).powi(in_degree - 1);
            let twice = states * pairs * rate * rate * (1.0 - rate).powi(in_degree - 2);
            (once, twice, states * (1.0 - rate).powi(in_degree))
        };
        for rate in [0.03, 0.1, 0.5] {
            let [few, many] = [1, 10].map(|in_degree| of(1_000.0, in_degree, rate));
            for (once, twice, expected) in [few, many, of(1_000.0, 3, rate)] {
                let found = unseen(once, twice, rate);
                assert!((found / expected - 1.0).abs() < 1e-9, "{rate}: {found}, {expected}");
            }
            let found = unseen(few.0 + many.0, few.1 + many.1, rate);
            assert!(found <= few.2 + many.2 && found > 0.4 * (few.2 + many.2), "{rate}: {found}");
        }
        assert_eq!(unseen(5.0, 1.0, 1.0), 0.0, "every step is in the sample");
        assert_eq!(unseen(0.0, 0.0, 0.1), 0.0, "every state is met often");
    }

    /// What `read_by` says of a model is what its alphabet, its plans and its limits depend on.
    #[test]
    fn scopes_differ_only_in_bounds_that_are_read() {
        let subject = KernelUnderTest::unmodified(Policy::hardened());
        for model in MODELS.iter().filter(|model| ["duels", "attempts", "ensembles"].contains(&model.name)) {
            let large = SCOPES.into_iter().next_back().unwrap();
            let read = Scope { bounds: large.bounds.read_by(*model), ..large.clone() };
            let size =
                |scope| estimate_size(&subject, *model, scope, f64::INFINITY, NonZeroUsize::MIN, &mut |_| {});
            assert_eq!(size(&large), size(&read), "{}", model.name);
        }
    }
}
