//! Threads that make journals durable, so that the sync of one conversation delays no other conversation of the process.

use crate::sync::lock_ignoring_poison;
use futures_channel::oneshot;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

/// Threads that sync the journals of many conversations. Clones share the threads; they end when the last clone is dropped.
///
/// Syncs that wait at the same time run at the same time, so that a file system with a journal of its own commits them together.
#[derive(Clone, Debug)]
pub struct SyncThreads {
    queue: Sender<QueuedSync>,
}

#[derive(Debug)]
struct QueuedSync {
    file: Arc<File>,
    result: oneshot::Sender<io::Result<()>>,
}

impl SyncThreads {
    /// Starts the threads. A file system commits at most so many syncs together.
    ///
    /// # Errors
    /// The system starts no further thread.
    pub fn start(threads: NonZeroUsize) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for number in 1..=threads.get() {
            let receiver = Arc::clone(&receiver);
            let thread = thread::Builder::new().name(format!("sync {number}"));
            thread.spawn(move || while sync_next(&receiver).is_some() {})?;
        }
        Ok(Self { queue: sender })
    }

    /// Makes the content of a file durable, with the length that it needs.
    pub(crate) async fn sync_data(&self, file: &Arc<File>) -> io::Result<()> {
        let (sender, result) = oneshot::channel();
        let ended = || io::Error::other("the threads that sync journals have ended");
        self.queue.send(QueuedSync { file: Arc::clone(file), result: sender }).map_err(|_| ended())?;
        result.await.map_err(|_| ended())?
    }
}

/// Waits for the next sync and runs it. Returns `None` after the last one.
fn sync_next(queue: &Mutex<Receiver<QueuedSync>>) -> Option<()> {
    let next = lock_ignoring_poison(queue).recv();
    let QueuedSync { file, result } = next.ok()?;
    // Fails if the conversation was dropped meanwhile.
    let _ = result.send(file.sync_data());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use futures_util::future::join_all;
    use std::io::Write;

    #[test]
    fn each_sync_has_its_own_result() {
        let threads = SyncThreads::start(NonZeroUsize::new(2).unwrap()).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"line\n").unwrap();
        let file = Arc::new(file);
        // A system does not sync a pipe.
        let (_reader, writer) = io::pipe().unwrap();
        let pipe = Arc::new(File::from(std::os::fd::OwnedFd::from(writer)));
        let syncs = (0..20).map(|number| threads.sync_data(if number % 3 == 0 { &pipe } else { &file }));
        let results = Clock::real().block_on(join_all(syncs)).unwrap();
        for (number, result) in results.iter().enumerate() {
            assert_eq!(result.is_err(), number % 3 == 0, "{number}: {result:?}");
        }
    }

    #[test]
    fn sync_without_threads_is_an_error() {
        let (queue, receiver) = mpsc::channel();
        drop(receiver);
        let file = Arc::new(tempfile::tempfile().unwrap());
        let error = Clock::real().block_on(SyncThreads { queue }.sync_data(&file)).unwrap().unwrap_err();
        assert!(error.to_string().contains("have ended"), "{error}");
    }

    #[test]
    fn threads_end_with_the_last_clone() {
        let threads = SyncThreads::start(NonZeroUsize::MIN).unwrap();
        let receiver = {
            let (sender, result) = oneshot::channel();
            let file = Arc::new(tempfile::tempfile().unwrap());
            threads.queue.send(QueuedSync { file, result: sender }).unwrap();
            result
        };
        drop(threads);
        // What was queued is still done.
        assert!(Clock::real().block_on(receiver).unwrap().unwrap().is_ok());
    }
}
