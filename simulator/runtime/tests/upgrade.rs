//! Upgrades: a conversation continues under another policy or a newer kernel.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod office;

use office::Modules;
use orchestrion_kernel::{ConversationId, Policy, Timestamp};
use orchestrion_runtime::{
    Clock, Conversation, JournalFile, OpenError, RotateError, Upgrade, UpgradeError, rotate,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::segments::{JoinError, Joined, join};
use orchestrion_trace::{Header, Reader, StepMetadata, StepRecord, Writer, digest};
use std::fs;
use std::io::Sink;
use std::path::{Path, PathBuf};

/// A policy that decides other events than `hardened` in every request: an approver decides before the plan runs.
fn other() -> Policy {
    let mut policy = Policy { name: "other".to_owned(), ..Policy::hardened() };
    policy.rules.approver = true;
    policy
}

fn open(path: &Path, policy: Policy) -> Result<Conversation<JournalFile>, OpenError> {
    Conversation::open(path, policy, &StandardContexts)
}

/// Opens a journal of which no step is lost.
fn reopen(path: &Path, policy: Policy) -> Result<Conversation<JournalFile>, OpenError> {
    Conversation::open_acknowledged(JournalFile::open(path)?, &office::header(policy), &StandardContexts, 0)
}

/// Runs requests in a journal under a policy, and returns its steps.
fn run(path: &Path, policy: Policy, requests: std::ops::Range<u32>) -> u64 {
    let (mut conversation, clock) = (reopen(path, policy).unwrap(), Clock::simulated());
    for number in requests {
        let text = format!("Order paper for room {number}");
        let host = Modules(clock.clone());
        clock.block_on(conversation.run_request(&host, "ada", text.as_str())).unwrap().unwrap();
    }
    conversation.steps()
}

fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    (folder, path)
}

fn prepare(path: &Path) -> Result<Upgrade, UpgradeError> {
    Upgrade::prepare(path, &StandardContexts)
}

fn upgrade(path: &Path, policy: &Policy) -> PathBuf {
    let upgrade = prepare(path).unwrap();
    let next = upgrade.next_header(policy).unwrap();
    upgrade.apply(next, None).unwrap().path
}

fn segment(path: &Path) -> Reader<std::io::BufReader<fs::File>> {
    let input = std::io::BufReader::new(fs::File::open(path).unwrap());
    Reader::new_segment(input, &path.file_name().unwrap().to_string_lossy()).unwrap()
}

fn joined(files: &[&Path]) -> Result<Joined, JoinError> {
    let mut readers = files.iter().map(|path| segment(path));
    let first = readers.next().unwrap();
    join(first, readers, &StandardContexts, None::<Sink>)
}

#[test]
fn conversation_continues_under_another_policy() {
    let (_folder, path) = journal();
    let steps = run(&path, Policy::hardened(), 0..2);
    let before = reopen(&path, Policy::hardened()).unwrap().state().clone();
    assert!(matches!(open(&path, other()), Err(OpenError::HeaderMismatch { subject: "policy", .. })));
    let recorded = segment(&path).header().clone();
    let first = upgrade(&path, &other());
    assert!(matches!(
        open(&path, Policy::hardened()),
        Err(OpenError::HeaderMismatch { subject: "policy", .. })
    ));
    let conversation = reopen(&path, other()).unwrap();
    assert_eq!((conversation.steps(), conversation.state()), (steps, &before));
    drop(conversation);
    let header = segment(&path).header().clone();
    assert_eq!(header.upgraded_from, Some(recorded.as_upgraded_from()));
    assert_eq!(header.policy, other());

    // The next rotation is no upgrade, and the next upgrade has its own origin.
    run(&path, other(), 2..3);
    let second = rotate(&path, None, &StandardContexts).unwrap().path;
    assert_eq!(segment(&path).header().upgraded_from, None);
    run(&path, other(), 3..4);
    let third = upgrade(&path, &Policy::hardened());
    let steps = run(&path, Policy::hardened(), 4..5);
    let files = [&first, &second, &third, &path].map(PathBuf::as_path);
    let found = joined(&files).unwrap();
    assert_eq!((found.steps, found.upgrades, found.unverified_steps, found.is_open), (steps, 2, 0, true));

    // One trace has one policy.
    let mut readers = files.iter().map(|path| segment(path));
    let first_reader = readers.next().unwrap();
    let error = join(first_reader, readers, &StandardContexts, Some(Vec::new())).unwrap_err();
    assert!(matches!(error, JoinError::Upgraded { .. }), "{error}");
    // A segment is missing, and the policy before is another one.
    assert!(matches!(joined(&[&first, &third, &path]), Err(JoinError::WrongSegment { .. })));
}

/// A header that claims another origin, or changes the policy without an upgrade.
#[test]
fn changed_policy_needs_an_upgrade_from_the_segment_before() {
    let (folder, path) = journal();
    run(&path, Policy::hardened(), 0..1);
    let first = upgrade(&path, &other());
    let (recorded, start) = {
        let reader = segment(&path);
        (reader.header().clone(), reader.start().unwrap().clone())
    };
    let forged = folder.path().join("forged.ndjson");
    let refused = |header: Header| {
        let segment = Writer::new_segment(Vec::new(), &header, &start).unwrap().end().unwrap();
        fs::write(&forged, segment).unwrap();
        joined(&[&first, &forged]).unwrap_err().to_string()
    };
    let hidden = refused(Header { upgraded_from: None, ..recorded.clone() });
    assert!(hidden.contains("found others, and no upgrade"), "{hidden}");
    let other = refused(Header { upgraded_from: Some(recorded.as_upgraded_from()), ..recorded.clone() });
    assert!(other.contains("expected an upgrade from the kernel ") && other.contains("the policy other"));
    let continues_nothing = Header { continues: None, ..recorded.clone() };
    let trace = Writer::new(Vec::new(), &continues_nothing).unwrap().end().unwrap();
    let error = Reader::new(&trace[..], "trace").unwrap_err().to_string();
    assert!(error.contains("expected `continues` beside `upgraded_from`"), "{error}");
    let foreign = refused(Header { conversation: ConversationId::new("cellar"), ..recorded });
    assert!(foreign.contains("expected the conversation of the segment before"), "{foreign}");
}

#[test]
fn unsafe_upgrades_are_refused() {
    let (folder, path) = journal();
    assert!(matches!(prepare(&path), Err(UpgradeError::Rotate(RotateError::Missing { .. }))));
    run(&path, Policy::hardened(), 0..1);
    let conversation = open(&path, Policy::hardened()).unwrap();
    assert!(matches!(prepare(&path), Err(UpgradeError::Rotate(RotateError::Open(OpenError::Locked { .. })))));
    drop(conversation);
    let unchanged = prepare(&path).unwrap();
    assert_eq!(unchanged.next_header(&Policy::hardened()), None);
    drop(unchanged);

    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    assert!(matches!(prepare(&path), Err(UpgradeError::TornTail { .. })));
    assert_eq!(fs::read(&path).unwrap(), &whole[..whole.len() - 5]);
    fs::write(&path, &whole).unwrap();

    // The lines up to the first call of the planner: a request runs.
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let running = lines[..6].concat();
    fs::write(&path, &running).unwrap();
    let error = prepare(&path).unwrap_err();
    assert!(matches!(error, UpgradeError::Running { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), running);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no segment and no draft");

    // As drawn, a conversation ends with its first request.
    fs::remove_file(&path).unwrap();
    run(&path, Policy::as_drawn(), 0..1);
    let error = prepare(&path).unwrap_err().to_string();
    assert!(error.contains("ended conversation: expected the phase Idle, found Done"), "{error}");
}

/// The journal of an older kernel with another table, which the older version rotated.
#[test]
fn conversation_continues_under_a_newer_kernel() {
    let (_folder, path) = journal();
    let steps = run(&path, Policy::hardened(), 0..1);
    let first = rotate(&path, None, &StandardContexts).unwrap().path;
    let (current, start) = {
        let reader = segment(&path);
        (reader.header().clone(), reader.start().unwrap().clone())
    };
    let older = Header { kernel: "0.0.9".to_owned(), table: "0".repeat(32), ..current };
    let mut lines = Writer::new_segment(Vec::new(), &older, &start).unwrap();
    fs::write(&path, lines.output()).unwrap();
    assert!(matches!(
        open(&path, Policy::hardened()),
        Err(OpenError::HeaderMismatch { subject: "kernel version", .. })
    ));
    let prepared = prepare(&path).unwrap();
    let next = prepared.next_header(&Policy::hardened()).unwrap();
    assert_eq!(next.upgraded_from.as_ref().unwrap().kernel, "0.0.9");
    // The older version rotated the journal at the same step.
    let second = prepared.apply(next, None).unwrap().path;
    assert_eq!(second, first.with_file_name(format!("office.{steps}-2.ndjson")));
    assert_eq!(reopen(&path, Policy::hardened()).unwrap().steps(), steps);
}

/// A kernel that decided otherwise, here by another policy: its state does not follow from its inputs, so its own version stores it.
#[test]
fn steps_that_this_kernel_decides_otherwise_are_refused() {
    let (_folder, path) = journal();
    run(&path, Policy::hardened(), 0..1);
    let reader = segment(&path);
    let older = Header { kernel: "0.0.9".to_owned(), policy: Policy::as_drawn(), ..reader.header().clone() };
    let mut journal = Writer::new(Vec::new(), &older).unwrap();
    for step in reader.map_while(Result::ok) {
        let metadata = StepMetadata::at(Timestamp::from_millis(step.at_ms));
        let record = StepRecord::accepted(&step.events, None);
        journal.write_step(&metadata, &step.input, record).unwrap();
    }
    fs::write(&path, journal.output()).unwrap();
    let error = prepare(&path).unwrap_err().to_string();
    assert!(error.contains("events of another kernel: expected"), "{error}");
    assert!(error.contains("rotate the journal with the version 0.0.9 that recorded it"), "{error}");
}

/// The header of a journal without steps lacks a setting that this version has.
#[test]
fn older_header_is_converted() {
    let (_folder, path) = journal();
    let json = serde_json::to_string(&office::header(Policy::hardened())).unwrap();
    let setting = "\"session_items_max\":1000";
    let older = json.replace(&format!(",{setting}"), "");
    assert_ne!(older, json);
    let chain = digest(older.as_bytes());
    fs::write(&path, format!("{},\"chain\":\"{chain}\"}}\n", older.strip_suffix('}').unwrap())).unwrap();
    let error = open(&path, Policy::hardened()).unwrap_err().to_string();
    assert!(error.contains("a journal with `orchestrion journal upgrade JOURNAL`"), "{error}");
    let prepared = prepare(&path).unwrap();
    assert_eq!(prepared.conversions().len(), 1, "{:?}", prepared.conversions());
    let recorded = prepared.recorded().policy.clone();
    let next = prepared.next_header(&recorded).unwrap();
    prepared.apply(next, None).unwrap();
    assert_eq!(reopen(&path, recorded).unwrap().steps(), 0);
}
