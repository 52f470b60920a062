//! The plans whose tasks nodes execute.

use crate::adversary::network::{
    best, missing_capability, others, own_capability, second_capability, shared_capability,
};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::{Priority, Requirements, TaskConstraints};
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{CapabilityId, Score, TaskId, Text};
use std::sync::Arc;

/// The control characters of a text that alone exceeds the usual budget of 112,000 bytes in a payload.
const CONTROL_CHARACTERS_OVER_BUDGET: usize = 20_000;

/// Independent tasks: one that every node can execute, and one with an effect that excludes the best node and requires trust and
/// quality, so that only the second node gets it.
pub(super) fn handed_off(tasks: u32) -> Plan {
    let minimum = Score::from_millionths(400_000).unwrap_or(Score::ONE);
    let constraints = TaskConstraints {
        min_trust: minimum,
        min_quality: minimum,
        excluded_nodes: vec![best()],
        ..TaskConstraints::default()
    };
    let limited = Task { effect: Effect::Undoable { compensation: Text::from("undo") }, ..step(2, &[]) };
    let limited = with_constraints(limited, vec![Module::Executor.capability()], constraints);
    plan([step(1, &[]), limited], tasks)
}

/// Tasks that the orchestrator routes one after the other.
pub(super) fn independent(tasks: u32) -> Plan {
    plan([step(1, &[]), step(2, &[]), step(3, &[]), step(4, &[])], tasks)
}

/// Two tasks that go to the same node, which has room for one of them.
pub(super) fn twins() -> Plan {
    plan([step(1, &[]), step(2, &[])], 2)
}

/// Two tasks that exclude every node but the best one, which has room for one of them.
pub(super) fn exclusive_twins() -> Plan {
    let exclusive = |number| {
        let constraints = TaskConstraints { excluded_nodes: others(), ..TaskConstraints::default() };
        with_constraints(step(number, &[]), vec![Module::Executor.capability()], constraints)
    };
    plan([1, 2].map(exclusive), 2)
}

/// Workflows of every type, each with so many tasks at most: a sequence over two nodes, a graph with an optional task and a
/// validation, members under best effort with a task after them, an ensemble in which the orchestrator competes, members that vote, one
/// of which only the orchestrator can execute, an ensemble whose answers have a mean, and members of which no node can execute one.
pub(super) fn workflows(tasks: u32) -> Vec<Plan> {
    let after = |number: u32, required: &[u32]| step(number, required);
    let sequence =
        [step(1, &[]), with_capability(after(2, &[1]), second_capability()), after(3, &[2]), after(4, &[3])];
    let urgent = TaskConstraints { priority: Priority::High, ..TaskConstraints::default() };
    let urgent = with_constraints(step(3, &[]), vec![second_capability()], urgent);
    let mut graph = [step(1, &[]), after(2, &[1]), urgent, after(4, &[2, 3])];
    graph[1].step.validates = Some(TaskId::new(1));
    graph[2].step.optional = true;
    let effort = [step(1, &[]), step(2, &[]), after(3, &[1, 2]), after(4, &[3])];
    // The orchestrator and the best node can execute it, so that one of three members is left out.
    let shared = |number| with_capability(step(number, &[]), shared_capability());
    let ensemble = [shared(1), shared(2), shared(3), after(4, &[1])];
    let own = |number| with_capability(step(number, &[]), own_capability());
    let voting = [own(1), own(2), after(3, &[1, 2]), after(4, &[2])];
    let averaging = [step(1, &[]), step(2, &[]), after(3, &[1]), after(4, &[2])];
    let unroutable =
        [step(1, &[]), with_capability(step(2, &[]), missing_capability()), after(3, &[1]), after(4, &[2])];
    let aggregated = |steps: [Task; 4], strategy, is_ensemble| {
        plan(steps, tasks).with_aggregation(aggregation(strategy, is_ensemble))
    };
    vec![
        plan(sequence, tasks),
        plan(graph, tasks),
        aggregated(effort, AggregationStrategy::BestEffort, false),
        aggregated(ensemble, AggregationStrategy::Voting, true),
        aggregated(voting, AggregationStrategy::Voting, false),
        // As many nodes as members.
        aggregated(averaging, AggregationStrategy::Averaging, true),
        aggregated(unroutable, AggregationStrategy::Voting, false),
    ]
}

/// A plan of the first of these tasks, as many as that.
fn plan<const N: usize>(steps: [Task; N], tasks: u32) -> Plan {
    plan_of(steps.into_iter().zip(0..tasks.max(1)).map(|(step, _)| step))
}

/// A plan of these tasks, whose ids differ and whose dependencies come first.
pub(crate) fn plan_of(tasks: impl IntoIterator<Item = Task>) -> Plan {
    Plan::new(tasks.into_iter().collect()).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The aggregation of the answers to a task that is not critical.
pub(crate) const fn aggregation(strategy: AggregationStrategy, is_ensemble: bool) -> Aggregation {
    Aggregation { strategy, criticality: Score::ZERO, is_ensemble }
}

/// A pure task with these dependencies.
pub(crate) fn step(number: u32, depends_on: &[u32]) -> Task {
    Task {
        id: TaskId::new(number),
        text: Text::from("task"),
        effect: Effect::Pure,
        depends_on: Some(depends_on.iter().copied().map(TaskId::new).collect()),
        scope: None,
        step: StepOptions::default(),
    }
}

/// A text that exceeds the usual budget of a call in a payload only, where each of its characters takes six bytes.
pub(crate) fn over_budget_in_payload() -> Text {
    "\u{1}".repeat(CONTROL_CHARACTERS_OVER_BUDGET).into()
}

/// The task, for a node with this capability.
pub(crate) fn with_capability(task: Task, capability: CapabilityId) -> Task {
    with_constraints(task, vec![capability], TaskConstraints::default())
}

/// The task, for a node with these capabilities that satisfies these constraints.
pub(crate) fn with_constraints(
    task: Task,
    required_capabilities: Vec<CapabilityId>,
    constraints: TaskConstraints,
) -> Task {
    with_requirements(task, Requirements { required_capabilities, constraints, ..Requirements::default() })
}

/// The task, for a node that satisfies these requirements.
pub(crate) fn with_requirements(task: Task, requirements: Requirements) -> Task {
    Task { step: StepOptions { requirements: Some(Arc::new(requirements)), ..task.step }, ..task }
}
