//! Work on many things side by side, told of in their order.

use miette::Result;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Lets `jobs` threads `work` on the items, and hands what they make of them to `done` in the order of the items,
/// whichever was finished first. Once `done` breaks or fails, `stop` is set: no further item is begun.
///
/// # Errors
/// Whatever `done` gives.
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
        let mut due = items.iter().enumerate();
        let told = due.try_for_each(|(i, item)| {
            let result = loop {
                if let Some(result) = early.remove(&i) {
                    break result;
                }
                match results.recv() {
                    Ok((i, result)) => early.insert(i, result),
                    // A thread panicked; the scope passes that on.
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
        told.break_value().unwrap_or(Ok(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of when `done` breaks at an item, if it is there.
    fn told(jobs: usize, until: u64) -> Vec<u64> {
        let items: Vec<u64> = (0..200).collect();
        let mut told = Vec::new();
        let work = |item: &u64| {
            // The first ones take longest.
            std::thread::sleep(std::time::Duration::from_micros(200 - item));
            item * 2
        };
        in_order(&items, jobs, &AtomicBool::new(false), work, |item, twice| {
            assert_eq!(twice, item * 2);
            told.push(*item);
            Ok(if *item == until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .expect("nothing fails");
        told
    }

    #[test]
    fn the_order_does_not_depend_on_how_many_work() {
        for jobs in [1, 2, 7, 500] {
            assert_eq!(told(jobs, 1000), (0..200).collect::<Vec<u64>>(), "{jobs} jobs");
            assert_eq!(told(jobs, 20), (0..=20).collect::<Vec<u64>>(), "{jobs} jobs, broken off");
        }
    }
}
