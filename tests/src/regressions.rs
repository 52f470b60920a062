//! Runs properties on stored regressions first, then on random sequences. A failing sequence is shrunk and stored as a
//! trace, which the next run tries first.

use crate::random_walk::{Property, PropertyTest, Walk, conversation};
use crate::root;
use orchestrion_kernel::{Policy, State, TimedInput, Timestamp, decide};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Reader, StepMetadata, StepRecord, Writer, digest};
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

/// The number of actions in a walk.
pub const WALK_LENGTH: RangeInclusive<usize> = 20..=140;
/// Shards with their own seeds, whatever the number of threads: the cases are the same on every machine.
const SHARDS: u32 = 64;
/// The limit on shrinking; most failures need some hundred runs.
const SHRINK_RUNS_MAX: u32 = 20_000;

/// Checks a property on all stored regressions, then on `PROPTEST_CASES` random walks (default: `cases`).
/// `PROPTEST_RNG_SEED` selects other walks than the default seed.
///
/// # Errors
///
/// A message with the failure, its location and a command that shows it.
pub fn check_property<P: Property>(cases: u32) -> Result<(), String> {
    for file in stored_regressions()? {
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
    // Several threads may find a failure; the shortest is the most useful.
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed.into_iter().min_by_key(|failed| failed.inputs.len()) {
        Some(FailingWalk { policy, inputs }) => Err(store::<P>(&policy, &inputs)),
        None => Ok(()),
    }
}

/// A shrunk walk that violates a property.
struct FailingWalk {
    policy: Box<Policy>,
    inputs: Vec<TimedInput>,
}

/// Returns a runner for the cases of one shard.
fn runner(seed: u64, shard: u32, cases: u32) -> TestRunner {
    // The defaults come from the environment: `PROPTEST_MAX_SHRINK_ITERS=0` turns shrinking off.
    let defaults = Config::default();
    let config = Config {
        cases,
        // The shrunk failure is stored as a trace instead.
        failure_persistence: None,
        max_shrink_iters: SHRINK_RUNS_MAX.min(defaults.max_shrink_iters),
        ..defaults
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&shard.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Returns policies and inputs of random walks, the same as [`check_property`] uses.
///
/// # Panics
///
/// Never: every walk can be generated.
pub fn random_walks(walks: u32) -> impl Iterator<Item = (Policy, Vec<TimedInput>)> {
    let mut runner = runner(0, 0, walks);
    (0..walks).map(move |_| {
        let tree = Walk::sequential_strategy(WALK_LENGTH).new_tree(&mut runner);
        let (walk, actions, _) =
            tree.unwrap_or_else(|reason| unreachable!("no value is rejected: {reason}")).current();
        (walk.policy.clone(), walk.inputs(&actions))
    })
}

fn walks<P: Property>(seed: u64, shard: u32, cases: u32) -> Result<(), FailingWalk> {
    let mut runner = runner(seed, shard, cases);
    let config = runner.config().clone();
    let result = runner.run(&Walk::sequential_strategy(WALK_LENGTH), |(walk, actions, seen)| {
        PropertyTest::<P>::test_sequential(config.clone(), walk, actions, seen);
        Ok(())
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Fail(_, (walk, actions, _))) => {
            let (policy, mut inputs) = (Box::new(walk.policy.clone()), walk.inputs(&actions));
            // The inputs of the last action may continue after the failing step.
            inputs.truncate(failure::<P>(&policy, &inputs).map_or(inputs.len(), |(step, _)| step));
            Err(FailingWalk { policy, inputs })
        }
        Err(TestError::Abort(reason)) => unreachable!("no value is rejected: {reason}"),
    }
}

/// Returns the failing step, from 1, and the message if a property fails on these inputs.
#[must_use]
pub fn failure<P: Property>(policy: &Policy, inputs: &[TimedInput]) -> Option<(usize, String)> {
    let mut property = P::new(policy);
    for (step, input) in (1..).zip(inputs) {
        if let Err(message) = catch_failure(|| property.submit(input)) {
            return Some((step, message));
        }
    }
    catch_failure(|| property.finish()).err().map(|message| (inputs.len(), message))
}

/// Converts a panic to an error.
fn catch_failure(run: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let message = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
        format!("panic: {}", text.unwrap_or_else(|| "no message".to_string()))
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(message(panic)))
}

fn folder() -> PathBuf {
    root().join("tests/regressions")
}

/// Returns every stored regression, by name.
fn stored_regressions() -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", folder().display());
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

/// Checks a property on the policy and inputs of a stored regression. Its recorded events are ignored.
fn replay_regression<P: Property>(path: &Path) -> Result<(), String> {
    let name = relative_path(path);
    let file = File::open(path).map_err(|error| format!("cannot read {name}: {error}"))?;
    let reader = Reader::new(BufReader::new(file), &name).map_err(|error| error.to_string())?;
    let policy = reader.header().policy.clone();
    let inputs: Result<Vec<TimedInput>, _> = reader
        .map(|step| step.map(|step| TimedInput { at: Timestamp::from_millis(step.at_ms), input: step.input }))
        .collect();
    let inputs = inputs.map_err(|error| error.to_string())?;
    match failure::<P>(&policy, &inputs) {
        Some(found) => Err(format_failure::<P>(&found, inputs.len(), &name)),
        None => Ok(()),
    }
}

fn store<P: Property>(policy: &Policy, inputs: &[TimedInput]) -> String {
    let Some(found) = failure::<P>(policy, inputs) else {
        return format!("{}: the violation is not reproducible by the same inputs: {inputs:?}", P::STATEMENT);
    };
    let written = trace(policy, inputs).and_then(|trace| {
        let path = folder().join(format!("{}.ndjson", &digest(&trace)[..8]));
        std::fs::write(&path, trace).map(|()| relative_path(&path))
    });
    match written {
        Ok(file) => format_failure::<P>(&found, inputs.len(), &file),
        Err(error) => {
            format!("{}\n  cannot store the trace: {error}", format_failure::<P>(&found, inputs.len(), "?"))
        }
    }
}

/// Records the kernel's trace of the inputs. A step that panics is recorded as refused, with the panic message.
fn trace(policy: &Policy, inputs: &[TimedInput]) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), &Header::new(conversation(), policy.clone(), None))?;
    let mut state = State::new(conversation());
    for TimedInput { at, input } in inputs {
        let metadata = StepMetadata::at(*at);
        match catch_unwind(AssertUnwindSafe(|| decide(policy, &state, *at, input))) {
            Ok(Ok(events)) => {
                events.iter().for_each(|event| state.apply(event));
                let context = orchestrion_trace::record_context(policy, &state, &events, &StandardContexts);
                writer.write_step(&metadata, input, StepRecord::accepted(&events, context.as_ref()))?;
            }
            Ok(Err(refusal)) => {
                writer.write_step(&metadata, input, StepRecord::refused(&refusal.to_string()))?
            }
            Err(_) => writer.write_step(&metadata, input, StepRecord::refused("the kernel panicked"))?,
        }
    }
    writer.end()
}

fn format_failure<P: Property>((step, message): &(usize, String), steps: usize, file: &str) -> String {
    format!(
        "property violated: {}\n  step {step} of {steps}: {message}\n  \
         show    orchestrion show {file} --step {step}\n  \
         rerun   cargo test -p orchestrion-tests --test integration properties::    (regressions run first)\n  \
         commit  {file}, together with the fix",
        P::STATEMENT
    )
}

fn relative_path(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
