//! Which states were visited, by their fingerprints, and from where: at most 24 bytes a state.
//!
//! The fingerprints stand in ascending order with gaps between them, each at the place that its size suggests or a little
//! behind it. A search ends at the first that is not smaller. When a shelf has become too full, it alone is spread out on half
//! as many places again; no growth copies more than one shelf in 256, and they grow at different times.

use super::graph::Pieces;

/// No node: the parent of an initial state.
pub(super) const NONE: u32 = u32::MAX;

/// The visited states' fingerprints with their nodes, and each node's first way in.
#[derive(Clone, Debug)]
pub(super) struct Visited {
    shelves: Vec<Shelf>,
    /// Each node's parent and position.
    ways: Pieces<[u16; 3]>,
    /// Bytes on the shelves.
    shelved: usize,
}

/// The fingerprints with the same first byte.
#[derive(Clone, Debug, Default)]
struct Shelf {
    /// The last places, [`WINDOW`] at least, are gaps.
    fingerprints: Vec<u64>,
    nodes: Vec<u32>,
    used: usize,
    /// Over so many places the fingerprints are spread. Behind them is room for those that are pushed out.
    spread: usize,
}

const SHELVES: usize = 256;
const SMALLEST: usize = 16;
/// Larger than every fingerprint.
const GAP: u64 = u64::MAX;
/// So many are compared at once, without a branch that could be guessed wrong.
const WINDOW: usize = 4;

/// Where a fingerprint stands. Its node is read only if somebody asks.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a> {
    shelf: &'a Shelf,
    at: usize,
}

impl Seat<'_> {
    #[inline]
    pub(super) fn node(self) -> u32 {
        self.shelf.nodes[self.at]
    }
}

impl Visited {
    pub(super) fn new() -> Self {
        let shelves = vec![Shelf::default(); SHELVES];
        Self { shelves, ways: Pieces::default(), shelved: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.ways.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.shelved + self.ways.bytes()
    }

    /// Where this fingerprint stands for the `same` state.
    #[inline]
    pub(super) fn find(&self, fingerprint: u64, same: impl Fn(Seat<'_>) -> bool) -> Option<Seat<'_>> {
        self.shelf(fingerprint).find(fingerprint, same).ok()
    }

    /// Has the processor fetch what [`find`](Self::find) will read; several such fetches take as long as one.
    #[inline]
    pub(super) fn fetch(&self, fingerprint: u64) {
        let shelf = self.shelf(fingerprint);
        std::hint::black_box(shelf.fingerprints.get(shelf.home(fingerprint)).copied());
    }

    /// The node with this fingerprint that is the `same`; if there is none, the next node gets it.
    pub(super) fn find_or_insert(
        &mut self,
        fingerprint: u64,
        from: (u32, u16),
        same: impl Fn(Seat<'_>) -> bool,
    ) -> Result<Insertion, Full> {
        let shelf = &mut self.shelves[(fingerprint >> 56) as usize];
        let place = match shelf.find(fingerprint, same) {
            Ok(seat) => return Ok(Insertion::Known(seat.node())),
            Err(place) => place,
        };
        let node = number(self.ways.len())?;
        let before = shelf.bytes();
        let collides = shelf.insert(place, fingerprint, node);
        self.shelved = self.shelved + shelf.bytes() - before;
        let (parent, position) = from;
        self.ways.push([parent as u16, (parent >> 16) as u16, position]);
        Ok(Insertion::New { node, collides })
    }

    /// The node from which a node was first reached, and by which of its steps. An initial state comes from [`NONE`]; its
    /// position is that among the initial states.
    pub(super) fn from(&self, node: u32) -> (u32, u16) {
        let [low, high, position] = *self.ways.at(node as usize);
        (u32::from(low) | u32::from(high) << 16, position)
    }

    #[inline]
    fn shelf(&self, fingerprint: u64) -> &Shelf {
        &self.shelves[(fingerprint >> 56) as usize]
    }
}

/// What came of an insertion.
pub(super) enum Insertion {
    Known(u32),
    /// The state is new, and perhaps another one has its fingerprint.
    New {
        node: u32,
        collides: bool,
    },
}

/// There are no numbers left for nodes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The number of the next node.
pub(super) fn number(len: usize) -> Result<u32, Full> {
    u32::try_from(len).ok().filter(|node| *node != NONE).ok_or(Full)
}

impl Shelf {
    /// Where this fingerprint stands for the `same` state, or the place before which it belongs.
    #[inline]
    fn find(&self, fingerprint: u64, same: impl Fn(Seat<'_>) -> bool) -> Result<Seat<'_>, usize> {
        let mut at = self.home(fingerprint);
        while let Some(window) = self.fingerprints.get(at..).and_then(|rest| rest.first_chunk::<WINDOW>()) {
            let smaller = window.iter().filter(|other| **other < fingerprint).count();
            at += smaller;
            if smaller < WINDOW {
                break;
            }
        }
        while self.fingerprints.get(at) == Some(&fingerprint) {
            let seat = Seat { shelf: self, at };
            if same(seat) {
                return Ok(seat);
            }
            at += 1;
        }
        Err(at)
    }

    /// Where a fingerprint would stand if nothing were in its way.
    #[inline]
    fn home(&self, fingerprint: u64) -> usize {
        let part = (fingerprint >> 24) & 0xffff_ffff;
        ((part * self.spread as u64) >> 32) as usize
    }

    /// Puts a fingerprint in its place, pushing on those behind it up to the next gap. Says whether it was there before.
    fn insert(&mut self, place: usize, fingerprint: u64, node: u32) -> bool {
        let mut place = place;
        if (self.used + 1) * 8 > self.spread * 7 {
            self.grow(fingerprint);
            place = self.find(fingerprint, |_| false).err().unwrap_or_default();
        }
        let gap =
            self.fingerprints[place..].iter().position(|other| *other == GAP).unwrap_or_default() + place;
        self.fingerprints.copy_within(place..gap, place + 1);
        self.nodes.copy_within(place..gap, place + 1);
        self.fingerprints[place] = fingerprint;
        self.nodes[place] = node;
        self.used += 1;
        if gap + 1 + WINDOW > self.fingerprints.len() {
            self.lengthen(gap + 1 + SMALLEST);
        }
        place > 0 && self.fingerprints[place - 1] == fingerprint
    }

    /// Spreads the fingerprints out on half as many places again. Shelves begin with different lengths, so they do not
    /// all grow at once.
    fn grow(&mut self, fingerprint: u64) {
        let spread = (self.spread * 3 / 2).max(SMALLEST + (fingerprint >> 61) as usize);
        let length = spread + (spread / 8).clamp(SMALLEST, 64);
        let old = std::mem::replace(self, Self { used: self.used, spread, ..Self::default() });
        self.lengthen(length);
        let mut free = 0;
        for (&fingerprint, &node) in old.fingerprints.iter().zip(&old.nodes) {
            if fingerprint != GAP {
                let at = self.home(fingerprint).max(free);
                if at + 1 + WINDOW > self.fingerprints.len() {
                    self.lengthen(at + 1 + SMALLEST);
                }
                self.fingerprints[at] = fingerprint;
                self.nodes[at] = node;
                free = at + 1;
            }
        }
    }

    fn lengthen(&mut self, length: usize) {
        self.fingerprints.reserve_exact(length - self.fingerprints.len());
        self.fingerprints.resize(length, GAP);
        self.nodes.reserve_exact(length - self.nodes.len());
        self.nodes.resize(length, 0);
    }

    fn bytes(&self) -> usize {
        self.fingerprints.capacity() * size_of::<u64>() + self.nodes.capacity() * size_of::<u32>()
    }
}
