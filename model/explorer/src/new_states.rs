//! States that threads found and that have no number yet. A state that several threads find is observed once.

use super::batch::NewState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A new state with its observations. Each thread keeps those that it found.
pub(super) struct Found<S> {
    /// The state, unless the model packs.
    pub(super) state: Option<S>,
    /// The bytes of the state, if the model packs.
    pub(super) packed: Vec<u8>,
    /// The new observations of the state.
    pub(super) observed: Vec<usize>,
    /// The node, once it is numbered.
    pub(super) node: Option<u32>,
}

/// Where the states without a number are, by fingerprint. There are several shards, so that threads seldom wait for each other.
pub(super) struct NewStates {
    shelves: Vec<Mutex<Shard>>,
}

type Shard = HashMap<u64, Known, BuildHasherDefault<IdentityHasher>>;

/// The node and the position of the action of a step: the order of a sequential search.
pub(super) type StepOrder = (u32, u16);

/// The first step to a state so far.
#[derive(Clone)]
struct Known {
    step: StepOrder,
    place: NewState,
    observed: Vec<usize>,
}

/// What is known of a state.
pub(super) enum Lookup {
    /// An earlier step leads to it.
    Found(NewState),
    /// Only later steps lead to it. Its observations are known.
    FoundLater(Vec<usize>),
    /// No step leads to it.
    Absent,
}

const SHELVES: usize = 64;

impl NewStates {
    pub(super) fn new() -> Self {
        Self { shelves: (0..SHELVES).map(|_| Mutex::default()).collect() }
    }

    /// Looks up a state to which a step leads.
    pub(super) fn look_up(&self, fingerprint: u64, step: StepOrder) -> Lookup {
        match self.shelf(fingerprint).get(&fingerprint) {
            Some(known) if known.step <= step => Lookup::Found(known.place),
            Some(known) => Lookup::FoundLater(known.observed.clone()),
            None => Lookup::Absent,
        }
    }

    /// Inserts a state, unless an earlier step leads to it; then it returns the place of that one. Equal states may differ
    /// in memory, for example in the order of a hash table, and this order may be that of the actions. So the state of the
    /// first step counts, as in a sequential search.
    pub(super) fn insert(
        &self,
        fingerprint: u64,
        step: StepOrder,
        place: NewState,
        observed: &[usize],
    ) -> Result<(), NewState> {
        let new = || Known { step, place, observed: observed.to_vec() };
        match self.shelf(fingerprint).entry(fingerprint) {
            Entry::Occupied(known) if known.get().step <= step => return Err(known.get().place),
            Entry::Occupied(mut known) => drop(known.insert(new())),
            Entry::Vacant(free) => drop(free.insert(new()).step),
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        for shelf in &mut self.shelves {
            shelf.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    fn shelf(&self, fingerprint: u64) -> MutexGuard<'_, Shard> {
        let shelf = &self.shelves[fingerprint as usize % SHELVES];
        shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fingerprints need no further hashing.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |all, byte| all << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint.rotate_right(SHELVES.ilog2());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
