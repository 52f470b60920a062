//! A run: processes one after the other on one journal, until the conversation is closed or its journal refused.

use crate::disk::{Disk, DiskFile, PlannedFault};
use crate::fault::{FaultCounts, FaultKind};
use crate::host::SimulatedHost;
use crate::ledger::Ledger;
use crate::oracle::{Before, Opened, check_closed, is_replayed};
use crate::plan::Plan;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Conversation, JournalFile, OpenError, RuntimeError};
use orchestrion_stdio::{ExitReason, Requests, converse};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The result of a run without a violation.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The injected faults.
    pub faults: FaultCounts,
    /// The processes.
    pub processes: u64,
    /// The processes that ended within an operation or before a message.
    pub crashes: u64,
    /// The restarts of the machine.
    pub restarts: u64,
    /// The journals that were opened after a truncated tail.
    pub recovered: u64,
    /// The refused openings.
    pub refused: u64,
    /// The closed conversations.
    pub closed: u64,
    /// The acknowledged inputs.
    pub acknowledged: u64,
    /// The executed effects.
    pub effects: u64,
    /// The openings with a snapshot.
    pub snapshots: u64,
}

impl Outcome {
    /// Adds another outcome.
    pub fn add(&mut self, other: &Self) {
        self.faults.add_all(&other.faults);
        self.processes += other.processes;
        self.crashes += other.crashes;
        self.restarts += other.restarts;
        self.recovered += other.recovered;
        self.refused += other.refused;
        self.closed += other.closed;
        self.acknowledged += other.acknowledged;
        self.effects += other.effects;
        self.snapshots += other.snapshots;
    }
}

/// How a process ended.
pub(crate) enum ProcessEnd {
    /// The next process continues.
    Continues,
    /// The conversation is closed, or no process can open it.
    Ended,
}

/// The processes after which a run without an end fails.
const PROCESSES_MAX: u64 = 60;

pub(crate) struct Run {
    disk: Disk,
    host: SimulatedHost,
    header: Header,
    outcome: Outcome,
}

/// Runs the conversation of a seed.
///
/// # Errors
/// The violation, as a sentence.
pub fn run_seed(seed: u64) -> Result<Outcome, String> {
    run(seed, &Disk::new(seed))
}

/// Runs the conversation of a seed, and returns its events, too.
pub fn run_logged_seed(seed: u64) -> (Vec<String>, Result<Outcome, String>) {
    let disk = Disk::new(seed);
    disk.state().log = Some(Vec::new());
    let result = run(seed, &disk);
    (disk.state().log.take().unwrap_or_default(), result)
}

/// Runs the inputs of a seed with one fault: at the first operation of the first process from this number on that permits it. Then the
/// machine ends in the second process. Returns `None` if the process has no such operation.
///
/// # Errors
/// The violation, as a sentence.
pub fn run_single_fault(seed: u64, kind: FaultKind, operation: u64) -> Result<Option<Outcome>, String> {
    let (plan, inputs) = Plan::new(seed);
    let fault = PlannedFault { operation_from: operation, kind };
    let crash = PlannedFault { operation_from: 30, kind: FaultKind::MachineCrash };
    let plan = plan.with_faults(vec![vec![fault], vec![crash]]);
    let outcome = run_plan(seed, &Disk::new(seed), plan, Ledger { inputs, ..Ledger::default() })?;
    Ok((outcome.faults.get(kind) > u64::from(kind == FaultKind::MachineCrash)).then_some(outcome))
}

fn run(seed: u64, disk: &Disk) -> Result<Outcome, String> {
    let (plan, inputs) = Plan::new(seed);
    run_plan(seed, disk, plan, Ledger { inputs, ..Ledger::default() })
}

pub(crate) fn run_plan(seed: u64, disk: &Disk, plan: Plan, ledger: Ledger) -> Result<Outcome, String> {
    let faulty = plan.processes;
    let mut run = Run::new(seed, disk, plan, ledger);
    loop {
        if run.outcome.processes >= PROCESSES_MAX {
            return Err("the conversation does not end".to_owned());
        }
        let is_last = run.outcome.processes >= u64::from(faulty);
        run.outcome.processes += 1;
        let number = run.outcome.processes;
        run.disk.state().note(|_| format!("process {number}"));
        let end = run.run_process(is_last)?;
        if let Some(violation) = run.host.world().violations.first() {
            return Err(violation.clone());
        }
        if run.disk.state().has_two_calls {
            return Err("two calls wait for one sync".to_owned());
        }
        match end {
            ProcessEnd::Continues => run.between_processes(),
            ProcessEnd::Ended => return Ok(run.finish()),
        }
    }
}

impl Run {
    pub(crate) fn new(seed: u64, disk: &Disk, plan: Plan, ledger: Ledger) -> Self {
        let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
        let header = if plan.is_journal_form { header.into_journal() } else { header };
        let host = SimulatedHost::new(seed, disk.clone(), plan, ledger);
        Self { disk: disk.clone(), host, header, outcome: Outcome::default() }
    }

    /// The records of the host.
    pub(crate) fn into_ledger(self) -> Ledger {
        self.host.world().ledger.clone()
    }

    pub(crate) fn run_process(&mut self, is_last: bool) -> Result<ProcessEnd, String> {
        let (faults, passed_step) = {
            let mut world = self.host.world();
            let faults = if is_last { Vec::new() } else { world.plan.next_faults() };
            // A host without a stored step passes none.
            let step = world.plan.passes_step().then_some(world.ledger.step).filter(|step| *step > 0);
            (faults, step)
        };
        let before = Before::new(&self.disk);
        self.disk.start_process(faults);
        let had_snapshot = self.disk.has_snapshot();
        let opened =
            JournalFile::from_storage(self.disk.open(), "office.ndjson").and_then(
                |journal| match passed_step {
                    Some(step) => {
                        Conversation::open_acknowledged(journal, &self.header, &StandardContexts, step)
                    }
                    None => Conversation::open_with(journal, &self.header, &StandardContexts),
                },
            );
        let verdict = match &opened {
            Ok(conversation) => format!(
                "opened with {} steps, torn tail: {:?}",
                conversation.steps(),
                conversation.truncated_tail()
            ),
            Err(error) => format!("refused: {error}"),
        };
        self.disk.state().note(|_| verdict);
        let conversation = match opened {
            Ok(conversation) => conversation,
            Err(error) => return self.judge_refusal(&error, &before),
        };
        let is_loss_stated = conversation.truncated_tail().is_some();
        let opened = Opened {
            steps: conversation.steps(),
            is_loss_stated,
            used_snapshot: had_snapshot && conversation.snapshot_error().is_none(),
        };
        self.outcome.recovered += u64::from(opened.is_loss_stated);
        self.outcome.snapshots += u64::from(opened.used_snapshot);
        before.check_opened(&self.disk, &mut self.host.world().ledger, opened, passed_step)?;
        self.converse(conversation, is_last)
    }

    /// Runs a process until it ends.
    fn converse(
        &mut self,
        conversation: Conversation<JournalFile<DiskFile>>,
        is_last: bool,
    ) -> Result<ProcessEnd, String> {
        let (clock, events) = self.host.connect(conversation.mailbox(), is_last);
        let (host, disk) = (&self.host, &self.disk);
        let end = {
            let mut process = pin!(converse(conversation, None, Requests::Host, host, events));
            clock.block_on(poll_fn(|context| {
                loop {
                    if disk.is_down() {
                        return Poll::Ready(None);
                    }
                    if !host.is_paused()
                        && let Poll::Ready(end) = process.as_mut().poll(context)
                    {
                        return Poll::Ready(Some(end));
                    }
                    if !disk.is_down() && !host.act(context) {
                        return Poll::Pending;
                    }
                }
            }))
        };
        self.disk.state().note(|disk| format!("the process ends: {end:?}, down: {}", disk.is_down));
        let Ok(end) = end else { return Err("the conversation waits for no timer".to_owned()) };
        if disk.is_down() {
            self.outcome.crashes += 1;
            return Ok(ProcessEnd::Continues);
        }
        match end {
            Some(Ok(ExitReason::Closed)) => self.close(),
            Some(Ok(ExitReason::HostDisconnected(_))) | None => Ok(ProcessEnd::Continues),
            Some(Ok(ExitReason::Halted(refusal))) => Err(format!("halted: {refusal}")),
            Some(Err(RuntimeError::Journal { error, .. })) => match self.has_failed() {
                true => Ok(ProcessEnd::Continues),
                false => Err(format!("the journal failed without a fault: {error}")),
            },
            Some(Err(error)) => Err(format!("the process failed: {error}")),
        }
    }

    /// Checks a closed conversation. The replay refuses damage and lost lines that a snapshot hid.
    fn close(&mut self) -> Result<ProcessEnd, String> {
        let content = self.disk.content();
        let may_be_hidden = {
            let disk = self.disk.state();
            disk.is_damaged || disk.has_lost_lines
        };
        if may_be_hidden && !is_replayed(&content) {
            self.outcome.refused += 1;
            return Ok(ProcessEnd::Ended);
        }
        check_closed(&content, &self.host.world().ledger)?;
        self.outcome.closed += 1;
        Ok(ProcessEnd::Ended)
    }

    /// Whether the running process met an error of the disk.
    fn has_failed(&self) -> bool {
        let disk = self.disk.state();
        disk.met.iter().any(|kind| {
            matches!(
                kind,
                FaultKind::ReadError | FaultKind::WriteError | FaultKind::DiskFull | FaultKind::SyncError
            )
        })
    }

    /// Judges whether a refusal has a reason, and changed nothing.
    fn judge_refusal(&mut self, error: &OpenError, before: &Before) -> Result<ProcessEnd, String> {
        self.outcome.refused += 1;
        if self.disk.is_down() {
            self.outcome.crashes += 1;
            // It may have replaced a line that it misread as torn.
            let is_misread = self.disk.state().met.contains(&FaultKind::CorruptedRead);
            self.disk.state().is_damaged |= is_misread && before.check_unchanged(&self.disk).is_err();
            return Ok(ProcessEnd::Continues);
        }
        let (is_damaged, is_misread) = {
            let disk = self.disk.state();
            let is_misread = disk.met.contains(&FaultKind::CorruptedRead);
            (disk.is_damaged || disk.has_lost_lines, is_misread)
        };
        let unjustified = || Err(format!("refused without a reason: {error}"));
        match error {
            OpenError::Closed { .. } if self.host.world().ledger.is_close_sent => self.close(),
            OpenError::Io { .. } | OpenError::Trace(_) if self.has_failed() => Ok(ProcessEnd::Continues),
            OpenError::Trace(_) | OpenError::Shorter { .. } | OpenError::HeaderMismatch { .. } => {
                before.check_unchanged(&self.disk)?;
                match (is_misread, is_damaged) {
                    (true, _) => Ok(ProcessEnd::Continues),
                    (false, true) => Ok(ProcessEnd::Ended),
                    (false, false) => unjustified(),
                }
            }
            OpenError::Closed { .. }
            | OpenError::Io { .. }
            | OpenError::Locked { .. }
            | OpenError::TokenizerUnavailable(_) => unjustified(),
        }
    }

    /// What happens to the disk after a process.
    fn between_processes(&mut self) {
        let (restarts, loses_tail, is_corrupted) = {
            let world = &mut *self.host.world();
            let (plan, is_after_effect) = (&mut world.plan, world.has_ended_in_effect);
            (plan.restarts_machine(), plan.loses_tail(is_after_effect), plan.is_corrupted())
        };
        let mut disk = self.disk.state();
        let has_crashed = disk.met.last() == Some(&FaultKind::MachineCrash);
        if restarts && !has_crashed {
            disk.counts.add(FaultKind::MachineCrash);
        }
        if restarts || has_crashed || loses_tail || is_corrupted || disk.must_restart {
            self.outcome.restarts += 1;
            disk.restart_machine();
        }
        if loses_tail {
            disk.lose_tail();
        }
        if is_corrupted {
            disk.corrupt();
        }
    }

    fn finish(mut self) -> Outcome {
        let world = self.host.world();
        let acknowledged = world.ledger.inputs.iter().filter(|input| input.acknowledgement.is_some());
        self.outcome.acknowledged = acknowledged.count() as u64;
        self.outcome.effects = world.ledger.effects.len() as u64;
        drop(world);
        self.outcome.faults = self.disk.state().counts.clone();
        self.outcome
    }
}
