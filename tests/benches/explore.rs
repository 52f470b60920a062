//! Whole explorations: our explorer and stateright in one run, in generated states per second. The counters measure the overhead
//! beyond the model; the protocols are those of stateright's examples with more than 10,000 states.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_explorer::{Exploration, Options, StaterightModel, explore};
use orchestrion_tests::counters::Counters;
use orchestrion_tests::protocols::{abd, paxos, single_copy, two_phase_commit::TwoPhaseCommit};
use stateright::actor::Network;
use stateright::{Checker, Model};
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;

fn ours<M>(model: &StaterightModel<M>, threads: usize) -> Exploration
where
    M: Model + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    let threads = NonZeroUsize::new(threads).expect("at least one thread");
    explore(model, &Options { threads, ..Options::default() }, &mut |_| {}).expect("the exploration succeeds")
}

fn compare<M>(criterion: &mut Criterion, name: &str, make: impl Fn() -> M)
where
    M: Model + Send + Sync + 'static,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    let model = StaterightModel::new(make());
    let found = ours(&model, 1);
    let bytes = found.visited_bytes() as f64 / found.states() as f64;
    println!("{name}: {} states, {bytes:.1} bytes for each beside the frontier", found.states());
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).throughput(Throughput::Elements(found.generated()));
    group.bench_function("stateright", |bencher| {
        bencher.iter(|| make().checker().threads(1).spawn_bfs().join().unique_state_count());
    });
    group.bench_function("ours", |bencher| bencher.iter(|| ours(&model, 1)));
    group.bench_function("ours, two threads", |bencher| bencher.iter(|| ours(&model, 2)));
    group.finish();
}

fn explorations(criterion: &mut Criterion) {
    compare(criterion, "five counters", || Counters { bound: 9 });
    compare(criterion, "two-phase commit, 7 participants", || TwoPhaseCommit { participants: 7 });
    compare(criterion, "Paxos, 2 clients", || paxos::model(2, 3));
    compare(criterion, "ABD, 3 clients, ordered network", || abd::model(3, 2, Network::new_ordered([])));
    compare(criterion, "single copy, 4 clients", || single_copy::model(4));
}

criterion_group!(benches, explorations);
criterion_main!(benches);
