//! Induction: claims checked in single steps from every well-formed semantic state of an enumeration, reached or not.
//!
//! An exploration proves a claim for the states that its inputs reach. A claim that holds after each step from every state in which
//! the claims hold is *inductive*: then it holds after any number of steps, whatever led there. An enumeration lists its states and inputs
//! in full, so its sizes are fixed numbers.

mod audiences;
mod derived;
mod readers;
mod rivals;
mod shapes;
mod summaries;

use crate::check::{ClaimResult, ModelRun};
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::{KernelModel, Product, initial_state};
use crate::scopes::{FROZEN, Model, Nondeterminism, Scope};
use orchestrion_claims::{CLAIMS, ClaimSet};
use orchestrion_explorer::Termination;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, Input, State};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A set of semantic states, and the inputs to try in each.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// The name, the subject, and what is free: it determines the limits, as of an explored model.
    pub model: Model,
    /// The items at the start, one list for each state.
    pub starts: fn() -> Vec<Vec<Entry>>,
    /// The inputs that lead from a start to the states in which the last inputs are tried.
    pub prefixes: fn() -> Vec<Vec<Input>>,
    /// The inputs to try in such a state.
    pub inputs: fn(&State) -> Vec<Input>,
}

/// The enumerations, in the order in which they are checked.
pub const ENUMERATIONS: [Enumeration; 5] = [
    Enumeration {
        model: Model {
            name: "rivals",
            about: "every write of a fact beside one or two facts, in every order of rank, time and scope, with every reference",
            free: FROZEN,
        },
        starts: rivals::starts,
        prefixes: shapes::employee_session,
        inputs: rivals::writes,
    },
    Enumeration {
        model: Model {
            name: "audiences",
            about: "every source, rank, memory and audience of a write and of the fact that it repeats, for every identity",
            free: FROZEN,
        },
        starts: audiences::starts,
        prefixes: audiences::sessions,
        inputs: audiences::writes,
    },
    Enumeration {
        model: Model {
            name: "derived",
            about: "every graph of dependencies of four items of each layer, and every write that changes one or depends on one",
            free: FROZEN,
        },
        starts: derived::starts,
        prefixes: shapes::employee_session,
        inputs: derived::writes,
    },
    Enumeration {
        model: Model {
            name: "readers",
            about: "every reader of every item: identities, permissions, users, scopes, expiry and what shadows what",
            free: FROZEN,
        },
        starts: readers::starts,
        prefixes: readers::requests,
        inputs: readers::steps,
    },
    Enumeration {
        model: Model {
            name: "summaries",
            about: "every compaction of three items that differ in one field each",
            free: Nondeterminism { writes: true, ..FROZEN },
        },
        starts: summaries::starts,
        prefixes: summaries::requests,
        inputs: summaries::replies,
    },
];

/// A step that violates a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InductionCounterexample {
    /// The name of the enumeration.
    pub enumeration: &'static str,
    /// The items at the start.
    pub items: Vec<Entry>,
    /// The inputs; the last one violates the claim.
    pub inputs: Vec<Input>,
}

/// What the steps from some of the starts show.
#[derive(Default)]
struct Found {
    states: usize,
    products: usize,
    steps: u64,
    premises: ClaimSet,
    /// The start and the inputs of the first violation of each claim.
    violations: BTreeMap<usize, (usize, Vec<Input>)>,
}

impl Enumeration {
    /// The enumeration of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ENUMERATIONS.into_iter().find(|enumeration| enumeration.model.name == name)
    }

    /// Tries every input in every state of the enumeration, and checks every claim in these steps and in the states after them.
    ///
    /// # Panics
    ///
    /// If a thread does.
    #[must_use]
    pub fn check(&self, subject: &KernelUnderTest, scope: &Scope, jobs: NonZeroUsize) -> ModelRun {
        let kernel = KernelModel::new(subject.clone(), self.model, scope);
        let (starts, prefixes) = ((self.starts)(), (self.prefixes)());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Found::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(items) = starts.get(at) else { break found };
                self.check_start(&kernel, (at, items), &prefixes, &mut found);
            }
        };
        let found = thread::scope(|threads| {
            let threads: Vec<_> = (0..jobs.get()).map(|_| threads.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
            joined.fold(Found::default(), Found::merge)
        });
        let result = |claim: usize| ClaimResult {
            premise_reached: found.premises.contains(claim),
            induction: found.violations.get(&claim).map(|(start, inputs)| {
                let (enumeration, items, inputs) = (self.model.name, starts[*start].clone(), inputs.clone());
                Box::new(InductionCounterexample { enumeration, items, inputs })
            }),
            ..ClaimResult::default()
        };
        ModelRun {
            model: self.model.name,
            scope: scope.name.to_string(),
            policy: kernel.subject().policy.name.clone(),
            states: found.states,
            products: found.products,
            steps: found.steps,
            depth: prefixes.iter().map(|prefix| prefix.len() + 1).max().unwrap_or_default(),
            ended: Termination::Exhausted,
            collision: 0.0,
            unproven_contexts: 0,
            found: (0..CLAIMS.len()).map(result).collect(),
            first_depths: vec![None; OBSERVATION_COUNT],
        }
    }

    /// Tries the inputs from one start, if the claims hold in it.
    fn check_start(
        &self,
        kernel: &KernelModel,
        (at, items): (usize, &[Entry]),
        prefixes: &[Vec<Input>],
        found: &mut Found,
    ) {
        let Some(start) = start(kernel, items) else { return };
        found.states += 1;
        for prefix in prefixes {
            let mut product = start.clone();
            let mut tried: Vec<Input> = Vec::new();
            let is_accepted = prefix.iter().all(|input| {
                tried.push(input.clone());
                let next = found.step(kernel, &product, (at, &tried));
                next.map(|next| product = next).is_some()
            });
            if !is_accepted {
                continue;
            }
            found.products += 1;
            for input in (self.inputs)(&product.state) {
                tried.push(input);
                found.step(kernel, &product, (at, &tried));
                tried.pop();
            }
        }
    }
}

/// The product with these items, if the claims about its semantic state hold.
fn start(kernel: &KernelModel, items: &[Entry]) -> Option<Product> {
    let mut state: State = initial_state();
    for Entry { item, deps } in items {
        state.apply(&Event::AddItem { item: item.clone(), deps: deps.clone() });
    }
    let product = Product { state: Box::new(state), ..kernel.start() };
    let (violated, _) = kernel.semantic_verdicts(&product.state);
    (product.state.semantic().is_consistent() && kernel.applicable(violated).is_empty()).then_some(product)
}

impl Found {
    /// Takes the last of the inputs, and records what it violates.
    fn step(
        &mut self,
        kernel: &KernelModel,
        before: &Product,
        (start, inputs): (usize, &[Input]),
    ) -> Option<Product> {
        let mut violated = ClaimSet::default();
        let after = kernel.step(before, inputs.last()?, |observation| {
            if let Observation::Violation(claim) = observation {
                violated.insert(claim);
            }
        });
        if let Some(after) = &after {
            self.steps += 1;
            let (of_state, premises) = kernel.semantic_verdicts(&after.state);
            violated = violated.union(after.violated).union(of_state);
            self.premises = self.premises.union(premises);
        }
        for claim in kernel.applicable(violated).iter() {
            self.violations.entry(claim).or_insert_with(|| (start, inputs.to_vec()));
        }
        after
    }

    /// What two threads found. The first start that violates a claim is its counterexample.
    fn merge(mut self, other: Self) -> Self {
        self.states += other.states;
        self.products += other.products;
        self.steps += other.steps;
        self.premises = self.premises.union(other.premises);
        for (claim, violation) in other.violations {
            let first = self.violations.entry(claim).or_insert_with(|| violation.clone());
            if violation.0 < first.0 {
                *first = violation;
            }
        }
        self
    }
}
