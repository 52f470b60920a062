//! Semantic state with 100,000 facts: a write that supersedes a fact with ten dependents, and a copy of the state.

#![allow(missing_docs, clippy::expect_used, reason = "a bench stops where it cannot go on")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use orchestrion_kernel::Policy;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, FactSource, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write, decide_write};
use orchestrion_kernel::semantic::SemanticState;
use std::hint::black_box;

const FACTS: usize = 100_000;
const DEPENDENTS: usize = 10;

fn fact(number: usize, rests_on: Option<usize>, supersedes: Option<usize>) -> Write {
    let key = |number: usize| format!("fact {number}").into();
    Write::Fact(NewFact {
        kind: FactKind::Fact,
        key: key(number),
        text: format!("what fact {number} says").into(),
        source: FactSource { name: "bench".into(), rank: Rank::Employee },
        established_at: Timestamp::default(),
        memory: MemoryType::User,
        scope: Scope::Global,
        audience: Audience::Everybody,
        time_sensitive: false,
        supersedes: supersedes.map(|number| Reference::Key(key(number))),
        detected_rule: None,
        depends_on: rests_on.map(|number| Reference::Key(key(number))).into_iter().collect(),
    })
}

fn write(policy: &Policy, known: &mut SemanticState, write: &Write) -> usize {
    let events = decide_write(policy, known, write).expect("the write fits");
    events.iter().for_each(|event| known.apply(event));
    events.len()
}

fn semantic(c: &mut Criterion) {
    let policy = Policy::hardened();
    let mut known = SemanticState::default();
    let base = FACTS / 2;
    for number in 0..FACTS {
        let rests_on = (base + 1..=base + DEPENDENTS).contains(&number).then_some(base);
        write(&policy, &mut known, &fact(number, rests_on, None));
    }
    let superseding = fact(FACTS, None, Some(base));
    assert_eq!(write(&policy, &mut known.clone(), &superseding), 2 + DEPENDENTS);
    let mut group = c.benchmark_group("100,000 facts");
    group.bench_function("a write that supersedes, ten dependents", |b| {
        b.iter_batched_ref(
            || known.clone(),
            |known| black_box(write(&policy, known, &superseding)),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("a copy of everything", |b| b.iter(|| black_box(known.clone())));
    group.finish();
}

criterion_group!(benches, semantic);
criterion_main!(benches);
