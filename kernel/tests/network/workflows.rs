//! Workflows and capabilities of document 001, by example.

use crate::builders::{self, score};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::{Capability, CapabilityState, TrustPolicy, aggregate_quality};
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task, WorkflowType};
use orchestrion_kernel::{CapabilityId, Score, TaskId, Text};

fn capability(id: &str) -> CapabilityId {
    CapabilityId::new(id)
}

/// Returns the required capability of each task, with the tasks that it depends on.
fn steps(plan: &Plan) -> Vec<(String, Vec<u32>)> {
    let steps = plan.dependencies().map(|(task, dependencies)| {
        let required = &task.step.requirements.as_ref().unwrap().required_capabilities;
        assert_eq!(required.len(), 1, "{task:?}");
        (required[0].to_string(), dependencies.iter().map(|task| task.number()).collect())
    });
    steps.collect()
}

/// 001-9.1: each capability in the given order, with the result of the one before.
#[test]
fn chain_is_a_sequence_of_capabilities() {
    let plan = Plan::chain(&"report".into(), ["read", "sum", "write"].map(capability).into()).unwrap();
    let expected = [("read", vec![]), ("sum", vec![1]), ("write", vec![2])];
    assert_eq!(steps(&plan), expected.map(|(id, deps)| (id.to_owned(), deps)));
    assert_eq!((plan.workflow_type(), plan.aggregation()), (WorkflowType::Sequential, None));
    assert!(plan.tasks().iter().all(|task| task.text == Text::from("report")));
}

/// 001-9.2: k steps without dependencies, then one that depends on all of them.
#[test]
fn fan_out_merges_parallel_steps() {
    let plan = Plan::fan_out_fan_in(&"report".into(), &capability("read"), 3, capability("merge")).unwrap();
    let expected = [("read", vec![]), ("read", vec![]), ("read", vec![]), ("merge", vec![1, 2, 3])];
    assert_eq!(steps(&plan), expected.map(|(id, deps)| (id.to_owned(), deps)));
    assert_eq!(plan.workflow_type(), WorkflowType::Dag);
}

/// 001-9.3: the second step validates the first.
#[test]
fn pipeline_validates_its_first_step() {
    let plan = Plan::pipeline_with_validation(&"report".into(), capability("read"), capability("check"));
    let plan = plan.unwrap();
    assert_eq!(steps(&plan), [("read".to_owned(), vec![]), ("check".to_owned(), vec![1])]);
    let validates: Vec<_> = plan.tasks().iter().map(|task| task.step.validates).collect();
    assert_eq!(validates, [None, Some(TaskId::FIRST)]);
}

/// 001-9.4: the same task k times, for an ensemble whose answers vote.
#[test]
fn redundant_execution_votes_over_one_task() {
    let plan = Plan::redundant_execution(&"report".into(), &capability("read"), 3).unwrap();
    assert_eq!(steps(&plan), vec![("read".to_owned(), vec![]); 3]);
    assert!(plan.tasks().iter().all(|task| task.text == Text::from("report")));
    let aggregation = plan.aggregation().unwrap();
    assert_eq!((aggregation.strategy, aggregation.is_ensemble), (AggregationStrategy::Voting, true));
}

/// 001-5.1, 001-3.2: the dependencies of the tasks and the aggregation determine the type.
#[test]
fn dependencies_determine_the_workflow_type() {
    let plan = |dependencies: &[Option<&[u32]>]| {
        let tasks = dependencies.iter().zip(1..).map(|(dependencies, number)| Task {
            id: TaskId::new(number),
            text: "task".into(),
            effect: Effect::Pure,
            depends_on: dependencies.map(|tasks| tasks.iter().copied().map(TaskId::new).collect()),
            scope: None,
            step: StepOptions::default(),
        });
        Plan::new(tasks.collect()).unwrap()
    };
    assert_eq!(plan(&[None]).workflow_type(), WorkflowType::Single);
    assert_eq!(plan(&[None, None, Some(&[2])]).workflow_type(), WorkflowType::Sequential);
    assert_eq!(plan(&[None, Some(&[])]).workflow_type(), WorkflowType::Dag);
    assert_eq!(plan(&[None, Some(&[1]), Some(&[1])]).workflow_type(), WorkflowType::Dag);
    assert_eq!(plan(&[None, Some(&[1]), Some(&[1, 2])]).workflow_type(), WorkflowType::Dag);
    let averaging = Aggregation {
        strategy: AggregationStrategy::Averaging,
        criticality: Score::ZERO,
        is_ensemble: false,
    };
    let parallel = plan(&[None, Some(&[]), Some(&[1, 2])]).with_aggregation(averaging);
    assert_eq!(parallel.workflow_type(), WorkflowType::Parallel);
}

fn state(id: &str, max_capacity: u32, quality: u32, volume: u32) -> CapabilityState {
    let declared = Capability { max_capacity, ..builders::capability(id) };
    CapabilityState { volume, ..CapabilityState::new(declared, score(quality)) }
}

/// 001-7.5. Without a capacity, a capability is fully loaded.
#[test]
fn load_is_tasks_over_capacity() {
    let load = |tasks, capacity| {
        CapabilityState { current_tasks: tasks, ..state("read", capacity, 0, 0) }.load().millionths()
    };
    assert_eq!([load(0, 4), load(1, 4), load(3, 4), load(4, 4)], [0, 250_000, 750_000, 1_000_000]);
    assert_eq!([load(5, 4), load(0, 0)], [1_000_000, 1_000_000]);
}

/// 001-2.8: three uses at 0.9 and one at 0.5 give 0.8; an unused capability does not count.
#[test]
fn quality_of_node_is_mean_by_volume() {
    let policy = TrustPolicy::default();
    let mut node = builders::node("a");
    node.add_capability(state("read", 1, 900_000, 3));
    node.add_capability(state("write", 1, 500_000, 1));
    node.add_capability(state("check", 1, 100_000, 0));
    assert_eq!(aggregate_quality(&policy.trust, &node).millionths(), 800_000);
}
