//! The actions of the host: what it sends, and when.

use super::{SimulatedHost, World};
use crate::fault::FaultKind;
use crate::ledger::{Content, SCOPE, user};
use futures_channel::oneshot;
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::{CallId, Input};
use orchestrion_runtime::{
    Call, IdempotencyKey, JournalFile, MailboxError, Message, NewRequest, OpenError, Reply, SessionUser,
};
use std::future::Future;
use std::sync::MutexGuard;
use std::task::Context;
use std::time::Duration;

/// The time after which an input without an acknowledgement is sent again.
const REPEAT: Duration = Duration::from_secs(95);

/// The time after which a process makes no progress.
const PROCESS_MAX: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(super) enum Action {
    /// Sends an input.
    Send(usize),
    /// Sends another content under the key of an input.
    Reuse(usize),
    Reply(CallId, Box<Reply>),
    Fail(CallId, Failure),
    NotStarted(CallId),
    /// Sends what is not acknowledged, or ends the conversation.
    Continue,
    Disconnect,
    JumpForward,
    JumpBackward,
    OpenTwice,
    Pause,
}

impl SimulatedHost {
    /// Performs the actions that are due. Returns whether there was one; otherwise a timer wakes the task.
    pub(crate) fn act(&self, context: &mut Context<'_>) -> bool {
        let now = self.clock.now();
        let mut world = self.world();
        if now > PROCESS_MAX {
            world.violations.push("a process makes no progress".to_owned());
            self.disk.end_process();
            return true;
        }
        let mut has_acted = false;
        while let Some(entry) = world.queue.first_entry().filter(|entry| entry.key().0 <= now) {
            let action = entry.remove();
            self.perform(world, action, now);
            // The process sees replies that arrive together at once.
            world = self.world();
            has_acted = true;
            if world.plan.reply_seconds.is_none() {
                break;
            }
        }
        if has_acted {
            return true;
        }
        let Some((&(at, _), _)) = world.queue.first_key_value() else { return false };
        if world.timer.as_ref().is_none_or(|(set, _)| *set != at) {
            world.timer = Some((at, Box::pin(self.clock.sleep(at - now))));
        }
        world.timer.as_mut().is_some_and(|(_, timer)| timer.as_mut().poll(context).is_ready())
    }

    /// Whether the process stands still.
    pub(crate) fn is_paused(&self) -> bool {
        self.world().paused_until > self.clock.now()
    }

    pub(super) fn count(&self, kind: FaultKind) {
        self.disk.state().counts.add(kind);
    }

    fn perform(&self, mut world: MutexGuard<'_, World>, action: Action, now: Duration) {
        match action {
            Action::Send(index) => {
                let input = &world.ledger.inputs[index];
                if input.key.is_none() && input.sent > 0 {
                    return;
                }
                if world.send_input(index, false).is_err() {
                    world.schedule(now + Duration::from_secs(1), Action::Send(index));
                } else if world.ledger.inputs[index].sent > 1 {
                    self.count(FaultKind::RepeatedInput);
                }
            }
            Action::Reuse(index) => {
                let is_known = world.ledger.inputs[index].acknowledgement.is_some();
                if is_known && world.send_input(index, true).is_ok() {
                    self.count(FaultKind::ReusedKey);
                }
            }
            Action::Reply(call, reply) => world.send(reply.into_input(call)),
            Action::Fail(call, failure) => world.send(Input::CallFailed { call, failure }),
            Action::NotStarted(call) => {
                let sender = world.link.as_mut().and_then(|link| link.recovering.remove(&call));
                // Fails if the deadline of the recovery has passed.
                let _ = sender.map(|sender| sender.send(()));
            }
            Action::Continue => world.continue_or_close(now),
            Action::Disconnect => {
                self.count(FaultKind::Disconnection);
                if let Some(link) = &mut world.link {
                    let _ = link.disconnected.try_send(());
                }
            }
            Action::JumpForward => {
                self.count(FaultKind::ClockForward);
                let jump = world.random.below(10 * 86_400_000);
                world.now_ms = world.now_ms.saturating_add(jump);
            }
            Action::JumpBackward => {
                self.count(FaultKind::ClockBackward);
                let jump = world.random.below(10 * 86_400_000);
                world.now_ms = world.now_ms.saturating_sub(jump);
            }
            Action::OpenTwice => {
                self.count(FaultKind::SecondProcess);
                let result = self.open_second();
                world.violate(result);
            }
            Action::Pause => {
                self.count(FaultKind::PausedProcess);
                let pause = Duration::from_secs(1 + world.random.below(300));
                world.paused_until = now + pause;
                world.schedule(now + pause / 2, Action::OpenTwice);
                world.schedule(now + pause, Action::Continue);
            }
        }
    }

    /// A second process is refused while the first one runs or stands still.
    fn open_second(&self) -> Result<(), String> {
        match JournalFile::from_storage(self.disk.open(), "office.ndjson") {
            Err(OpenError::Locked { .. }) => Ok(()),
            Err(error) => Err(format!("a second process found no lock, but: {error}")),
            Ok(_) => Err("two processes have one journal open".to_owned()),
        }
    }
}

impl World {
    fn schedule(&mut self, at: Duration, action: Action) {
        self.next_action += 1;
        self.queue.insert((at, self.next_action), action);
    }

    /// A time within so many seconds. Whole seconds, if replies arrive together.
    fn within(&mut self, seconds: u64) -> Duration {
        let time = Duration::from_millis(self.random.below(seconds * 1000 + 1));
        if self.plan.reply_seconds.is_some() { Duration::from_secs(time.as_secs()) } else { time }
    }

    /// Schedules what the host does in a new process.
    pub(super) fn schedule_process(&mut self) {
        for index in 0..self.ledger.inputs.len() {
            let input = &self.ledger.inputs[index];
            let (is_open, has_key) = (input.is_open(), input.key.is_some());
            let is_write = !input.content.is_request();
            // An acknowledged input may be sent again.
            let is_repeated = !is_open && has_key && self.meets(FaultKind::RepeatedInput, 3);
            if (is_open && is_write) || is_repeated {
                let at = self.within(40);
                self.schedule(at, Action::Send(index));
            }
            if has_key && self.meets(FaultKind::ReusedKey, 4) {
                let at = self.within(120);
                self.schedule(at, Action::Reuse(index));
            }
        }
        self.schedule_next(Duration::ZERO);
        self.schedule(REPEAT, Action::Continue);
        let others = [
            (FaultKind::Disconnection, Action::Disconnect),
            (FaultKind::ClockForward, Action::JumpForward),
            (FaultKind::ClockBackward, Action::JumpBackward),
            (FaultKind::SecondProcess, Action::OpenTwice),
            (FaultKind::PausedProcess, Action::Pause),
        ];
        for (kind, action) in others {
            if self.meets(kind, 2) {
                let at = self.within(60);
                self.schedule(at, action);
            }
        }
    }

    /// Schedules the next request that is open. Sometimes two, so that one is refused.
    pub(super) fn schedule_next(&mut self, now: Duration) {
        let inputs = &self.ledger.inputs;
        let is_scheduled = self.queue.values().any(|action| match action {
            Action::Send(index) => inputs[*index].content.is_request() && inputs[*index].is_open(),
            _ => false,
        });
        let next = inputs.iter().position(|input| input.content.is_request() && input.is_open());
        if let Some(index) = next
            && (!is_scheduled || self.random.one_in(6))
        {
            let at = now + self.within(5);
            self.schedule(at, Action::Send(index));
        }
    }

    /// Schedules the reply to a call. Returns the faults.
    pub(super) fn schedule_reply(&mut self, now: Duration, call: &Call, reply: Reply) -> Vec<FaultKind> {
        if self.meets(FaultKind::MissingReply, 25) {
            return vec![FaultKind::MissingReply];
        }
        let mut faults = Vec::new();
        let prompt = match self.plan.reply_seconds {
            Some(seconds) => Duration::from_secs(self.random.below(seconds)),
            None => self.within(3),
        };
        let mut at = now + prompt;
        if self.meets(FaultKind::LateReply, 15) {
            faults.push(FaultKind::LateReply);
            at = now + Duration::from_millis(call.deadline_ms) + self.within(20);
        }
        if self.meets(FaultKind::MalformedReply, 25) {
            faults.push(FaultKind::MalformedReply);
            self.schedule(at, Action::Reply(call.id, Box::new(Report::Stored { held: false }.into())));
            return faults;
        }
        if self.meets(FaultKind::UnknownCall, 15) {
            faults.push(FaultKind::UnknownCall);
            let unknown = CallId::new(call.id.number() + 1000);
            self.schedule(at, Action::Reply(unknown, Box::new(reply.clone())));
        }
        if self.meets(FaultKind::RepeatedReply, 8) {
            faults.push(FaultKind::RepeatedReply);
            let again = at + self.within(10);
            self.schedule(again, Action::Reply(call.id, Box::new(reply.clone())));
        }
        self.schedule(at, Action::Reply(call.id, Box::new(reply)));
        faults
    }

    pub(super) fn schedule_unknown(&mut self, now: Duration, call: CallId) {
        let at = now + self.within(3);
        self.schedule(at, Action::Fail(call, Failure::OutcomeUnknown));
    }

    /// Schedules the report that a call never started.
    pub(super) fn schedule_not_started(&mut self, now: Duration, call: CallId) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        if let Some(link) = &mut self.link {
            link.recovering.insert(call, sender);
        }
        let at = now + self.within(3);
        self.schedule(at, Action::NotStarted(call));
        receiver
    }

    fn continue_or_close(&mut self, now: Duration) {
        if self.ledger.is_complete() && self.is_last {
            self.ledger.is_close_sent = true;
            if let Some(link) = &mut self.link {
                let _ = link.closes.try_send(());
            }
            return;
        }
        for index in 0..self.ledger.inputs.len() {
            let input = &self.ledger.inputs[index];
            if input.is_open() && !input.content.is_request() {
                let at = now + self.within(5);
                self.schedule(at, Action::Send(index));
            }
        }
        self.schedule_next(now);
        self.schedule(now + REPEAT, Action::Continue);
        if !self.is_last && (self.ledger.is_complete() || now > REPEAT * 20) {
            self.schedule(now, Action::Disconnect);
        }
    }

    fn send(&mut self, input: Input) {
        if let Some(link) = &mut self.link {
            // A full mailbox refuses the message, and its call exceeds its deadline.
            let _ = link.mailbox.send(Message { input, note: None, sequence: Some(1) });
        }
    }

    /// Sends an input, or another content under its key.
    fn send_input(&mut self, index: usize, is_other: bool) -> Result<(), MailboxError> {
        let Self { link: Some(link), ledger, plan, answers, .. } = self else { return Ok(()) };
        let input = &mut ledger.inputs[index];
        let content = match is_other {
            true => Content::Signal(format!("other content of {index}")),
            false => input.content.clone(),
        };
        let key = input.key.clone().and_then(|key| IdempotencyKey::new(key).ok());
        let mailbox = &mut link.mailbox;
        match (&content, key) {
            (Content::Request(text), key) => {
                let request = NewRequest { text: text.as_str().into(), scope: SCOPE, key };
                mailbox.request(SessionUser::from(user()), request, Some(1))
            }
            (Content::Cancel, Some(key)) => mailbox.cancel_with_key(key, Some(1)),
            (Content::Cancel, None) => mailbox.cancel(),
            (Content::Signal(_) | Content::Working(..), key) => match (content.write(), key) {
                (Some(write), Some(key)) => mailbox.write_with_key(key, write, Some(1)),
                (Some(write), None) => mailbox.write(write),
                (None, _) => Ok(()),
            },
        }?;
        match is_other {
            true => plan.reused_keys.extend(input.key.clone()),
            false => {
                input.sent += 1;
                input.key.iter().for_each(|key| answers.entry(key.clone()).or_default().sent += 1);
            }
        }
        Ok(())
    }
}
