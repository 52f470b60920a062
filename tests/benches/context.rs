//! The context optimizer on generated problems: shallow forests, layers with shared dependencies, correlated costs and
//! utilities, subset sums, and 100,000 candidates. And the context of a call, of which few items changed.

#![allow(missing_docs, clippy::expect_used, clippy::indexing_slicing, reason = "a bench fails by panicking")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, Layer, Scope, Validity};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem};
use orchestrion_kernel::{ConversationId, ItemId, Policy, RequestId, State, Timestamp, UserId};
use orchestrion_optimizer::{SearchLimits, SolveStatus, solve};
use orchestrion_selection::{Explainer, NamedProblem, budget_curve};
use orchestrion_text::StandardContexts;
use std::hint::black_box;

/// Reproducible random numbers (splitmix64).
struct Lcg(u64);

impl Lcg {
    fn between(&mut self, min: u64, max: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        min + (mixed ^ (mixed >> 31)) % (max - min + 1)
    }

    fn index(&mut self, min: usize, max: usize) -> usize {
        min + (self.between(0, (max - min) as u64) as usize)
    }
}

/// Returns the dependencies of a candidate, by its position and the number of candidates.
type Dependencies = fn(&mut Lcg, usize, usize) -> Vec<usize>;
/// Returns the utility of a candidate, by its cost.
type Utility = fn(&mut Lcg, u64) -> u64;

fn forest(rng: &mut Lcg, item: usize, _: usize) -> Vec<usize> {
    if item > 0 && rng.between(0, 9) < 6 {
        vec![rng.index(item.saturating_sub(500), item - 1)]
    } else {
        vec![]
    }
}

fn layers(rng: &mut Lcg, item: usize, count: usize) -> Vec<usize> {
    let layer = (count / 5).max(1);
    let Some(first) = (item / layer * layer).checked_sub(layer) else { return vec![] };
    (0..rng.between(1, 3)).map(|_| rng.index(first, first + layer - 1)).collect()
}

fn problem(count: usize, dependencies: Dependencies, utility: Utility) -> Problem {
    let mut rng = Lcg(1);
    let candidates: Vec<Candidate> = (0..count)
        .map(|item| {
            let cost = rng.between(5, 2_000);
            let (utility, deps) = (utility(&mut rng, cost), dependencies(&mut rng, item, count));
            Candidate { utility, cost, deps, inclusion: Inclusion::Free }
        })
        .collect();
    Problem::new(200_000, candidates).expect("nothing is pinned")
}

fn context(c: &mut Criterion) {
    let cases: &[(&str, usize, Dependencies, Utility)] = &[
        ("forest, 2,000", 2_000, forest, |rng, _| rng.between(0, 1_000_000)),
        ("layers, 2,000", 2_000, layers, |rng, cost| cost * 500 + rng.between(0, 400_000)),
        ("strongly correlated layers, 1,000", 1_000, layers, |_, cost| cost + 200),
        ("nearly correlated forest, 1,000", 1_000, forest, |rng, cost| cost + 198 + rng.between(0, 4)),
        ("subset sums in a forest, 1,000", 1_000, forest, |_, cost| cost),
        ("forest, 100,000", 100_000, forest, |rng, _| rng.between(0, 1_000_000)),
    ];
    let mut group = c.benchmark_group("context");
    group.sample_size(10);
    // As for the contexts of a policy, only nodes are limited.
    let nodes = SearchLimits::from_nodes(SearchLimits::default().nodes);
    for &(name, count, dependencies, utility) in cases {
        let problem = problem(count, dependencies, utility);
        assert_eq!(solve(&problem, nodes).status, SolveStatus::Optimal, "{name}");
        group.bench_function(name, |b| b.iter(|| black_box(solve(&problem, nodes))));
    }
    // Searches of a command, within its work limits.
    let limits = SearchLimits { work: 3 * SearchLimits::WORK, ..SearchLimits::default() };
    let problem = problem(3_000, layers, |rng, cost| cost * 500 + rng.between(0, 400_000));
    let named = named(&problem);
    group.bench_function("curve of 100 points, layers, 3,000", |b| {
        b.iter(|| black_box(budget_curve(&named, 100, limits, &mut |_| ()).expect("valid selections")));
    });
    group.bench_function("explanation of one item, layers, 3,000", |b| {
        b.iter(|| {
            let mut explainer = Explainer::new(&named, SearchLimits::default()).expect("a valid selection");
            let reason = explainer.reasons()[2_900].clone();
            black_box(explainer.explain(2_900, reason).expect("valid selections"))
        });
    });
    group.finish();
}

/// Returns an item of the session.
fn note(id: ItemId, number: u64, version: u64) -> Item {
    // Texts of different versions differ in length, so a change makes another problem.
    let length = usize::try_from((number * 3 + version) % 7).unwrap_or_default();
    Item {
        id,
        kind: ItemKind::Fact,
        key: ItemKey::Working(format!("note {number}").into()),
        text: format!(
            "article {number} of order {version} is delivered to room {}{}",
            number % 31,
            ", urgent".repeat(length)
        )
        .into(),
        layer: Layer::Working { created_at: Timestamp::default(), expires_at: None },
        validity: Validity::Current,
    }
}

/// Updates twenty of the known items.
fn update_twenty(state: &mut State, version: u64) {
    for number in (0..20).map(|at| (version * 20 + at) % KNOWN) {
        let item = note(ItemId::new(number + 1), number, version);
        state.apply(&Event::UpdateItem { item, deps: Vec::new() });
    }
}

const KNOWN: u64 = 500;

/// The context of a call with 500 known items, of which 20 or none changed since the context before: incrementally and from
/// scratch, under the default budget and under one that holds about half of them.
fn call(c: &mut Criterion) {
    let hardened = Policy::hardened();
    call_within(c, "call, 500 items", &hardened);
    let mut tight = hardened;
    tight.contexts.reserved_tokens = tight.contexts.budget_tokens - 4_000;
    call_within(c, "call, 500 items, tight budget", &tight);
}

fn call_within(c: &mut Criterion, name: &str, policy: &Policy) {
    let mut state = State::new(ConversationId::new("office"));
    state.apply(&Event::SessionStarted { user: UserId::new("ada") });
    let (request, user, scope) = (RequestId::FIRST, UserId::new("ada"), Scope::Global);
    state.apply(&Event::UserMsg { request, user, text: "Order article 7 for room 3".into(), scope });
    for number in 0..KNOWN {
        let deps = if number > 10 && number % 3 == 0 { vec![ItemId::new(number - 5)] } else { Vec::new() };
        let id = state.semantic().next_id();
        state.apply(&Event::AddItem { item: note(id, number, 0), deps });
    }
    let mut incremental =
        StandardContexts.create_incremental().expect("the standard contexts are incremental");
    let mut version = 0;
    let mut change = || {
        version += 1;
        update_twenty(&mut state, version);
        state.clone()
    };
    let operation = Operation::DraftPlan;
    let mut group = c.benchmark_group(name);
    group.bench_function("20 changed", |b| {
        b.iter_batched(
            &mut change,
            |state| black_box(incremental.build(policy, &state, operation).expect("it fits")),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("20 changed, from scratch", |b| {
        b.iter_batched(
            &mut change,
            |state| black_box(StandardContexts.build(policy, &state, operation).expect("it fits")),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("none changed", |b| {
        b.iter(|| black_box(incremental.build(policy, &state, operation).expect("it fits")));
    });
    group.finish();
}

/// Returns a problem with its positions as ids.
fn named(problem: &Problem) -> NamedProblem {
    let item = |(id, one): (usize, &Candidate)| serde_json::json!({"id": id, "utility": one.utility, "cost": one.cost, "deps": one.deps});
    let items: Vec<_> = problem.candidates().iter().enumerate().map(item).collect();
    let file = serde_json::json!({"budget": problem.budget(), "items": items}).to_string();
    NamedProblem::from_bytes("bench", file.as_bytes()).expect("a valid file")
}

criterion_group!(benches, call, context);
criterion_main!(benches);
