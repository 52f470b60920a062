//! Statistics of claims: where the premise of a claim holds, and where its check could fail.
//!
//! A claim says little if its premise is reached only where no fault could violate it. So a few states are sampled from which a step
//! starts at the premise or leads to it, and every systematic mutant takes steps from there: the check is decisive at such a state if one
//! of the mutants violates the claim.

use crate::coverage::{InputKind, OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::mutants::all_mutants;
use crate::product::{KernelModel, Product};
use crate::scopes::{Model, Scope};
use orchestrion_claims::{CLAIMS, ClaimSet};
use orchestrion_explorer::{
    FairModel, ModelError, ObservationSet, Options, Progress, Termination, fingerprint,
};
use orchestrion_kernel::{Events, Input, State};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of sampled states of a claim in a model.
const SAMPLES: usize = 32;
/// The number of inputs of a kind that are tried in a sampled state.
const INPUTS_OF_KIND: usize = 4;
/// The number of sampled states from which a walk starts, and of its steps, for claims that no single step violates.
const WALKS: usize = 4;
const WALK_STEPS: usize = 12;

/// The statistics of one claim in one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimStatistics {
    /// The number of product states in which the premise holds.
    pub premise_states: u64,
    /// The number of sampled states: the premise holds in them or after a step.
    pub sampled: u64,
    /// The number of sampled states from which a mutant violates the claim: in the state, in a step from it, or in a walk if no mutant
    /// violates the claim at once.
    pub decisive: u64,
}

/// The statistics of one model.
#[derive(Clone, Debug)]
pub struct ModelStatistics {
    /// The name of the model.
    pub model: &'static str,
    /// The number of product states.
    pub products: usize,
    /// Whether every state was expanded.
    pub is_exhaustive: bool,
    /// The statistics of each claim, in the order of [`CLAIMS`].
    pub claims: Vec<ClaimStatistics>,
}

/// The numbers of states in which premises hold, and samples: those with the smallest fingerprints, so that they are the same with any
/// number of threads.
#[derive(Debug, Default)]
pub(crate) struct PremiseCounts {
    states: BTreeMap<usize, u64>,
    samples: BTreeMap<usize, BTreeMap<u64, Product>>,
}

impl PremiseCounts {
    /// Counts a state in which these premises hold.
    pub(crate) fn count(&mut self, premises: ClaimSet) {
        premises.iter().for_each(|claim| *self.states.entry(claim).or_default() += 1);
    }

    /// Samples a state from which a step starts at these premises or leads to them.
    pub(crate) fn sample(&mut self, product: &Product, premises: ClaimSet) {
        let print = fingerprint(product);
        for claim in premises.iter() {
            let samples = self.samples.entry(claim).or_default();
            let is_small = samples.last_key_value().is_none_or(|(last, _)| print < *last);
            if samples.len() < SAMPLES || is_small {
                samples.entry(print).or_insert_with(|| product.clone());
            }
            if samples.len() > SAMPLES {
                samples.pop_last();
            }
        }
    }
}

/// Explores a model, counts where premises hold, and lets the mutants take steps from samples of these states.
///
/// # Errors
///
/// [`ModelError`] if the model is not a function.
pub fn claim_statistics(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<ModelStatistics, ModelError> {
    let kernel = KernelModel::with_premise_counts(subject.clone(), model, scope);
    // Two threads may observe the same new state, and it would be counted twice.
    let exact = Options { threads: NonZeroUsize::MIN, ..options.clone() };
    let exploration = orchestrion_explorer::explore(&kernel, &exact, progress)?;
    let (products, ended) = (exploration.states(), exploration.ended());
    let counts = kernel.into_premise_counts();
    let kernel = KernelModel::new(subject.clone(), model, scope);
    let samples: BTreeMap<u64, &Product> =
        counts.samples.values().flatten().map(|(print, product)| (*print, product)).collect();
    let mutants: Vec<KernelModel> = all_mutants(&subject.policy)
        .into_iter()
        .filter(|mutant| mutant.part.is_explored_in(&model))
        .map(|mutant| KernelModel::new(mutant.subject, model, scope))
        .collect();
    let threads = options.threads.get();
    let mut decisive = violable_claims(&samples, threads, |print, product| {
        violable_in_one_step(&kernel, &mutants, print, product)
    });
    // A fault may violate a claim steps later: a forgotten cancel, once the next task starts.
    let is_open = |(claim, samples): &(&usize, &BTreeMap<u64, Product>)| {
        samples.keys().all(|print| decisive.get(print).is_none_or(|claims| !claims.contains(**claim)))
    };
    let open: BTreeMap<u64, &Product> = counts
        .samples
        .iter()
        .filter(is_open)
        .flat_map(|(_, samples)| samples.iter().take(WALKS).map(|(print, product)| (*print, product)))
        .collect();
    let later = violable_claims(&open, threads, |print, product| {
        violable_in_a_walk(&kernel, &mutants, print, product)
    });
    for (print, claims) in later {
        let known = decisive.entry(print).or_default();
        *known = known.union(claims);
    }
    let statistics = |claim: usize| {
        let is_decisive = |print: &&u64| decisive.get(print).is_some_and(|claims| claims.contains(claim));
        let samples = || counts.samples.get(&claim).into_iter().flat_map(BTreeMap::keys);
        ClaimStatistics {
            premise_states: counts.states.get(&claim).copied().unwrap_or_default(),
            sampled: samples().count() as u64,
            decisive: samples().filter(is_decisive).count() as u64,
        }
    };
    Ok(ModelStatistics {
        model: model.name,
        products,
        is_exhaustive: matches!(ended, Termination::Exhausted),
        claims: (0..CLAIMS.len()).map(statistics).collect(),
    })
}

/// The claims that can be violated at each of these states.
fn violable_claims(
    states: &BTreeMap<u64, &Product>,
    threads: usize,
    violable: impl Fn(u64, &Product) -> ClaimSet + Sync,
) -> BTreeMap<u64, ClaimSet> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let states: Vec<(u64, &Product)> = states.iter().map(|(print, product)| (*print, *product)).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((print, product)) = states.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let claims = violable(*print, product);
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert(*print, claims);
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The claims that a mutant violates in this state, or in a step from it. A liveness claim is decisive while its response is due.
fn violable_in_one_step(
    kernel: &KernelModel,
    mutants: &[KernelModel],
    print: u64,
    product: &Product,
) -> ClaimSet {
    let inputs = some_inputs(kernel.inputs(product), print);
    let correct: Vec<Decided> = inputs.iter().map(|input| decide(kernel, product, input)).collect();
    let is_due = |claim: &usize| {
        kernel.liveness_property(*claim).is_some_and(|(number, _)| {
            kernel.is_triggered(number, product) && !kernel.is_satisfied(number, product)
        })
    };
    let due: ClaimSet = (0..CLAIMS.len()).filter(is_due).collect();
    due.union(of_all(mutants, |mutant| step_violations(mutant, product, &inputs, &correct)))
}

/// The claims that a mutant violates in a walk from this state.
fn violable_in_a_walk(
    kernel: &KernelModel,
    mutants: &[KernelModel],
    print: u64,
    product: &Product,
) -> ClaimSet {
    let (mut product, mut walk) = (product.clone(), Vec::new());
    for step in 0..WALK_STEPS {
        let Some((input, after)) = first_step(kernel, &product, fingerprint(&(print, step))) else { break };
        let correct = decide(kernel, &product, &input);
        walk.push((std::mem::replace(&mut product, after), input, correct));
    }
    of_all(mutants, |mutant| walk_violations(mutant, &walk, print))
}

/// The claims that one of the mutants violates. A mutant that panics violates none.
fn of_all(mutants: &[KernelModel], violations: impl Fn(&KernelModel) -> ClaimSet) -> ClaimSet {
    let of_mutant = |mutant| catch_unwind(AssertUnwindSafe(|| violations(mutant))).unwrap_or_default();
    mutants.iter().map(of_mutant).fold(ClaimSet::default(), ClaimSet::union)
}

/// The first step that the kernel accepts, in an order that the choice determines.
fn first_step(kernel: &KernelModel, product: &Product, choice: u64) -> Option<(Input, Product)> {
    let inputs = rotated(kernel.inputs(product), choice);
    inputs.into_iter().find_map(|input| {
        let after = kernel.step(product, &input, |_| ())?;
        Some((input, after))
    })
}

fn rotated(mut inputs: Vec<Input>, choice: u64) -> Vec<Input> {
    let first = choice.checked_rem(inputs.len() as u64).unwrap_or_default();
    inputs.rotate_left(first as usize);
    inputs
}

/// The claims that a mutant violates from the first step of a walk that it decides differently.
fn walk_violations(mutant: &KernelModel, walk: &[(Product, Input, Decided)], print: u64) -> ClaimSet {
    let differs =
        |(product, input, correct): &(Product, Input, Decided)| decide(mutant, product, input) != *correct;
    let mut violated = ClaimSet::default();
    let Some(at) = walk.iter().position(differs) else { return violated };
    let mut product = walk[at].0.clone();
    let none = ObservationSet::empty(OBSERVATION_COUNT);
    for (step, (_, input, _)) in walk.iter().enumerate().skip(at) {
        let mut observe = |observation| {
            if let Observation::Violation(claim) = observation {
                violated.insert(claim);
            }
        };
        let next = mutant.step(&product, input, &mut observe);
        let next = next.or_else(|| Some(first_step(mutant, &product, fingerprint(&(print, step)))?.1));
        let Some(next) = next else { break };
        mutant.observe_state(&next, &none, &mut observe);
        product = next;
    }
    violated
}

/// A few inputs of each kind. Others in other states, by their fingerprint.
fn some_inputs(inputs: Vec<Input>, print: u64) -> Vec<Input> {
    let mut inputs = rotated(inputs, print);
    let mut kinds: BTreeMap<InputKind, usize> = BTreeMap::new();
    inputs.retain(|input| {
        let count = kinds.entry(InputKind::from(input)).or_default();
        *count += 1;
        *count <= INPUTS_OF_KIND
    });
    inputs
}

/// The claims that a mutant violates in this state, or in a step that differs from the correct one.
fn step_violations(
    mutant: &KernelModel,
    product: &Product,
    inputs: &[Input],
    correct: &[Decided],
) -> ClaimSet {
    let none = ObservationSet::empty(OBSERVATION_COUNT);
    let mut violated = ClaimSet::default();
    let mut observe = |observation| {
        if let Observation::Violation(claim) = observation {
            violated.insert(claim);
        }
    };
    if changes_responses(mutant.subject()) {
        mutant.observe_state(product, &none, &mut observe);
    }
    for (input, correct) in inputs.iter().zip(correct) {
        // A changed context shows in no event.
        if mutant.subject().builds_contexts_unchanged() && decide(mutant, product, input) == *correct {
            continue;
        }
        if let Some(after) = mutant.step(product, input, &mut observe) {
            mutant.observe_state(&after, &none, &mut observe);
        }
    }
    violated
}

/// The events and the state after them; `None` if the input is refused.
type Decided = Option<(Events, State)>;

fn decide(kernel: &KernelModel, product: &Product, input: &Input) -> Decided {
    let events = kernel.subject().decide(&product.state, input).ok()?;
    let after = kernel.subject().apply(&product.state, &events);
    Some((events, after))
}

/// Whether a kernel with this fault may accept or decide something else in a state.
fn changes_responses(subject: &KernelUnderTest) -> bool {
    subject.negated.is_some()
        || subject.rows.iter().any(Option::is_none)
        || subject.decide_policy != subject.policy
        || subject.mutate_view.is_some()
}
