//! Faults in what a decision about the network reads: filters, factors of the score, handoff checks, attempts.

use crate::kernel_under_test::ViewMutation;
use orchestrion_kernel::network::{Connection, Node, NodeStatus, Requirements, StepStatus};
use orchestrion_kernel::state::{Assignment, NetworkState};
use orchestrion_kernel::{NodeId, Score, State};
use std::sync::Arc;

/// The faults, each with the part of a decision that ignores or misreads something.
pub(super) const FAULTS: &[(&str, &str, ViewMutation)] = &[
    ("routing", "ignores that a capability is unavailable", |state| {
        each_node(state, |_, node| node.capabilities.values_mut().for_each(|held| held.available = true));
    }),
    ("routing", "ignores that a node is expelled", |state| {
        each_node(state, |_, node| {
            if node.status == NodeStatus::Expelled {
                node.status = NodeStatus::Probationary;
            }
        });
    }),
    ("routing", "ignores the excluded nodes of a task", |state| {
        each_requirements(state, |required| required.constraints.excluded_nodes.clear());
    }),
    ("routing", "ignores the preferred nodes of a compensation", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.ledger = request
                .ledger
                .iter()
                .cloned()
                .map(|mut started| {
                    started.node = None;
                    started
                })
                .collect();
        }
    }),
    ("routing", "ignores the minimum trust", |state| {
        each_requirements(state, |required| required.constraints.min_trust = Score::ZERO);
    }),
    ("routing", "ignores the minimum quality", |state| {
        each_requirements(state, |required| required.constraints.min_quality = Score::ZERO);
    }),
    ("routing", "ignores the declared requirements", |state| {
        each_requirements(state, |required| {
            required.required_capabilities = vec![orchestrion_kernel::module::Module::Executor.capability()];
        });
    }),
    ("routing", "ignores the reported load", |state| each_node(state, |_, node| node.reported_load = None)),
    ("routing", "ignores the running tasks", |state| {
        each_node(state, |_, node| node.capabilities.values_mut().for_each(|held| held.current_tasks = 0));
    }),
    ("routing", "ignores the load of the capabilities where none is reported", |state| {
        each_node(state, |_, node| {
            let load = node.reported_load.unwrap_or(Score::ZERO);
            node.reported_load = Some(load);
        });
    }),
    ("routing", "counts one task too many in the load", |state| {
        each_node(state, |_, node| {
            node.capabilities
                .values_mut()
                .for_each(|held| held.current_tasks = held.current_tasks.saturating_add(1));
        });
    }),
    ("routing", "ignores the trust", |state| each_node(state, |_, node| node.trust = Score::ONE)),
    ("routing", "ignores the quality", |state| {
        each_node(state, |_, node| node.capabilities.values_mut().for_each(|held| held.quality = Score::ONE));
    }),
    ("routing", "ignores the weights of connections", |state| {
        let weight = Score::ONE;
        each_node(state, |_, node| {
            let all: Vec<_> = node.connections.iter().map(|(id, held)| (id.clone(), held.clone())).collect();
            for (partner, connection) in all {
                node.connections.insert(partner, Connection { weight, ..connection });
            }
        });
    }),
    ("routing", "ignores threats", |state| {
        each_node(state, |_, node| node.threat_beliefs = Default::default());
    }),
    ("routing", "believes what another node believes", |state| {
        let all: Vec<Node> =
            state.network().into_iter().flat_map(|network| network.nodes().iter().cloned()).collect();
        each_node(state, |_, node| {
            for (subject, belief) in all.iter().flat_map(|other| other.threat_beliefs.iter()) {
                node.threat_beliefs.insert_mut(subject.clone(), belief.clone());
            }
        });
    }),
    ("routing", "reads the connections of another node", |state| {
        let all: Vec<Node> =
            state.network().into_iter().flat_map(|network| network.nodes().iter().cloned()).collect();
        each_node(state, |_, node| {
            if let Some(other) = all.iter().find(|other| other.id != node.id) {
                node.connections = other.connections.clone();
            }
        });
    }),
    ("routing", "sends as the orchestrator instead of the node of the step before", |state| {
        let orchestrator = state.network().map(|network| network.orchestrator().clone());
        if let (Some(orchestrator), Some(request)) = (orchestrator, state.control_mut().request_mut()) {
            let moved = |mut started: orchestrion_kernel::state::StartedTask| {
                started.node = started.node.map(|_| orchestrator.clone());
                started
            };
            request.ledger = request.ledger.iter().cloned().map(moved).collect();
        }
    }),
    ("routing", "ignores the assignment of members", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.assigned.clear();
        }
    }),
    ("ties", "go to the larger id", |state| {
        // Of equal nodes, the later one is a little better.
        let mut more = 0;
        each_node(state, |_, node| {
            more += 1;
            let trust = node.trust.millionths().saturating_add(more).min(1_000_000);
            node.trust = Score::from_millionths(trust).unwrap_or(node.trust);
        });
    }),
    ("handoff", "is never taken as accepted", |state| {
        each_assignment(state, |assignment| {
            if assignment.from != assignment.to {
                assignment.status = StepStatus::Ready;
            }
        });
    }),
    ("handoff", "is always taken as accepted", |state| {
        each_assignment(state, |assignment| assignment.status = StepStatus::Running);
    }),
    ("handoff", "is checked for a capability that every node holds", |state| {
        let mut held = std::collections::BTreeMap::new();
        each_node(state, |_, node| held.extend(node.capabilities.clone()));
        each_node(state, |_, node| {
            for (id, capability) in &held {
                node.capabilities.entry(id.clone()).or_insert_with(|| capability.clone());
            }
        });
    }),
    ("attempt", "is not counted", |state| each_assignment(state, |assignment| assignment.attempt = 1)),
    ("attempt", "forgets the nodes that were tried before", |state| {
        each_assignment(state, |assignment| assignment.tried.clear());
    }),
    ("attempt", "tries the same node again", |state| {
        each_assignment(state, |assignment| assignment.to = NodeId::new("?"));
    }),
    ("validation", "counts no failures", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.validations.clear();
        }
    }),
    ("aggregation", "ignores that it took place", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.is_aggregated = None;
        }
    }),
    ("aggregation", "forgets the answers before the last", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.answers.clear();
        }
    }),
    ("members", "one that cannot be routed does not stop the others", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.is_unroutable = false;
        }
    }),
    ("return path", "ignores the lineage", |state| {
        if let Some(request) = state.control_mut().request_mut() {
            request.workflow.lineage = Default::default();
        }
    }),
];

fn each_node(state: &mut State, mut change: impl FnMut(&NodeId, &mut Node)) {
    let Some(network) = state.network_mut() else { return };
    let orchestrator = network.orchestrator().clone();
    let ids: Vec<NodeId> = network.nodes().iter().map(|node| node.id.clone()).collect();
    for id in &ids {
        network.nodes_mut().update(id, |node| change(&orchestrator, node));
    }
}

fn each_assignment(state: &mut State, change: impl FnMut(&mut Assignment)) {
    state.network_mut().into_iter().flat_map(NetworkState::assignments_mut).for_each(change);
}

/// Changes the requirements of every task of the plan, and of every task that started.
fn each_requirements(state: &mut State, change: impl Fn(&mut Requirements)) {
    let Some(request) = state.control_mut().request_mut() else { return };
    let changed = |declared: &mut Option<Arc<Requirements>>| {
        if let Some(required) = declared {
            change(Arc::make_mut(required));
        }
    };
    request.ledger = request
        .ledger
        .iter()
        .cloned()
        .map(|mut started| {
            started.version.iter_mut().for_each(|task| changed(&mut task.step.requirements));
            started
        })
        .collect();
    if let Some(versioned) = &mut request.plan {
        let mut tasks = versioned.plan.tasks().to_vec();
        tasks.iter_mut().for_each(|task| changed(&mut task.step.requirements));
        let aggregation = versioned.plan.aggregation().copied();
        if let Ok(plan) = orchestrion_kernel::plan::Plan::new(tasks) {
            versioned.plan = match aggregation {
                Some(aggregation) => plan.with_aggregation(aggregation),
                None => plan,
            };
        }
    }
}
