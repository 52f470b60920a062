//! The cost of running a conversation: without sync, and next to the sync that makes it durable.
//!
//! The difference between `durable/conversation` and `durable/sync alone` is the cost of kernel, trace and runtime: the
//! latter writes and syncs the same lines.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Call, Clock, Conversation, Journal, JournalFile};
use orchestrion_tests::side_effects::{EffectfulHost, SideEffectLog};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::Path;

fn header() -> Header {
    Header::new(ConversationId::new("office"), Policy::hardened(), None)
}

/// Runs one request and returns the journal with its steps.
fn run_request<J: Journal>(journal: J) -> (J, u64) {
    let clock = Clock::simulated();
    let host = EffectfulHost::new(SideEffectLog::default(), clock.clone(), |_: &Call| {});
    let mut conversation =
        Conversation::open_with(journal, &header(), &StandardContexts).expect("the journal opens");
    let reply = clock
        .block_on(conversation.run_request(&host, "ada", "Order paper"))
        .expect("simulated time advances");
    reply.expect("the request completes");
    let steps = conversation.steps();
    (conversation.into_journal(), steps)
}

/// A journal in memory that records each append.
#[derive(Default)]
struct Chunks(Vec<Vec<u8>>);

impl Journal for Chunks {
    fn name(&self) -> String {
        "chunks".to_owned()
    }
    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(io::empty())
    }
    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.0.push(lines.to_vec());
        Ok(())
    }
    async fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn without_sync(criterion: &mut Criterion) {
    let (_, steps) = run_request(Vec::new());
    let mut group = criterion.benchmark_group("without sync");
    group.throughput(Throughput::Elements(steps));
    group.bench_function("in memory", |bencher| bencher.iter(|| run_request(Vec::new())));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("office.ndjson");
    group.bench_function("in a file", |bencher| {
        bencher.iter_batched(|| open_new(&path).without_fsync(), run_request, BatchSize::PerIteration);
    });
    group.finish();
}

fn open_new(path: &Path) -> JournalFile {
    // No append precedes the first.
    let _ = std::fs::remove_file(path);
    JournalFile::open(path).expect("the journal opens")
}

fn durable(criterion: &mut Criterion) {
    let (Chunks(chunks), steps) = run_request(Chunks::default());
    // In the build folder, because temporary folders may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let path = folder.path().join("office.ndjson");
    let mut group = criterion.benchmark_group("durable");
    group.throughput(Throughput::Elements(steps));
    group.bench_function("conversation", |bencher| {
        bencher.iter_batched(|| open_new(&path), run_request, BatchSize::PerIteration);
    });
    group.bench_function("sync alone", |bencher| {
        let open = || {
            let _ = std::fs::remove_file(&path);
            OpenOptions::new().create(true).append(true).open(&path).expect("the journal opens")
        };
        let write = |mut file: File| {
            for chunk in &chunks {
                file.write_all(chunk).expect("the write succeeds");
                file.sync_data().expect("the sync succeeds");
            }
        };
        bencher.iter_batched(open, write, BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, without_sync, durable);
criterion_main!(benches);
