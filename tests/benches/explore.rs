//! The overhead of exploration beyond the model: our explorer and stateright, one thread, in generated states per
//! second.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_explorer::{Options, StaterightModel, explore};
use orchestrion_tests::counters::Counters;
use stateright::{Checker, Model};

fn counters(criterion: &mut Criterion) {
    let model = Counters { bound: 9 };
    let ours = || {
        explore(&StaterightModel::new(model), &Options::default(), &mut |_| {})
            .expect("the exploration succeeds")
    };
    let mut group = criterion.benchmark_group("five counters");
    group.throughput(Throughput::Elements(ours().generated()));
    group.bench_function("ours", |bencher| bencher.iter(ours));
    group.bench_function("stateright", |bencher| {
        bencher.iter(|| model.checker().threads(1).spawn_bfs().join().unique_state_count());
    });
    group.finish();
}

criterion_group!(benches, counters);
criterion_main!(benches);
