//! One session of many requests in one conversation: the time, journal bytes and memory of request 100, 1,000 and 10,000.
//!
//! ```console
//! $ cargo bench -p orchestrion-tests --bench soak -- 10000
//! ```
//!
//! Each request has a plan of two tasks and writes a fact, a session item and a signal. With `distinct` after the number,
//! each fact has a key of its own, so the persistent facts grow; otherwise fifty keys are superseded again and again. With
//! `plain`, requests write nothing. Times are processor times where the system reports them, so a busy machine is no matter.

use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, Input, Policy, Score, State, TaskId};
use orchestrion_runtime::{
    Call, CallResult, Clock, Conversation, Host, JournalFile, Mailbox, Message, RecoveryResult,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Header, Reader};
use peak_alloc::PeakAlloc;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The number of requests over which a figure is averaged. Snapshots are rarer than requests.
const WINDOW: u64 = 100;

/// Modules that agree at once. Each writes what the request teaches.
struct Modules {
    clock: Clock,
    mailbox: Mutex<Mailbox>,
    writes: Writes,
}

/// What each request writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    Nothing,
    RepeatedKeys,
    DistinctKeys,
}

impl Modules {
    fn send_writes(&self, request: u64) {
        let key = if self.writes == Writes::DistinctKeys { request } else { request % 50 };
        let fact = NewFact::global(
            format!("price of article {key}").into(),
            format!("{} euros since order {request}", 100 + request % 977).into(),
            WriteSource::declared("finance_system".into()),
        );
        let working = Write::Working {
            key: format!("note {request}").into(),
            text: format!("ask about delivery {request}").into(),
            expires_at: None,
            depends_on: Vec::new(),
        };
        let signal = Write::Environment {
            key: "stock".into(),
            text: format!("{} boxes", request % 89).into(),
            supersedes: None,
        };
        let Ok(mut mailbox) = self.mailbox.lock() else { return };
        for write in [Write::Fact(fact), working, signal] {
            let sent =
                mailbox.send(Message { input: Input::Write(Box::new(write)), note: None, sequence: None });
            sent.expect("the mailbox has room");
        }
    }
}

impl Host for Modules {
    async fn execute(&self, call: &Call) -> CallResult {
        let request = u64::from(call.trace.request.number());
        if call.operation == Operation::Classify && self.writes != Writes::Nothing {
            self.send_writes(request);
        }
        Ok(report(call.operation, request).into())
    }

    async fn recover(&self, _: &Call) -> RecoveryResult {
        RecoveryResult::OutcomeUnknown
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }
}

fn report(operation: Operation, request: u64) -> Report {
    match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => {
            Report::Summary { text: format!("orders until {request} are settled").into(), forgets: None }
        }
        Operation::Classify => {
            Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
        }
        Operation::DraftPlan => Report::Plan(plan(request)),
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            Report::Argument {
                argument: Argument { stance: Stance::Pro, confidence: Score::ONE },
                text: format!("order {request} is within the budget of article {}", request % 50).into(),
                plan: None,
            }
        }
        Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
        Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
            Report::Exit { code: 0, text: format!("done {task} of order {request}").into(), number: None }
        }
        Operation::Diagnose => Report::NoRepair { text: "no idea".into() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}

fn plan(request: u64) -> Plan {
    let task = |id: u32| Task {
        id: TaskId::new(id),
        text: format!("step {id} of order {request}").into(),
        effect: Effect::Undoable { compensation: format!("cancel order {request}").into() },
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    Plan::new(vec![task(1), task(2)]).expect("two tasks form a valid plan")
}

/// Returns the processor time of this thread, or the time since `start` where the system does not report it.
fn time_used(start: Instant) -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = statistics.split_whitespace().next().and_then(|ns| ns.parse().ok());
    ns.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The figures at one request.
struct Figures {
    ms: f64,
    journal_bytes: u64,
    memory_mb: f32,
    items: usize,
    valid_items: usize,
}

impl Figures {
    fn print(&self, request: u64) {
        let Self { ms, journal_bytes, memory_mb, items, valid_items } = self;
        println!(
            "request {request:6}: {ms:8.3} ms, {journal_bytes:7} journal bytes, {memory_mb:7.1} MB, {items} items, {valid_items} valid"
        );
    }
}

fn valid_items(state: &State) -> usize {
    state.semantic().entries().filter(|entry| entry.item.is_valid()).count()
}

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let mut args = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let requests: u64 = args.next().map_or(Ok(10_000), |number| number.parse())?;
    let writes = match args.next().as_deref() {
        Some("distinct") => Writes::DistinctKeys,
        Some("plain") => Writes::Nothing,
        Some(_) | None => Writes::RepeatedKeys,
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("office.ndjson");
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None).into_journal();
    // A conversation that is opened without an acknowledged step records a possible loss.
    let open = |acknowledged_step| -> Result<_, Box<dyn Error>> {
        let journal = JournalFile::open(&path)?.without_fsync();
        Ok(Conversation::open_acknowledged(journal, &header, &StandardContexts, acknowledged_step)?)
    };
    let mut conversation = open(0)?;
    let clock = Clock::simulated();
    let mailbox = Mutex::new(conversation.mailbox());
    let host = Modules { clock: clock.clone(), mailbox, writes };
    let epoch = Instant::now();
    let (mut start, mut bytes_before) = (time_used(epoch), 0);
    let mut all = Vec::new();
    for request in 1..=requests {
        if is_mark(request - 1 + WINDOW) {
            (start, bytes_before) = (time_used(epoch), std::fs::metadata(&path)?.len());
        }
        let text = format!("Order article {} for room {}", request % 50, request % 31);
        clock.block_on(conversation.run_request(&host, "ada", text.as_str()))??;
        if is_mark(request) {
            let figures = Figures {
                ms: (time_used(epoch) - start).as_secs_f64() * 1000.0 / WINDOW as f64,
                journal_bytes: (std::fs::metadata(&path)?.len() - bytes_before) / WINDOW,
                memory_mb: MEMORY.current_usage_as_mb(),
                items: conversation.state().semantic().len(),
                valid_items: valid_items(conversation.state()),
            };
            figures.print(request);
            all.push(figures);
        }
    }
    let peak_mb = MEMORY.peak_usage_as_mb();
    println!("peak memory {peak_mb:.1} MB");
    let steps = conversation.steps();
    drop(conversation);
    let start = time_used(epoch);
    let opened = open(steps)?;
    println!(
        "opened in {:.1} ms ({} steps)",
        (time_used(epoch) - start).as_secs_f64() * 1000.0,
        opened.steps()
    );
    drop(opened);
    let start = time_used(epoch);
    let found = replay(Reader::new(BufReader::new(File::open(&path)?), "office")?, None, &StandardContexts);
    let seconds = (time_used(epoch) - start).as_secs_f64();
    // The conversation is still open, so its trace has no end.
    if found.steps != steps || found.difference.is_some() || found.text_difference.is_some() {
        return Err("the replay differs".into());
    }
    println!("replayed {} of {steps} steps: {:.0} steps/s", found.steps, found.steps as f64 / seconds);
    check_growth(&all, peak_mb)
}

/// Checks that requests become neither slow nor large.
fn check_growth(all: &[Figures], peak_mb: f32) -> Result<(), Box<dyn Error>> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Ok(()) };
    let problems = [
        (last.ms > 2.0 * first.ms, "a late request takes more than twice the time of an early one"),
        (last.journal_bytes * 10 > first.journal_bytes * 11, "the journal of a request grows"),
        (last.journal_bytes > 8 * 1024, "the journal of a request exceeds 8 KiB"),
        (peak_mb > 64.0, "the memory exceeds 64 MB"),
    ];
    match problems.into_iter().find(|(is_found, _)| *is_found) {
        Some((_, problem)) => Err(problem.into()),
        None => Ok(()),
    }
}

/// Whether figures are printed after this request.
const fn is_mark(request: u64) -> bool {
    matches!(request, 100 | 200 | 500 | 1_000 | 2_000 | 5_000 | 10_000)
}
