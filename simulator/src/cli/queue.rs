//! A work queue: items are processed in parallel, and their results are reported in order.

use miette::Result;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Processes the items by `work` on `jobs` threads, and passes the results to `done` in the order of the items. Once `done`
/// breaks or fails, `stop` is set and no further item is started.
///
/// # Errors
/// The error of `done`.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    stop: &AtomicBool,
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    std::thread::scope(|threads| {
        let (sender, results) = mpsc::channel();
        for _ in 0..jobs.min(items.len()) {
            let sender = sender.clone();
            threads.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    if sender.send((i, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut pending = items.iter().enumerate();
        let ended = pending.try_for_each(|(i, item)| {
            let result = loop {
                if let Some(result) = early.remove(&i) {
                    break result;
                }
                match results.recv() {
                    Ok((i, result)) => early.insert(i, result),
                    // A thread panicked; the scope propagates the panic.
                    Err(mpsc::RecvError) => return ControlFlow::Break(Ok(())),
                };
            };
            match done(item, result) {
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
                Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        stop.store(true, Ordering::Relaxed);
        ended.break_value().unwrap_or(Ok(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the items passed to `done`, which breaks at the item `until`.
    fn reported(jobs: usize, until: u64) -> Vec<u64> {
        let items: Vec<u64> = (0..200).collect();
        let mut reported = Vec::new();
        let work = |item: &u64| {
            // The first items take longest.
            std::thread::sleep(std::time::Duration::from_micros(200 - item));
            item * 2
        };
        in_order(&items, jobs, &AtomicBool::new(false), work, |item, twice| {
            assert_eq!(twice, item * 2);
            reported.push(*item);
            Ok(if *item == until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .expect("`done` never fails");
        reported
    }

    #[test]
    fn order_is_independent_of_thread_count() {
        for jobs in [1, 2, 7, 500] {
            assert_eq!(reported(jobs, 1000), (0..200).collect::<Vec<u64>>(), "{jobs} jobs");
            assert_eq!(reported(jobs, 20), (0..=20).collect::<Vec<u64>>(), "{jobs} jobs, stopped early");
        }
    }
}
