//! Parallel expansion: several threads expand the next states against the same snapshot.

use super::batch::Batch;
use super::batch_size::{at_once, batch_len};
use super::expand::{Expander, SearchSnapshot, describe};
use super::model::FairModel;
use super::options::StateStorage;
use super::search::Search;
use super::state_queue::{BLOCK, Block};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

/// The number of blocks that are expanded before the new states are numbered.
const BLOCKS_MAX: usize = if cfg!(test) { 6 } else { 256 };

/// The same under a limit of memory, which is checked between them.
const LIMITED_BLOCKS_MAX: usize = 32;

/// With a smaller frontier, several threads do not pay. It has at least one full block. States that own memory take so long to
/// expand that a few of them are worth a thread.
pub(super) const fn parallel_min<S>() -> u32 {
    let blocks = if at_once::<S>() || cfg!(test) { 2 } else { 8 };
    blocks * BLOCK as u32
}

/// A block of states to expand: the queue's own, or one that the thread owns, and whose states it drops.
enum Work<S> {
    Shared(u32),
    Owned(Block<S>),
}

impl<M> Search<'_, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    /// The number of blocks whose new states fit the memory that a limit leaves, by the averages so far; at least one.
    fn blocks_max(&self) -> usize {
        let Some(limit) = self.options.limits.memory_bytes else { return BLOCKS_MAX };
        let left = limit.saturating_sub(self.bytes());
        let state_bytes = self.states.bytes() / (self.waiting() as usize).max(1);
        let new_of_state = self.states.len() / (self.found.expanded as usize).max(1) + 1;
        let block_bytes = (BLOCK * new_of_state).saturating_mul(state_bytes);
        (left / block_bytes.max(1)).clamp(1, LIMITED_BLOCKS_MAX)
    }

    /// Expands the next full blocks of states. Their successors come in the order of the states. Threads drop the states that
    /// they expanded, because these are in their caches.
    pub(super) fn expand_parallel(&mut self, threads: usize) -> Vec<Batch> {
        self.new_states.clear();
        let first = self.found.expanded;
        let full = self.states.len() / BLOCK - first as usize / BLOCK;
        let blocks = full.min(self.blocks_max());
        let work: VecDeque<_> = match self.options.storage {
            StateStorage::Fingerprint => self.states.take(blocks).into_iter().map(Work::Owned).collect(),
            StateStorage::Exact => {
                let from = first as usize / BLOCK;
                (from..from + blocks).map(|block| Work::Shared((block * BLOCK) as u32)).collect()
            }
        };
        let (known, work) = (&self.known(Some(&self.new_states)), &Mutex::new(work));
        let observations = self.found.witnesses.len();
        let run = |thread: usize| {
            let mut expander = Expander::new(observations, thread as u16);
            let mut batches = Vec::new();
            loop {
                let next = next_work(&mut work.lock().unwrap_or_else(PoisonError::into_inner), thread);
                let Some(next) = next else { break };
                batches.push(next.expand(&mut expander, known, first));
            }
            (expander.found, batches)
        };
        let (new, batches): (_, Vec<_>) = std::thread::scope(|scope| {
            let run = &run;
            let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || run(thread))).collect();
            let mine = std::iter::once(run(0));
            let others =
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            mine.chain(others).unzip()
        });
        self.new = new;
        let mut batches: Vec<_> = batches.into_iter().flatten().collect();
        batches.sort_unstable_by_key(|(from, _)| *from);
        batches.into_iter().map(|(_, batch)| batch).collect()
    }
}

/// Removes the next block: one of which the thread made the states, if there is any.
fn next_work<S>(work: &mut VecDeque<Work<S>>, thread: usize) -> Option<Work<S>> {
    let made = |work: &Work<S>| matches!(work, Work::Owned(block) if usize::from(block.thread()) == thread);
    let position = work.iter().position(made).unwrap_or(0);
    work.remove(position)
}

impl<S> Work<S> {
    /// Expands a block from the first node that was not expanded. Returns the node of its first state with the steps.
    fn expand<M>(self, expander: &mut Expander<M>, known: &SearchSnapshot<'_, M>, first: u32) -> (u32, Batch)
    where
        M: FairModel<State = S>,
        S: Debug + Hash + PartialEq,
        M::Action: Debug + PartialEq,
    {
        let mut batch = Batch::default();
        let parts = |from: u32| {
            let (first, end) = (first.max(from), from + BLOCK as u32);
            let part = batch_len::<S>();
            (first..end).step_by(part as usize).map(move |first| first..end.min(first + part))
        };
        let from = match self {
            Self::Shared(from) => {
                let block = known.states.block(from);
                for nodes in parts(from) {
                    expand_part(expander, known, block, nodes, &mut batch);
                }
                from
            }
            Self::Owned(mut block) => {
                for nodes in parts(block.first()) {
                    let end = nodes.end;
                    expand_part(expander, known, &block, nodes, &mut batch);
                    block.drop_before(end);
                }
                block.first()
            }
        };
        (from, batch)
    }
}

/// Expands states of a block, unless an earlier one has an error.
fn expand_part<M>(
    expander: &mut Expander<M>,
    known: &SearchSnapshot<'_, M>,
    block: &Block<M::State>,
    nodes: Range<u32>,
    batch: &mut Batch,
) where
    M: FairModel,
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    if batch.fault.is_none() {
        expander.expand(known, block, nodes, batch);
        if let Some(fault) = &mut batch.fault {
            describe(known.model, block, fault);
        }
    }
}
