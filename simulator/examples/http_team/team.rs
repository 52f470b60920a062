//! The team: models over HTTP for text, and files for everything that must be durable.

use crate::models::Models;
use orchestrion_kernel::NodeId;
use orchestrion_kernel::event::MemoryRecord;
use orchestrion_kernel::module::{Operation, PastRequest, Report, Store};
use orchestrion_runtime::{
    Call, CallError, CallPayload, CallResult, Host, RecoveryResult, RefusedHandoff, SignedHandoff,
    lock_ignoring_poison,
};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// A team with its folder.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) models: Models,
    pub(crate) folder: PathBuf,
    /// Whether effects are never confirmed, so that there is time for a kill.
    pub(crate) stalls: bool,
    /// The endpoints of the nodes; none without a network.
    pub(crate) endpoints: BTreeMap<NodeId, Models>,
    /// The calls that each node answered.
    calls: Mutex<BTreeMap<NodeId, Vec<&'static str>>>,
    /// Whether a handoff was sent.
    has_transmitted: AtomicBool,
}

impl Host for Team {
    async fn execute(&self, call: &Call) -> CallResult {
        let answer = match call.operation {
            Operation::RunTask { .. } | Operation::UndoTask { .. } => match self.endpoint(call) {
                Some(node) => self.execute_at(node.clone(), call).await,
                None => self.execute(call).await,
            },
            Operation::VerifyIdentity => self.identity(call),
            Operation::LoadContext => self.memories(call),
            Operation::StoreMemory { store, .. } => {
                self.keep(call, name_of(store), Report::Stored { held: true })
            }
            Operation::DeliverAudit => self.keep(call, "audit", Report::Delivered),
            _ => self.model(call).await,
        };
        let label = route(call) + call.expects + "  ";
        println!("  {:>3}  {label:<41}{}", call.id, describe(&answer));
        if let (Some(node), Ok(_)) = (&call.node, &answer) {
            lock_ignoring_poison(&self.calls).entry(node.clone()).or_default().push(call.expects);
        }
        answer
    }

    /// Whether the effect is in the file. An incomplete line proves nothing.
    async fn recover(&self, call: &Call) -> RecoveryResult {
        let effects = fs::read_to_string(self.effects());
        let (fate, found) = match effects.as_deref().unwrap_or_default() {
            text if text.lines().any(|line| line.starts_with(&format!("{}\t", key(call)))) => {
                (RecoveryResult::Completed(Ok(done(call).into())), "it happened")
            }
            text if text.is_empty() || text.ends_with('\n') => {
                (RecoveryResult::NotStarted, "it never started")
            }
            _ => (RecoveryResult::OutcomeUnknown, "outcome unknown"),
        };
        println!("  {:>3}  was out when the program died; effects.txt says: {found}", call.id);
        fate
    }

    /// A handoff that its node does not receive is lost; the next-best node gets the call at its deadline. The first one arrives
    /// twice, as over a network that repeats what was not acknowledged.
    fn transmit(&self, handoff: SignedHandoff) -> Vec<SignedHandoff> {
        let node = self.endpoints.get(&handoff.handoff.to_node);
        match node.is_some_and(|node| node.hand_off(&handoff)) {
            true if !self.has_transmitted.swap(true, Relaxed) => vec![handoff.clone(), handoff],
            true => vec![handoff],
            false => Vec::new(),
        }
    }

    /// The kernel chooses another node, if one is left.
    fn receive_refusal(&self, refused: &RefusedHandoff) {
        println!("       {}", plain(&refused.to_string()));
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

impl Team {
    /// A team without a network.
    pub(crate) fn new(models: Models, folder: &Path) -> Self {
        let folder = folder.to_path_buf();
        Self {
            models,
            folder,
            stalls: false,
            endpoints: BTreeMap::new(),
            calls: Mutex::default(),
            has_transmitted: AtomicBool::new(false),
        }
    }

    /// The calls that each node answered, in order.
    pub(crate) fn calls_by_node(&self) -> BTreeMap<NodeId, Vec<&'static str>> {
        lock_ignoring_poison(&self.calls).clone()
    }

    /// The endpoint of the node that the kernel chose for the call.
    fn endpoint(&self, call: &Call) -> Option<&Models> {
        self.endpoints.get(call.node.as_ref()?)
    }

    /// Lets a node execute a task under the idempotency key of the call.
    async fn execute_at(&self, node: Models, call: &Call) -> CallResult {
        let effect_key = call.operation.is_effectful().then(|| key(call));
        // A node that routed the call to itself gets no handoff.
        let from = call.handoff.as_ref().map(|handoff| &handoff.handoff.from_node).or(call.node.as_ref());
        let task = json!({ "call": call.id, "from": from, "text": words(call), "effect_key": effect_key });
        let deadline = Duration::from_millis(call.deadline_ms);
        let executed = tokio::task::spawn_blocking(move || node.run_task(&task, deadline)).await;
        let text = executed.map_err(|error| CallError::error(format!("{call}: {error}")))??;
        Ok(Report::Exit { code: 0, text: text.into(), number: None }.into())
    }

    fn effects(&self) -> PathBuf {
        self.folder.join("effects.txt")
    }

    /// The client blocks, so it runs on a thread of its own.
    async fn model(&self, call: &Call) -> CallResult {
        let (models, asked) = (self.endpoint(call).unwrap_or(&self.models).clone(), call.clone());
        let answer = tokio::task::spawn_blocking(move || models.answer(&asked)).await;
        answer.unwrap_or_else(|error| Err(CallError::error(format!("{call}: {error}"))))
    }

    /// Each lock is a list of permitted users.
    fn identity(&self, call: &Call) -> CallResult {
        let opens = |lock: &str| {
            let users = fs::read_to_string(self.folder.join(lock)).unwrap_or_default();
            users.lines().any(|user| user == call.user.as_str())
        };
        Ok(Report::Identity { gcp: opens("gcp-users.txt"), mongodb: opens("mongodb-users.txt") }.into())
    }

    /// Executes a task: writes it down under the idempotency key of the call.
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

    /// The records of the local store.
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
        let past = |MemoryRecord { trace, text, scope, .. }| PastRequest { trace, text, scope };
        let traces = records.into_iter().map(past);
        Ok(Report::Context { ratings, traces: traces.collect() }.into())
    }

    /// Stores a record under its trace id. Storing it twice is the same as once.
    fn keep(&self, call: &Call, folder: &str, receipt: Report) -> CallResult {
        let written = match &call.payload {
            Some(CallPayload::Record(record)) => self.write(call, folder, record),
            Some(CallPayload::Audit(record)) => self.write(call, folder, record),
            _ => Err(io::Error::other("came without a record")),
        };
        written.map_err(|error| CallError::error(format!("{call}: {folder}: {error}")))?;
        Ok(receipt.into())
    }

    /// Writes a file completely or not at all.
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

/// Writes the locks of both identity checks, which let ada in.
pub(crate) fn write_locks(folder: &Path) -> io::Result<()> {
    ["gcp-users.txt", "mongodb-users.txt"].iter().try_for_each(|lock| fs::write(folder.join(lock), "ada\n"))
}

/// The sender and the receiver of a call, if it was handed off; the node that executes it otherwise; nothing without a network.
fn route(call: &Call) -> String {
    match (&call.node, &call.handoff) {
        (Some(node), Some(handoff)) => format!("{} → {node}: ", handoff.handoff.from_node),
        (Some(node), None) => format!("{node}: "),
        (None, _) => String::new(),
    }
}

const fn name_of(store: Store) -> &'static str {
    match store {
        Store::Local => "local-store",
        Store::Cloud => "cloud-store",
    }
}

/// The idempotency key of a call. It stays the same when the call is sent again.
fn key(call: &Call) -> String {
    format!("{}#{}", call.trace, call.id)
}

/// The text of a task on one line.
fn words(call: &Call) -> String {
    let text = match (&call.payload, call.operation) {
        (Some(CallPayload::Task(task)), Operation::UndoTask { .. }) => format!("take back: {}", task.text),
        (Some(CallPayload::Task(task)), _) => task.text.to_string(),
        _ => "nothing".to_owned(),
    };
    plain(&text)
}

fn done(call: &Call) -> Report {
    Report::Exit { code: 0, text: format!("done: {}", words(call)).into(), number: None }
}

/// Describes the result of a call in a few words.
fn describe(answer: &CallResult) -> String {
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

/// Removes control characters and line breaks from a model's text.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
