//! Speed of the kernel on the happy path: `decide` and `apply`, with few and with many items in `S`.
//!
//! One iteration is one whole request with `STEPS` inputs; criterion's throughput is in inputs per second.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::item::{Item, ItemKey, ItemKind};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{
    ConversationId, Input, Policy, RequestId, State, TaskId, Text, TraceId, UserId, decide,
};
use orchestrion_tests::agreement::agreeing_report;
use std::hint::black_box;

/// Runs one request and returns the number of its inputs.
fn run_request(policy: &Policy, state: &mut State, plan: &Plan) -> u64 {
    let mut input = Input::user_message(UserId::new("ada"), Text::from("do it"));
    let mut steps = 0;
    loop {
        let events = decide(policy, state, state.now(), &input).expect("the happy path has no refusals");
        events.iter().for_each(|event| state.apply(event));
        steps += 1;
        input = match state.control().pending_calls().first() {
            Some(call) => Input::reply(call.id, agreeing_report(call.operation, plan)),
            None if state.control().phase().is_quiescent() => return steps,
            None => Input::Step,
        };
    }
}

/// Returns a conversation with an open session and this many items.
fn conversation(policy: &Policy, items: usize) -> State {
    let mut state = State::new(ConversationId::new("bench"));
    let start = Input::session_start(UserId::new("ada"));
    decide(policy, &state, state.now(), &start)
        .expect("a session starts")
        .iter()
        .for_each(|event| state.apply(event));
    for number in 1..=items {
        let earlier = TraceId {
            conversation: ConversationId::new("earlier"),
            request: RequestId::new(u32::try_from(number).expect("the number fits")),
        };
        let (id, text) = (state.semantic().next_id(), Text::from("a known fact"));
        let item = Item::from_request(UserId::new("ada"), id, ItemKind::Fact, ItemKey::Trace(earlier), text);
        state.apply(&Event::AddItem { item, deps: Vec::new() });
    }
    state
}

fn happy_path(c: &mut Criterion) {
    let policy = Policy::hardened();
    let task = |id| Task {
        id: TaskId::new(id),
        text: Text::from("a task"),
        effect: Effect::Undoable { compensation: Text::from("undo it") },
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    let plan = Plan::new((1..=3).map(task).collect()).expect("a valid plan");
    let mut group = c.benchmark_group("decide and apply, happy path");
    for items in [20, 10_000] {
        let fresh = conversation(&policy, items);
        group.throughput(Throughput::Elements(run_request(&policy, &mut fresh.clone(), &plan)));
        group.bench_function(format!("{items} items"), |b| {
            b.iter_batched_ref(
                // The second request of a conversation is measured: its state is in the processor cache, unlike a fresh
                // copy.
                || {
                    let mut state = fresh.clone();
                    run_request(&policy, &mut state, &plan);
                    state
                },
                |state| black_box(run_request(&policy, state, &plan)),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, happy_path);
criterion_main!(benches);
