//! Runs a range of an experiment on several threads. The result does not depend on their number.
//!
//! Threads take chunks of consecutive runs; one thread receives the chunks in their order. So the rows are in order, and the result after
//! each chunk is a checkpoint.

use crate::experiment::{Cell, Experiment};
use crate::random::RandomDraws;
use crate::run::{RunRecord, Runner};
use crate::summary::{Counter, MergeError, Summary};
use crate::table::Rows;
use orchestrion_kernel::Refusal;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use thiserror::Error;

/// Runs of a chunk.
const CHUNK: u64 = 256;

/// A part of an experiment: number `index` of `count` parts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u64,
    /// The number of parts.
    pub count: u64,
}

impl Shard {
    /// The whole experiment.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Returns the first run of the part and the one after its last, of an experiment with this number of runs.
    #[must_use]
    pub fn range(self, runs: u64) -> (u64, u64) {
        let end = |index: u64| {
            let share = u128::from(runs) * u128::from(index) / u128::from(self.count.max(1));
            u64::try_from(share).unwrap_or(runs).min(runs)
        };
        (end(self.index.saturating_sub(1)), end(self.index))
    }
}

/// Why runs failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The kernel refuses an input before the first request, such as the network.
    #[error("policy {policy}: {refusal}")]
    Refused {
        /// The name of the policy.
        policy: String,
        /// The refusal.
        refusal: Refusal,
    },
    /// The rows cannot be written.
    #[error("rows: {0}")]
    Rows(#[from] std::io::Error),
    /// The result already contains the runs.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Receives the rows of a chunk and the result up to it.
pub trait Sink {
    /// Receives the rows of the next runs, and the result that contains them.
    ///
    /// # Errors
    /// The rows cannot be written. No further run starts then.
    fn receive(&mut self, rows: &[u8], summary: &Summary) -> std::io::Result<()>;
}

/// Runs the part of an experiment from `first` up to `end`, and adds it to a result.
///
/// # Errors
/// [`RunError`].
pub fn run_range(
    experiment: &Experiment,
    (first, end): (u64, u64),
    threads: NonZeroUsize,
    with_rows: bool,
    summary: &mut Summary,
    sink: &mut impl Sink,
) -> Result<(), RunError> {
    // A refused opening is found before any thread starts.
    let runners_by_thread = (0..threads.get()).map(|_| runners(experiment));
    let runners_by_thread = runners_by_thread.collect::<Result<Vec<_>, _>>()?;
    let (next, stopped) = (AtomicU64::new(first), AtomicBool::new(false));
    let rows = with_rows.then(|| Rows::new(experiment));
    // A thread waits when it is this far ahead of the slowest one.
    let (sender, receiver) = sync_channel(4);
    thread::scope(|scope| {
        for runners in runners_by_thread {
            let (sender, next, stopped, rows) = (sender.clone(), &next, &stopped, rows.as_ref());
            scope.spawn(move || {
                let mut draws = RandomDraws::new(experiment.seed);
                let mut records = vec![RunRecord::default(); runners.len()];
                while !stopped.load(Ordering::Relaxed) {
                    let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if start >= end {
                        break;
                    }
                    let stop = end.min(start + CHUNK);
                    let mut counter = Counter::new(runners.len(), &experiment.world.lines);
                    let mut text = Vec::new();
                    for run in start..stop {
                        for (runner, record) in runners.iter().zip(&mut records) {
                            runner.run(run, &mut draws, record);
                        }
                        counter.add(run, &records);
                        if let Some(rows) = rows {
                            rows.write(run, &records, &mut text);
                        }
                    }
                    if sender.send((start, stop, counter, text)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut expected = first;
        let mut result = Ok(());
        for (start, stop, counter, text) in &receiver {
            waiting.insert(start, (stop, counter, text));
            while let Some((stop, counter, text)) = waiting.remove(&expected) {
                if result.is_ok() {
                    let added = counter.add_to(summary, expected, stop).map_err(RunError::from);
                    result = added.and_then(|()| sink.receive(&text, summary).map_err(RunError::from));
                    stopped.fetch_or(result.is_err(), Ordering::Relaxed);
                }
                expected = stop;
            }
        }
        result
    })
}

/// Creates the runners of one thread.
fn runners(experiment: &Experiment) -> Result<Vec<Runner<'_>>, RunError> {
    let refused = |cell: &Cell, refusal| RunError::Refused { policy: cell.policy.name.clone(), refusal };
    let world = Arc::new(experiment.world.unshared());
    let mut runners = Vec::with_capacity(experiment.policies.len());
    for cell in &experiment.policies {
        runners.push(Runner::new(cell, Arc::clone(&world)).map_err(|refusal| refused(cell, refusal))?);
    }
    Ok(runners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_runs_once() {
        for (runs, count) in [(10, 3), (7, 7), (5, 7), (1, 1), (u64::MAX / 2, 3)] {
            let mut next = 0;
            for index in 1..=count {
                let (first, end) = Shard { index, count }.range(runs);
                assert_eq!(first, next);
                next = end;
            }
            assert_eq!(next, runs);
        }
    }
}
