//! Requests of 1,000 live conversations in one process, with a durable journal each.
//!
//! `thread of the conversations` syncs as a single conversation does, so that each sync delays all others; the other rows sync by threads.
//! `without sync` is what remains.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use orchestrion_files::raise_open_files_limit;
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Call, Clock, Conversation, JournalFile, SyncThreads};
use orchestrion_tests::side_effects::{EffectfulHost, SideEffectLog};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use std::num::NonZeroUsize;
use tempfile::TempDir;

const CONVERSATIONS: usize = 1000;

/// Opens conversations in a new folder. In the build folder, because temporary folders may be in memory.
fn open(prepare: impl Fn(JournalFile) -> JournalFile) -> (TempDir, Vec<Conversation<JournalFile>>) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let open = |number| {
        let name = format!("conversation-{number}");
        let journal = JournalFile::open(folder.path().join(&name)).expect("the journal opens");
        let header = Header::new(ConversationId::new(name), Policy::hardened(), None).into_journal();
        Conversation::open_with(prepare(journal), &header, &StandardContexts).expect("the conversation opens")
    };
    let conversations = (0..CONVERSATIONS).map(open).collect();
    (folder, conversations)
}

/// Runs one request in each conversation, all at the same time. Returns the journals, so that they are closed outside the measurement.
fn run(
    (folder, mut conversations): (TempDir, Vec<Conversation<JournalFile>>),
) -> (TempDir, Vec<Conversation<JournalFile>>) {
    let clock = Clock::real();
    let host = EffectfulHost::new(SideEffectLog::default(), clock.clone(), |_: &Call| {});
    let requests =
        conversations.iter_mut().map(|conversation| conversation.run_request(&host, "ada", "Order paper"));
    let results = clock.block_on(join_all(requests)).expect("time passes");
    for result in results {
        result.expect("the request completes");
    }
    (folder, conversations)
}

fn conversations(criterion: &mut Criterion) {
    raise_open_files_limit().expect("the limit of open files is raised");
    let mut group = criterion.benchmark_group("1,000 conversations");
    group.throughput(Throughput::Elements(CONVERSATIONS as u64)).sample_size(10);
    let mut bench = |name: &str, prepare: &dyn Fn(JournalFile) -> JournalFile| {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(|| open(prepare), run, BatchSize::PerIteration);
        });
    };
    bench("without sync", &JournalFile::without_fsync);
    bench("thread of the conversations", &|journal| journal);
    for count in [1, 4, 16, 64] {
        let threads = NonZeroUsize::new(count).expect("a number of threads");
        let threads = SyncThreads::start(threads).expect("the threads start");
        bench(&format!("{count} sync threads"), &|journal| journal.with_sync_threads(threads.clone()));
    }
    group.finish();
}

criterion_group!(benches, conversations);
criterion_main!(benches);
