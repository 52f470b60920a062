//! States by node: the frontier, or all states.

use super::error::ExpandErrorKind;
use super::model::FairModel;
use std::collections::VecDeque;

/// States in the order of their nodes.
pub(super) struct StateQueue<S> {
    blocks: VecDeque<Block<S>>,
    /// The number of dropped blocks before the first.
    dropped: usize,
    len: usize,
    /// The heap memory of the measured states, and their number.
    heap: usize,
    weighed: usize,
    /// The bytes of packed states.
    packed: usize,
}

/// Adjacent states, all whole or all packed.
pub(super) struct Block<S> {
    whole: Vec<S>,
    packed: Vec<u8>,
    /// The end of each packed state.
    ends: Vec<u32>,
}

/// The number of states in a block.
const BLOCK: usize = 1024;

impl<S> StateQueue<S> {
    pub(super) fn new() -> Self {
        Self { blocks: VecDeque::new(), dropped: 0, len: 0, heap: 0, weighed: 0, packed: 0 }
    }

    /// The node of the next state.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns a whole state.
    ///
    /// # Panics
    ///
    /// If the state was dropped or packed, or does not exist.
    #[inline]
    pub(super) fn at(&self, node: u32) -> &S {
        &self.block(node).whole[node as usize % BLOCK]
    }

    /// Returns a state, unpacked if necessary.
    ///
    /// # Panics
    ///
    /// If the state was dropped or does not exist.
    #[inline]
    pub(super) fn read<'a, M>(
        &'a self,
        model: &M,
        node: u32,
        unpacked: &'a mut Option<S>,
    ) -> Result<&'a S, ExpandErrorKind>
    where
        M: FairModel<State = S>,
    {
        let (block, place) = (self.block(node), node as usize % BLOCK);
        if let Some(state) = block.whole.get(place) {
            return Ok(state);
        }
        let start = if place == 0 { 0 } else { block.ends[place - 1] as usize };
        *unpacked = model.unpack(&block.packed[start..block.ends[place] as usize]);
        unpacked.as_ref().ok_or_else(|| ExpandErrorKind::Unpacked {
            first: "a state".to_owned(),
            second: "nothing".to_owned(),
        })
    }

    #[inline]
    fn block(&self, node: u32) -> &Block<S> {
        &self.blocks[node as usize / BLOCK - self.dropped]
    }

    /// Appends a state. `heap` measures the heap memory of some states; the others are assumed to be alike.
    #[inline]
    pub(super) fn push(&mut self, state: S, heap: impl FnOnce(&S) -> usize) {
        if self.len < BLOCK || self.len.is_multiple_of(64) {
            self.heap += heap(&state);
            self.weighed += 1;
        }
        self.last(BLOCK).whole.push(state);
        self.len += 1;
    }

    /// Appends a packed state.
    pub(super) fn push_packed(&mut self, bytes: &[u8]) {
        let block = self.last(0);
        block.packed.extend_from_slice(bytes);
        block.ends.push(block.packed.len() as u32);
        self.packed += bytes.len() + size_of::<u32>();
        self.len += 1;
    }

    /// The block of the next state. A new block reserves memory for whole states, unless it is the first.
    #[inline]
    fn last(&mut self, room: usize) -> &mut Block<S> {
        if self.len.is_multiple_of(BLOCK) {
            if let Some(full) = self.blocks.back_mut() {
                full.packed.shrink_to_fit();
            }
            let whole = Vec::with_capacity(if self.len == 0 { 0 } else { room });
            self.blocks.push_back(Block { whole, packed: Vec::new(), ends: Vec::new() });
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// Removes the blocks that end before a node.
    pub(super) fn take_before(&mut self, node: u32) -> Vec<Block<S>> {
        let ended = (node as usize / BLOCK - self.dropped).min(self.blocks.len());
        self.dropped += ended;
        let taken: Vec<_> = self.blocks.drain(..ended).collect();
        self.packed -=
            taken.iter().map(|block| block.packed.len() + size_of_val(&block.ends[..])).sum::<usize>();
        taken
    }

    pub(super) fn bytes(&self) -> usize {
        if self.packed > 0 {
            return self.packed;
        }
        let kept = self.len - self.dropped * BLOCK;
        kept * (size_of::<S>() + self.heap.checked_div(self.weighed).unwrap_or(0))
    }
}
