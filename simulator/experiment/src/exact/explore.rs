//! The chain of an experiment: every position that the real kernel can reach, in breadth-first order.
//!
//! Several threads expand positions, and one numbers those that earlier expansions led to, in their order. So the chain does not depend on
//! the number of threads. A position is known by its digest of 128 bits; only positions that wait for their expansion are stored.

use super::chain::{Chain, ChoiceParts, Edge, Ending};
use super::enumerate::Tape;
use super::error::ExactError;
use super::number::Fraction;
use super::play::{Part, Play, Position, Stop};
use super::solve::position;
use super::{Limits, Progress};
use crate::experiment::{Cell, Experiment, Obstacle};
use crate::metrics::METRICS;
use num_bigint::BigInt;
use num_traits::Zero;
use orchestrion_kernel::digest::digest;
use orchestrion_yaml::{LabeledError, ReadError};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::thread;

/// Positions of a batch for each thread. Those of the batch before are numbered meanwhile.
const BATCH: usize = 512;

/// Transitions of a batch for each thread, as many as the batch before suggests. Each has a position until it is numbered.
const BATCH_TRANSITIONS: usize = 4096;

/// The estimated memory of a position that waits.
const POSITION_BYTES: usize = 8 << 10;

/// Positions that a thread takes at a time.
const PART: usize = 16;

/// Computes the chain of an experiment under the policy of a cell.
///
/// # Errors
/// [`ExactError`] if the experiment is not finite, or has more states than the limit.
pub fn build(
    experiment: &Experiment,
    cell: &Cell,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<Chain, ExactError> {
    if let Some(obstacle) = experiment.obstacles.always.first() {
        return Err(unsuitable(experiment, obstacle));
    }
    let refused = |refusal| ExactError::Refused { policy: cell.policy.name.clone(), refusal };
    let start = Position::start(cell, &experiment.world).map_err(refused)?;
    let counts_nodes = experiment.metrics.iter().any(|metric| metric.name == "load_spread_tasks");
    let rewards = experiment.metrics.iter().filter_map(|metric| position(metric)).collect();
    let play = Play { policy: &cell.policy, world: &experiment.world, counts_nodes, rewards };
    let mut numbering = Numbering::new(start, limits.max_rational_states);
    let threads = limits.threads.get();
    // The expansions whose targets are not numbered yet.
    let mut expanded = Vec::new();
    // The most transitions of a state so far.
    let mut transitions_max = 1;
    while !numbering.waiting.is_empty() || !expanded.is_empty() {
        let count = BATCH.min(BATCH_TRANSITIONS / transitions_max).max(1) * threads;
        let count = numbering.waiting.len().min(count);
        let batch: Vec<Waiting> = numbering.waiting.drain(..count).collect();
        let number = |expansion: Option<Expansion>| expansion.map(|expansion| numbering.push(expansion));
        let (numbered, next) =
            expand_beside(&play, batch, threads, || expanded.drain(..).try_for_each(number));
        numbered.ok_or_else(|| order_varies(experiment))?;
        expanded = next;
        let transitions = expanded.iter().flatten().map(Expansion::transitions);
        transitions_max = transitions.fold(transitions_max, usize::max);
        if numbering.memory_bytes() > limits.memory_bytes {
            return Err(ExactError::TooMuchMemory {
                policy: cell.policy.name.clone(),
                max: limits.memory_bytes,
                states: numbering.next,
            });
        }
        if numbering.next as usize > limits.max_states {
            return Err(ExactError::TooManyStates {
                policy: cell.policy.name.clone(),
                max: limits.max_states,
            });
        }
        progress(Progress::Exploring {
            states: numbering.next as usize,
            expanded: numbering.chain.states(),
            transitions: numbering.chain.transitions(),
        });
    }
    Ok(numbering.chain)
}

fn unsuitable(experiment: &Experiment, obstacle: &Obstacle) -> ExactError {
    let message = format!("exact computation: expected finitely many choices; {}", obstacle.reason);
    let error = LabeledError::new(message, obstacle.help).with_label(obstacle.span, "prevents it");
    ReadError::in_source(&experiment.source, error).into()
}

fn order_varies(experiment: &Experiment) -> ExactError {
    let unknown = Obstacle {
        reason: "the order in which calls in flight end varies",
        help: "write a constant duration, or let no tasks run in parallel",
        span: None,
    };
    unsuitable(experiment, experiment.obstacles.in_parallel.first().unwrap_or(&unknown))
}

/// A state of the chain that was not expanded yet.
enum Waiting {
    Position(Box<Position>),
    Ending(Ending),
}

/// Where a transition leads.
enum Target {
    Position(u128, Box<Position>),
    Ending(Ending),
}

impl Target {
    const fn key(&self) -> u128 {
        match self {
            Self::Position(digest, _) => *digest,
            // A digest has no half that is 0.
            Self::Ending(ending) => *ending as u128,
        }
    }
}

enum Expansion {
    Choices(Vec<Choice>),
    Ending(Ending),
}

impl Expansion {
    fn transitions(&self) -> usize {
        match self {
            Self::Choices(choices) => choices.iter().map(|choice| choice.targets.len()).sum(),
            Self::Ending(_) => 0,
        }
    }
}

struct Choice {
    targets: Vec<(Target, Fraction)>,
    rewards: Vec<(u8, Fraction)>,
}

/// Expands a batch on several threads, of which this one first does other work. Returns the results of both.
fn expand_beside<T>(
    play: &Play<'_>,
    batch: Vec<Waiting>,
    threads: usize,
    work: impl FnOnce() -> T,
) -> (T, Vec<Option<Expansion>>) {
    let workers = if batch.len() < PART { 0 } else { threads - 1 };
    let rest = Mutex::new((0, batch.into_iter()));
    // A poisoned lock: another thread panicked, and its panic is passed on below.
    let next_part = || {
        let mut rest = rest.lock().ok()?;
        let part: Vec<Waiting> = rest.1.by_ref().take(PART).collect();
        rest.0 += 1;
        (!part.is_empty()).then_some((rest.0, part))
    };
    // A thread frees the positions that it expanded.
    let expand_parts = || {
        let mut expanded: Vec<(usize, Vec<Option<Expansion>>)> = Vec::new();
        while let Some((number, part)) = next_part() {
            expanded.push((number, part.into_iter().map(|waiting| expand(play, &waiting)).collect()));
        }
        expanded
    };
    let (worked, mut expanded) = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(expand_parts)).collect();
        let worked = work();
        let mut expanded = expand_parts();
        for worker in workers {
            match worker.join() {
                Ok(parts) => expanded.extend(parts),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (worked, expanded)
    });
    expanded.sort_unstable_by_key(|(number, _)| *number);
    (worked, expanded.into_iter().flat_map(|(_, expansions)| expansions).collect())
}

/// Returns the choices of a position; `None` if the order of calls in flight varies.
fn expand(play: &Play<'_>, waiting: &Waiting) -> Option<Expansion> {
    let position = match waiting {
        Waiting::Ending(ending) => return Some(Expansion::Ending(*ending)),
        Waiting::Position(position) => position,
    };
    let (mut choices, mut options) = (Vec::new(), 1);
    while choices.len() < options {
        let mut tape = Tape::new(choices.len());
        let mut paths = Vec::new();
        loop {
            let part = play.advance(position, &mut tape);
            options = options.max(tape.adversary_options());
            paths.push(Path::new(part, tape.probability())?);
            if !tape.advance() {
                break;
            }
        }
        choices.push(Choice::of(paths, &play.rewards));
    }
    Some(Expansion::Choices(choices))
}

/// One of the paths of a choice, whose probabilities sum to 1.
struct Path {
    target: Target,
    probability: Fraction,
    /// The reward at each position.
    values: [i64; METRICS.len()],
    time_ms: Fraction,
}

impl Path {
    /// Returns `None` if the order of calls in flight varies.
    fn new(part: Part, probability: Fraction) -> Option<Self> {
        let target = match part.stop {
            Stop::Choice(position) => Target::Position(digest(&*position), position),
            Stop::End(ending) => Target::Ending(ending),
            Stop::OrderVaries => return None,
        };
        Some(Self { target, probability, values: part.measurements.values(), time_ms: part.time_ms })
    }
}

impl Choice {
    fn of(paths: Vec<Path>, positions: &[u8]) -> Self {
        let mut rewards = Vec::new();
        for position in positions {
            let at = usize::from(*position);
            let value = match METRICS.get(at).map(|metric| metric.name) {
                Some("time_ms") => mean(&paths, |path| path.time_ms.clone(), |time| time),
                _ => {
                    mean(&paths, |path| path.values.get(at).copied().unwrap_or(0), |n| BigInt::from(n).into())
                }
            };
            if !value.is_zero() {
                rewards.push((*position, value));
            }
        }
        let mut targets: Vec<(Target, Fraction)> = Vec::with_capacity(paths.len());
        for Path { target, probability, .. } in paths {
            match targets.iter_mut().find(|(other, _)| other.key() == target.key()) {
                Some((_, sum)) => *sum += probability,
                None => targets.push((target, probability)),
            }
        }
        Self { targets, rewards }
    }
}

/// Returns the expected value of a reward.
fn mean<T: Zero + PartialEq>(
    paths: &[Path],
    value: impl Fn(&Path) -> T,
    fraction: impl Fn(T) -> Fraction,
) -> Fraction {
    // Most rewards are the same on all paths, or 0, and arithmetic of fractions is slow.
    if let [first, rest @ ..] = paths {
        let first = value(first);
        if rest.iter().all(|path| value(path) == first) {
            return fraction(first);
        }
    }
    let rewarded = paths.iter().filter(|path| !value(path).is_zero());
    rewarded.map(|path| fraction(value(path)) * &path.probability).sum()
}

struct Numbering {
    chain: Chain,
    numbers: HashMap<u128, u32>,
    waiting: VecDeque<Waiting>,
    /// The number of the next new state.
    next: u32,
    max_exact: usize,
}

impl Numbering {
    fn new(start: Position, max_exact: usize) -> Self {
        let numbers = HashMap::from([(digest(&start), 0)]);
        let waiting = VecDeque::from([Waiting::Position(Box::new(start))]);
        Self { chain: Chain::new(true), numbers, waiting, next: 1, max_exact }
    }

    /// The memory of the chain, its digests and the positions that wait.
    fn memory_bytes(&self) -> usize {
        // A table of hashes is at least half full.
        const NUMBER_BYTES: usize = 2 * size_of::<(u128, u32)>();
        self.numbers.len() * NUMBER_BYTES
            + self.chain.transitions() * size_of::<Edge>()
            + self.waiting.len() * POSITION_BYTES
    }

    /// Appends a state, and numbers its targets.
    fn push(&mut self, expansion: Expansion) {
        match expansion {
            Expansion::Ending(ending) => self.chain.push_state(&[], Some(ending)),
            Expansion::Choices(choices) => {
                let parts: Vec<ChoiceParts> = choices.into_iter().map(|choice| self.number(choice)).collect();
                self.chain.push_state(&parts, None);
            }
        }
        if self.next as usize > self.max_exact {
            self.chain.forget_fractions();
        }
    }

    fn number(&mut self, choice: Choice) -> ChoiceParts {
        let Choice { targets, rewards } = choice;
        let edges = targets.into_iter().map(|(target, probability)| {
            let number = *self.numbers.entry(target.key()).or_insert_with(|| {
                let number = self.next;
                self.next += 1;
                self.waiting.push_back(match target {
                    Target::Position(_, position) => Waiting::Position(position),
                    Target::Ending(ending) => Waiting::Ending(ending),
                });
                number
            });
            (number, probability)
        });
        ChoiceParts { edges: edges.collect(), rewards }
    }
}
