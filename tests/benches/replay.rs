//! Speed of replay on one core: hash chain, reading, decisions and contexts.
//!
//! Criterion's throughput is in steps per second. Most lines of the long trace have 1 KB, of which each debater's text
//! takes a third; every fifth line is short.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_tests::{endless_debate::EndlessDebate, root};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use std::hint::black_box;
use std::io::Read;

const STEPS: u64 = 10_000;

/// Replays a trace and returns the number of its steps.
fn steps(trace: &[u8]) -> u64 {
    let found = replay(Reader::new(trace, "bench").expect("a trace"), None, &StandardContexts);
    assert!(found.is_equal(), "{found:?}");
    found.steps
}

fn long(c: &mut Criterion) {
    let mut trace = Vec::new();
    EndlessDebate::new(STEPS).and_then(|mut debate| debate.read_to_end(&mut trace)).expect("memory");
    println!("{} bytes per line on average", trace.len() as u64 / STEPS);
    let mut group = c.benchmark_group("replay");
    group.throughput(Throughput::Elements(steps(&trace)));
    group.bench_function("long debate", |b| b.iter(|| black_box(steps(&trace))));
    group.finish();
}

fn goldens(c: &mut Criterion) {
    let folder = std::fs::read_dir(root().join("specs/scenarios")).expect("scenarios");
    let traces: Vec<Vec<u8>> = folder
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ndjson"))
        .map(|path| std::fs::read(path).expect("a trace"))
        .collect();
    let all = || traces.iter().map(|trace| steps(trace)).sum::<u64>();
    let mut group = c.benchmark_group("replay");
    group.throughput(Throughput::Elements(all()));
    group.bench_function("goldens", |b| b.iter(|| black_box(all())));
    group.finish();
}

criterion_group!(benches, long, goldens);
criterion_main!(benches);
