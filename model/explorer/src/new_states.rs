//! States that threads found and that have no number yet. A state that two threads find is observed once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

/// States without a number, by fingerprint.
pub(super) struct NewStates<S> {
    /// Whether states with equal fingerprints are compared.
    exact: bool,
    /// Several shards, so that threads seldom wait for each other.
    shelves: Vec<Mutex<Shard<S>>>,
}

/// Each state by its fingerprint and its position among states with the same fingerprint; there are several only if
/// states are compared.
type Shard<S> = HashMap<(u64, u32), Found<S>, BuildHasherDefault<IdentityHasher>>;

/// A new state with its observations.
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

const SHELVES: usize = 64;

impl<S: PartialEq> NewStates<S> {
    pub(super) fn new(exact: bool) -> Self {
        Self { exact, shelves: (0..SHELVES).map(|_| Mutex::default()).collect() }
    }

    /// The position of a state among those with its fingerprint, if it was found.
    pub(super) fn place(&self, fingerprint: u64, state: &S) -> Option<u32> {
        let shelf = self.shelves[shelf(fingerprint)].lock().unwrap_or_else(PoisonError::into_inner);
        self.find(&shelf, fingerprint, Some(state)).ok()
    }

    /// Inserts a state and returns its position. Another thread may have inserted it before.
    pub(super) fn put(&self, fingerprint: u64, found: Found<S>) -> u32 {
        let mut shelf = self.shelves[shelf(fingerprint)].lock().unwrap_or_else(PoisonError::into_inner);
        self.find(&shelf, fingerprint, found.state.as_ref()).unwrap_or_else(|free| {
            shelf.insert((fingerprint, free), found);
            free
        })
    }

    /// The state at a position.
    pub(super) fn at(&mut self, fingerprint: u64, place: u32) -> Option<&mut Found<S>> {
        let shelf = self.shelves[shelf(fingerprint)].get_mut().unwrap_or_else(PoisonError::into_inner);
        shelf.get_mut(&(fingerprint, place))
    }

    pub(super) fn clear(&mut self) {
        for shelf in &mut self.shelves {
            shelf.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The position of a state, or the first free one.
    fn find(&self, shelf: &Shard<S>, fingerprint: u64, state: Option<&S>) -> Result<u32, u32> {
        let mut place = 0;
        while let Some(known) = shelf.get(&(fingerprint, place)) {
            if !self.exact || known.state.as_ref() == state {
                return Ok(place);
            }
            place += 1;
        }
        Err(place)
    }
}

fn shelf(fingerprint: u64) -> usize {
    fingerprint as usize % SHELVES
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

    fn write_u32(&mut self, place: u32) {
        self.0 ^= u64::from(place);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
