//! A simulated outside world, which records what really happened independently of the journal, and a host that acts in
//! it.

use orchestrion_kernel::event::EffectOutcome;
use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
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
    happenings: Vec<SideEffect>,
}

impl SideEffectLog {
    /// Opens a world whose file survives the process.
    ///
    /// # Errors Errors of reading or writing the file.
    pub fn in_file(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut happenings = Vec::new();
        for line in BufReader::new(&file).lines() {
            happenings.push(serde_json::from_str(&line?)?);
        }
        Ok(Self { file: Some(file), happenings })
    }

    /// Returns all changes so far.
    #[must_use]
    pub fn happenings(&self) -> &[SideEffect] {
        &self.happenings
    }

    fn happens(&mut self, happening: SideEffect) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let mut line = serde_json::to_vec(&happening)?;
            line.push(b'\n');
            file.write_all(&line)?;
        }
        self.happenings.push(happening);
        Ok(())
    }
}

/// A host whose requests take different paths: one succeeds, one is rolled back, one is repaired, one is vetoed.
pub struct EffectfulHost<T> {
    outside: Mutex<SideEffectLog>,
    clock: Clock,
    /// Receives every call before it is executed.
    tell: T,
}

impl<T> std::fmt::Debug for EffectfulHost<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("outside", &self.outside).finish_non_exhaustive()
    }
}

impl<T: Fn(&Call) + Send + Sync> EffectfulHost<T> {
    /// Creates a host in this world.
    pub const fn new(outside: SideEffectLog, clock: Clock, tell: T) -> Self {
        Self { outside: Mutex::new(outside), clock, tell }
    }

    /// Returns the world after the run.
    pub fn into_outside(self) -> SideEffectLog {
        self.outside.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn outside(&self) -> MutexGuard<'_, SideEffectLog> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn acts(&self, call: &Call) -> CallResult {
        if let Some(happening) = happening(call) {
            self.outside()
                .happens(happening)
                .map_err(|error| orchestrion_runtime::CallError::error(error.to_string()))?;
        }
        Ok(report(call).into())
    }
}

impl<T: Fn(&Call) + Send + Sync> Host for EffectfulHost<T> {
    async fn execute(&self, call: &Call) -> CallResult {
        (self.tell)(call);
        self.acts(call)
    }

    /// Looks up whether the call took effect; for every fifth call the result is unknown.
    async fn recover(&self, call: &Call) -> RecoveryResult {
        let happened =
            self.outside().happenings.iter().any(|happening| {
                happening.call == call.id.number() && happening.trace == call.trace.to_string()
            });
        match (call.id.number() % 5, happened) {
            (0, _) => RecoveryResult::OutcomeUnknown,
            (_, true) => RecoveryResult::Completed(Ok(report(call).into())),
            (_, false) => RecoveryResult::NotStarted,
        }
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }
}

fn happening(call: &Call) -> Option<SideEffect> {
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
    let exit = |code, text: &str| Report::Exit { code, text: text.into() };
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
        Operation::Argue(_) | Operation::ReviewRevision => argue(Stance::Pro, 900_000),
        Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
        Operation::RunTask { task, .. } if task.number() == 4 && matches!(request, 2 | 3) => exit(1, "no"),
        Operation::RunTask { .. } | Operation::UndoTask { .. } => match &call.payload {
            Some(CallPayload::Task(task)) => exit(0, task.text.as_str()),
            // Every context must contain the task.
            other => exit(7, &format!("came with {other:?}")),
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
    };
    match Plan::new(tasks.iter().map(task).collect()) {
        Ok(plan) => plan,
        Err(error) => unreachable!("{error}"),
    }
}

/// Returns the steps of the intact prefix of a journal.
#[must_use]
pub fn steps(journal: &[u8]) -> Vec<Step> {
    let Ok(reader) = Reader::new(journal, "the journal") else { return Vec::new() };
    reader.map_while(Result::ok).collect()
}

/// Returns whether a journal is intact to its last line.
#[must_use]
pub fn is_whole(journal: &[u8]) -> bool {
    let Ok(reader) = Reader::new(journal, "the journal") else { return false };
    reader.filter_map(Result::err).all(|error| matches!(error.kind, TraceErrorKind::MissingEnd))
}

/// Checks a journal against the recorded side effects.
///
/// # Errors The first mismatch, as a sentence.
pub fn check_journal(journal: &[u8], outside: &SideEffectLog) -> Result<(), String> {
    let steps = steps(journal);
    let asked: Vec<u64> = calls(&steps);
    let mut times: BTreeMap<(String, u32, bool), u32> = BTreeMap::new();
    for (n, happening) in outside.happenings.iter().enumerate() {
        let even = happening.task % 2 == 0;
        if outside.happenings[..n].contains(happening) && even {
            return Err(format!("an effect twice: {happening:?}"));
        }
        if !asked.contains(&happening.call) {
            return Err(format!("the journal has lost a call that left: {happening:?}"));
        }
        *times.entry((happening.trace.clone(), happening.task, happening.undone)).or_default() += 1;
    }
    for event in steps.iter().flat_map(|step| &step.events) {
        let Event::AuditRecorded { record } = event else { continue };
        for task in &record.tasks {
            let count = |undone| {
                times.get(&(record.trace.to_string(), task.task.number(), undone)).copied().unwrap_or(0)
            };
            let fits = match task.effect {
                None => true,
                Some(EffectOutcome::Kept) => (count(false), count(true)) == (1, 0),
                // With an unknown recovery result the task may never have run.
                Some(EffectOutcome::Undone) => count(false) <= 1 && count(true) == 1,
                Some(EffectOutcome::UndoFailed) => count(false) <= 1 && count(true) <= 1,
            };
            if !fits {
                let (ran, undone) = (count(false), count(true));
                return Err(format!(
                    "{}: the audit says of task {} {:?}, but it ran {ran} times and was undone {undone} times",
                    record.trace, task.task, task.effect
                ));
            }
        }
    }
    Ok(())
}

/// Returns the calls that a journal records as sent.
#[must_use]
pub fn calls(steps: &[Step]) -> Vec<u64> {
    let events = steps.iter().flat_map(|step| &step.events);
    let call = |event: &Event| match event {
        Event::ToolCall { call, .. } => Some(call.number()),
        _ => None,
    };
    events.filter_map(call).collect()
}

/// Returns the requests that a journal records as completed.
#[must_use]
pub fn answered(steps: &[Step]) -> Vec<RequestId> {
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
