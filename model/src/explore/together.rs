//! Several threads expand the next states against what is known so far.

use super::expand::{Batch, Expander};
use super::fair::FairModel;
use super::search::{CHUNK, Search};
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};

/// States that are expanded before what was found is numbered. Tests have small models.
const BLOCK: u32 = if cfg!(test) { 12 } else { 4096 };

impl<M> Search<'_, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    /// Expands the next block of states. What they lead to comes in the order of the states.
    pub(super) fn expand_together(&self, threads: usize) -> Vec<Batch<M::State>> {
        let known = &self.known();
        let first = self.found.expanded;
        let end = first + self.waiting().min(BLOCK);
        let chunk = &AtomicU32::new(0);
        let work = || {
            let mut expander = Expander::new(self.found.witnesses.len());
            let mut batches = Vec::new();
            loop {
                let from = first + chunk.fetch_add(1, Ordering::Relaxed) * CHUNK;
                if from >= end {
                    return batches;
                }
                let mut batch = Batch::default();
                expander.take(known, from..end.min(from + CHUNK), &mut batch);
                expander.meet(known, &mut batch);
                let well = batch.fault.is_none();
                batches.push((from, batch));
                if !well {
                    return batches;
                }
            }
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
