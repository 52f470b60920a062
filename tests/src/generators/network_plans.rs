//! Plans for a network, and answers of their tasks.

use super::RandomSource;
use super::network_conversations::{TASK_CAPABILITIES, score};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::{Millionths, Priority, Requirements, TaskConstraints};
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{CapabilityId, NodeId, Score, TaskId};
use std::sync::Arc;

/// Generates an exit of a task.
pub(super) fn random_answer(choice: &mut impl RandomSource, success: u32) -> Report {
    let code = if choice.percent(success) { 0 } else { choice.one_of(&[1, -1]) };
    let text: &str = choice.one_of(&["yes", "no", "maybe"]);
    let numbers = [0, 1_000_000, 10_000_000, -5_000_000, 3_333_333];
    let number = choice.percent(85).then(|| Millionths::new(choice.one_of(&numbers)));
    Report::Exit { code, text: text.into(), number }
}

fn requirements(choice: &mut impl RandomSource, nodes: &[&str]) -> Requirements {
    let mut required = vec![CapabilityId::new(choice.one_of(&TASK_CAPABILITIES))];
    if choice.percent(15) {
        required.push(CapabilityId::new(choice.one_of(&TASK_CAPABILITIES)));
    }
    if choice.percent(2) {
        required.clear();
    }
    let some_nodes = |choice: &mut _, chance| {
        let chosen = nodes.iter().filter(|_| RandomSource::percent(choice, chance));
        chosen.map(|id| NodeId::new(*id)).collect()
    };
    let minimum = |choice: &mut _, chance| {
        if RandomSource::percent(choice, chance) { score(choice) } else { Score::ZERO }
    };
    Requirements {
        required_capabilities: required,
        input_type: choice.percent(10).then(|| choice.one_of(&["text", "image"]).into()),
        output_type: choice.percent(10).then(|| choice.one_of(&["report", "image"]).into()),
        input_size: choice.one_of(&[0, 10, 11]),
        constraints: TaskConstraints {
            timeout_ms: choice.percent(15).then(|| choice.one_of(&[50, 100, 1_000])),
            priority: choice.one_of(&Priority::ALL),
            min_trust: minimum(choice, 10),
            min_quality: minimum(choice, 10),
            preferred_nodes: some_nodes(choice, 15),
            excluded_nodes: some_nodes(choice, 7),
        },
    }
}

/// Generates a plan of any type.
pub(super) fn random_plan(choice: &mut impl RandomSource, nodes: &[&str]) -> Plan {
    let shape = choice.weighted(&[10, 20, 30, 20, 20]);
    let count = if shape == 0 { 1 } else { choice.below(5) + 1 };
    let members = choice.below(count) + 1;
    let is_pure = choice.percent(50);
    let mut tasks: Vec<Task> = Vec::new();
    for number in 1..=count {
        let earlier: Vec<TaskId> = (1..number).map(TaskId::new).collect();
        let depends_on = match shape {
            0 | 1 => choice.percent(20).then(|| earlier.last().copied().into_iter().collect()),
            2 => Some(earlier.iter().copied().filter(|_| choice.percent(45)).collect()),
            _ if number <= members => Some(Vec::new()),
            _ => {
                let mut some: Vec<TaskId> = earlier.iter().copied().filter(|_| choice.percent(50)).collect();
                if some.is_empty() {
                    some.extend(earlier.first());
                }
                Some(some)
            }
        };
        let validates = {
            let all: Vec<TaskId> =
                depends_on.clone().unwrap_or_else(|| earlier.last().copied().into_iter().collect());
            if !all.is_empty() && choice.percent(30) { Some(choice.one_of(&all)) } else { None }
        };
        let effect = if is_pure || choice.percent(60) {
            Effect::Pure
        } else if choice.percent(70) {
            Effect::Undoable { compensation: "undo".into() }
        } else {
            Effect::Irreversible
        };
        let requirements = choice.percent(75).then(|| Arc::new(requirements(choice, nodes)));
        let step =
            StepOptions { requirements, optional: choice.percent(15), validates, ..StepOptions::default() };
        let id = TaskId::new(number);
        tasks.push(Task { id, text: format!("task {number}").into(), effect, depends_on, scope: None, step });
    }
    if shape == 4 {
        let first = tasks[0].step.requirements.clone();
        for task in tasks.iter_mut().filter(|task| task.id.number() <= members) {
            task.step.requirements = first.clone();
        }
    }
    let plan = Plan::new(tasks);
    let plan = plan.unwrap_or_else(|error| unreachable!("{error}"));
    if shape < 3 {
        return plan;
    }
    plan.with_aggregation(Aggregation {
        strategy: choice.one_of(&[
            AggregationStrategy::Voting,
            AggregationStrategy::Averaging,
            AggregationStrategy::Consensus,
            AggregationStrategy::BestEffort,
        ]),
        criticality: score(choice),
        is_ensemble: shape == 4,
    })
}
