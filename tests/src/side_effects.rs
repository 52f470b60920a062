//! A simulated outside world, which records what really happened independently of the journal, and a host that acts in
//! it.

use orchestrion_kernel::event::EffectOutcome;
use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Event, RequestId, Score, TaskId};
use orchestrion_runtime::{Call, CallPayload, CallResult, Clock, Host, RecoveryResult};
use orchestrion_trace::{Reader, Step, TraceErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A change of the outside world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideEffect {
    /// The request.
    pub trace: String,
    /// The call that caused it.
    pub call: u64,
    /// The task.
    pub task: u32,
    /// Whether the task was undone; otherwise it was executed.
    pub undone: bool,
}

/// All changes of the outside world, in memory and optionally in a file that survives the process.
#[derive(Debug, Default)]
pub struct SideEffectLog {
    file: Option<File>,
    effects: Vec<SideEffect>,
}

impl SideEffectLog {
    /// Opens a world whose file survives the process.
    ///
    /// # Errors
    ///
    /// Errors of reading or writing the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut effects = Vec::new();
        for line in BufReader::new(&file).lines() {
            effects.push(serde_json::from_str(&line?)?);
        }
        Ok(Self { file: Some(file), effects })
    }

    /// Returns all changes so far.
    #[must_use]
    pub fn effects(&self) -> &[SideEffect] {
        &self.effects
    }

    fn record(&mut self, effect_record: SideEffect) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&effect_record)?;
            line.push(b'\n');
            file.write_all(&line)?;
        }
        self.effects.push(effect_record);
        Ok(())
    }
}

/// A host whose requests take different paths: one succeeds, one is rolled back, one is repaired, one is vetoed.
pub struct EffectfulHost<T> {
    side_effects: Mutex<SideEffectLog>,
    clock: Clock,
    /// Receives every call before it is executed.
    observe: T,
}

impl<T> std::fmt::Debug for EffectfulHost<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EffectfulHost").field("side_effects", &self.side_effects).finish_non_exhaustive()
    }
}

impl<T: Fn(&Call) + Send + Sync> EffectfulHost<T> {
    /// Creates a host in this world.
    pub const fn new(side_effects: SideEffectLog, clock: Clock, observe: T) -> Self {
        Self { side_effects: Mutex::new(side_effects), clock, observe }
    }

    /// Returns the world after the run.
    pub fn into_side_effects(self) -> SideEffectLog {
        self.side_effects.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn side_effects(&self) -> MutexGuard<'_, SideEffectLog> {
        self.side_effects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn perform(&self, call: &Call) -> CallResult {
        if let Some(effect_record) = side_effect(call) {
            self.side_effects()
                .record(effect_record)
                .map_err(|error| orchestrion_runtime::CallError::error(error.to_string()))?;
        }
        Ok(report(call).into())
    }
}

impl<T: Fn(&Call) + Send + Sync> Host for EffectfulHost<T> {
    async fn execute(&self, call: &Call) -> CallResult {
        (self.observe)(call);
        self.perform(call)
    }

    /// Looks up whether the call took effect; for every fifth call the result is unknown.
    async fn recover(&self, call: &Call) -> RecoveryResult {
        let has_effect = self.side_effects().effects.iter().any(|effect_record| {
            effect_record.call == call.id.number() && effect_record.trace == call.trace.to_string()
        });
        match (call.id.number() % 5, has_effect) {
            (0, _) => RecoveryResult::OutcomeUnknown,
            (_, true) => RecoveryResult::Completed(Ok(report(call).into())),
            (_, false) => RecoveryResult::NotStarted,
        }
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }
}

fn side_effect(call: &Call) -> Option<SideEffect> {
    let (task, undone) = match call.operation {
        Operation::RunTask { task, .. } => (task, false),
        Operation::UndoTask { task } => (task, true),
        _ => return None,
    };
    Some(SideEffect { trace: call.trace.to_string(), call: call.id.number(), task: task.number(), undone })
}

fn report(call: &Call) -> Report {
    let request = call.trace.request.number() % 4;
    let argue = |stance, millionths| Report::Argument {
        argument: Argument { stance, confidence: Score::from_millionths(millionths).unwrap_or_default() },
        text: "so ist es, früh und spät".into(),
        plan: None,
    };
    let exit = |code, text: &str| Report::Exit { code, text: text.into(), number: None };
    match call.operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => Report::Summary { text: "was früher war".into(), forgets: None },
        Operation::Classify => {
            Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
        }
        Operation::DraftPlan => Report::Plan(plan(&[1, 2, 3, 4])),
        Operation::ReviewRevision | Operation::Argue(orchestrion_kernel::module::Role::Security)
            if request == 0 =>
        {
            argue(Stance::Con, 950_000)
        }
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            argue(Stance::Pro, 900_000)
        }
        Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
        Operation::RunTask { task, .. } if task.number() == 4 && matches!(request, 2 | 3) => exit(1, "no"),
        Operation::RunTask { .. } | Operation::UndoTask { .. } => match &call.payload {
            Some(CallPayload::Task(task)) => exit(0, task.text.as_str()),
            // Every context must contain the task.
            other => exit(7, &format!("expected a task payload, found {other:?}")),
        },
        Operation::Diagnose if request == 3 => Report::Repaired { text: "try 5".into(), plan: plan(&[5]) },
        Operation::Diagnose => Report::NoRepair { text: "no idea".into() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}

/// Returns a plan: odd tasks are pure, the others can be undone.
fn plan(tasks: &[u32]) -> Plan {
    let effect = |task| match task % 2 {
        0 => Effect::Undoable { compensation: format!("undo {task}").into() },
        _ => Effect::Pure,
    };
    let task = |task: &u32| Task {
        id: TaskId::new(*task),
        text: format!("do {task}").into(),
        effect: effect(*task),
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    match Plan::new(tasks.iter().map(task).collect()) {
        Ok(plan) => plan,
        Err(error) => unreachable!("{error}"),
    }
}

/// Returns the steps of the intact prefix of a journal.
#[must_use]
pub fn steps(journal: &[u8]) -> Vec<Step> {
    let Ok(reader) = Reader::new(journal, "journal") else { return Vec::new() };
    reader.map_while(Result::ok).collect()
}

/// Returns whether a journal is intact to its last line.
#[must_use]
pub fn is_intact(journal: &[u8]) -> bool {
    let Ok(reader) = Reader::new(journal, "journal") else { return false };
    reader.filter_map(Result::err).all(|error| matches!(error.kind, TraceErrorKind::MissingEnd))
}

/// Checks a journal against the recorded side effects.
///
/// # Errors
///
/// The first mismatch, as a sentence.
pub fn check_journal(journal: &[u8], side_effects: &SideEffectLog) -> Result<(), String> {
    let steps = steps(journal);
    let sent: Vec<u64> = sent_calls(&steps);
    let mut times: BTreeMap<(String, u32, bool), u32> = BTreeMap::new();
    for (n, effect_record) in side_effects.effects.iter().enumerate() {
        let is_undoable = effect_record.task % 2 == 0;
        if side_effects.effects[..n].contains(effect_record) && is_undoable {
            return Err(format!("duplicate effect: {effect_record:?}"));
        }
        if !sent.contains(&effect_record.call) {
            return Err(format!("the journal lacks a sent call: {effect_record:?}"));
        }
        *times.entry((effect_record.trace.clone(), effect_record.task, effect_record.undone)).or_default() +=
            1;
    }
    for event in steps.iter().flat_map(|step| &step.events) {
        let Event::AuditRecorded { record } = event else { continue };
        for task in &record.tasks {
            let count = |undone| {
                times.get(&(record.trace.to_string(), task.task.number(), undone)).copied().unwrap_or(0)
            };
            let is_consistent = match task.effect {
                None => true,
                Some(EffectOutcome::Kept) => (count(false), count(true)) == (1, 0),
                // With an unknown recovery result the task may never have run.
                Some(EffectOutcome::Undone) => count(false) <= 1 && count(true) == 1,
                Some(EffectOutcome::UndoFailed) => count(false) <= 1 && count(true) <= 1,
            };
            if !is_consistent {
                let (ran, undone) = (count(false), count(true));
                return Err(format!(
                    "{}: the audit records task {} as {:?}, but it ran {ran} times and was undone {undone} times",
                    record.trace, task.task, task.effect
                ));
            }
        }
    }
    Ok(())
}

/// Returns the calls that a journal records as sent.
#[must_use]
pub fn sent_calls(steps: &[Step]) -> Vec<u64> {
    let events = steps.iter().flat_map(|step| &step.events);
    let call = |event: &Event| match event {
        Event::ToolCall { call, .. } => Some(call.number()),
        _ => None,
    };
    events.filter_map(call).collect()
}

/// Returns the requests that a journal records as completed.
#[must_use]
pub fn completed_requests(steps: &[Step]) -> Vec<RequestId> {
    let events = steps.iter().flat_map(|step| &step.events);
    let request = |event: &Event| match event {
        Event::FinalAnswer { trace, .. } => Some(trace.request),
        _ => None,
    };
    events.filter_map(request).collect()
}

/// Reproducible random numbers: a linear congruential generator.
#[derive(Clone, Copy, Debug)]
pub struct Lcg(pub u64);

impl Lcg {
    /// Returns a number below this one.
    pub const fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
