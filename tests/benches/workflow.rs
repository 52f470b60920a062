//! Speed of the kernel on a plan that is a directed acyclic graph: `decide` and `apply`, from the first task to the end of the
//! request.
//!
//! The plan has layers of `WIDTH` tasks; each task depends on `FAN_IN` tasks of the layer before. Each call is answered at once,
//! after the kernel started as many tasks as it can. With a network, each task is routed, handed off and judged. Criterion's throughput is in tasks per second.

#![allow(missing_docs, reason = "criterion makes the entry point")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orchestrion_kernel::module::{Module, Report};
use orchestrion_kernel::network::{
    Capability, CapabilityState, Feedback, HandoffReceipt, InteractionReport, NetworkInput, Node,
    SignatureStatus, TrustPolicy,
};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{
    CallId, ConversationId, Input, NodeId, Phase, Policy, Score, State, TaskId, Text, UserId, can_step,
    decide,
};
use orchestrion_tests::agreement::agreeing_report;
use std::hint::black_box;

const WIDTH: u32 = 100;
const FAN_IN: u32 = 3;

/// Returns a plan of this many tasks in layers.
fn layers(tasks: u32) -> Plan {
    let task = |at: u32| {
        let (layer, column) = (at / WIDTH, at % WIDTH);
        let before = layer.checked_sub(1).map(|before| before * WIDTH);
        let depends_on = before.into_iter().flat_map(|first| {
            (0..FAN_IN).map(move |offset| TaskId::new(first + (column + offset * 7) % WIDTH + 1))
        });
        Task {
            id: TaskId::new(at + 1),
            text: Text::from("a task"),
            effect: Effect::Undoable { compensation: Text::from("undo it") },
            depends_on: Some(depends_on.collect()),
            scope: None,
            step: StepOptions::default(),
        }
    };
    Plan::new((0..tasks).map(task).collect()).expect("a valid plan")
}

/// Answers calls until control is in this phase.
fn run_until(policy: &Policy, state: &mut State, plan: &Plan, phase: Phase) {
    while state.control().phase() != phase {
        let input = match state.control().pending_calls().first() {
            Some(call) if handoff(state, call.id).is_some() => {
                Input::Network(Box::new(handoff(state, call.id).expect("a handoff")))
            }
            _ if can_step(policy, state) => Input::Step,
            Some(call) => reply(call.id, agreeing_report(call.operation, plan)),
            None => Input::user_message(UserId::new("ada"), Text::from("do it")),
        };
        let events = decide(policy, state, state.now(), &input).expect("the happy path has no refusals");
        events.iter().for_each(|event| state.apply(event));
    }
}

/// Returns a reply with the best feedback, so that the nodes pass their probations.
fn reply(call: CallId, report: Report) -> Input {
    let feedback = Feedback { help: 5, accuracy: 5, relevance: 5, timeliness: 5, reuse: true };
    let judged = InteractionReport { feedback: Some(feedback), ..InteractionReport::default() };
    Input::Reply { call, report, summary_update: None, action: None, interaction: Some(Box::new(judged)) }
}

/// Returns the handoff of a call that its node has not accepted.
fn handoff(state: &State, call: CallId) -> Option<NetworkInput> {
    let assignment = state.network()?.assignment(call).filter(|assignment| !assignment.is_running())?;
    let (from, to) = (assignment.from.clone(), assignment.to.clone());
    Some(NetworkInput::Handoff(HandoffReceipt { call, from, to, signature: SignatureStatus::Valid }))
}

/// Returns a network of an orchestrator, which executes every module but the executor, and of nodes that execute tasks.
fn network(nodes: u32) -> NetworkInput {
    let policy = TrustPolicy::default();
    let node = |number: u32| {
        let mut node = Node::new(&policy.start, NodeId::new(format!("node-{number:05}")));
        let quality = Score::from_millionths(500_000 + number * 7919 % 400_000).expect("a score");
        if number == 0 {
            let modules = Module::ALL.into_iter().filter(|module| *module != Module::Executor);
            modules.for_each(|module| {
                node.add_capability(CapabilityState::new(
                    Capability::new(module.capability(), 1000),
                    Score::ONE,
                ));
            });
        } else {
            node.add_capability(CapabilityState::new(
                Capability::new(Module::Executor.capability(), 4),
                quality,
            ));
        }
        node
    };
    let nodes: Vec<Node> = (0..nodes).map(node).collect();
    NetworkInput::Create { orchestrator: nodes[0].id.clone(), policy, nodes }
}

/// Returns a conversation in which the first task of the plan runs.
fn conversation(policy: &Policy, plan: &Plan, network: Option<NetworkInput>) -> State {
    let mut state = State::new(ConversationId::new("bench"));
    let start = Input::session_start(UserId::new("ada"));
    for input in network.map(|network| Input::Network(Box::new(network))).into_iter().chain([start]) {
        let events = decide(policy, &state, state.now(), &input).expect("a session starts");
        events.iter().for_each(|event| state.apply(event));
    }
    run_until(policy, &mut state, plan, Phase::RunningTasks);
    state
}

fn workflow(c: &mut Criterion) {
    let mut policy = Policy::hardened();
    // The plan is a part of the debaters' payload.
    policy.contexts.budget_tokens = u32::MAX;
    let mut group = c.benchmark_group("decide and apply, directed acyclic graph");
    group.sample_size(10);
    for (tasks, nodes) in [(100, 0), (1000, 0), (10_000, 0), (1000, 1000), (10_000, 1000)] {
        let plan = layers(tasks);
        let running = conversation(&policy, &plan, (nodes > 0).then(|| network(nodes)));
        group.throughput(Throughput::Elements(u64::from(tasks)));
        group.bench_function(format!("{tasks} tasks, {nodes} nodes"), |b| {
            b.iter_batched_ref(
                || running.clone(),
                |state| {
                    run_until(&policy, state, &plan, Phase::Idle);
                    black_box(state.control().next_call())
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, workflow);
criterion_main!(benches);
