//! The solution of chains with a million states: one without cycles, and one whose states return.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{Criterion, criterion_group, criterion_main};
use orchestrion_experiment::exact::{Chain, Ending, Limits, solve_chain};
use orchestrion_experiment::{METRICS, Metric};
use std::hint::black_box;

const STATES: u32 = 1_000_000;

/// A chain whose states lead to three later ones. With a cycle, a state also returns by up to 1,000 states.
fn chain(is_cyclic: bool) -> Chain {
    let mut chain = Chain::of_floats();
    let mut random = 1_u64;
    let mut draw = |bound: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as u32 % bound
    };
    for state in 0..STATES - 1 {
        let mut to = [0; 3].map(|_| (state + 1 + draw(50_000)).min(STATES - 1));
        if is_cyclic && state > 0 {
            to[2] = state.saturating_sub(draw(1000));
        }
        // Every state is reached.
        to[0] = state + 1;
        let edges = [(to[0], 0.5), (to[1], 0.25), (to[2], 0.25)];
        let mut merged: Vec<(u32, f64)> = Vec::new();
        for (to, probability) in edges {
            match merged.iter_mut().find(|(other, _)| *other == to) {
                Some((_, sum)) => *sum += probability,
                None => merged.push((to, probability)),
            }
        }
        chain.push_floats(&merged, &[(draw(10) as u8, 1.0)], None);
    }
    chain.push_floats(&[], &[], Some(Ending::Completed));
    chain
}

fn solve(criterion: &mut Criterion) {
    let metrics: Vec<&'static Metric> = METRICS.iter().collect();
    let mut group = criterion.benchmark_group("a million states");
    group.sample_size(10);
    for (name, is_cyclic) in [("acyclic", false), ("cyclic", true)] {
        let chain = chain(is_cyclic);
        let result = solve_chain(&chain, &metrics, &Limits::default());
        assert!(result.is_some_and(|result| result.is_acyclic != is_cyclic), "{name}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(solve_chain(&chain, &metrics, &Limits::default())));
        });
    }
    group.finish();
}

criterion_group!(benches, solve);
criterion_main!(benches);
