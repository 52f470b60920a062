//! The inputs of the model of attempts: nodes of which some have less quality than a task requires, three attempts, validations with a
//! task between, repaired plans, and runs that a changed fact interrupts (001 §4.3, §5.5, §9.1, §11.3, §11.4).

use super::{
    BEST, SECOND, connected, held, node, own_capability, second_capability, share, shared_capability,
};
use crate::scopes::steps::{
    aggregation, over_budget_in_payload, plan_of, step, with_constraints, with_requirements,
};
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    Capability, CapabilityState, NetworkInput, Node, NodeStatus, Requirements, TaskConstraints, TrustPolicy,
};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::state::{Assignment, Call, NetworkState};
use orchestrion_kernel::{CapabilityId, Input, NodeId, Phase, Score, State, TaskId, Text};
use std::sync::Arc;

const THIRD: &str = "d";
const FOURTH: &str = "e";

/// More failures than one validation may have, and fewer than two of them have together: then every task succeeds, so that the runs of
/// a kernel with a fault end too.
const FAILED_VALIDATIONS_MAX: u32 = 3;

/// The time that a task allows.
const QUICK_MS: u64 = 5;

/// The size of the input of a task.
const INPUT_SIZE: u64 = 2;

/// The first task of the sequence whose node is expelled or leaves.
const LEFT_TASK: u32 = 5;

/// Three attempts, and more candidates than attempts. A confirmed suspicion expels.
pub(super) fn trust_policy() -> TrustPolicy {
    let mut policy = super::trust_policy();
    policy.workflow.max_retries = 2;
    policy.status.expulsion_threat_from = share(1);
    policy
}

/// The orchestrator and the best node hold the second capability with too little quality, so that only the second node may execute it.
/// The orchestrator does not offer its own capability. The last two nodes have equal scores for the shared capability. Three
/// nodes cannot execute some tasks, by the type of the input and the time allowed, by the type of the output, or by the size of the input.
/// The limits of the last one, and the time of the second one, are exactly what a task requires.
pub(super) fn nodes(orchestrator: Vec<Node>) -> Vec<Node> {
    let executor = || Module::Executor.capability();
    let executing = [(BEST, 80), (SECOND, 70), (THIRD, 60), (FOURTH, 48)];
    let executing = executing.map(|(name, percent)| node(name, (percent, percent), [executor()], 2));
    let connections = [(BEST, 57), (THIRD, 100), (FOURTH, 100)];
    let orchestrator =
        orchestrator.into_iter().map(|node| connected(&trust_policy().connection, node, &connections));
    let mut nodes: Vec<Node> = orchestrator.chain(executing).collect();
    for (at, percent) in [(0, 30), (1, 30), (2, 60)] {
        nodes[at].add_capability(held(second_capability(), percent, 2));
    }
    for (at, available) in [(0, false), (2, true)] {
        nodes[at].add_capability(CapabilityState { available, ..held(own_capability(), 60, 2) });
    }
    for (at, percent) in [(3, 48), (4, 60)] {
        nodes[at].add_capability(held(shared_capability(), percent, 2));
    }
    limit(&mut nodes[1], |offered| {
        offered.input_types = vec!["other".into()];
        offered.constraints.timeout_ms = Some(QUICK_MS + 1);
    });
    limit(&mut nodes[2], |offered| {
        offered.output_types = vec!["other".into()];
        offered.constraints.timeout_ms = Some(QUICK_MS);
    });
    limit(&mut nodes[3], |offered| offered.constraints.max_input_size = Some(INPUT_SIZE - 1));
    limit(&mut nodes[4], |offered| {
        offered.input_types = vec!["input".into()];
        offered.output_types = vec!["output".into()];
        offered.constraints.max_input_size = Some(INPUT_SIZE);
    });
    nodes
}

/// Changes what the node offers as an executor.
fn limit(node: &mut Node, change: impl FnOnce(&mut Capability)) {
    if let Some(held) = node.capabilities.get_mut(&Module::Executor.capability()) {
        change(Arc::make_mut(&mut held.capability));
    }
}

/// Plans in which attempts, validations and requirements matter.
pub(crate) fn plans() -> Vec<Plan> {
    let validation = |depends_on: &[u32]| validating(step(3, depends_on), 1);
    let effect = Effect::Undoable { compensation: Text::from("undo") };
    let both = vec![second_capability(), own_capability()];
    let effectful = Task { effect: effect.clone(), ..step(1, &[]) };
    let mut optional = with_constraints(effectful, both, TaskConstraints::default());
    optional.step.optional = true;
    let voting = aggregation(AggregationStrategy::Voting, false);
    vec![
        // A sequence over two capabilities, with a dependency that is declared twice.
        plan_of([step(1, &[]), demanding(2, &[1, 1])]),
        // A sequence whose first node is expelled or leaves.
        plan_of([step(LEFT_TASK, &[]), step(LEFT_TASK + 1, &[LEFT_TASK])]),
        // The quality of the orchestrator is too low.
        plan_of([demanding(1, &[])]),
        // The orchestrator does not offer the other capability.
        plan_of([optional]),
        // A validation of a task before the last one, without an effect between and with one.
        plan_of([step(1, &[]), step(2, &[1]), validation(&[1, 2])]),
        plan_of([step(1, &[]), Task { effect, ..step(2, &[1]) }, validation(&[1, 2])]),
        // A validation of a member after all members, and between them.
        plan_of([step(1, &[]), step(2, &[]), validation(&[1])]).with_aggregation(voting),
        plan_of([step(1, &[]), validating(step(2, &[1]), 1), step(3, &[])]).with_aggregation(voting),
        // A preferred node, and two of them with equal scores.
        plan_of([preferring(&[THIRD], Module::Executor.capability())]),
        plan_of([preferring(&[THIRD, FOURTH], shared_capability())]),
        // Not every node can execute these.
        plan_of([limited()]),
        plan_of([quick()]),
        // A validation of a member for which the ensemble has no node.
        plan_of([demanding(1, &[]), demanding(2, &[]), validating(step(3, &[1, 2]), 2)])
            .with_aggregation(aggregation(AggregationStrategy::Voting, true)),
        // A text alone exceeds the budget of every debater, because its characters are escaped.
        plan_of([Task { text: over_budget_in_payload(), ..step(1, &[]) }]),
        plan_of([Task {
            effect: Effect::Undoable { compensation: over_budget_in_payload() },
            ..step(1, &[])
        }]),
        // Two validations.
        plan_of([step(1, &[]), validating(step(2, &[1]), 1), step(3, &[2]), validating(step(4, &[3]), 3)]),
    ]
}

/// The reports of the executor and of the Critic; none for other operations. The Critic repairs a sequence of two tasks once.
pub(in crate::adversary) fn reports(state: &State, ask: Operation) -> Option<Vec<Report>> {
    match ask {
        Operation::RunTask { task, .. } => {
            // A tie goes to the smaller text: the answer of the first member wins only if it counts twice.
            let text = format!("output {}", 9_u32.saturating_sub(task.number()));
            let exit = |code| Report::Exit { code, text: Text::from(text.as_str()), number: None };
            let fails = failed_validations(state) < FAILED_VALIDATIONS_MAX;
            Some([exit(0)].into_iter().chain(fails.then(|| exit(1))).collect())
        }
        Operation::Diagnose => {
            let given_up = Report::NoRepair { text: Text::from("") };
            let plan = plan_of([demanding(3, &[]), step(4, &[3])]);
            let repair = Report::Repaired { text: Text::from(""), plan };
            Some([given_up].into_iter().chain(has_two_tasks(state, 1).then_some(repair)).collect())
        }
        Operation::VerifyIdentity
        | Operation::LoadContext
        | Operation::Summarize
        | Operation::Classify
        | Operation::DraftPlan
        | Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::UndoTask { .. }
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => None,
    }
}

/// The failures of a call while a node executes it: of the first task of the sequence, and of the last one of its repair, an error; of the
/// optional task an unknown outcome.
pub(in crate::adversary) fn failures(state: &State, call: Call) -> Vec<Input> {
    let request = state.control().request();
    let task = call.operation.task().and_then(|task| request?.started_task(task));
    let is_optional = task.is_some_and(|task| task.step.optional);
    let is_free = call.operation.task().is_some_and(|task| match task.number() {
        1 => has_two_tasks(state, 1),
        4 => has_two_tasks(state, 3),
        number => number == LEFT_TASK + 1,
    });
    let assignment = state.network().and_then(|network| network.assignment(call.id));
    let failure = if is_optional { Failure::OutcomeUnknown } else { Failure::Error };
    let fails = (is_free || is_optional) && assignment.is_some_and(|assignment| assignment.is_running());
    fails.then_some(Input::CallFailed { call: call.id, failure }).into_iter().collect()
}

/// A cancel while a plan is reviewed again: that of an interrupted run, or a repaired one. In one sequence, the node that executed the
/// first task is expelled before the last task starts, or leaves while it routes the last task.
pub(in crate::adversary) fn changes(state: &State) -> Option<Input> {
    if state.control().phase() == Phase::RepairReview {
        return Some(Input::Cancel);
    }
    let (network, request) = (state.network()?, state.control().request()?);
    let (first, last) = (TaskId::new(LEFT_TASK), TaskId::new(LEFT_TASK + 1));
    request.plan.as_ref()?.plan.task(last)?;
    let subject = request.started(first)?.node.clone()?;
    let node = network.node(&subject)?;
    if request.started(last).is_some() {
        let is_routed_by = |assignment: &Assignment| assignment.from == subject;
        let routes = network.assignments().iter().any(is_routed_by) && subject != *network.orchestrator();
        return routes.then(|| super::network_input(NetworkInput::Leave { node: subject.clone() }));
    }
    let ends = request.outcome(first).is_some() && node.status != NodeStatus::Expelled;
    ends.then(|| accusation(network, subject))
}

/// A signal about a node, from another origin than the signal before. Two of them expel it.
fn accusation(network: &NetworkState, subject: NodeId) -> Input {
    let receiver = network.orchestrator().clone();
    let beliefs = network.node(&receiver).map(|node| &node.threat_beliefs);
    let is_suspected = beliefs.is_some_and(|beliefs| beliefs.contains_key(&subject));
    let origin = NodeId::new(if is_suspected { "z" } else { "y" });
    let signal = Signal { sender: origin.clone(), origin, subject, confidence: Score::ONE, hops: u32::MAX };
    super::network_input(NetworkInput::Signal { receiver, signal })
}

/// How often validations of the run failed and repeated a task.
fn failed_validations(state: &State) -> u32 {
    let request = state.control().request();
    request.map_or(0, |request| request.workflow.validations.iter().map(|failed| failed.count).sum())
}

/// The task, which validates another one.
fn validating(mut task: Task, validated: u32) -> Task {
    task.step.validates = Some(TaskId::new(validated));
    task
}

/// A task that prefers nodes to which the orchestrator has strong connections. By what the nodes publish, the first of them is not the
/// best one.
fn preferring(nodes: &[&str], capability: CapabilityId) -> Task {
    let preferred_nodes = nodes.iter().map(|name| NodeId::new(*name)).collect();
    let constraints = TaskConstraints { preferred_nodes, ..TaskConstraints::default() };
    with_constraints(step(1, &[]), vec![capability], constraints)
}

/// A task with types and a size, which only the last node can execute.
fn limited() -> Task {
    let requirements = Requirements {
        required_capabilities: vec![Module::Executor.capability()],
        input_type: Some("input".into()),
        output_type: Some("output".into()),
        input_size: INPUT_SIZE,
        ..Requirements::default()
    };
    with_requirements(step(1, &[]), requirements)
}

/// A task that allows less time than the best node may take.
fn quick() -> Task {
    let constraints = TaskConstraints { timeout_ms: Some(QUICK_MS), ..TaskConstraints::default() };
    with_constraints(step(1, &[]), vec![Module::Executor.capability()], constraints)
}

/// Whether the plan has two tasks, of which the first has this number.
fn has_two_tasks(state: &State, first: u32) -> bool {
    let plan = state.control().request().and_then(|request| request.plan.as_ref());
    plan.is_some_and(|plan| plan.plan.tasks().len() == 2 && plan.plan.tasks()[0].id == TaskId::new(first))
}

/// A task of the second capability with a minimum of trust and of quality: those of the second node.
fn demanding(number: u32, depends_on: &[u32]) -> Task {
    let constraints =
        TaskConstraints { min_trust: share(70), min_quality: share(60), ..TaskConstraints::default() };
    with_constraints(step(number, depends_on), vec![second_capability()], constraints)
}
