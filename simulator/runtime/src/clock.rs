//! A clock, and what runs futures by it: in real time, or in model time, which passes only while nothing else
//! happens.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A clock for programs that have no async runtime, and for simulations. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<ClockState>>);

#[derive(Debug)]
struct ClockState {
    time: TimeSource,
    /// Who is to be woken when; the number keeps two alarms of one moment apart.
    alarms: BTreeMap<(Duration, u64), Waker>,
    next_alarm: u64,
}

#[derive(Debug)]
enum TimeSource {
    /// As it passes, since the clock was made.
    Real(Instant),
    /// As far as it was moved on.
    Model(Duration),
}

/// In model time, a future waits for something that no sleep leads to, so that it would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlockError;

impl fmt::Display for DeadlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a future waits, and nothing in model time is left that could wake it")
    }
}

impl std::error::Error for DeadlockError {}

impl Clock {
    /// A clock that shows the time since now.
    #[must_use]
    pub fn real() -> Self {
        Self::at(TimeSource::Real(Instant::now()))
    }

    /// A clock that stands at zero, and moves on to the next alarm whenever every future waits.
    #[must_use]
    pub fn simulated() -> Self {
        Self::at(TimeSource::Model(Duration::ZERO))
    }

    fn at(time: TimeSource) -> Self {
        Self(Arc::new(Mutex::new(ClockState { time, alarms: BTreeMap::new(), next_alarm: 0 })))
    }

    /// What it shows.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.face().now()
    }

    /// Waits. It is woken by [`block_on`](Self::block_on) of the same clock, on whichever thread, and by nothing else.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> Sleep {
        let mut face = self.face();
        let number = face.next_alarm;
        face.next_alarm += 1;
        Sleep { clock: self.clone(), alarm: (face.now().saturating_add(time), number) }
    }

    /// Runs a future to its end on this thread.
    ///
    /// # Errors
    /// [`Stuck`], in model time alone.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, DeadlockError> {
        let woken = Arc::new(ThreadWaker { thread: thread::current(), is: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            if woken.is.swap(false, Ordering::AcqRel) {
                continue;
            }
            match self.time_to_next_timer()? {
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
            self.wake_due_timers();
        }
    }

    /// How long nothing will happen by itself; in model time, that has passed by then.
    fn time_to_next_timer(&self) -> Result<Option<Duration>, DeadlockError> {
        let mut face = self.face();
        let alarm = face.alarms.first_key_value().map(|(&(at, _), _)| at);
        match (&mut face.time, alarm) {
            (TimeSource::Model(_), None) => Err(DeadlockError),
            (TimeSource::Model(now), Some(at)) => {
                *now = at.max(*now);
                Ok(Some(Duration::ZERO))
            }
            (TimeSource::Real(since), alarm) => Ok(alarm.map(|at| at.saturating_sub(since.elapsed()))),
        }
    }

    /// Wakes everybody whose time has come.
    fn wake_due_timers(&self) {
        let mut face = self.face();
        let now = face.now();
        let later = face.alarms.split_off(&(now.saturating_add(Duration::from_nanos(1)), 0));
        let due = std::mem::replace(&mut face.alarms, later);
        drop(face);
        due.into_values().for_each(Waker::wake);
    }

    fn face(&self) -> MutexGuard<'_, ClockState> {
        super::locked(&self.0)
    }
}

impl ClockState {
    fn now(&self) -> Duration {
        match self.time {
            TimeSource::Real(since) => since.elapsed(),
            TimeSource::Model(now) => now,
        }
    }
}

/// The future of [`Clock::sleep`].
#[derive(Debug)]
pub struct Sleep {
    clock: Clock,
    alarm: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut face = self.clock.face();
        if face.now() >= self.alarm.0 {
            return Poll::Ready(());
        }
        face.alarms.insert(self.alarm, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.face().alarms.remove(&self.alarm);
    }
}

/// The thread that runs the future, and whether it was woken since it looked last.
struct ThreadWaker {
    thread: Thread,
    is: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.is.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::{join, pending};

    #[test]
    fn model_time_passes_only_while_everybody_waits() {
        let clock = Clock::simulated();
        let (long, short) = (clock.sleep(Duration::from_secs(3600)), clock.sleep(Duration::from_secs(60)));
        let seen = Mutex::new(Vec::new());
        let (clock_of_long, clock_of_short) = (clock.clone(), clock.clone());
        let both = join(
            async {
                long.await;
                seen.lock().unwrap().push(clock_of_long.now().as_secs());
            },
            async {
                short.await;
                seen.lock().unwrap().push(clock_of_short.now().as_secs());
            },
        );
        clock.block_on(both).unwrap();
        assert_eq!(*seen.lock().unwrap(), [60, 3600]);
    }

    #[test]
    fn dropped_sleep_wakes_no_task() {
        let clock = Clock::simulated();
        let given_up = clock.sleep(Duration::from_secs(1));
        drop(given_up);
        assert_eq!(clock.block_on(pending::<()>()), Err(DeadlockError));
        assert_eq!(clock.now(), Duration::ZERO);
    }

    #[test]
    fn real_time_passes_and_other_threads_can_wake() {
        let clock = Clock::real();
        clock.block_on(clock.sleep(Duration::from_millis(5))).unwrap();
        assert!(clock.now() >= Duration::from_millis(5));
        let (sender, receiver) = futures_channel::oneshot::channel();
        let other = thread::spawn(move || sender.send(7));
        assert_eq!(clock.block_on(receiver).unwrap(), Ok(7));
        other.join().unwrap().unwrap();
    }
}
