//! A team whose members do what a test says, and agree to everything else.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{Policy, Score, TaskId};
use orchestrion_runtime::{
    Call, CallPayload, CallResult, Conversation, Host, Journal, JournalFile, RecoveryResult,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Reader, Step, TraceErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// What a member does when it is asked.
pub(crate) enum HostBehavior {
    Reply(CallResult),
    SaysAfter(Duration, CallResult),
    Never,
    Panics(&'static str),
}

type Play = dyn Fn(&Call) -> Option<HostBehavior> + Send + Sync;
type Finds = dyn Fn(&Call) -> Option<RecoveryResult> + Send + Sync;

/// The team. What its play does not speak of is agreed to.
pub(crate) struct ScriptedTeam {
    play: Box<Play>,
    /// What is found out of a lost call; with `None`, nothing ever is.
    fate: Box<Finds>,
    finds_after: Duration,
    /// Every call that came, in order; and those that were to be recovered.
    pub(crate) asked: Mutex<Vec<Call>>,
    pub(crate) recovered: Mutex<Vec<Call>>,
}

impl ScriptedTeam {
    pub(crate) fn that(play: impl Fn(&Call) -> Option<HostBehavior> + Send + Sync + 'static) -> Self {
        Self {
            play: Box::new(play),
            fate: Box::new(|call| panic!("{call} was not to be recovered")),
            finds_after: Duration::ZERO,
            asked: Mutex::default(),
            recovered: Mutex::default(),
        }
    }

    pub(crate) fn agrees() -> Self {
        Self::that(|_| None)
    }

    pub(crate) fn and_finds(
        mut self,
        fate: impl Fn(&Call) -> Option<RecoveryResult> + Send + Sync + 'static,
    ) -> Self {
        self.fate = Box::new(fate);
        self
    }

    pub(crate) fn and_finds_after(
        mut self,
        time: Duration,
        fate: impl Fn(&Call) -> Option<RecoveryResult> + Send + Sync + 'static,
    ) -> Self {
        self.finds_after = time;
        self.and_finds(fate)
    }

    pub(crate) fn asks(&self) -> Vec<Operation> {
        self.asked.lock().unwrap().iter().map(|call| call.operation).collect()
    }
}

impl Host for ScriptedTeam {
    async fn execute(&self, call: &Call) -> CallResult {
        self.asked.lock().unwrap().push(call.clone());
        match (self.play)(call) {
            None => Ok(agreed(call).into()),
            Some(HostBehavior::Reply(answer)) => answer,
            Some(HostBehavior::SaysAfter(time, answer)) => {
                tokio::time::sleep(time).await;
                answer
            }
            Some(HostBehavior::Never) => std::future::pending().await,
            Some(HostBehavior::Panics(words)) => panic!("{words}"),
        }
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.recovered.lock().unwrap().push(call.clone());
        tokio::time::sleep(self.finds_after).await;
        match (self.fate)(call) {
            Some(fate) => fate,
            None => std::future::pending().await,
        }
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

pub(crate) fn exit(code: i32, text: &str) -> Report {
    Report::Exit { code, text: text.into() }
}

/// Look (1), order (2, undoable), tell (3, irreversible).
pub(crate) fn plan() -> Plan {
    let task = |id, text: &str, effect| Task { id: TaskId::new(id), text: text.into(), effect };
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
        Operation::Argue(_) | Operation::ReviewRevision => {
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

/// A folder with a journal in it that is not there yet.
pub(crate) fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    (folder, path)
}

pub(crate) fn opened(path: &Path) -> Conversation<JournalFile> {
    Conversation::open(path, Policy::hardened(), &StandardContexts).unwrap()
}

/// What is kept so far.
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

pub(crate) fn kept(path: &Path) -> Vec<Step> {
    steps(&std::fs::read(path).unwrap())
}

/// A journal in memory on which the n-th write fails, after a part of it was written.
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
