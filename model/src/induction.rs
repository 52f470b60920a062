//! Induction: claims checked in single steps from every well-formed state of an enumeration, reached or not.
//!
//! An exploration proves a claim for the states that its inputs reach. A claim that holds after each step from every state in which
//! the claims hold is *inductive*: then it holds after any number of steps, whatever led there. An enumeration lists its states and inputs
//! in full, so its sizes are fixed numbers.

mod audiences;
mod clearing;
mod debating;
mod derived;
mod ending;
mod graphs;
mod log;
mod oversized;
mod partners;
mod readers;
mod rivals;
mod running;
mod shapes;
mod summaries;
mod waiting;

use crate::check::{ClaimResult, ModelRun};
use crate::contracts::check_other_reports;
use crate::coverage::{OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::{KernelModel, Product, initial_state};
use crate::scopes::{FROZEN, Model, Nondeterminism, Remote, Scope};
use orchestrion_claims::{CLAIMS, ClaimCheck, ClaimSet, History};
use orchestrion_explorer::{Termination, fingerprint};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, Input, Policy, State};
use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A set of states, and the inputs to try in each.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// The name, the subject, and what is free: it determines the limits and the adversary, as of an explored model.
    pub model: Model,
    /// The states, and the inputs.
    pub states: States,
}

/// The states of an enumeration, and the inputs to try in each.
#[derive(Clone, Copy, Debug)]
pub enum States {
    /// Semantic states.
    Semantic {
        /// The items at the start, one list for each state.
        starts: fn() -> Vec<Vec<Entry>>,
        /// The inputs that lead from a start to the states in which the last inputs are tried.
        prefixes: fn() -> Vec<Vec<Input>>,
        /// The inputs to try in such a state.
        inputs: fn(&State) -> Vec<Input>,
    },
    /// States of a running request, with its history: both are folds of events, one list for each state. The adversary of the model
    /// chooses the inputs.
    Control(fn(&Policy) -> Vec<Vec<Event>>),
}

/// The start of a counterexample to induction: what the state is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The items.
    Items(Vec<Entry>),
    /// The events.
    Events(Vec<Event>),
}

/// What is free where the states are of control: every reply, failure and cancel, and facts that change.
const CONTROL: Nondeterminism = Nondeterminism {
    debate: true,
    execution: true,
    environment: true,
    failures: true,
    cancel: true,
    facts: true,
    ..FROZEN
};

/// The enumerations, in the order in which they are checked.
pub const ENUMERATIONS: [Enumeration; 13] = [
    Enumeration {
        model: Model {
            name: "rivals",
            about: "every write of a fact beside one or two facts, in every order of rank, time and scope, with every reference",
            free: FROZEN,
        },
        states: States::Semantic {
            starts: rivals::starts,
            prefixes: shapes::employee_session,
            inputs: rivals::writes,
        },
    },
    Enumeration {
        model: Model {
            name: "audiences",
            about: "every source, rank, memory and audience of a write and of the fact that it repeats, for every identity",
            free: FROZEN,
        },
        states: States::Semantic {
            starts: audiences::starts,
            prefixes: audiences::sessions,
            inputs: audiences::writes,
        },
    },
    Enumeration {
        model: Model {
            name: "derived",
            about: "every graph of dependencies of four items of each layer, every write that changes one or depends on one, expiry, and the end of a session",
            free: FROZEN,
        },
        states: States::Semantic {
            starts: derived::starts,
            prefixes: shapes::employee_session,
            inputs: derived::inputs,
        },
    },
    Enumeration {
        model: Model {
            name: "readers",
            about: "every reader of every item: identities, permissions, users, scopes, expiry and what shadows what",
            free: FROZEN,
        },
        states: States::Semantic {
            starts: readers::starts,
            prefixes: readers::requests,
            inputs: readers::steps,
        },
    },
    Enumeration {
        model: Model {
            name: "summaries",
            about: "every compaction of three items that differ in one field each",
            free: Nondeterminism { writes: true, ..FROZEN },
        },
        states: States::Semantic {
            starts: summaries::starts,
            prefixes: summaries::requests,
            inputs: summaries::replies,
        },
    },
    Enumeration {
        model: Model {
            name: "partners",
            about: "one interaction, signal or routing, for every status, record, connection, belief, defense and offer",
            free: Nondeterminism { network: Remote::Interactions, ..FROZEN },
        },
        states: States::Semantic {
            starts: || vec![Vec::new()],
            prefixes: partners::networks,
            inputs: partners::inputs,
        },
    },
    Enumeration {
        model: Model {
            name: "oversized",
            about: "every place of a text that alone exceeds the budget of a call",
            free: FROZEN,
        },
        states: States::Semantic {
            starts: oversized::starts,
            prefixes: oversized::requests,
            inputs: oversized::inputs,
        },
    },
    Enumeration {
        model: Model {
            name: "waiting",
            about: "every phase of a request with every pending call, and every reply, failure and cancel",
            free: CONTROL,
        },
        states: States::Control(waiting::starts),
    },
    Enumeration {
        model: Model {
            name: "debating",
            about: "every pass, argument, veto, revision, score and changed fact of a debate, in every phase of it",
            free: CONTROL,
        },
        states: States::Control(debating::starts),
    },
    Enumeration {
        model: Model {
            name: "clearing",
            about: "every order of review, consensus, decision and changed fact, in every phase of an execution",
            free: CONTROL,
        },
        states: States::Control(clearing::starts),
    },
    Enumeration {
        model: Model {
            name: "running",
            about: "every outcome of two tasks, with every number of repairs and every compensation",
            free: CONTROL,
        },
        states: States::Control(running::starts),
    },
    Enumeration {
        model: Model {
            name: "graphs",
            about: "every graph of dependencies of three tasks, with every order of starts, every outcome and every compensation",
            free: CONTROL,
        },
        states: States::Control(graphs::starts),
    },
    Enumeration {
        model: Model {
            name: "ending",
            about: "every conclusion, with every status of the stores and every number of records and deliveries",
            free: CONTROL,
        },
        states: States::Control(ending::starts),
    },
];

/// The claims that are not inductive on an enumeration of control, and why. Explorations prove them.
pub const NOT_INDUCTIVE: &[(&str, &str, &str)] = &[];

/// A step that violates a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InductionCounterexample {
    /// The name of the enumeration.
    pub enumeration: &'static str,
    /// The state at the start.
    pub start: Start,
    /// The inputs; the last one violates the claim.
    pub inputs: Vec<Input>,
    /// Whether the claim is meant to be inductive here, so that this refutes it. Otherwise only explorations prove it.
    pub refutes: bool,
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
    /// The digests of the states of control after a step: each is judged once.
    judged: HashSet<u64>,
}

impl Enumeration {
    /// The enumeration of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ENUMERATIONS.into_iter().find(|enumeration| enumeration.model.name == name)
    }

    /// Whether the states are of control.
    #[must_use]
    pub const fn is_of_control(&self) -> bool {
        matches!(self.states, States::Control(_))
    }

    /// Whether a claim is meant to be inductive here under a policy. In states of control, claims are so by what the claims about phases
    /// establish, so all of these must be applicable.
    fn is_meant_inductive(&self, policy: &Policy, claim: usize) -> bool {
        let is_exempt =
            |id: &str| NOT_INDUCTIVE.iter().any(|(of, claim, _)| (*of, *claim) == (self.model.name, id));
        !self.is_of_control()
            || CLAIMS.get(claim).is_some_and(|claim| !is_exempt(claim.id))
                && CLAIMS
                    .iter()
                    .filter(|claim| matches!(claim.check, ClaimCheck::HistoryConsistency(_)))
                    .all(|claim| (claim.not_applicable)(policy).is_none())
    }

    /// What the states are made of, well-formed or not.
    #[must_use]
    pub fn starts(&self, policy: &Policy) -> Vec<Start> {
        match self.states {
            States::Semantic { starts, .. } => starts().into_iter().map(Start::Items).collect(),
            States::Control(starts) => starts(policy).into_iter().map(Start::Events).collect(),
        }
    }

    /// Tries every input in every state of the enumeration, and checks every claim in these steps and in the states after them.
    ///
    /// # Panics
    ///
    /// If a thread does.
    #[must_use]
    pub fn check(&self, subject: &KernelUnderTest, scope: &Scope, jobs: NonZeroUsize) -> ModelRun {
        let kernel = KernelModel::new(subject.clone(), self.model, scope);
        // A fault in the kernel under test changes no state of the enumeration.
        let unmodified = KernelUnderTest::unmodified(kernel.subject().policy.clone());
        let reference = KernelModel::new(unmodified, self.model, scope);
        let starts = self.starts(&kernel.subject().policy);
        let prefixes = match self.states {
            States::Semantic { prefixes, .. } => prefixes(),
            States::Control(_) => vec![Vec::new()],
        };
        let next = AtomicUsize::new(0);
        let distinct = Mutex::new(HashSet::new());
        let work = || {
            let mut found = Found::default();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(start) = starts.get(at) else { break found };
                let Some(product) = start.product(&reference) else { continue };
                let digest = fingerprint(&product);
                if self.is_of_control()
                    && !distinct.lock().unwrap_or_else(PoisonError::into_inner).insert(digest)
                {
                    continue;
                }
                self.check_start(&kernel, (at, &product), &prefixes, &mut found);
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
                let (enumeration, start, inputs) = (self.model.name, starts[*start].clone(), inputs.clone());
                let refutes = self.is_meant_inductive(&kernel.subject().policy, claim);
                Box::new(InductionCounterexample { enumeration, start, inputs, refutes })
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

    /// Tries the inputs from one start.
    fn check_start(
        &self,
        kernel: &KernelModel,
        (at, start): (usize, &Product),
        prefixes: &[Vec<Input>],
        found: &mut Found,
    ) {
        found.states += 1;
        if self.is_of_control() {
            let mut violated = kernel.state_verdicts(start).0;
            check_other_reports(kernel.subject(), &start.state, |observation| {
                if let Observation::Violation(claim) = observation {
                    violated.insert(claim);
                }
            });
            for claim in violated.iter() {
                found.violations.entry(claim).or_insert_with(|| (at, Vec::new()));
            }
        }
        for prefix in prefixes {
            let mut product = start.clone();
            let mut tried: Vec<Input> = Vec::new();
            let is_accepted = prefix.iter().all(|input| {
                tried.push(input.clone());
                let next = found.step(kernel, &product, (at, &tried), self.is_of_control());
                next.map(|next| product = next).is_some()
            });
            if !is_accepted {
                continue;
            }
            found.products += 1;
            let inputs = match self.states {
                States::Semantic { inputs, .. } => inputs(&product.state),
                States::Control(_) => kernel.inputs(&product),
            };
            for input in inputs {
                tried.push(input);
                found.step(kernel, &product, (at, &tried), self.is_of_control());
                tried.pop();
            }
        }
    }
}

impl Start {
    /// The product at the start, if the claims about states hold in it.
    fn product(&self, kernel: &KernelModel) -> Option<Product> {
        let (mut state, mut history) = (initial_state(), History::default());
        match self {
            Self::Items(items) => {
                for Entry { item, deps } in items {
                    state.apply(&Event::AddItem { item: item.clone(), deps: deps.clone() });
                }
            }
            Self::Events(events) => {
                for event in events {
                    state.apply(event);
                    history.observe(&kernel.subject().policy, event);
                }
                state.canonicalize();
                history.canonicalize();
            }
        }
        let (state, history) = (Box::new(state), Box::new(history));
        let product = Product { state, history, violated: ClaimSet::default() };
        let violated = match self {
            Self::Items(_) => kernel.semantic_verdicts(&product.state).0,
            Self::Events(_) => kernel.state_verdicts(&product).0,
        };
        (product.state.semantic().is_consistent() && kernel.applicable(violated).is_empty())
            .then_some(product)
    }
}

impl Found {
    /// Takes the last of the inputs, and records what it violates.
    fn step(
        &mut self,
        kernel: &KernelModel,
        before: &Product,
        (start, inputs): (usize, &[Input]),
        is_of_control: bool,
    ) -> Option<Product> {
        let mut violated = ClaimSet::default();
        let after = kernel.step(before, inputs.last()?, |observation| {
            if let Observation::Violation(claim) = observation {
                violated.insert(claim);
            }
        });
        if let Some(after) = &after {
            self.steps += 1;
            let (of_state, premises) = if !is_of_control {
                kernel.semantic_verdicts(&after.state)
            } else if self.judged.insert(fingerprint(after)) {
                kernel.state_verdicts(after)
            } else {
                Default::default()
            };
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

#[cfg(test)]
mod tests;
