//! The team: models over HTTP for whatever is a matter of words, and files for whatever must not be lost.

use crate::models::Models;
use orchestrion_kernel::event::MemoryRecord;
use orchestrion_kernel::module::{Operation, PastRequest, Report, Store};
use orchestrion_runtime::{Call, CallError, CallPayload, CallResult, Host, RecoveryResult};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

/// A team that lives in a folder.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) models: Models,
    pub(crate) folder: PathBuf,
    /// Whether the world outside never confirms an effect, so that there is time to be killed.
    pub(crate) stalls: bool,
}

impl Host for Team {
    async fn execute(&self, call: &Call) -> CallResult {
        let answer = match call.operation {
            Operation::RunTask { .. } | Operation::UndoTask { .. } => self.execute(call).await,
            Operation::VerifyIdentity => self.identity(call),
            Operation::LoadContext => self.memories(call),
            Operation::StoreMemory { store, .. } => {
                self.keep(call, name_of(store), Report::Stored { held: true })
            }
            Operation::DeliverAudit => self.keep(call, "audit", Report::Delivered),
            _ => self.model(call).await,
        };
        println!("  {:>3}  {:<41}{}", call.id, call.expects, told(&answer));
        answer
    }

    /// Looks whether the effect is in the file. A line that was never wholly written proves nothing.
    async fn recover(&self, call: &Call) -> RecoveryResult {
        let effects = fs::read_to_string(self.effects());
        let (fate, found) = match effects.as_deref().unwrap_or_default() {
            text if text.lines().any(|line| line.starts_with(&format!("{}\t", key(call)))) => {
                (RecoveryResult::Completed(Ok(done(call).into())), "it happened")
            }
            text if text.is_empty() || text.ends_with('\n') => {
                (RecoveryResult::NotStarted, "it never started")
            }
            _ => (RecoveryResult::OutcomeUnknown, "nobody can tell"),
        };
        println!("  {:>3}  was out when the program died; effects.txt says: {found}", call.id);
        fate
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

impl Team {
    fn effects(&self) -> PathBuf {
        self.folder.join("effects.txt")
    }

    /// The client blocks, so it gets a thread of its own.
    async fn model(&self, call: &Call) -> CallResult {
        let (models, asked) = (self.models.clone(), call.clone());
        let answer = tokio::task::spawn_blocking(move || models.answer(&asked)).await;
        answer.unwrap_or_else(|error| Err(CallError::error(format!("{call}: {error}"))))
    }

    /// Both locks are lists of who may ask.
    fn identity(&self, call: &Call) -> CallResult {
        let opens = |lock: &str| {
            let users = fs::read_to_string(self.folder.join(lock)).unwrap_or_default();
            users.lines().any(|user| user == call.user.as_str())
        };
        Ok(Report::Identity { gcp: opens("gcp-users.txt"), mongodb: opens("mongodb-users.txt") }.into())
    }

    /// Does what a task says, which is to write it down, under the key of the call.
    async fn execute(&self, call: &Call) -> CallResult {
        if call.operation.is_effectful() {
            let line = format!("{}\t{}\n", key(call), words(call));
            let written = || -> io::Result<()> {
                let mut file = OpenOptions::new().create(true).append(true).open(self.effects())?;
                file.write_all(line.as_bytes())?;
                file.sync_data()
            };
            written().map_err(|error| CallError::error(format!("{call}: effects.txt: {error}")))?;
            println!("  {:>3}  {:<41}effects.txt: {}", call.id, "has an effect", words(call));
            if self.stalls {
                std::future::pending::<()>().await;
            }
        }
        Ok(done(call).into())
    }

    /// What the local store has.
    fn memories(&self, call: &Call) -> CallResult {
        let files = fs::read_dir(self.folder.join(name_of(Store::Local))).into_iter().flatten().flatten();
        let records =
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|is| is == "json"));
        let records = records.map(|path| Ok(serde_json::from_slice::<MemoryRecord>(&fs::read(path)?)?));
        let mut records = records
            .collect::<io::Result<Vec<_>>>()
            .map_err(|error| CallError::error(format!("{call}: {}: {error}", name_of(Store::Local))))?;
        records.sort_by_key(|record| record.trace.request);
        let ratings = records.iter().rev().find_map(|record| record.ratings).unwrap_or_default();
        let traces = records.into_iter().map(|MemoryRecord { trace, text, .. }| PastRequest { trace, text });
        Ok(Report::Context { ratings, traces: traces.collect() }.into())
    }

    /// Keeps a record under its trace id. Keeping it twice is keeping it once.
    fn keep(&self, call: &Call, folder: &str, receipt: Report) -> CallResult {
        let written = match &call.payload {
            Some(CallPayload::Record(record)) => self.write(call, folder, record),
            Some(CallPayload::Audit(record)) => self.write(call, folder, record),
            _ => Err(io::Error::other("came without a record")),
        };
        written.map_err(|error| CallError::error(format!("{call}: {folder}: {error}")))?;
        Ok(receipt.into())
    }

    /// Writes a file that is there wholly or not at all.
    fn write(&self, call: &Call, folder: &str, record: &impl Serialize) -> io::Result<()> {
        let folder = self.folder.join(folder);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.json", call.trace.to_string().replace('/', "-")));
        let draft = path.with_extension("draft");
        let mut file = File::create(&draft)?;
        serde_json::to_writer_pretty(&mut file, record)?;
        file.sync_data()?;
        fs::rename(draft, path)
    }
}

const fn name_of(store: Store) -> &'static str {
    match store {
        Store::Local => "local-store",
        Store::Cloud => "cloud-store",
    }
}

/// The idempotency key of a call: it stays the same when the call is asked again.
fn key(call: &Call) -> String {
    format!("{}#{}", call.trace, call.id)
}

/// What a task is to do, on one line.
fn words(call: &Call) -> String {
    let text = match (&call.payload, call.operation) {
        (Some(CallPayload::Task(task)), Operation::UndoTask { .. }) => format!("take back: {}", task.text),
        (Some(CallPayload::Task(task)), _) => task.text.to_string(),
        _ => "nothing".to_owned(),
    };
    plain(&text)
}

fn done(call: &Call) -> Report {
    Report::Exit { code: 0, text: format!("done: {}", words(call)).into() }
}

/// What came of a call, in a few words.
fn told(answer: &CallResult) -> String {
    let text = match answer.as_ref().map(|reply| &reply.report) {
        Ok(Report::Argument { argument, text, plan }) => {
            let brings = if plan.is_some() { " (a new plan)" } else { "" };
            format!("{} {}{brings}: {text}", argument.stance, argument.confidence)
        }
        Ok(Report::Context { traces, .. }) => format!("{} remembered", traces.len()),
        Ok(Report::Classification { tags, .. }) => {
            tags.iter().map(|tag| tag.as_str()).collect::<Vec<_>>().join(", ")
        }
        Ok(Report::Identity { gcp: true, mongodb: true }) => "both match".to_owned(),
        Ok(Report::Stored { held: true }) => "held".to_owned(),
        Ok(Report::Plan(plan)) => format!("{} tasks", plan.tasks().len()),
        Ok(Report::Exit { text, .. } | Report::NoRepair { text } | Report::Repaired { text, .. }) => {
            text.to_string()
        }
        Ok(report) => report.label().to_owned(),
        Err(no) => no.reason.clone().unwrap_or_else(|| no.failure.to_string()),
    };
    plain(&text)
}

/// Text of a model does not steer the terminal, nor break a line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
