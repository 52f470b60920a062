//! A clock with an executor, in real or simulated time. Simulated time passes only while every future waits.

use crate::sync::lock_ignoring_poison;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A clock for programs without an async runtime and for simulations. Clones share the same time.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<ClockState>>);

#[derive(Debug)]
struct ClockState {
    time: TimeSource,
    /// The timers by their time. The number distinguishes timers with the same time.
    timers: BTreeMap<(Duration, u64), Waker>,
    next_timer: u64,
}

#[derive(Debug)]
enum TimeSource {
    /// Real time since this instant.
    Real(Instant),
    /// The current simulated time.
    Simulated(Duration),
}

/// In simulated time, a future waits and no timer is left to wake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlockError;

impl fmt::Display for DeadlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadlock: expected a timer that wakes the future, found none")
    }
}

impl std::error::Error for DeadlockError {}

impl Clock {
    /// Creates a clock in real time that starts at zero.
    #[must_use]
    pub fn real() -> Self {
        Self::new(TimeSource::Real(Instant::now()))
    }

    /// Creates a clock in simulated time that starts at zero and jumps to the next timer when every future waits.
    #[must_use]
    pub fn simulated() -> Self {
        Self::new(TimeSource::Simulated(Duration::ZERO))
    }

    fn new(time: TimeSource) -> Self {
        Self(Arc::new(Mutex::new(ClockState { time, timers: BTreeMap::new(), next_timer: 0 })))
    }

    /// The current time since the start of the clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.lock().now()
    }

    /// Waits for this time. Only [`block_on`](Self::block_on) of the same clock wakes it, on any thread.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> Sleep {
        let mut state = self.lock();
        let number = state.next_timer;
        state.next_timer += 1;
        Sleep { clock: self.clone(), timer: (state.now().saturating_add(time), number) }
    }

    /// Runs a future to completion on this thread.
    ///
    /// # Errors
    /// [`DeadlockError`], in simulated time only.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, DeadlockError> {
        let thread_waker =
            Arc::new(ThreadWaker { thread: thread::current(), is_woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&thread_waker));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            if thread_waker.is_woken.swap(false, Ordering::AcqRel) {
                continue;
            }
            match self.time_to_next_timer()? {
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
            self.wake_due_timers();
        }
    }

    /// Returns the time to the next timer. Simulated time jumps to it.
    fn time_to_next_timer(&self) -> Result<Option<Duration>, DeadlockError> {
        let mut state = self.lock();
        let timer = state.timers.first_key_value().map(|(&(at, _), _)| at);
        match (&mut state.time, timer) {
            (TimeSource::Simulated(_), None) => Err(DeadlockError),
            (TimeSource::Simulated(now), Some(at)) => {
                *now = at.max(*now);
                Ok(Some(Duration::ZERO))
            }
            (TimeSource::Real(since), timer) => Ok(timer.map(|at| at.saturating_sub(since.elapsed()))),
        }
    }

    /// Wakes all timers that are due.
    fn wake_due_timers(&self) {
        let mut state = self.lock();
        let now = state.now();
        let later = state.timers.split_off(&(now.saturating_add(Duration::from_nanos(1)), 0));
        let due = std::mem::replace(&mut state.timers, later);
        drop(state);
        due.into_values().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, ClockState> {
        lock_ignoring_poison(&self.0)
    }
}

impl ClockState {
    fn now(&self) -> Duration {
        match self.time {
            TimeSource::Real(since) => since.elapsed(),
            TimeSource::Simulated(now) => now,
        }
    }
}

/// The future of [`Clock::sleep`].
#[derive(Debug)]
pub struct Sleep {
    clock: Clock,
    timer: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.lock();
        if state.now() >= self.timer.0 {
            return Poll::Ready(());
        }
        state.timers.insert(self.timer, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.lock().timers.remove(&self.timer);
    }
}

/// Wakes the thread that runs the future.
struct ThreadWaker {
    thread: Thread,
    /// Whether the thread was woken since its last check.
    is_woken: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::{join, pending};

    #[test]
    fn simulated_time_passes_while_all_futures_wait() {
        let clock = Clock::simulated();
        let (long, short) = (clock.sleep(Duration::from_secs(3600)), clock.sleep(Duration::from_secs(60)));
        let wake_times = Mutex::new(Vec::new());
        let (clock_of_long, clock_of_short) = (clock.clone(), clock.clone());
        let both = join(
            async {
                long.await;
                wake_times.lock().unwrap().push(clock_of_long.now().as_secs());
            },
            async {
                short.await;
                wake_times.lock().unwrap().push(clock_of_short.now().as_secs());
            },
        );
        clock.block_on(both).unwrap();
        assert_eq!(*wake_times.lock().unwrap(), [60, 3600]);
    }

    #[test]
    fn dropped_sleep_wakes_no_task() {
        let clock = Clock::simulated();
        let dropped = clock.sleep(Duration::from_secs(1));
        drop(dropped);
        assert_eq!(clock.block_on(pending::<()>()), Err(DeadlockError));
        assert_eq!(clock.now(), Duration::ZERO);
    }

    #[test]
    fn other_threads_wake_in_real_time() {
        let clock = Clock::real();
        clock.block_on(clock.sleep(Duration::from_millis(5))).unwrap();
        assert!(clock.now() >= Duration::from_millis(5));
        let (sender, receiver) = futures_channel::oneshot::channel();
        let other = thread::spawn(move || sender.send(7));
        assert_eq!(clock.block_on(receiver).unwrap(), Ok(7));
        other.join().unwrap().unwrap();
    }
}
