//! Speed of scoring both recorded splits on one core.
//!
//! Skipped without `ORCHESTRION_DATA`.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_statebench::read::Reader;
use orchestrion_statebench::score::{Report, Scorer};
use std::hint::black_box;
use std::path::PathBuf;

fn score_splits(c: &mut Criterion) {
    let Some(data) = std::env::var_os("ORCHESTRION_DATA") else { return };
    let folder = PathBuf::from(data).join("statebench");
    let splits = ["train.jsonl", "dev.jsonl"].map(|file| std::fs::read(folder.join(file)).expect("a split"));
    let score = || {
        let (scorer, mut report) = (Scorer::default(), Report::default());
        for split in &splits {
            for case in Reader::new(split.as_slice(), "bench") {
                scorer.score("bench", &case.expect("a timeline"), &mut report);
            }
        }
        report.timelines
    };
    let mut group = c.benchmark_group("statebench");
    group.throughput(Throughput::Elements(score() as u64));
    group.sample_size(20);
    group.bench_function("all timelines", |b| b.iter(|| black_box(score())));
    group.finish();
}

criterion_group!(benches, score_splits);
criterion_main!(benches);
