//! Properties are tried here: first on the sequences that once failed, then on random ones. What fails is shrunk and
//! saved as a trace, which anybody can look at, and which is tried first from then on.

use crate::random_walk::{Property, PropertyTest, Walk, conversation};
use crate::root;
use orchestrion_kernel::{Input, Policy, State, decide};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{ContextRecord, Header, Reader, StepMetadata, StepRecord, Writer, digest};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use std::any::Any;
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Moves of one walk.
pub const MOVES: RangeInclusive<usize> = 20..=140;
/// Shards with random numbers of their own, however many threads there are: the same cases on every machine.
const SHARDS: u32 = 64;
/// Most failures shrink in some hundred runs; nothing needs so many.
const SHRINK_RUNS_MAX: u32 = 20_000;

/// Tries a property on everything that failed before, and then on `PROPTEST_CASES` random walks, or on so many.
/// `PROPTEST_RNG_SEED` gives other walks than those of every day.
///
/// # Errors
/// What failed, where, and how to look at it.
pub fn check_property<P: Property>(cases: u32) -> Result<(), String> {
    for file in saved()? {
        replay_regression::<P>(&file)?;
    }
    let set = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = set("PROPTEST_CASES").and_then(|cases| u32::try_from(cases).ok()).unwrap_or(cases);
    let seed = set("PROPTEST_RNG_SEED").unwrap_or(0);
    let next = AtomicU32::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let shard = next.fetch_add(1, Ordering::Relaxed);
                    if shard >= SHARDS {
                        return;
                    }
                    if let Err(found) = walks::<P>(seed, shard, cases.div_ceil(SHARDS)) {
                        next.store(SHARDS, Ordering::Relaxed);
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(found);
                    }
                }
            });
        }
    });
    // Each thread may have found something; the shortest says the most.
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed.into_iter().min_by_key(|failed| failed.inputs.len()) {
        Some(Failed { policy, inputs }) => Err(save::<P>(&policy, &inputs)),
        None => Ok(()),
    }
}

/// A shrunk walk that breaks a property.
struct Failed {
    policy: Box<Policy>,
    inputs: Vec<Input>,
}

/// What tries this many cases of one shard.
fn runner(seed: u64, shard: u32, cases: u32) -> TestRunner {
    let config = Config {
        cases,
        // What fails is saved as a trace.
        failure_persistence: None,
        max_shrink_iters: SHRINK_RUNS_MAX,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&shard.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Policies and inputs of random walks, as [`tried`] takes them every day.
///
/// # Panics
/// Never: every walk can be drawn.
pub fn drawn_walks(walks: u32) -> impl Iterator<Item = (Policy, Vec<Input>)> {
    let mut runner = runner(0, 0, walks);
    (0..walks).map(move |_| {
        let tree = Walk::sequential_strategy(MOVES).new_tree(&mut runner);
        let (walk, moves, _) =
            tree.unwrap_or_else(|why| unreachable!("nothing is rejected: {why}")).current();
        (walk.policy.clone(), walk.inputs(&moves))
    })
}

fn walks<P: Property>(seed: u64, shard: u32, cases: u32) -> Result<(), Failed> {
    let mut runner = runner(seed, shard, cases);
    let config = runner.config().clone();
    let ran = runner.run(&Walk::sequential_strategy(MOVES), |(walk, moves, seen)| {
        PropertyTest::<P>::test_sequential(config.clone(), walk, moves, seen);
        Ok(())
    });
    match ran {
        Ok(()) => Ok(()),
        Err(TestError::Fail(_, (walk, moves, _))) => {
            let (policy, mut inputs) = (Box::new(walk.policy.clone()), walk.inputs(&moves));
            // The way to a last move may lead on past the step that fails.
            inputs.truncate(failure::<P>(&policy, &inputs).map_or(inputs.len(), |(step, _)| step));
            Err(Failed { policy, inputs })
        }
        Err(TestError::Abort(why)) => unreachable!("nothing is rejected: {why}"),
    }
}

/// Where and how a property fails on these inputs: the step from 1, and a sentence.
#[must_use]
pub fn failure<P: Property>(policy: &Policy, inputs: &[Input]) -> Option<(usize, String)> {
    let mut property = P::new(policy);
    for (step, input) in (1..).zip(inputs) {
        if let Err(wrong) = caught(|| property.submit(input)) {
            return Some((step, wrong));
        }
    }
    caught(|| property.finish()).err().map(|wrong| (inputs.len(), wrong))
}

/// What came of it; a panic is a failure like any other.
fn caught(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let sentence = |panic: Box<dyn Any + Send>| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_string()));
        format!("it panicked: {}", said.unwrap_or_else(|| "without a word".to_string()))
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(sentence(panic)))
}

fn folder() -> PathBuf {
    root().join("tests/regressions")
}

/// Every sequence that was saved, by name.
fn saved() -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: io::Error| format!("{} cannot be read: {error}", folder().display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder()).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "ndjson") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Tries a property on a saved sequence: its policy and its inputs. What is recorded beside them is of the day on
/// which it failed.
fn replay_regression<P: Property>(path: &Path) -> Result<(), String> {
    let name = shown(path);
    let file = File::open(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let reader = Reader::new(BufReader::new(file), &name).map_err(|error| error.to_string())?;
    let policy = reader.header().policy.clone();
    let inputs: Result<Vec<Input>, _> = reader.map(|step| step.map(|step| step.input)).collect();
    let inputs = inputs.map_err(|error| error.to_string())?;
    match failure::<P>(&policy, &inputs) {
        Some(found) => Err(format_failure::<P>(&found, inputs.len(), &name)),
        None => Ok(()),
    }
}

fn save<P: Property>(policy: &Policy, inputs: &[Input]) -> String {
    let Some(found) = failure::<P>(policy, inputs) else {
        return format!("{}: broken once, and not again by the same inputs: {inputs:?}", P::STATEMENT);
    };
    let written = trace(policy, inputs).and_then(|trace| {
        let path = folder().join(format!("{}.ndjson", &digest(&trace)[..8]));
        std::fs::write(&path, trace).map(|()| shown(&path))
    });
    match written {
        Ok(file) => format_failure::<P>(&found, inputs.len(), &file),
        Err(error) => {
            format!(
                "{}, and its trace cannot be saved: {error}",
                format_failure::<P>(&found, inputs.len(), "?")
            )
        }
    }
}

/// What the kernel makes of the inputs. Where it panics, the step stands as refused, and says so.
fn trace(policy: &Policy, inputs: &[Input]) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), &Header::new(conversation(), policy.clone(), None))?;
    let mut state = State::new(conversation());
    for input in inputs {
        match catch_unwind(AssertUnwindSafe(|| decide(policy, &state, input))) {
            Ok(Ok(events)) => {
                events.iter().for_each(|event| state.apply(event));
                let context = ContextRecord::after(policy, &state, &events, &StandardContexts);
                writer.step(
                    &StepMetadata::default(),
                    input,
                    StepRecord::accepted(&events, context.as_ref()),
                )?;
            }
            Ok(Err(refusal)) => {
                writer.step(&StepMetadata::default(), input, StepRecord::refused(&refusal.to_string()))?
            }
            Err(_) => {
                writer.step(&StepMetadata::default(), input, StepRecord::refused("the kernel panicked"))?
            }
        }
    }
    writer.end()
}

fn format_failure<P: Property>((step, wrong): &(usize, String), steps: usize, file: &str) -> String {
    format!(
        "it does not hold that {}\n  step {step} of {steps}: {wrong}\n  \
         look   orchestrion show {file} --at {step}\n  \
         again  cargo test -p orchestrion-tests --test properties    (what is saved is tried first)\n  \
         keep   commit {file} with what mends it",
        P::STATEMENT
    )
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
