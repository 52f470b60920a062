//! The visited states: fingerprints and parents, at most 24 bytes for each state.
//!
//! Fingerprints are stored in an ordered hash table with linear probing: each fingerprint is in its home slot or in a
//! following one. A search ends at the first slot that is not smaller. A full shard is rebuilt alone with half as many
//! slots again. Growth copies at most one shard in 256, and shards grow at different times.

use super::graph::ChunkedVec;

/// No node: the parent of an initial state.
pub(super) const NONE: u32 = u32::MAX;

/// The fingerprints of the visited states with their nodes, and the parent of each node.
#[derive(Clone, Debug)]
pub(super) struct Visited {
    shelves: Vec<Shelf>,
    /// The parent and the position of each node.
    ways: ChunkedVec<[u16; 3]>,
    /// The memory of the shards in bytes.
    shelved: usize,
}

/// The fingerprints with the same first byte.
#[derive(Clone, Debug, Default)]
struct Shelf {
    /// The slots. The last ones, at least [`WINDOW`], are empty.
    slots: Vec<Slot>,
    used: usize,
    /// The number of slots over which fingerprints are distributed. The slots behind them take those that are
    /// displaced.
    spread: usize,
}

/// A fingerprint, its lower half first, and its node; or empty.
type Slot = [u32; 3];

#[inline(always)]
fn fingerprint_in(&[low, high, _]: &Slot) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

const SHELVES: usize = 256;
const SMALLEST: usize = 16;
/// Larger than every fingerprint.
const EMPTY_SLOT: Slot = [u32::MAX; 3];
/// The number of slots that are compared at once, without an unpredictable branch.
const WINDOW: usize = 4;
/// The number of slots that are prefetched: three usual cache lines. An empty slot is seldom farther.
const NEAR: usize = 11;

/// The position of a fingerprint. The node is read only on demand.
#[derive(Clone, Copy)]
pub(super) struct SlotRef<'a> {
    shelf: &'a Shelf,
    at: usize,
}

impl SlotRef<'_> {
    #[inline]
    pub(super) fn node(self) -> u32 {
        self.shelf.slots[self.at][2]
    }
}

impl Visited {
    pub(super) fn new() -> Self {
        let shelves = vec![Shelf::default(); SHELVES];
        Self { shelves, ways: ChunkedVec::default(), shelved: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.ways.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.shelved + self.ways.bytes()
    }

    /// The slot of this fingerprint for the `same` state, or the position where it belongs.
    #[inline(always)]
    pub(super) fn find(
        &self,
        fingerprint: u64,
        same: impl Fn(SlotRef<'_>) -> bool,
    ) -> Result<SlotRef<'_>, InsertPosition> {
        self.shelf(fingerprint).find(fingerprint, same)
    }

    /// Prefetches the memory that [`find`](Self::find) and [`insert`](Self::insert) read. Several prefetches take as
    /// long as one.
    #[inline]
    pub(super) fn fetch(&self, fingerprint: u64) {
        let shelf = self.shelf(fingerprint);
        if let Some(near) =
            shelf.slots.get(shelf.home_slot(fingerprint)..).and_then(|rest| rest.first_chunk::<NEAR>())
        {
            std::hint::black_box(near[0][0] ^ near[NEAR / 2][0] ^ near[NEAR - 1][0]);
        }
    }

    /// Inserts a fingerprint at its position for the next node. Returns the node, and whether another state has the
    /// same fingerprint.
    pub(super) fn insert(
        &mut self,
        fingerprint: u64,
        place: InsertPosition,
        from: (u32, u16),
    ) -> Result<(u32, bool), IdsExhausted> {
        let node = number(self.ways.len())?;
        let shelf = &mut self.shelves[(fingerprint >> 56) as usize];
        let before = shelf.bytes();
        let collides = shelf.insert(place, fingerprint, node);
        self.shelved = self.shelved + shelf.bytes() - before;
        let (parent, position) = from;
        self.ways.push([parent as u16, (parent >> 16) as u16, position]);
        Ok((node, collides))
    }

    /// The node from which a node was first reached, and the position of the step. The parent of an initial state is
    /// [`NONE`], and its position is that among the initial states.
    pub(super) fn from(&self, node: u32) -> (u32, u16) {
        let [low, high, position] = *self.ways.at(node as usize);
        (u32::from(low) | u32::from(high) << 16, position)
    }

    /// The fingerprint of each node.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        let mut fingerprints = vec![0; self.len()];
        let used = self.shelves.iter().flat_map(|shelf| &shelf.slots).filter(|slot| **slot != EMPTY_SLOT);
        used.for_each(|slot| fingerprints[slot[2] as usize] = fingerprint_in(slot));
        fingerprints
    }

    #[inline]
    fn shelf(&self, fingerprint: u64) -> &Shelf {
        &self.shelves[(fingerprint >> 56) as usize]
    }
}

/// The position where a fingerprint belongs in its shard, valid until the next insertion.
pub(super) struct InsertPosition(usize);

/// All node numbers are used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IdsExhausted;

/// The number of the next node.
pub(super) fn number(len: usize) -> Result<u32, IdsExhausted> {
    u32::try_from(len).ok().filter(|node| *node != NONE).ok_or(IdsExhausted)
}

impl Shelf {
    /// The slot of this fingerprint for the `same` state, or the position before which it belongs.
    #[inline(always)]
    fn find(
        &self,
        fingerprint: u64,
        same: impl Fn(SlotRef<'_>) -> bool,
    ) -> Result<SlotRef<'_>, InsertPosition> {
        let mut at = self.home_slot(fingerprint);
        while let Some(window) = self.window(at) {
            let smaller = window.iter().filter(|slot| fingerprint_in(slot) < fingerprint).count();
            at += smaller;
            if smaller < WINDOW {
                break;
            }
        }
        while self.slots.get(at).is_some_and(|slot| fingerprint_in(slot) == fingerprint) {
            let slot = SlotRef { shelf: self, at };
            if same(slot) {
                return Ok(slot);
            }
            at += 1;
        }
        Err(InsertPosition(at))
    }

    #[inline(always)]
    fn window(&self, at: usize) -> Option<&[Slot; WINDOW]> {
        self.slots.get(at..)?.first_chunk()
    }

    /// The home slot of a fingerprint.
    #[inline]
    fn home_slot(&self, fingerprint: u64) -> usize {
        let part = (fingerprint >> 24) & 0xffff_ffff;
        (part.wrapping_mul(self.spread as u64) >> 32) as usize
    }

    /// Inserts a fingerprint at its position and moves the following ones up to the next empty slot. Returns whether it
    /// was present before.
    fn insert(&mut self, place: InsertPosition, fingerprint: u64, node: u32) -> bool {
        let InsertPosition(mut place) = place;
        if (self.used + 1) * 8 > self.spread * 7 {
            self.grow(fingerprint);
            place =
                self.find(fingerprint, |_| false).map_or_else(|InsertPosition(place)| place, |slot| slot.at);
        }
        let behind = &mut self.slots[place..];
        let gap = behind.iter().position(|slot| *slot == EMPTY_SLOT).unwrap_or_default();
        behind.copy_within(..gap, 1);
        behind[0] = [fingerprint as u32, (fingerprint >> 32) as u32, node];
        self.used += 1;
        let needed = place + gap + 1 + WINDOW;
        if needed > self.slots.len() {
            self.lengthen(needed + SMALLEST);
        }
        place > 0 && fingerprint_in(&self.slots[place - 1]) == fingerprint
    }

    /// Distributes the fingerprints over half as many slots again. Shards start with different lengths, so that they do
    /// not grow at the same time.
    #[cold]
    fn grow(&mut self, fingerprint: u64) {
        let spread = (self.spread * 3 / 2).max(SMALLEST + (fingerprint >> 61) as usize);
        let length = spread + (spread / 8).clamp(SMALLEST, 64);
        let old = std::mem::replace(self, Self { used: self.used, spread, ..Self::default() });
        self.lengthen(length);
        let mut free = 0;
        for slot in old.slots.iter().filter(|slot| **slot != EMPTY_SLOT) {
            let at = self.home_slot(fingerprint_in(slot)).max(free);
            if at + 1 + WINDOW > self.slots.len() {
                self.lengthen(at + 1 + WINDOW + SMALLEST);
            }
            self.slots[at] = *slot;
            free = at + 1;
        }
    }

    fn lengthen(&mut self, length: usize) {
        self.slots.reserve_exact(length - self.slots.len());
        self.slots.resize(length, EMPTY_SLOT);
    }

    fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}
