//! Parallel expansion: several threads expand the next states against the same snapshot.

use super::batch_size::{batch_len, chunk};
use super::expand::{Batch, Expander};
use super::model::FairModel;
use super::search::Search;
use super::state_queue::Block;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of chunks that are expanded before the new states are numbered.
const CHUNKS: u32 = if cfg!(test) { 6 } else { 128 };

impl<M> Search<'_, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    /// Expands the next block of states. Their successors come in the order of the states. Expanded states are dropped
    /// in parallel, because dropping large states takes time.
    pub(super) fn expand_parallel(&self, threads: usize, done_with: Vec<Block<M::State>>) -> Vec<Batch> {
        let known = &self.known();
        let first = self.found.expanded;
        let end = first + self.waiting().min(CHUNKS * chunk::<M::State>());
        let taken = &AtomicU32::new(0);
        let done_with = &Mutex::new(done_with);
        let work = || {
            while let Some(block) = done_with.lock().unwrap_or_else(PoisonError::into_inner).pop() {
                drop(block);
            }
            let mut expander = Expander::new(self.found.witnesses.len());
            let mut batches = Vec::new();
            loop {
                let from = first + taken.fetch_add(1, Ordering::Relaxed) * chunk::<M::State>();
                if from >= end {
                    break;
                }
                let (end, mut batch) = (end.min(from + chunk::<M::State>()), Batch::default());
                for first in (from..end).step_by(batch_len::<M::State>() as usize) {
                    if batch.fault.is_none() {
                        expander.expand(known, first..end.min(first + batch_len::<M::State>()), &mut batch);
                        expander.classify_successors(known, &mut batch);
                    }
                }
                batches.push((from, batch));
            }
            batches
        };
        let mut batches = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut batches = work();
            for other in others {
                batches.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            batches
        });
        batches.sort_unstable_by_key(|(from, _)| *from);
        batches.into_iter().map(|(_, batch)| batch).collect()
    }
}
