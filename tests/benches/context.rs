//! The context optimizer on problems of our own making: shallow forests, layers with shared needs, costs and utilities
//! that nearly agree, sums that must fit exactly, and a hundred thousand candidates.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench stops where it cannot go on"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem};
use orchestrion_optimizer::{SearchLimits, SolveStatus, solve};
use std::hint::black_box;

/// Numbers that are the same everywhere (splitmix64).
struct Lcg(u64);

impl Lcg {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        least + (mixed ^ (mixed >> 31)) % (most - least + 1)
    }

    fn place(&mut self, least: usize, most: usize) -> usize {
        least + (self.between(0, (most - least) as u64) as usize)
    }
}

/// What a candidate needs, by its position among so many.
type Needs = fn(&mut Lcg, usize, usize) -> Vec<usize>;
/// What a candidate of this cost is worth.
type Worth = fn(&mut Lcg, u64) -> u64;

fn forest(lot: &mut Lcg, item: usize, _: usize) -> Vec<usize> {
    if item > 0 && lot.between(0, 9) < 6 {
        vec![lot.place(item.saturating_sub(500), item - 1)]
    } else {
        vec![]
    }
}

fn layers(lot: &mut Lcg, item: usize, count: usize) -> Vec<usize> {
    let layer = (count / 5).max(1);
    let Some(first) = (item / layer * layer).checked_sub(layer) else { return vec![] };
    (0..lot.between(1, 3)).map(|_| lot.place(first, first + layer - 1)).collect()
}

fn problem(count: usize, needs: Needs, worth: Worth) -> Problem {
    let mut lot = Lcg(1);
    let candidates: Vec<Candidate> = (0..count)
        .map(|item| {
            let cost = lot.between(5, 2_000);
            let (utility, deps) = (worth(&mut lot, cost), needs(&mut lot, item, count));
            Candidate { utility, cost, deps, inclusion: Inclusion::Free }
        })
        .collect();
    Problem::new(200_000, candidates).expect("nothing is pinned")
}

fn context(c: &mut Criterion) {
    let cases: &[(&str, usize, Needs, Worth)] = &[
        ("forest, 2,000", 2_000, forest, |lot, _| lot.between(0, 1_000_000)),
        ("layers, 2,000", 2_000, layers, |lot, cost| cost * 500 + lot.between(0, 400_000)),
        ("strongly correlated layers, 1,000", 1_000, layers, |_, cost| cost + 200),
        ("nearly correlated forest, 1,000", 1_000, forest, |lot, cost| cost + 198 + lot.between(0, 4)),
        ("subset sums in a forest, 1,000", 1_000, forest, |_, cost| cost),
        ("forest, 100,000", 100_000, forest, |lot, _| lot.between(0, 1_000_000)),
    ];
    let mut group = c.benchmark_group("context");
    group.sample_size(10);
    for &(name, count, needs, worth) in cases {
        let problem = problem(count, needs, worth);
        assert_eq!(solve(&problem, SearchLimits::default()).status, SolveStatus::Optimal, "{name}");
        group.bench_function(name, |b| b.iter(|| black_box(solve(&problem, SearchLimits::default()))));
    }
    group.finish();
}

criterion_group!(benches, context);
criterion_main!(benches);
