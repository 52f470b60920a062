//! The inputs of the model of ensembles: nodes in clusters, whose order differs by score, by trust, by quality and by both (001 §8).

use super::{BEST, SECOND, held, node, second_capability, share, shared_capability};
use crate::scopes::steps::{aggregation, plan_of, step};
use orchestrion_kernel::event::TaskOutcome;
use orchestrion_kernel::module::{Module, Operation, Report};
use orchestrion_kernel::network::aggregation::AggregationStrategy::{self, *};
use orchestrion_kernel::network::{NetworkInput, Node, Requirements, ThreatBelief};
use orchestrion_kernel::plan::{Plan, StepOptions, Task};
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{CapabilityId, ClusterId, Input, NodeId, Phase, State, TaskId, Text};
use std::sync::Arc;

/// By score the nodes have this order. The second has the most trust × quality, the third the most quality, and the fourth the most
/// trust. The two best are of one cluster, and only they hold the shared capability.
pub(super) fn nodes(mut nodes: Vec<Node>) -> Vec<Node> {
    let suspected = ThreatBelief { level: share(50), ..ThreatBelief::default() };
    nodes.iter_mut().for_each(|node| node.threat_beliefs.insert_mut(NodeId::new(SECOND), suspected.clone()));
    let executor = || vec![Module::Executor.capability()];
    let both = || vec![Module::Executor.capability(), shared_capability()];
    let executing = [
        (BEST, (70, 60), Some("x"), both()),
        (SECOND, (90, 90), Some("x"), both()),
        ("d", (30, 100), Some("y"), executor()),
        ("e", (100, 20), None, executor()),
    ];
    nodes.extend(executing.map(|(name, shares, cluster, capabilities)| {
        let mut node = node(name, shares, capabilities, 2);
        node.cluster = cluster.map(ClusterId::new);
        // No answer with this capability has a weight.
        node.add_capability(held(second_capability(), 0, 2));
        node
    }));
    nodes
}

/// Ensembles of every strategy: of two nodes, which would be of one cluster; of three, where the vote of the second outweighs the two
/// others; of all; of a capability that only one cluster has; and of one without quality, where two of three answers are equal.
pub(crate) fn plans() -> Vec<Plan> {
    let executor = || Module::Executor.capability();
    vec![
        ensemble(2, executor(), Voting),
        ensemble(3, executor(), Voting),
        ensemble(4, executor(), BestEffort),
        ensemble(3, executor(), Averaging),
        ensemble(3, executor(), Consensus),
        ensemble(2, shared_capability(), Voting),
        ensemble(3, second_capability(), Voting),
    ]
}

/// The answers of the members, which are not repaired; none for other operations.
pub(in crate::adversary) fn reports(ask: Operation) -> Option<Vec<Report>> {
    match ask {
        Operation::RunTask { task, .. } => Some(super::answers(task)),
        Operation::Diagnose => Some(vec![Report::NoRepair { text: Text::from("") }]),
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

/// The second node leaves an ensemble of three after its answer, which then weighs less.
pub(in crate::adversary) fn changes(network: &NetworkState, state: &State) -> Vec<Input> {
    let (second, answered) = (NodeId::new(SECOND), TaskId::new(2));
    let has_answered = state.control().request().is_some_and(|request| {
        let is_of_three = request.plan.as_ref().is_some_and(|plan| plan.plan.tasks().len() == 3);
        is_of_three && request.outcome(answered) == Some(TaskOutcome::Succeeded)
    });
    let leaves = state.control().phase() == Phase::RunningTasks && has_answered;
    let leaving = network.node(&second).filter(|_| leaves);
    leaving.map(|_| super::network_input(NetworkInput::Leave { node: second })).into_iter().collect()
}

fn ensemble(size: u32, capability: CapabilityId, strategy: AggregationStrategy) -> Plan {
    let requirements = Requirements { required_capabilities: vec![capability], ..Requirements::default() };
    let requirements = Arc::new(requirements);
    let tasks = (1..=size).map(|number| Task {
        step: StepOptions { requirements: Some(requirements.clone()), ..StepOptions::default() },
        ..step(number, &[])
    });
    let plan = plan_of(tasks);
    plan.with_aggregation(aggregation(strategy, true))
}
