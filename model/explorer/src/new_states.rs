//! States that several threads found and that have no number yet. A state that two of them find is looked at once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

/// States without a number, by their fingerprints.
pub(super) struct NewStates<S> {
    /// Whether equal fingerprints are doubted.
    exact: bool,
    /// Several, so that threads seldom wait for each other.
    shelves: Vec<Mutex<Shard<S>>>,
}

/// Each state by its fingerprint and its place among those with the same; there are several only where that is doubted.
type Shard<S> = HashMap<(u64, u32), Found<S>, BuildHasherDefault<IdentityHasher>>;

/// A state that was found, and what was seen of it.
pub(super) struct Found<S> {
    /// The state, unless the model packs.
    pub(super) state: Option<S>,
    /// Its bytes, if the model packs.
    pub(super) packed: Vec<u8>,
    /// Marks that it shows and that were not seen before.
    pub(super) looked: Vec<usize>,
    /// Its node, once it has one.
    pub(super) node: Option<u32>,
}

const SHELVES: usize = 64;

impl<S: PartialEq> NewStates<S> {
    pub(super) fn new(exact: bool) -> Self {
        Self { exact, shelves: (0..SHELVES).map(|_| Mutex::default()).collect() }
    }

    /// The place of a state among those with its fingerprint, if it was found.
    pub(super) fn place(&self, fingerprint: u64, state: &S) -> Option<u32> {
        let shelf = self.shelves[shelf(fingerprint)].lock().unwrap_or_else(PoisonError::into_inner);
        self.find(&shelf, fingerprint, Some(state)).ok()
    }

    /// Puts a state there, and tells its place. Another thread may have been quicker.
    pub(super) fn put(&self, fingerprint: u64, found: Found<S>) -> u32 {
        let mut shelf = self.shelves[shelf(fingerprint)].lock().unwrap_or_else(PoisonError::into_inner);
        self.find(&shelf, fingerprint, found.state.as_ref()).unwrap_or_else(|free| {
            shelf.insert((fingerprint, free), found);
            free
        })
    }

    /// What was put in a place.
    pub(super) fn at(&mut self, fingerprint: u64, place: u32) -> Option<&mut Found<S>> {
        let shelf = self.shelves[shelf(fingerprint)].get_mut().unwrap_or_else(PoisonError::into_inner);
        shelf.get_mut(&(fingerprint, place))
    }

    pub(super) fn clear(&mut self) {
        for shelf in &mut self.shelves {
            shelf.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The place of a state, or else the first that is free.
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

/// Fingerprints are mixed well enough.
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
