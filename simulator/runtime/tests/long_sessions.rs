//! Long sessions: their items are bounded, and a conversation that opens from a snapshot equals one that reads its whole journal.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{ConversationId, Policy, Score, TaskId};
use orchestrion_runtime::{Call, CallResult, Clock, Conversation, Host, Journal, RecoveryResult};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, SnapshotError};
use std::io::{self, BufRead};
use std::time::Duration;

/// Modules that agree, at time 0.
struct Modules(Clock);

impl Host for Modules {
    async fn execute(&self, call: &Call) -> CallResult {
        let number = call.trace.request.number();
        Ok(match call.operation {
            Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
            Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
            Operation::Summarize => {
                Report::Summary { text: format!("settled until {number}").into(), forgets: None }
            }
            Operation::Classify => {
                Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
            }
            Operation::DraftPlan => Report::Plan(plan(number)),
            Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
            Operation::RunTask { .. } | Operation::UndoTask { .. } => {
                Report::Exit { code: 0, text: format!("delivered order {number}").into(), number: None }
            }
            Operation::Diagnose => Report::NoRepair { text: "no idea".into() },
            Operation::StoreMemory { .. } => Report::Stored { held: true },
            Operation::DeliverAudit => Report::Delivered,
            Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
                let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
                let text = format!("order {number} is within the budget of the office").into();
                Report::Argument { argument, text, plan: None }
            }
        }
        .into())
    }

    async fn recover(&self, _: &Call) -> RecoveryResult {
        RecoveryResult::OutcomeUnknown
    }

    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        0
    }
}

fn plan(number: u32) -> Plan {
    let task = Task {
        id: TaskId::new(1),
        text: format!("place order {number} with the supplier of the office").into(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    Plan::new(vec![task]).unwrap()
}

/// A journal in memory with its snapshot.
#[derive(Clone, Default)]
struct Disk {
    journal: Vec<u8>,
    snapshot: Option<Vec<u8>>,
}

impl Journal for Disk {
    fn name(&self) -> String {
        "office".to_owned()
    }
    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(self.journal.as_slice())
    }
    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.snapshot.clone())
    }
    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        self.snapshot = Some(snapshot.to_vec());
        Ok(())
    }
    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.journal.truncate(usize::try_from(bytes).unwrap());
        Ok(())
    }
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.journal.extend_from_slice(lines);
        Ok(())
    }
    async fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(disk: &Disk) -> Conversation<Disk> {
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    Conversation::open_with(disk.clone(), &header, &StandardContexts).unwrap()
}

fn run(conversation: &mut Conversation<Disk>, requests: std::ops::Range<u32>) {
    let clock = Clock::simulated();
    let host = Modules(clock.clone());
    for number in requests {
        let text = format!("Order paper for room {number}");
        clock.block_on(conversation.run_request(&host, "ada", text.as_str())).unwrap().unwrap();
    }
}

/// Runs requests until a snapshot exists, and some more.
fn long_session() -> Disk {
    let mut conversation = open(&Disk::default());
    let mut requests = 0;
    while conversation.journal().snapshot.is_none() {
        run(&mut conversation, requests..requests + 1);
        requests += 1;
        assert!(requests < 500, "no snapshot of {} bytes", conversation.journal().journal.len());
    }
    run(&mut conversation, requests..requests + 3);
    conversation.into_journal()
}

/// Compares with a conversation that reads its whole journal, now and after another request.
fn assert_equals_replay(mut opened: Conversation<Disk>, disk: &Disk) {
    let mut replayed = open(&Disk { snapshot: None, ..disk.clone() });
    for requests in [0..0, 900..901] {
        run(&mut opened, requests.clone());
        run(&mut replayed, requests);
        assert_eq!(opened.state(), replayed.state());
        assert_eq!(opened.steps(), replayed.steps());
        assert_eq!(opened.last_result(), replayed.last_result());
        assert!(opened.state().semantic().is_consistent());
        assert!(opened.journal().journal == replayed.journal().journal, "the journals differ");
    }
}

#[test]
fn snapshot_equals_replay() {
    let disk = long_session();
    let opened = open(&disk);
    assert_eq!(opened.snapshot_error(), None);
    assert_equals_replay(opened, &disk);
    // The snapshot covers all but the last requests, and only the lines after it are read.
    let mut unreadable = disk.clone();
    let middle = disk.journal.len() / 2;
    unreadable.journal[middle] = 0;
    assert_eq!(open(&unreadable).steps(), open(&disk).steps());
}

#[test]
fn unusable_snapshots_are_refused() {
    let disk = long_session();
    let snapshot = disk.snapshot.clone().unwrap();
    let refused = |snapshot: Vec<u8>, journal: &[u8]| {
        let disk = Disk { journal: journal.to_vec(), snapshot: Some(snapshot) };
        let opened = open(&disk);
        let error = opened.snapshot_error().cloned();
        assert_equals_replay(opened, &disk);
        error
    };
    for length in [0, 10, 40, snapshot.len() / 2, snapshot.len() - 1] {
        assert_eq!(refused(snapshot[..length].to_vec(), &disk.journal), Some(SnapshotError::Torn));
    }
    let mut edited = snapshot.clone();
    *edited.last_mut().unwrap() = b' ';
    assert_eq!(refused(edited, &disk.journal), Some(SnapshotError::Torn));
    // A journal of the same conversation that ends before the snapshot, after its first request.
    let text = String::from_utf8(disk.journal.clone()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = lines.iter().position(|line| line.contains("final_answer")).unwrap();
    let earlier = lines[..=end].concat();
    assert_eq!(refused(snapshot.clone(), earlier.as_bytes()), Some(SnapshotError::JournalMismatch));
    // The snapshot of another policy, which differs in one number.
    let mut policy = Policy::hardened();
    policy.contexts.nodes_max += 1;
    let header = Header::new(ConversationId::new("office"), policy, None);
    let other = Disk { journal: Vec::new(), snapshot: Some(snapshot) };
    let opened = Conversation::open_with(other, &header, &StandardContexts).unwrap();
    assert_eq!(opened.snapshot_error(), Some(&SnapshotError::HeaderMismatch));
}

/// Each request adds at least nine items of the session. Compaction is due at 64 items of a group, and leaves at most 33 of them.
#[test]
fn session_items_are_bounded() {
    let mut conversation = open(&Disk::default());
    let mut largest = 0;
    for request in 0..150 {
        run(&mut conversation, request..request + 1);
        let items = conversation.state().semantic().entries();
        largest = largest.max(items.filter(|entry| !entry.item.is_persistent()).count());
    }
    assert!((64..100).contains(&largest), "{largest} items of the session");
}
