//! Simulation: random runs that are longer than an exploration can be. Every claim about states and steps is checked in each step.
//!
//! Uniform choices would cancel almost every request and convince almost no debate. So each run first draws a weight for every kind
//! of input, which is often 0 (swarm testing), and how often modules agree. Run `n` of a seed is the same on every machine and with
//! any number of threads.

mod shrink;

use crate::adversary::Adversary;
use crate::check::Counterexample;
use crate::coverage::{InputKind, OBSERVATION_COUNT, Observation};
use crate::kernel_under_test::KernelUnderTest;
use crate::product::KernelModel;
use crate::scopes::{Bounds, FROZEN, Model, Scope};
use orchestrion_explorer::ObservationSet;
use orchestrion_kernel::Input;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct SimulationOptions {
    /// The seed of the random choices.
    pub seed: u64,
    /// The number of runs.
    pub runs: u64,
    /// The maximum number of steps of a run.
    pub steps: usize,
    /// The maximum number of counterexamples of a claim.
    pub counterexamples: NonZeroUsize,
    /// The number of threads. The result does not depend on it.
    pub threads: NonZeroUsize,
    /// No run starts after this time. Which runs started then differs between machines.
    pub time: Option<Duration>,
}

/// The progress of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct SimulationProgress {
    /// The number of runs that ended.
    pub runs: u64,
    /// The number of accepted inputs.
    pub steps: u64,
    /// The time so far.
    pub time: Duration,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationResult {
    /// The name of the model.
    pub model: &'static str,
    /// The number of runs.
    pub runs: u64,
    /// The number of accepted inputs.
    pub steps: u64,
    /// The number of distinct kernel states.
    pub states: usize,
    /// The number of steps of the longest run.
    pub longest: usize,
    /// The number of distinct kernel states in which the context of the pending call is not proven optimal.
    pub unproven_contexts: usize,
    /// The violations, by claim and run. No two of a claim take the same transitions.
    pub violations: Vec<SimulatedViolation>,
    /// The first run with each observation, by [`Observation::index`].
    pub first_runs: Vec<Option<u64>>,
}

impl SimulationResult {
    /// Whether a run had an observation.
    #[must_use]
    pub fn is_reached(&self, observation: Observation) -> bool {
        self.first_runs.get(observation.index()).is_some_and(Option::is_some)
    }
}

/// A violation of a claim in a run.
#[derive(Clone, Debug)]
pub struct SimulatedViolation {
    /// The position of the claim in [`CLAIMS`](orchestrion_claims::CLAIMS).
    pub claim: usize,
    /// The number of the run, from 0.
    pub run: u64,
    /// The number of steps of the run up to the violation.
    pub steps: usize,
    /// Inputs that violate the claim and of which none can be omitted.
    pub counterexample: Counterexample,
}

/// Runs a model at random. `progress` is called about ten times a second.
///
/// A conversation has as many requests as the steps of a run allow, and every call may fail.
///
/// # Panics
///
/// If the kernel or a claim does.
#[must_use]
pub fn simulate(
    subject: &KernelUnderTest,
    model: Model,
    scope: &Scope,
    options: &SimulationOptions,
    progress: &mut dyn FnMut(&SimulationProgress),
) -> SimulationResult {
    // These bounds only keep explorations small.
    let bounds = Bounds { requests: usize::MAX, local_failures: true, ..scope.bounds };
    let scope = Scope { bounds, ..scope.clone() };
    let kernel = KernelModel::new(subject.clone(), model, &scope);
    let agreeing = Adversary::new(&kernel.subject().policy, Model { free: FROZEN, ..model }, &scope);
    let (begin, next) = (Instant::now(), AtomicU64::new(0));
    let (ended, steps) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut found = Found::new(options.counterexamples);
        while options.time.is_none_or(|time| begin.elapsed() < time) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.runs {
                break;
            }
            let is_over = || options.time.is_some_and(|time| begin.elapsed() >= time);
            let taken = found.run(&kernel, &agreeing, options, number, &is_over);
            ended.fetch_add(1, Ordering::Relaxed);
            steps.fetch_add(taken as u64, Ordering::Relaxed);
        }
        found
    };
    let counts = || (ended.load(Ordering::Relaxed), steps.load(Ordering::Relaxed));
    let found = thread::scope(|threads| {
        let workers: Vec<_> = (0..options.threads.get()).map(|_| threads.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(20));
            let (runs, steps) = counts();
            progress(&SimulationProgress { runs, steps, time: begin.elapsed() });
        }
        let found =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        found.reduce(Found::merge).unwrap_or_else(|| Found::new(options.counterexamples))
    });
    let (runs, steps) = counts();
    let mut violations: Vec<SimulatedViolation> = Vec::new();
    for (claim, runs) in found.violations {
        let mut paths = BTreeSet::new();
        for (run, inputs) in runs {
            let (steps, shrunk) = (inputs.len(), shrink::shrink(&kernel, claim, inputs));
            if paths.insert(rows(&kernel, &shrunk)) {
                let counterexample = Counterexample::from_inputs(&kernel, &shrunk);
                violations.push(SimulatedViolation { claim, run, steps, counterexample });
            }
        }
    }
    SimulationResult {
        model: model.name,
        runs,
        steps,
        states: kernel.states_seen(),
        longest: found.longest,
        unproven_contexts: kernel.unproven_contexts(),
        violations,
        first_runs: found.first_runs,
    }
}

/// The rows that these inputs take.
fn rows(kernel: &KernelModel, inputs: &[Input]) -> Vec<usize> {
    let (mut product, mut rows) = (kernel.start(), Vec::new());
    for input in inputs {
        let next = kernel.step(&product, input, |observation| {
            if let Observation::Row(row) = observation {
                rows.push(row);
            }
        });
        product = next.unwrap_or(product);
    }
    rows
}

/// What some runs, in ascending order, show.
struct Found {
    /// What no further run needs to record.
    seen: ObservationSet,
    first_runs: Vec<Option<u64>>,
    /// The first runs that violate each claim, and their inputs up to the violation.
    violations: BTreeMap<usize, Vec<(u64, Vec<Input>)>>,
    violations_max: usize,
    longest: usize,
}

impl Found {
    fn new(counterexamples: NonZeroUsize) -> Self {
        Self {
            seen: ObservationSet::empty(OBSERVATION_COUNT),
            first_runs: vec![None; OBSERVATION_COUNT],
            violations: BTreeMap::new(),
            violations_max: counterexamples.get(),
            longest: 0,
        }
    }

    /// Takes one run, until the time is over, and returns the number of its steps.
    fn run(
        &mut self,
        kernel: &KernelModel,
        agreeing: &Adversary,
        options: &SimulationOptions,
        number: u64,
        is_over: &dyn Fn() -> bool,
    ) -> usize {
        let mut choices = Choices::new(options.seed, number);
        let (mut product, mut inputs): (_, Vec<Input>) = (kernel.start(), Vec::new());
        self.observe(kernel, number, &inputs, |kernel, seen, observe| {
            kernel.observe_state(&product, seen, observe);
        });
        while inputs.len() < options.steps && !is_over() {
            let mut options = kernel.inputs(&product);
            let mut agreeing = if choices.agrees() { agreeing.inputs(&product.state) } else { Vec::new() };
            agreeing.retain(|input| options.contains(input));
            let next = loop {
                let from = if agreeing.is_empty() { &mut options } else { &mut agreeing };
                let Some(at) = choices.choose(from) else { break None };
                let input = from.swap_remove(at);
                inputs.push(input);
                let mut after = None;
                self.observe(kernel, number, &inputs, |kernel, seen, observe| {
                    after = inputs.last().and_then(|input| kernel.step(&product, input, &mut *observe));
                    if let Some(after) = &after {
                        kernel.observe_state(after, seen, observe);
                    }
                });
                // A step that changes nothing could repeat to the end of the run.
                if after.as_ref().is_some_and(|after| *after != product) {
                    break after;
                }
                inputs.pop();
            };
            let Some(next) = next else { break };
            product = next;
        }
        self.longest = self.longest.max(inputs.len());
        inputs.len()
    }

    /// Records the new observations of a run that took these inputs.
    fn observe(
        &mut self,
        kernel: &KernelModel,
        run: u64,
        inputs: &[Input],
        show: impl FnOnce(&KernelModel, &ObservationSet, &mut dyn FnMut(Observation)),
    ) {
        let mut new: Vec<Observation> = Vec::new();
        show(kernel, &self.seen, &mut |observation| {
            if !self.seen.contains(observation.index()) {
                new.push(observation);
            }
        });
        for observation in new {
            self.first_runs[observation.index()].get_or_insert(run);
            if let Observation::Violation(claim) = observation {
                let violations = self.violations.entry(claim).or_default();
                if violations.last().is_none_or(|(last, _)| *last != run) {
                    violations.push((run, inputs.to_vec()));
                }
                if violations.len() < self.violations_max {
                    continue;
                }
            }
            self.seen.insert(observation.index());
        }
    }

    /// What the runs of two threads show.
    fn merge(mut self, other: Self) -> Self {
        for (first, other) in self.first_runs.iter_mut().zip(other.first_runs) {
            *first = first.iter().copied().chain(other).min();
        }
        for (claim, others) in other.violations {
            let violations = self.violations.entry(claim).or_default();
            violations.extend(others);
            violations.sort_unstable_by_key(|(run, _)| *run);
            violations.truncate(self.violations_max);
        }
        self.longest = self.longest.max(other.longest);
        self
    }
}

/// The random choices of one run.
pub(crate) struct Choices {
    random: ChaCha8Rng,
    /// The weight of each kind of input, by [`InputKind::index`].
    weights: Vec<u64>,
    /// How often modules agree, in 64 choices.
    agreement: u64,
}

impl Choices {
    /// The weights of the kinds of input. A kind of weight 0 is taken only if there is no other.
    const WEIGHTS: [u64; 4] = [0, 0, 1, 8];
    /// How often modules agree, in 64 choices.
    const AGREEMENTS: [u64; 4] = [0, 48, 60, 63];

    pub(crate) fn new(seed: u64, run: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(run);
        let mut one_of = |values: [u64; 4]| values[below(&mut random, 4) as usize];
        let agreement = one_of(Self::AGREEMENTS);
        let mut weights: Vec<u64> = InputKind::ALL.iter().map(|_| one_of(Self::WEIGHTS)).collect();
        // Without messages, a run would only open and close sessions.
        weights[InputKind::UserMessage.index()] = 8;
        Self { random, weights, agreement }
    }

    /// Continues with the random numbers of one question: the n-th time that the kernel waits for the same.
    pub(crate) fn rekey(&mut self, seed: u64, run: u64, question: u64, times: u64) {
        let mut key = [0; 32];
        for (part, number) in key.as_chunks_mut::<8>().0.iter_mut().zip([seed, run, question, times]) {
            *part = number.to_le_bytes();
        }
        self.random = ChaCha8Rng::from_seed(key);
    }

    /// Whether the next input is one that leads to success.
    pub(crate) fn agrees(&mut self) -> bool {
        below(&mut self.random, 64) < self.agreement
    }

    /// The position of one of the inputs: first a kind by its weight, then one of its inputs. `None` without inputs.
    pub(crate) fn choose(&mut self, inputs: &[Input]) -> Option<usize> {
        let mut by_kind: BTreeMap<InputKind, Vec<usize>> = BTreeMap::new();
        for (at, input) in inputs.iter().enumerate() {
            by_kind.entry(InputKind::from(input)).or_default().push(at);
        }
        let total: u64 = by_kind.keys().map(|kind| self.weights[kind.index()]).sum();
        let of_kind = if total == 0 {
            let kind = below(&mut self.random, by_kind.len() as u64) as usize;
            by_kind.values().nth(kind)?
        } else {
            let mut rest = below(&mut self.random, total);
            let (_, inputs) = by_kind.iter().find(|(kind, _)| {
                let weight = self.weights[kind.index()];
                let is_here = rest < weight;
                rest = rest.wrapping_sub(weight);
                is_here
            })?;
            inputs
        };
        of_kind.get(below(&mut self.random, of_kind.len() as u64) as usize).copied()
    }
}

/// A number below a bound, uniform up to one part in 2⁶⁴ for each possible value; 0 for the bound 0.
fn below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}
