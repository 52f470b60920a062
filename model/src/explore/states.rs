//! Whole states, by their nodes: those that wait to be expanded, or all of them.

use std::collections::VecDeque;

/// States in the order of their nodes.
pub(super) struct States<S> {
    blocks: VecDeque<Vec<S>>,
    /// Blocks that were dropped before the first.
    dropped: usize,
    len: usize,
    /// What the states that were weighed hold on the heap, and how many they were.
    heap: usize,
    weighed: usize,
}

/// States a block.
const BLOCK: usize = 1024;

impl<S> States<S> {
    pub(super) fn new() -> Self {
        Self { blocks: VecDeque::new(), dropped: 0, len: 0, heap: 0, weighed: 0 }
    }

    /// The node that the next state gets.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// # Panics
    /// If the state was dropped, or never was.
    #[inline]
    pub(super) fn at(&self, node: u32) -> &S {
        &self.blocks[node as usize / BLOCK - self.dropped][node as usize % BLOCK]
    }

    /// Appends a state. Of some, `heap` weighs what they hold on the heap; the others are taken to be like them.
    pub(super) fn push(&mut self, state: S, heap: impl FnOnce(&S) -> usize) {
        if self.len < BLOCK || self.len.is_multiple_of(64) {
            self.heap += heap(&state);
            self.weighed += 1;
        }
        match self.blocks.back_mut() {
            Some(block) if !self.len.is_multiple_of(BLOCK) => block.push(state),
            _ => {
                let mut block = Vec::with_capacity(if self.len == 0 { 0 } else { BLOCK });
                block.push(state);
                self.blocks.push_back(block);
            }
        }
        self.len += 1;
    }

    /// Drops the blocks that end before a node.
    pub(super) fn drop_before(&mut self, node: u32) {
        while self.dropped < node as usize / BLOCK {
            self.blocks.pop_front();
            self.dropped += 1;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let kept = self.len - self.dropped * BLOCK;
        kept * (size_of::<S>() + self.heap.checked_div(self.weighed).unwrap_or(0))
    }
}
