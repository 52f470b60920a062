//! Independent runs in parallel. The result does not depend on the number of threads, because merging is commutative.

use super::progress::{ProgressLine, runs_text};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often the progress is updated.
const EVERY: Duration = Duration::from_millis(50);

/// Returns the number of threads: that of `--jobs`, or the number of processors.
pub(super) fn jobs(jobs: Option<NonZeroUsize>) -> NonZeroUsize {
    let jobs = jobs.or(thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    // More threads than processors only cost memory for their stacks.
    jobs.min(NonZeroUsize::MIN.saturating_add(255))
}

/// Takes the runs from 0 on so many threads, each with an accumulator of its own, and merges the accumulators.
pub(super) fn fold_runs<T: Default + Send>(
    runs: u64,
    jobs: NonZeroUsize,
    line: &mut ProgressLine,
    run: impl Fn(&mut T, u64) + Sync,
    merge: impl Fn(&mut T, T),
) -> T {
    let (begin, next, ended) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        let mut found = T::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= runs {
                return found;
            }
            run(&mut found, number);
            ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|threads| {
        let workers: Vec<_> = (0..jobs.get()).map(|_| threads.spawn(work)).collect();
        // The first look is early: few runs end at once.
        let mut wait = Duration::from_millis(1);
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(wait);
            wait = (wait * 2).min(EVERY);
            line.show(begin.elapsed(), runs_text(ended.load(Ordering::Relaxed), runs, begin.elapsed()));
        }
        let mut all = T::default();
        for worker in workers {
            merge(&mut all, worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}
