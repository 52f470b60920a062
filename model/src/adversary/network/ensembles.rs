//! The inputs of the model of ensembles: nodes in clusters, whose order differs by score, by trust, by quality and by both, and every
//! order of routing (001 §8; decision 0067).

use super::{
    BEST, POOR, SECOND, UNTRUSTED, held, node, own_capability, second_capability, share, shared_capability,
};
use crate::adversary::answers::past;
use crate::scopes::steps::{aggregation, plan_of, step, with_capability, with_constraints};
use orchestrion_kernel::event::TaskOutcome;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Module, Operation, Ratings, Report};
use orchestrion_kernel::network::aggregation::AggregationStrategy::{self, *};
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::{NetworkInput, Node, TaskConstraints, ThreatBelief, TrustPolicy};
use orchestrion_kernel::plan::{Aggregation, Plan, Task};
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{CapabilityId, ClusterId, Input, NodeId, Phase, Score, State, TaskId, Text};

/// The modules that a node executes beside the executor.
pub(super) const MODULES: [Module; 3] = [Module::Memory, Module::Classifier, Module::Planner];

/// The own share with which the score of positions changes too little in one round of deliberation to count, and enough in two.
const SLOW_SHARE: u32 = 996_000;

/// The policies: the usual one; one that routes by quality, under which positions move slowly; one that routes in turn, without local
/// preference, where a node that executes another call is overloaded.
pub(super) fn policies() -> Vec<TrustPolicy> {
    let score = super::trust_policy();
    let (mut quality, mut turn) = (score, score);
    quality.routing.order = RoutingOrder::Quality;
    quality.convergence.own_share = Score::from_millionths(SLOW_SHARE).unwrap_or(Score::ONE);
    turn.routing.order = RoutingOrder::RoundRobin;
    turn.routing.local_preference = false;
    turn.routing.overload_above = Score::ZERO;
    vec![score, quality, turn]
}

/// By score the nodes have this order. The second has the most trust × quality, the third the most quality, and the fourth the most
/// trust. The two best are of one cluster, and only they hold the shared capability. The best one executes modules too, and a capability
/// for which the orchestrator has no room.
pub(super) fn nodes(mut nodes: Vec<Node>) -> Vec<Node> {
    let suspected = ThreatBelief { level: share(50), ..ThreatBelief::default() };
    nodes.iter_mut().for_each(|node| node.threat_beliefs.insert_mut(NodeId::new(SECOND), suspected.clone()));
    let executor = || vec![Module::Executor.capability()];
    let modules = MODULES.into_iter().chain([Module::Executor]).map(Module::capability);
    let best = modules.chain([shared_capability(), own_capability()]).collect();
    nodes.iter_mut().for_each(|node| node.add_capability(held(own_capability(), 90, 0)));
    let executing = [
        (BEST, (70, 60), Some("x"), best),
        (SECOND, (90, 90), Some("x"), executor()),
        (UNTRUSTED, (30, 100), Some("y"), executor()),
        (POOR, (100, 20), None, executor()),
    ];
    nodes.extend(executing.map(|(name, shares, cluster, capabilities)| {
        let mut node = node(name, shares, capabilities, 2);
        node.cluster = cluster.map(ClusterId::new);
        // No answer with this capability has a weight.
        node.add_capability(held(second_capability(), 0, 2));
        node
    }));
    // An answer of the second node with this capability has no weight beside that of the best one.
    nodes[2].add_capability(held(shared_capability(), 0, 2));
    nodes
}

/// Ensembles of every strategy: of two nodes, which would be of one cluster; of three, where the vote of the second outweighs the two
/// others, by the first of two capabilities; of all; of a capability that only one cluster has; and of one without quality, where two of
/// three answers are equal.
pub(crate) fn plans() -> Vec<Plan> {
    let executor = || Module::Executor.capability();
    let of_two = || vec![executor(), second_capability()];
    vec![
        ensemble(2, executor(), Voting),
        members((1..=3).map(|number| requiring(number, of_two(), Vec::new())), Voting, true),
        ensemble(4, executor(), BestEffort),
        ensemble(3, executor(), Averaging),
        ensemble(3, executor(), Consensus),
        ensemble(2, shared_capability(), Voting),
        ensemble(3, second_capability(), Voting),
    ]
}

/// By score, every plan. By quality, a consensus of three members, with no and full criticality, one whose sides have the same trust, a
/// single task, and one that requires three capabilities, of which the node of the most quality lacks the last. In turn, two tasks that
/// depend on the same one: for the second the orchestrator has no room.
fn plans_by_order(order: RoutingOrder) -> Vec<Plan> {
    let executor = || Module::Executor.capability();
    match order {
        RoutingOrder::Score => plans(),
        RoutingOrder::Quality => {
            let apart = ensemble(3, executor(), Consensus);
            let critical = Aggregation { criticality: Score::ONE, ..aggregation(Consensus, true) };
            let of_three = vec![executor(), second_capability(), shared_capability()];
            let tasks = [step(1, &[]), requiring(1, of_three, Vec::new())];
            let single = tasks.map(|task| plan_of([task]));
            [apart.clone(), apart.with_aggregation(critical), divided()].into_iter().chain(single).collect()
        }
        RoutingOrder::RoundRobin => {
            let crowded = with_capability(step(3, &[1]), own_capability());
            vec![plan_of([step(1, &[]), step(2, &[1]), crowded])]
        }
    }
}

/// The answers of the members, which are not repaired, and the texts of the modules that a node executes; none for other operations.
pub(in crate::adversary) fn reports(state: &State, ask: Operation) -> Option<Vec<Report>> {
    match ask {
        Operation::LoadContext => {
            let traces = vec![past(1, "past request", Scope::Global)];
            Some(vec![Report::Context { ratings: Ratings::default(), traces }])
        }
        Operation::Classify => {
            let tags = vec![Text::from("tag"), Text::from("other")];
            Some(vec![Report::Classification { tags, similarity: Score::ZERO }])
        }
        Operation::DraftPlan => {
            let order = state.network().map(|network| network.policy().routing.order).unwrap_or_default();
            Some(plans_by_order(order).into_iter().map(Report::Plan).collect())
        }
        Operation::RunTask { task, .. } => Some(super::answers(task)),
        Operation::Diagnose => Some(vec![Report::NoRepair { text: Text::from("") }]),
        Operation::VerifyIdentity
        | Operation::Summarize
        | Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::UndoTask { .. }
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => None,
    }
}

/// The second node leaves an ensemble of three after its answer, which then weighs less. The poor node leaves an ensemble of all before
/// its member starts.
pub(in crate::adversary) fn changes(network: &NetworkState, state: &State) -> Vec<Input> {
    let Some(request) = state.control().request().filter(|_| state.control().phase() == Phase::RunningTasks)
    else {
        return Vec::new();
    };
    let has_answered = |task| request.outcome(TaskId::new(task)) == Some(TaskOutcome::Succeeded);
    let leaver = match request.plan.as_ref().map(|plan| plan.plan.tasks().len()) {
        Some(3) if has_answered(2) => NodeId::new(SECOND),
        Some(4) if has_answered(1) && request.ledger.get(TaskId::new(4)).is_none() => NodeId::new(POOR),
        _ => return Vec::new(),
    };
    let leaving = network.node(&leaver).map(|_| NetworkInput::Leave { node: leaver.clone() });
    leaving.map(super::network_input).into_iter().collect()
}

fn ensemble(size: u32, capability: CapabilityId, strategy: AggregationStrategy) -> Plan {
    members((1..=size).map(|number| with_capability(step(number, &[]), capability.clone())), strategy, true)
}

fn members(tasks: impl Iterator<Item = Task>, strategy: AggregationStrategy, is_ensemble: bool) -> Plan {
    plan_of(tasks).with_aggregation(aggregation(strategy, is_ensemble))
}

/// A member that requires these capabilities, and excludes these nodes.
fn requiring(number: u32, required_capabilities: Vec<CapabilityId>, excluded_nodes: Vec<NodeId>) -> Task {
    let constraints = TaskConstraints { excluded_nodes, ..TaskConstraints::default() };
    with_constraints(step(number, &[]), required_capabilities, constraints)
}

/// A consensus with two sides of equal trust: the poor node, with the smallest answer, against the untrusted node and the best one. Their
/// answers are far above the mean, so that rounding in a round of deliberation moves neither to the other side.
fn divided() -> Plan {
    let only = |(number, node): (u32, &str)| {
        let others = [BEST, SECOND, UNTRUSTED, POOR].into_iter().filter(|other| *other != node);
        requiring(number, vec![Module::Executor.capability()], others.map(NodeId::new).collect())
    };
    members([(1, POOR), (3, UNTRUSTED), (4, BEST)].into_iter().map(only), Consensus, false)
}
