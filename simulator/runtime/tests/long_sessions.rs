//! Long sessions: their items are bounded, and a conversation that opens from a snapshot equals one that reads its whole journal.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod office;

use office::{Disk, Modules, header, open, run};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
use orchestrion_kernel::module::{Failure, Operation, Report};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Policy, TaskId};
use orchestrion_runtime::{Call, CallResult, Clock, Conversation, Host, RecoveryResult};
use orchestrion_text::StandardContexts;
use orchestrion_trace::SnapshotError;
use std::time::Duration;

/// Runs requests until a snapshot exists, and some more.
fn long_session() -> Disk {
    let mut conversation = open(&Disk::default());
    let mut requests = 0;
    while conversation.journal().snapshot.is_none() {
        run(&mut conversation, requests..requests + 1);
        requests += 1;
        assert!(requests < 900, "no snapshot of {} bytes", conversation.journal().journal.len());
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

/// The place of the number after the first occurrence of a text.
fn number_after(text: &str, before: &str) -> std::ops::Range<usize> {
    let start = text.find(before).unwrap() + before.len();
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    start..start + digits
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
    let end = lines.iter().position(|line| line.contains("\"delivered\"")).unwrap();
    let earlier = lines[..=end].concat();
    assert_eq!(refused(snapshot.clone(), earlier.as_bytes()), Some(SnapshotError::JournalMismatch));
    // Snapshots with a valid digest, whose numbers fit no journal, or another line of it.
    let body = String::from_utf8(snapshot.clone()).unwrap();
    let (_, body) = body.split_once('\n').unwrap();
    let bytes = number_after(body, "\"journal_bytes\":");
    let next = number_after(body, "\"next\":");
    for (number, edits) in [
        (bytes, ["0", "9007199254740993", "18446744073709551615"]),
        (next, ["0", "4294967296", "18446744073709551615"]),
    ] {
        for edit in edits {
            let mut edited = body.to_owned();
            edited.replace_range(number.clone(), edit);
            let edited = format!("{}\n{edited}", orchestrion_trace::digest(edited.as_bytes())).into_bytes();
            assert!(refused(edited, &disk.journal).is_some(), "{edit}");
        }
    }
    // The snapshot of another policy, which differs in one number.
    let mut policy = Policy::hardened();
    policy.contexts.nodes_max += 1;
    let header = header(policy);
    let other = Disk { journal: Vec::new(), snapshot: Some(snapshot) };
    let opened = Conversation::open_with(other, &header, &StandardContexts).unwrap();
    assert_eq!(opened.snapshot_error(), Some(&SnapshotError::HeaderMismatch));
}

/// A snapshot is a cache: one that cannot be read is reported, and the journal opens without it.
#[test]
fn unreadable_snapshot_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    let open = || Conversation::open(&path, Policy::hardened(), &StandardContexts).unwrap();
    let mut conversation = open();
    let clock = Clock::simulated();
    clock.block_on(conversation.run_request(&Modules(clock.clone()), "ada", "Order paper")).unwrap().unwrap();
    let steps = conversation.steps();
    drop(conversation);
    // A folder cannot be read as a file, by any user.
    std::fs::create_dir(folder.path().join("office.ndjson.snapshot")).unwrap();
    let opened = open();
    // The step that states a possible loss follows.
    assert_eq!(opened.steps(), steps + 1);
    assert!(matches!(opened.snapshot_error(), Some(SnapshotError::Unreadable(_))));
}

fn session_items(conversation: &Conversation<Disk>) -> usize {
    let items = conversation.state().semantic().valid_entries();
    items.filter(|entry| entry.item.is_session_item()).count()
}

/// Each request adds at least nine items of the session. Compaction is due at 64 items of a group, and leaves at most 33 of them.
#[test]
fn session_items_are_bounded() {
    let mut conversation = open(&Disk::default());
    let mut largest = 0;
    for request in 0..150 {
        run(&mut conversation, request..request + 1);
        largest = largest.max(session_items(&conversation));
    }
    assert!((64..100).contains(&largest), "{largest} items of the session");
}

/// A host whose summarizer fails, and whose plans have forty tasks, half of them in a scope of their own.
struct LargePlans(Modules);

impl Host for LargePlans {
    async fn execute(&self, call: &Call) -> CallResult {
        match call.operation {
            Operation::Summarize => Err(Failure::Error.into()),
            Operation::DraftPlan => {
                let task = |number| Task {
                    id: TaskId::new(number),
                    text: format!("place order {number} with the supplier of the office").into(),
                    effect: Effect::Pure,
                    depends_on: None,
                    scope: number.is_multiple_of(2).then(|| Scope::Task("sales".into())),
                    step: StepOptions::default(),
                };
                Ok(Report::Plan(Plan::new((1..=40).map(task).collect()).unwrap()).into())
            }
            _ => self.0.execute(call).await,
        }
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.0.recover(call).await
    }

    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

/// Without compaction, the capacity bounds a session: each request adds over eighty items of it.
#[test]
fn session_items_are_bounded_without_summaries() {
    let mut conversation = open(&Disk::default());
    let clock = Clock::simulated();
    let host = LargePlans(Modules(clock.clone()));
    // A task can run in a scope that has a fact.
    let target = NewFact {
        scope: Scope::Task("sales".into()),
        ..NewFact::global("target".into(), "100".into(), WriteSource::declared("ada".into()))
    };
    conversation.mailbox().write(Write::Fact(target)).unwrap();
    let mut sizes = Vec::new();
    for number in 0..20 {
        let text = format!("Order paper for room {number}");
        clock.block_on(conversation.run_request(&host, "ada", text.as_str())).unwrap().unwrap();
        sizes.push(session_items(&conversation));
    }
    let capacity = usize::try_from(Policy::hardened().compaction.session_items_max).unwrap();
    assert!(sizes[4] > 400 && sizes[9] < capacity, "{sizes:?}");
    assert!(sizes[15..].iter().all(|size| *size == capacity), "{sizes:?}");
    assert!(conversation.state().semantic().is_consistent());
}
