//! Semantic state with 100,000 facts: a write that supersedes a fact with ten dependents, and a copy of the state.

#![allow(missing_docs, clippy::expect_used, reason = "a bench stops where it cannot go on")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use orchestrion_kernel::Policy;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, MemoryType, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write, WriteSource, decide_write};
use orchestrion_kernel::semantic::SemanticState;
use std::hint::black_box;

const FACTS: usize = 100_000;
const DEPENDENTS: usize = 10;

fn fact(number: usize, depends_on: Option<usize>, supersedes: Option<usize>) -> Write {
    let key = |number: usize| format!("fact {number}").into();
    Write::Fact(NewFact {
        kind: FactKind::Fact,
        key: key(number),
        text: format!("text of fact {number}").into(),
        source: WriteSource::declared("employee".into()),
        established_at: None,
        memory: MemoryType::User,
        scope: Scope::Global,
        audience: Audience::Everybody,
        time_sensitive: false,
        supersedes: supersedes.map(|number| Reference::Key(key(number))),
        detected_rule: None,
        is_from_text: false,
        depends_on: depends_on.map(|number| Reference::Key(key(number))).into_iter().collect(),
    })
}

fn write(policy: &Policy, state: &mut SemanticState, write: &Write) -> usize {
    let events = decide_write(policy, state, Timestamp::default(), None, write).expect("the write is valid");
    events.iter().for_each(|event| state.apply(event));
    events.len()
}

fn semantic(c: &mut Criterion) {
    let policy = Policy::hardened();
    let mut state = SemanticState::default();
    let base = FACTS / 2;
    for number in 0..FACTS {
        let depends_on = (base + 1..=base + DEPENDENTS).contains(&number).then_some(base);
        write(&policy, &mut state, &fact(number, depends_on, None));
    }
    let superseding = fact(FACTS, None, Some(base));
    assert_eq!(write(&policy, &mut state.clone(), &superseding), 2 + DEPENDENTS);
    let mut group = c.benchmark_group("100,000 facts");
    group.bench_function("a superseding write with ten dependents", |b| {
        b.iter_batched_ref(
            || state.clone(),
            |state| black_box(write(&policy, state, &superseding)),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("a copy of the state", |b| b.iter(|| black_box(state.clone())));
    group.finish();
}

criterion_group!(benches, semantic);
criterion_main!(benches);
