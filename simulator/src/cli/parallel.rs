//! Independent runs in parallel. The result does not depend on the number of threads: merging is commutative, and lists keep their order.

use super::progress::{ProgressLine, runs_text};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
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

/// Runs the tasks on so many threads, and returns their results in the order of the tasks. After an error no further task starts.
pub(super) fn run_tasks<T: Sync, R: Send, E: Send>(
    tasks: &[T],
    threads: NonZeroUsize,
    run: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut results = Vec::new();
        while !has_failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(at) else { break };
            let result = run(task);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.push((at, result));
        }
        results
    };
    let mut results: Vec<(usize, Result<R, E>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get()).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_tasks() {
        let tasks: Vec<u64> = (0..40).collect();
        for threads in [1, 2, 3] {
            let slow_first = |task: &u64| {
                thread::sleep(Duration::from_micros(200 - 5 * task));
                Ok::<_, u64>(task * 2)
            };
            let doubled = run_tasks(&tasks, NonZeroUsize::new(threads).unwrap(), slow_first);
            assert_eq!(doubled, Ok(tasks.iter().map(|task| task * 2).collect()));
        }
    }

    #[test]
    fn no_task_starts_after_an_error() {
        let started = AtomicUsize::new(0);
        let fail_from_3 = |task: &usize| if *task < 3 { Ok(*task) } else { Err(*task) };
        let run = |task: &usize| {
            started.fetch_add(1, Ordering::Relaxed);
            fail_from_3(task)
        };
        let tasks: Vec<usize> = (0..1_000).collect();
        assert_eq!(run_tasks(&tasks, NonZeroUsize::MIN, run), Err(3));
        assert_eq!(started.into_inner(), 4);
        let failed = run_tasks(&tasks, NonZeroUsize::new(2).unwrap(), fail_from_3);
        assert_eq!(failed, Err(3), "the error of the first task that fails");
    }
}
