//! Output to a host that may not read. A thread writes; the conversation never waits for it.

use orchestrion_runtime::lock_ignoring_poison;
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of bytes that wait for the host, beside one message of any size.
pub const WAITING_BYTES_MAX: usize = 16 << 20;

/// The time at the end in which the host must read a part of what waits.
pub const STALL_MAX: Duration = Duration::from_secs(5);

/// The bytes that are written at once, so that a slow host shows progress.
const PART_BYTES: usize = 32 << 10;

/// The messages that a host did not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Their number.
    pub messages: usize,
    /// Whether the host was disconnected because of them.
    pub is_over_limit: bool,
}

/// The queue of messages to the host.
pub(crate) struct Output {
    queue: Arc<Queue>,
    on_disconnect: Arc<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("queue", &self.queue).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    /// The lines; the first one may be written in part.
    lines: VecDeque<Arc<[u8]>>,
    waiting_bytes: usize,
    /// Grows with each part that was written.
    written_parts: u64,
    /// Whether nothing more is sent: a write failed, or too much waits.
    is_ended: bool,
    is_over_limit: bool,
    /// Whether no message follows, so that the thread ends.
    is_finished: bool,
}

impl Output {
    /// Starts the thread that writes. `on_disconnect` is called when the host cannot be written to.
    pub(crate) fn new(
        output: impl Write + Send + 'static,
        on_disconnect: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let queue = Arc::new(Queue::default());
        let on_disconnect: Arc<dyn Fn() + Send + Sync> = Arc::new(on_disconnect);
        let (writer, on_failure) = (Arc::clone(&queue), Arc::clone(&on_disconnect));
        thread::spawn(move || {
            if writer.write_to(output).is_err() {
                let mut state = lock_ignoring_poison(&writer.state);
                state.is_ended = true;
                state.lines.clear();
                writer.changed.notify_all();
                drop(state);
                on_failure();
            }
        });
        Self { queue, on_disconnect }
    }

    /// Sends a message without waiting. A host for which too much waits is disconnected: a gap would mislead it.
    pub(crate) fn send(&self, message: &impl Serialize) {
        // Messages have no keys or numbers that cannot be serialized.
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        let mut state = lock_ignoring_poison(&self.queue.state);
        if state.is_ended || state.is_finished {
            return;
        }
        if !state.lines.is_empty() && state.waiting_bytes.saturating_add(line.len()) > WAITING_BYTES_MAX {
            (state.is_ended, state.is_over_limit) = (true, true);
            drop(state);
            (self.on_disconnect)();
            return;
        }
        state.waiting_bytes += line.len();
        state.lines.push_back(line.into());
        self.queue.changed.notify_all();
    }

    /// Waits until the host has everything, or reads no more. Returns what it did not read. Ends the thread that writes, unless the host
    /// blocks it.
    pub(crate) fn finish(&self) -> Option<Unread> {
        let mut state = lock_ignoring_poison(&self.queue.state);
        let mut written_parts = state.written_parts;
        while !state.lines.is_empty() {
            let waited = self.queue.changed.wait_timeout(state, STALL_MAX);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.written_parts == written_parts {
                break;
            }
            written_parts = state.written_parts;
        }
        state.is_finished = true;
        self.queue.changed.notify_all();
        let unread = Unread { messages: state.lines.len(), is_over_limit: state.is_over_limit };
        (unread.messages > 0 || unread.is_over_limit).then_some(unread)
    }
}

impl Queue {
    /// Writes lines until no more follow, or a write fails.
    fn write_to(&self, mut output: impl Write) -> io::Result<()> {
        while let Some(line) = self.next_line() {
            for part in line.chunks(PART_BYTES) {
                output.write_all(part)?;
                output.flush()?;
                lock_ignoring_poison(&self.state).written_parts += 1;
                self.changed.notify_all();
            }
            let mut state = lock_ignoring_poison(&self.state);
            state.lines.pop_front();
            state.waiting_bytes -= line.len();
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Waits for the next line, which stays in the queue until it is written. Returns `None` if none follows.
    fn next_line(&self) -> Option<Arc<[u8]>> {
        let mut state = lock_ignoring_poison(&self.state);
        while state.lines.is_empty() && !state.is_finished {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lines.front().map(Arc::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

    /// Owned by the thread that writes.
    struct Owned(Vec<u8>, Sender<Vec<u8>>);

    impl Write for Owned {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            // The test may have ended.
            let _ = self.1.send(std::mem::take(&mut self.0));
            Ok(())
        }
    }

    #[test]
    fn thread_that_writes_ends() {
        let (sender, receiver) = channel();
        let output = Output::new(Owned(Vec::new(), sender), || ());
        output.send(&"first");
        assert_eq!(output.finish(), None);
        output.send(&"late");
        assert_eq!(receiver.recv_timeout(STALL_MAX), Ok(b"\"first\"\n".to_vec()));
        assert_eq!(receiver.recv_timeout(STALL_MAX), Err(RecvTimeoutError::Disconnected));
    }
}
