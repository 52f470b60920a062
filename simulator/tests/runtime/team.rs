//! A host with scripted behavior. Without a script, every module agrees.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, Policy, Score, TaskId};
use orchestrion_runtime::{
    Call, CallPayload, CallResult, Conversation, Host, Journal, JournalFile, RecoveryResult,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Reader, Step, TraceErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// The behavior of a module when it is called.
pub(crate) enum HostBehavior {
    Reply(CallResult),
    ReplyAfter(Duration, CallResult),
    Never,
    Panics(&'static str),
}

type Script = dyn Fn(&Call) -> Option<HostBehavior> + Send + Sync;
pub(crate) type RecoveryScript = dyn Fn(&Call) -> Option<RecoveryResult> + Send + Sync;

/// A host that agrees unless its script returns a behavior.
pub(crate) struct ScriptedTeam {
    script: Box<Script>,
    /// The recovery result of a call; with `None`, the recovery never ends.
    pub(crate) recovery: Box<RecoveryScript>,
    recovery_time: Duration,
    /// All executed calls, in order.
    pub(crate) calls: Mutex<Vec<Call>>,
    /// All recovered calls, in order.
    pub(crate) recovered: Mutex<Vec<Call>>,
}

impl ScriptedTeam {
    pub(crate) fn with_script(
        script: impl Fn(&Call) -> Option<HostBehavior> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Box::new(script),
            recovery: Box::new(|call| panic!("unexpected recovery of {call}")),
            recovery_time: Duration::ZERO,
            calls: Mutex::default(),
            recovered: Mutex::default(),
        }
    }

    pub(crate) fn agrees() -> Self {
        Self::with_script(|_| None)
    }

    pub(crate) fn and_recovers(
        mut self,
        recovery: impl Fn(&Call) -> Option<RecoveryResult> + Send + Sync + 'static,
    ) -> Self {
        self.recovery = Box::new(recovery);
        self
    }

    pub(crate) fn and_recovers_after(
        mut self,
        time: Duration,
        recovery: impl Fn(&Call) -> Option<RecoveryResult> + Send + Sync + 'static,
    ) -> Self {
        self.recovery_time = time;
        self.and_recovers(recovery)
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        self.calls.lock().unwrap().iter().map(|call| call.operation).collect()
    }
}

impl Host for ScriptedTeam {
    async fn execute(&self, call: &Call) -> CallResult {
        self.calls.lock().unwrap().push(call.clone());
        match (self.script)(call) {
            None => Ok(agreed(call).into()),
            Some(HostBehavior::Reply(result)) => result,
            Some(HostBehavior::ReplyAfter(time, result)) => {
                tokio::time::sleep(time).await;
                result
            }
            Some(HostBehavior::Never) => std::future::pending().await,
            Some(HostBehavior::Panics(message)) => panic!("{message}"),
        }
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.recovered.lock().unwrap().push(call.clone());
        tokio::time::sleep(self.recovery_time).await;
        match (self.recovery)(call) {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

pub(crate) fn exit(code: i32, text: &str) -> Report {
    Report::Exit { code, text: text.into(), number: None }
}

/// Three tasks: pure, undoable, irreversible.
pub(crate) fn plan() -> Plan {
    let task = |id, text: &str, effect| Task {
        id: TaskId::new(id),
        text: text.into(),
        effect,
        depends_on: None,
        scope: None,
        step: StepOptions { metadata: [("tier".into(), "gold".into())].into(), ..StepOptions::default() },
    };
    let cancel = Effect::Undoable { compensation: "Cancel the order".into() };
    Plan::new(vec![
        task(1, "Look up the price", Effect::Pure),
        task(2, "Place the order", cancel),
        task(3, "Tell the office", Effect::Irreversible),
    ])
    .unwrap()
}

pub(crate) fn agreed(call: &Call) -> Report {
    let yes = Argument { stance: Stance::Pro, confidence: Score::from_millionths(900_000).unwrap() };
    match call.operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => Report::Summary { text: "what was".into(), forgets: None },
        Operation::Classify => {
            Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
        }
        Operation::DraftPlan => Report::Plan(plan()),
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            Report::Argument { argument: yes, text: "yes".into(), plan: None }
        }
        Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
        Operation::RunTask { .. } | Operation::UndoTask { .. } => match &call.payload {
            Some(CallPayload::Task(task)) => exit(0, &format!("done: {}", task.text)),
            other => panic!("{call} came with {other:?}"),
        },
        Operation::Diagnose => Report::NoRepair { text: "no idea".into() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}

/// Returns a directory and the path of a journal in it that does not exist yet.
pub(crate) fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    (folder, path)
}

pub(crate) fn opened(path: &Path) -> Conversation<JournalFile> {
    Conversation::open(path, Policy::hardened(), &StandardContexts).unwrap()
}

/// Opens a journal, or a segment, of which no step is lost.
pub(crate) fn reopened(path: &Path) -> Conversation<JournalFile> {
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    let file = JournalFile::open(path).unwrap();
    Conversation::open_acknowledged(file, &header, &StandardContexts, 0).unwrap()
}

/// Reads the steps of an open journal.
pub(crate) fn steps(bytes: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in Reader::new(bytes, "the journal").unwrap() {
        match step {
            Ok(step) => steps.push(step),
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd) => break,
            Err(error) => panic!("{error}"),
        }
    }
    steps
}

pub(crate) fn read_steps(path: &Path) -> Vec<Step> {
    steps(&std::fs::read(path).unwrap())
}

/// A journal in memory. One write fails after a part of it was written.
pub(crate) struct Failing {
    pub(crate) kept: Vec<u8>,
    pub(crate) good_writes: usize,
    pub(crate) part_bytes: usize,
}

impl Journal for Failing {
    fn name(&self) -> String {
        "office.ndjson".to_owned()
    }

    fn read(&mut self) -> std::io::Result<impl std::io::BufRead> {
        Ok(self.kept.as_slice())
    }

    fn truncate(&mut self, bytes: u64) -> std::io::Result<()> {
        self.kept.truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> std::io::Result<()> {
        if self.good_writes == 0 {
            self.kept.extend_from_slice(&lines[..self.part_bytes.min(lines.len())]);
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.good_writes -= 1;
        self.kept.extend_from_slice(lines);
        Ok(())
    }

    async fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
