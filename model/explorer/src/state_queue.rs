//! States by node: the frontier, or all states.

use super::error::ExpandErrorKind;
use super::model::FairModel;
use std::collections::VecDeque;

/// States in the order of their nodes.
pub(super) struct StateQueue<S> {
    blocks: VecDeque<Block<S>>,
    /// The number of removed blocks before the first.
    removed: usize,
    len: usize,
    /// The heap memory of the measured states, and their number.
    heap: usize,
    weighed: usize,
    /// The bytes of packed states.
    packed: usize,
}

/// Adjacent states, all whole or all packed.
pub(super) struct Block<S> {
    /// The node of the first state, whether dropped or not.
    first: u32,
    whole: VecDeque<S>,
    /// The number of dropped states before `whole`.
    dropped: usize,
    /// The thread that made the first state, and thereby most of them.
    thread: u16,
    packed: Vec<u8>,
    /// The end of each packed state.
    ends: Vec<u32>,
}

/// The number of states in a block.
pub(super) const BLOCK: usize = if cfg!(test) { 2 } else { 32 };

impl<S> Block<S> {
    /// The node of the first state, whether dropped or not.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// The thread that made most of the states. It drops them fastest.
    pub(super) fn thread(&self) -> u16 {
        self.thread
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
        let place = (node - self.first) as usize;
        if !self.whole.is_empty() {
            return Ok(&self.whole[place - self.dropped]);
        }
        *unpacked = model.unpack(self.packed(node));
        unpacked.as_ref().ok_or_else(|| ExpandErrorKind::Unpacked {
            first: "a state".to_owned(),
            second: "nothing".to_owned(),
        })
    }

    /// The bytes of a packed state.
    ///
    /// # Panics
    ///
    /// If the state is whole or does not exist.
    #[inline]
    pub(super) fn packed(&self, node: u32) -> &[u8] {
        let place = (node - self.first) as usize;
        let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        &self.packed[start..self.ends[place] as usize]
    }

    /// Drops the states before a node, as long as they are in the cache. Packed states stay until the block is dropped.
    #[inline]
    pub(super) fn drop_before(&mut self, node: u32) {
        let ended = node.saturating_sub(self.first) as usize;
        while self.dropped < ended && self.whole.pop_front().is_some() {
            self.dropped += 1;
        }
    }

    fn packed_bytes(&self) -> usize {
        self.packed.len() + size_of_val(&self.ends[..])
    }
}

impl<S> StateQueue<S> {
    pub(super) fn new() -> Self {
        Self { blocks: VecDeque::new(), removed: 0, len: 0, heap: 0, weighed: 0, packed: 0 }
    }

    /// A queue of packed states whose first one is this node.
    pub(super) fn starting_at(node: u32) -> Self {
        let (removed, dropped) = (node as usize / BLOCK, node as usize % BLOCK);
        let mut queue = Self { removed, len: removed * BLOCK, ..Self::new() };
        // Those before the first one in its block are never read.
        (0..dropped).for_each(|_| queue.push_packed(&[]));
        queue
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
        let block = self.block(node);
        &block.whole[(node - block.first) as usize - block.dropped]
    }

    /// The block of a state.
    ///
    /// # Panics
    ///
    /// If it was removed or does not exist.
    #[inline]
    pub(super) fn block(&self, node: u32) -> &Block<S> {
        &self.blocks[node as usize / BLOCK - self.removed]
    }

    /// Whether the block of a state is present.
    pub(super) fn contains(&self, node: u32) -> bool {
        let block =
            (node as usize / BLOCK).checked_sub(self.removed).and_then(|block| self.blocks.get(block));
        block.is_some_and(|block| block.dropped <= (node - block.first) as usize)
    }

    /// Appends a state. A thread made it. `heap` measures the heap memory of some states; the others are
    /// assumed to be alike.
    #[inline]
    pub(super) fn push(&mut self, state: S, thread: u16, heap: impl FnOnce(&S) -> usize) {
        if self.len < 1024 || self.len.is_multiple_of(64) {
            self.heap += heap(&state);
            self.weighed += 1;
        }
        self.last(BLOCK, thread).whole.push_back(state);
        self.len += 1;
    }

    /// Appends a packed state.
    pub(super) fn push_packed(&mut self, bytes: &[u8]) {
        let block = self.last(0, 0);
        block.packed.extend_from_slice(bytes);
        block.ends.push(block.packed.len() as u32);
        self.packed += bytes.len() + size_of::<u32>();
        self.len += 1;
    }

    /// The block of the next state. A new block reserves memory for whole states, unless it is the first.
    #[inline]
    fn last(&mut self, room: usize, thread: u16) -> &mut Block<S> {
        if self.len.is_multiple_of(BLOCK) {
            if let Some(full) = self.blocks.back_mut() {
                full.packed.shrink_to_fit();
            }
            let whole = VecDeque::with_capacity(if self.len == 0 { 0 } else { room });
            let first = self.len as u32;
            self.blocks.push_back(Block {
                first,
                whole,
                dropped: 0,
                thread,
                packed: Vec::new(),
                ends: Vec::new(),
            });
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// Drops the states before a node.
    #[inline]
    pub(super) fn drop_before(&mut self, node: u32) {
        let ended = (node as usize / BLOCK - self.removed).min(self.blocks.len());
        if ended > 0 {
            drop(self.take(ended));
        }
        if let Some(block) = self.blocks.front_mut() {
            block.drop_before(node);
        }
    }

    /// Removes this number of blocks from the front.
    pub(super) fn take(&mut self, blocks: usize) -> Vec<Block<S>> {
        self.removed += blocks;
        let taken: Vec<_> = self.blocks.drain(..blocks).collect();
        self.packed -= taken.iter().map(Block::packed_bytes).sum::<usize>();
        taken
    }

    pub(super) fn bytes(&self) -> usize {
        if self.packed > 0 {
            return self.packed;
        }
        let dropped = self.blocks.front().map_or(0, |block| block.dropped);
        let kept = self.len - (self.removed * BLOCK).min(self.len) - dropped;
        kept * (size_of::<S>() + self.heap.checked_div(self.weighed).unwrap_or(0))
    }
}
