//! Interrupted explorations, and checkpoints that are refused.

use super::random_graphs::{as_reference, drawn, reference_search};
use super::threads;
use crate::{
    Checkpoint, CheckpointError, Exploration, FairModel, ObservationSet, Options, ResourceLimits,
    ResumeError, StateStorage, Termination, explore_with_checkpoints,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use stateright::Model;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::hash::Hash;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A checkpoint before every batch.
fn checkpoint(folder: &Path) -> Checkpoint {
    let identity = vec![("build", "one".to_owned()), ("model", "numbers".to_owned())];
    Checkpoint { file: folder.join("numbers.checkpoint"), identity, states: 0, time: Duration::MAX }
}

fn limited(states: usize, options: Options) -> Options {
    Options { limits: ResourceLimits { states: Some(states), ..ResourceLimits::default() }, ..options }
}

fn run<M>(model: &M, options: &Options, checkpoint: &Checkpoint) -> Result<Exploration, ResumeError>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    explore_with_checkpoints(model, options, checkpoint, &mut |_| {})
}

/// Pairs of numbers below a bound. Packs, and counts the sums that it observed and the steps that it took.
struct Pairs {
    bound: u8,
    sums: Mutex<BTreeSet<u8>>,
    steps: AtomicUsize,
}

impl Pairs {
    fn new(bound: u8) -> Self {
        Self { bound, sums: Mutex::default(), steps: AtomicUsize::new(0) }
    }
}

impl Model for Pairs {
    type State = [u8; 2];
    type Action = usize;

    fn init_states(&self) -> Vec<[u8; 2]> {
        vec![[0; 2]]
    }

    fn actions(&self, state: &[u8; 2], actions: &mut Vec<usize>) {
        actions.extend((0..2).filter(|i| state[*i] + 1 < self.bound));
    }

    fn next_state(&self, state: &[u8; 2], action: usize) -> Option<[u8; 2]> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let mut next = *state;
        next[action] += 1;
        Some(next)
    }
}

impl FairModel for Pairs {
    fn observe(&self, state: &[u8; 2], _: &ObservationSet, _: &mut ObservationSet) {
        self.sums.lock().unwrap().insert(state[0] + state[1]);
    }

    fn pack(&self, state: &[u8; 2], into: &mut Vec<u8>) -> bool {
        into.extend(state);
        self.bound > 0
    }

    fn unpack(&self, bytes: &[u8]) -> Option<[u8; 2]> {
        bytes.try_into().ok()
    }

    fn save_counts(&self, into: &mut Vec<u8>) {
        into.extend(self.sums.lock().unwrap().iter());
    }

    fn restore_counts(&self, bytes: &[u8]) -> bool {
        self.sums.lock().unwrap().extend(bytes);
        bytes.iter().all(|sum| *sum < 2 * self.bound)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interrupted_search_matches_naive_search(mut drawn in drawn(), threads in 1..=3_usize) {
        (drawn.poor, drawn.packs) = (false, true);
        let (reference, folder) = (reference_search(&drawn), tempfile::tempdir().unwrap());
        let checkpoint = checkpoint(folder.path());
        for states in 1..60 {
            let options = limited(states, super::threads(threads));
            prop_assert!(run(&drawn, &options, &checkpoint).unwrap().states() >= states.min(reference.state_count()));
        }
        // The second time, everything is read from the checkpoint.
        for _ in 0..2 {
            let found = run(&drawn, &super::threads(threads), &checkpoint).unwrap();
            prop_assert_eq!(found.ended(), Termination::Exhausted);
            prop_assert_eq!(&as_reference(&drawn, &found), &reference);
            for witness in (0..70).filter_map(|observation| found.witness(observation)) {
                let path = found.path_to_witness(&drawn, witness).unwrap();
                prop_assert_eq!(path.into_actions().len(), found.steps_to(witness));
            }
        }
    }
}

#[test]
fn resumed_search_expands_only_the_frontier() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    let whole = Pairs::new(50);
    let states =
        run(&whole, &threads(1), &self::checkpoint(tempfile::tempdir().unwrap().path())).unwrap().states();
    let interrupted = Pairs::new(50);
    let found = run(&interrupted, &limited(2_000, threads(1)), &checkpoint).unwrap();
    assert!(matches!(found.ended(), Termination::LimitReached { .. }) && states == 2_500);
    let resumed = Pairs::new(50);
    let found = run(&resumed, &threads(2), &checkpoint).unwrap();
    assert_eq!((found.ended(), found.states(), found.depth()), (Termination::Exhausted, 2_500, 98));
    let steps = |pairs: &Pairs| pairs.steps.load(Ordering::Relaxed);
    assert!(steps(&resumed) * 2 < steps(&whole), "{} of {} steps", steps(&resumed), steps(&whole));
    assert_eq!(*resumed.sums.lock().unwrap(), (0..=98).collect());
}

#[test]
fn damaged_checkpoint_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    run(&Pairs::new(5), &limited(10, threads(1)), &checkpoint).unwrap();
    let whole = fs::read(&checkpoint.file).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&checkpoint.file, bytes).unwrap();
        match run(&Pairs::new(5), &threads(1), &checkpoint) {
            Err(ResumeError::Checkpoint(CheckpointError::Damaged { .. })) => true,
            Err(ResumeError::Checkpoint(CheckpointError::NotACheckpoint { .. })) => {
                bytes.len() < 25 || bytes[..25] != whole[..25]
            }
            _ => false,
        }
    };
    for len in 0..whole.len() {
        assert!(refused(&whole[..len]), "the first {len} of {} bytes", whole.len());
        let mut other = whole.clone();
        other[len] ^= 1;
        assert!(refused(&other), "another byte {len}");
    }
    assert!(refused(&[&whole[..], &[0]].concat()));
    fs::write(&checkpoint.file, &whole).unwrap();
    assert_eq!(run(&Pairs::new(5), &threads(1), &checkpoint).unwrap().states(), 25);
}

#[test]
fn torn_draft_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    run(&Pairs::new(5), &limited(10, threads(1)), &checkpoint).unwrap();
    fs::write(folder.path().join("numbers.draft"), "orchestrion-che").unwrap();
    assert_eq!(run(&Pairs::new(5), &threads(1), &checkpoint).unwrap().states(), 25);
}

#[test]
fn checkpoint_of_another_exploration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    run(&Pairs::new(5), &limited(10, threads(1)), &checkpoint).unwrap();
    let says = |identity: &[(&'static str, &str)]| {
        let identity = identity.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let other = Checkpoint { identity, ..checkpoint.clone() };
        run(&Pairs::new(5), &threads(1), &other).unwrap_err().to_string()
    };
    let said = says(&[("build", "two"), ("model", "numbers")]);
    assert!(said.ends_with("numbers.checkpoint is of another build: expected two, found one"), "{said}");
    let said = says(&[("build", "one"), ("model", "num")]);
    assert!(said.ends_with("is of another model: expected num, found numbers"), "{said}");
    assert!(says(&[("build", "one")]).contains("another end of the identity"));
    let said = says(&[("build", "one"), ("model", "numbers"), ("scope", "one")]);
    assert!(said.contains("another scope: expected one"), "{said}");
}

#[test]
fn checkpoint_of_another_model_is_refused() {
    fn says<M>(model: &M, checkpoint: &Checkpoint) -> String
    where
        M: FairModel + Sync,
        M::State: Debug + Hash + PartialEq + Send + Sync,
        M::Action: Debug + PartialEq,
    {
        run(model, &threads(1), checkpoint).unwrap_err().to_string()
    }
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    run(&Pairs::new(50), &limited(500, threads(1)), &checkpoint).unwrap();
    let said = says(&Pairs::new(5), &checkpoint);
    assert!(said.ends_with("does not fit the model: other counts of the model"), "{said}");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut other = drawn().new_tree(&mut runner).unwrap().current();
    (other.poor, other.packs) = (false, true);
    let said = says(&other, &checkpoint);
    assert!(said.contains("does not fit the model: "), "{said}");
}

#[test]
fn checkpoint_needs_packed_states_and_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = checkpoint(folder.path());
    let says = |model: &Pairs, options: &Options| run(model, options, &checkpoint).unwrap_err().to_string();
    assert!(says(&Pairs::new(0), &threads(1)).contains("expected `pack` to return true"));
    let exact = Options { storage: StateStorage::Exact, ..threads(1) };
    assert!(says(&Pairs::new(5), &exact).contains("expected fingerprints, found whole states"));
}
