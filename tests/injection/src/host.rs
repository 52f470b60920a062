//! The simulated host at the other end of the connection.
//!
//! As the pipe of `run --stdio`, it answers calls through the mailbox. Its actions are a queue in simulated time.

mod actions;

use crate::disk::Disk;
use crate::fault::FaultKind;
use crate::ledger::{InputAcknowledgement, Ledger, effect};
use crate::modules::report;
use crate::plan::Plan;
use crate::random::{Random, Stream};
use actions::Action;
use futures_channel::{mpsc, oneshot};
use orchestrion_kernel::CallId;
use orchestrion_runtime::{
    Acknowledgement, Call, CallResult, Clock, Host, KeyResult, Mailbox, RecoveryResult, Sleep,
    lock_ignoring_poison,
};
use orchestrion_stdio::protocol::ToHost;
use orchestrion_stdio::{Connection, HostEvents};
use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The time at the start of a run, in milliseconds since 1970.
const START_MS: u64 = 1_767_225_600_000;

/// The host, and its connection to the running process.
#[derive(Debug)]
pub(crate) struct SimulatedHost {
    disk: Disk,
    clock: Clock,
    world: Mutex<World>,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) ledger: Ledger,
    pub(crate) violations: Vec<String>,
    random: Random,
    /// The time before this process, and the jumps of the clock.
    now_ms: u64,
    queue: BTreeMap<(Duration, u64), Action>,
    next_action: u64,
    timer: Option<(Duration, Pin<Box<Sleep>>)>,
    paused_until: Duration,
    is_last: bool,
    /// Whether the process ended when the host executed an effect.
    pub(crate) has_ended_in_effect: bool,
    /// The inputs that were sent to this process under a key, and its answers that they were recorded.
    answers: BTreeMap<String, Answers>,
    link: Option<Link>,
}

#[derive(Debug, Default)]
struct Answers {
    sent: u32,
    recorded: u32,
}

/// The connection to one process.
#[derive(Debug)]
struct Link {
    mailbox: Mailbox,
    closes: mpsc::Sender<()>,
    disconnected: mpsc::Sender<()>,
    recovering: BTreeMap<CallId, oneshot::Sender<()>>,
}

impl SimulatedHost {
    pub(crate) fn new(seed: u64, disk: Disk, plan: Plan, ledger: Ledger) -> Self {
        let world = World {
            plan,
            ledger,
            violations: Vec::new(),
            random: Random::new(seed, Stream::Host),
            now_ms: START_MS,
            queue: BTreeMap::new(),
            next_action: 0,
            timer: None,
            paused_until: Duration::ZERO,
            is_last: false,
            has_ended_in_effect: false,
            answers: BTreeMap::new(),
            link: None,
        };
        Self { disk, clock: Clock::simulated(), world: Mutex::new(world) }
    }

    /// Connects to a new process. In the last one, no fault is injected.
    pub(crate) fn connect(&mut self, mailbox: Mailbox, is_last: bool) -> (Clock, HostEvents) {
        let world = self.world.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        world.now_ms = world.now_ms.saturating_add(self.clock.now().as_millis() as u64);
        self.clock = Clock::simulated();
        let (closes, closes_receiver) = mpsc::channel(1);
        let (disconnected, disconnected_receiver) = mpsc::channel(1);
        world.link = Some(Link { mailbox, closes, disconnected, recovering: BTreeMap::new() });
        world.queue.clear();
        world.timer = None;
        world.paused_until = Duration::ZERO;
        world.is_last = is_last;
        world.has_ended_in_effect = false;
        world.answers.clear();
        world.schedule_process();
        (self.clock.clone(), HostEvents { closes: closes_receiver, disconnected: disconnected_receiver })
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        lock_ignoring_poison(&self.world)
    }

    /// Looks whether the world has the effect of a call. Returns the report that it never started, or `None` if a reply follows.
    fn start_recovery(&self, call: &Call) -> Option<oneshot::Receiver<()>> {
        let mut world = self.reach()?;
        self.disk.state().note(|_| format!("recovery of {call} of {}: {:?}", call.trace, call.operation));
        let now = self.clock.now();
        match effect(call) {
            // A disk that lost lines: the journal knows neither the effect nor its compensation.
            Some(effect) if world.ledger.is_undone(&effect) => {
                world.schedule_unknown(now, call.id);
                None
            }
            Some(effect) if world.ledger.has_effect(&effect) => {
                let faults = world.schedule_reply(now, call, report(call).into());
                drop(world);
                faults.into_iter().for_each(|kind| self.count(kind));
                None
            }
            // The world knows the trace and the task, and they do not fit.
            Some(effect) if world.ledger.has_other_effect(call, &effect) => {
                world.schedule_unknown(now, call.id);
                None
            }
            _ => Some(world.schedule_not_started(now, call.id)),
        }
    }

    /// The host as a running process reaches it; `None` after the end of the process. A process may end before a message arrives.
    fn reach(&self) -> Option<MutexGuard<'_, World>> {
        if self.disk.is_down() {
            return None;
        }
        let mut world = self.world();
        if world.plan.is_enabled(FaultKind::ProcessCrash) && !world.is_last && world.random.one_in(60) {
            self.disk.end_process();
            self.count(FaultKind::ProcessCrash);
            return None;
        }
        Some(world)
    }
}

impl World {
    /// Whether a fault of the host occurs now: of an enabled kind, in one of so many cases.
    fn meets(&mut self, kind: FaultKind, cases: u64) -> bool {
        !self.is_last && self.plan.is_enabled(kind) && self.random.one_in(cases)
    }

    fn violate(&mut self, result: Result<(), String>) {
        self.violations.extend(result.err());
    }
}

impl Host for SimulatedHost {
    async fn execute(&self, call: &Call) -> CallResult {
        if let Some(mut world) = self.reach() {
            self.disk.state().note(|_| format!("{call} of {}: {:?}", call.trace, call.operation));
            if let Some(effect) = effect(call) {
                world.ledger.step = world.ledger.step.max(call.step);
                let executed = world.ledger.execute(call, effect);
                world.violate(executed);
                let is_last_effect = world.plan.ends_at_effect == Some(world.ledger.effects.len());
                if is_last_effect || world.meets(FaultKind::ProcessCrash, 8) {
                    world.has_ended_in_effect = true;
                    self.disk.end_process();
                    self.count(FaultKind::ProcessCrash);
                }
            }
            let now = self.clock.now();
            let faults = world.schedule_reply(now, call, report(call).into());
            drop(world);
            faults.into_iter().for_each(|kind| self.count(kind));
        }
        pending().await
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        if let Some(not_started) = self.start_recovery(call)
            && not_started.await.is_ok()
        {
            return RecoveryResult::NotStarted;
        }
        pending().await
    }

    fn acknowledge(&self, notice: &Acknowledgement) {
        let Some(mut world) = self.reach() else { return };
        let KeyResult::Recorded { is_accepted, .. } = notice.result else {
            // Only a key that was used for another content is answered so.
            let is_expected = world.plan.reused_keys.contains(&notice.key);
            world.violate(if is_expected { Ok(()) } else { Err(format!("unexpected: {notice}")) });
            return;
        };
        self.disk.state().note(|_| notice.to_string());
        let answers = world.answers.entry(notice.key.clone()).or_default();
        answers.recorded += 1;
        if answers.recorded > answers.sent {
            world.violations.push(format!("an input that was not sent is acknowledged: {notice}"));
        }
        if world.meets(FaultKind::LostAcknowledgement, 4) {
            self.count(FaultKind::LostAcknowledgement);
            return;
        }
        let found = InputAcknowledgement { step: notice.step, is_accepted };
        let before = world.ledger.input(&notice.key).map(|input| input.acknowledgement.replace(found));
        let result = match before {
            None => Err(format!("acknowledgement of an input that was not sent: {notice}")),
            Some(Some(before)) if before != found => {
                Err(format!("another acknowledgement of `{}`: {before:?}, then {found:?}", notice.key))
            }
            Some(_) => Ok(()),
        };
        world.violate(result);
        world.ledger.step = world.ledger.step.max(notice.step);
        world.schedule_next(self.clock.now());
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        self.world().now_ms.saturating_add(self.clock.now().as_millis() as u64)
    }
}

impl Connection for SimulatedHost {
    fn send(&self, message: &ToHost<'_>) {
        let Some(mut world) = self.reach() else { return };
        match message {
            ToHost::FinalAnswer { .. } => world.schedule_next(self.clock.now()),
            ToHost::Halted { reason } => world.violations.push(format!("halted: {reason}")),
            ToHost::Opened { .. }
            | ToHost::Call(_)
            | ToHost::Recover(_)
            | ToHost::Acknowledged { .. }
            | ToHost::KeyReused { .. }
            | ToHost::Refused { .. }
            | ToHost::HandoffRefused { .. }
            | ToHost::ParseFailed { .. }
            | ToHost::Closed => {}
        }
    }

    fn has_requests(&self) -> bool {
        true
    }
}
