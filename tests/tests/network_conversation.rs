//! Random conversations with a network: the kernel agrees with the oracle of the network in every step.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::module::{Argument, Failure, Operation, Ratings, Report, Stance};
use orchestrion_kernel::network::{
    Capability, CapabilityState, NetworkEvent, NetworkInput, Node, TrustPolicy, WorkflowStatus,
};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, NodeId, Phase, Policy, Score, State, TaskId, Timestamp, UserId,
    can_step, decide,
};
use orchestrion_tests::generators::{NetworkConversation, network_policy};
use orchestrion_tests::network_conversation_oracle::NetworkConversationOracle;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeMap;

/// The number of conversations; `ORCHESTRION_NETWORK_CASES` is another one.
const CONVERSATIONS: u64 = 300;
/// The number of inputs of one conversation.
const INPUTS: usize = 160;

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Runs one conversation, and counts its events by kind.
fn run(seed: u64, counts: &mut BTreeMap<String, u64>) -> Result<(), String> {
    let mut choice = rng(seed);
    let policy = network_policy(&mut choice);
    let conversation = NetworkConversation::draw(&mut choice);
    let mut state = State::new(ConversationId::new("network"));
    let mut oracle = NetworkConversationOracle::new(&policy);
    for step in 0..INPUTS {
        let input = conversation.next_input(&mut choice, &policy, &state);
        let decided = decide(&policy, &state, input.at, &input.input);
        let phase = state.control().phase();
        for event in decided.iter().flatten() {
            state.apply(event);
        }
        *counts.entry("steps".to_owned()).or_default() += 1;
        for event in decided.iter().flatten() {
            *counts.entry(kind(event)).or_default() += 1;
        }
        if let Err(refusal) = &decided {
            *counts.entry(format!("refusal {}", word(refusal))).or_default() += 1;
        }
        let result = oracle.judge(&input, decided.as_ref(), &state, can_step(&policy, &state));
        result.map_err(|wrong| {
            format!("seed {seed}, step {step}, {phase:?}: {wrong}\ninput {input:?}\nbatch {decided:?}")
        })?;
    }
    Ok(())
}

fn word(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

fn kind(event: &Event) -> String {
    if let Event::Network(event) = event {
        return match event {
            NetworkEvent::HandoffRefused { refusal, .. } => format!("HandoffRefused {refusal:?}"),
            NetworkEvent::WorkflowEnded { status, .. } => format!("WorkflowEnded {status:?}"),
            NetworkEvent::Changed(input) => format!("Changed {}", word(input)),
            NetworkEvent::CallRouted { from, to, .. } if from == to => "CallRouted locally".to_owned(),
            NetworkEvent::SignalReceived { .. }
            | NetworkEvent::CallRouted { .. }
            | NetworkEvent::NoCandidates { .. }
            | NetworkEvent::HandoffAccepted { .. }
            | NetworkEvent::AttemptFailed { .. }
            | NetworkEvent::Exchanged(_)
            | NetworkEvent::Affirmed { .. }
            | NetworkEvent::StepsAssigned { .. }
            | NetworkEvent::StepsUnroutable { .. }
            | NetworkEvent::ValidationFailed { .. }
            | NetworkEvent::ResultsAggregated { .. }
            | NetworkEvent::AggregationFailed { .. } => word(event),
        };
    }
    word(event)
}

#[test]
fn network_agrees_with_the_oracle() {
    let cases = std::env::var("ORCHESTRION_NETWORK_CASES").ok().and_then(|text| text.parse().ok());
    let first =
        std::env::var("ORCHESTRION_NETWORK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (mut counts, mut differences) = (BTreeMap::new(), Vec::new());
    for seed in first..first + cases.unwrap_or(CONVERSATIONS) {
        differences.extend(run(seed, &mut counts).err());
    }
    println!("{counts:#?}");
    let lines: Vec<&str> = differences.iter().filter_map(|wrong| wrong.lines().next()).take(40).collect();
    let shortest = differences.iter().min_by_key(|wrong| wrong.len());
    assert!(differences.is_empty(), "{} differences:\n{}\n{shortest:?}", differences.len(), lines.join("\n"));
}

/// Applies an input that must be accepted.
fn take(state: &mut State, input: &Input) -> Events {
    let events = decide(&Policy::hardened(), state, Timestamp::default(), input).unwrap();
    events.iter().for_each(|event| state.apply(event));
    events
}

/// A conversation whose only node runs this plan.
fn running(plan: &Plan) -> State {
    let policy = TrustPolicy::default();
    let orchestrator = NodeId::new("a");
    let mut node = Node::new(&policy.start, orchestrator.clone());
    for module in orchestrion_kernel::module::Module::ALL {
        let declared = Capability::new(module.capability(), 10);
        node.add_capability(CapabilityState::new(declared, policy.start.capability_quality));
    }
    let mut state = State::new(ConversationId::new("network"));
    let create = NetworkInput::Create { orchestrator, policy, nodes: vec![node] };
    take(&mut state, &Input::Network(Box::new(create)));
    take(&mut state, &Input::session_start(UserId::new("ada")));
    take(&mut state, &Input::user_message(UserId::new("ada"), "do it".into()));
    while state.control().phase() != Phase::RunningTasks {
        let input = state.control().pending_calls().first().map_or(Input::Step, |call| {
            let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
            let report = match call.operation {
                Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
                Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
                Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
                Operation::DraftPlan => Report::Plan(plan.clone()),
                Operation::Argue(_)
                | Operation::ReviewRevision
                | Operation::ArgueAdditional { .. }
                | Operation::Summarize
                | Operation::Approve
                | Operation::Diagnose
                | Operation::RunTask { .. }
                | Operation::UndoTask { .. }
                | Operation::StoreMemory { .. }
                | Operation::DeliverAudit => Report::Argument { argument, text: "yes".into(), plan: None },
            };
            Input::reply(call.id, report)
        });
        take(&mut state, &input);
    }
    state
}

/// The run is rolled back, so its workflow failed, although its only task is optional.
#[test]
fn unknown_outcome_never_completes_a_workflow() {
    let task = Task {
        id: TaskId::FIRST,
        text: "task".into(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions { optional: true, ..StepOptions::default() },
    };
    let mut state = running(&Plan::new(vec![task]).unwrap());
    let call = state.control().pending_calls()[0].id;
    let events = take(&mut state, &Input::CallFailed { call, failure: Failure::OutcomeUnknown });
    assert_eq!(state.control().phase(), Phase::RollbackActive);
    let ended = events.iter().find_map(|event| {
        let Event::Network(NetworkEvent::WorkflowEnded { status, .. }) = event else { return None };
        Some(*status)
    });
    assert_eq!(ended, Some(WorkflowStatus::Failed));
}
