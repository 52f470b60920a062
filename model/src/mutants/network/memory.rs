//! Faults in the network after a batch: loads, assignments, connections, trust, beliefs, and what nodes publish.

use super::rows::each_pair;
use crate::kernel_under_test::NetworkMutation;
use orchestrion_kernel::network::{Connection, Millionths, NetworkEvent, NetworkInput, Node, StepStatus};
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{Event, NodeId, Score, State};

/// The faults, each with what it spoils.
pub(super) const FAULTS: &[(&str, &str, NetworkMutation)] = &[
    ("load", "is not raised", |before, _, network| {
        each_load(before, network, |was, is| if is > was { was } else { is });
    }),
    ("load", "is raised twice", |before, _, network| {
        each_load(before, network, |was, is| if is > was { is.saturating_add(1) } else { is });
    }),
    ("load", "does not fall with a reply", |before, events, network| {
        keep_load(before, events, network, |event| matches!(event, Event::ToolResult { .. }));
    }),
    ("load", "does not fall with a failure", |before, events, network| {
        keep_load(before, events, network, |event| matches!(event, Event::CallFailed { .. }));
    }),
    ("load", "does not fall with a failed attempt", |before, events, network| {
        keep_load(before, events, network, |event| {
            matches!(event, Event::Network(NetworkEvent::AttemptFailed { .. }))
        });
    }),
    ("load", "does not fall with a cancellation", |before, events, network| {
        keep_load(before, events, network, |event| matches!(event, Event::Cancelled));
    }),
    ("load", "falls although the handoff was not accepted", |before, _, network| {
        let waiting =
            before.network().into_iter().flat_map(|network| network.assignments()).filter(|assignment| {
                !assignment.is_running() && network.assignment(assignment.call).is_none()
            });
        let waiting: Vec<_> = waiting.map(|ended| (ended.to.clone(), ended.capability.clone())).collect();
        for (to, capability) in waiting {
            network.nodes_mut().update(&to, |node| node.end_task(&capability));
        }
    }),
    ("assignment", "is kept when the call ends", |before, _, network| {
        let ended: Vec<_> = before
            .network()
            .into_iter()
            .flat_map(|network| network.assignments())
            .filter(|assignment| network.assignment(assignment.call).is_none())
            .cloned()
            .collect();
        network.assignments_mut().splice(0..0, ended);
    }),
    ("assignment", "is forgotten", |before, _, network| {
        let earlier = |call| before.network().is_some_and(|network| network.assignment(call).is_some());
        network.assignments_mut().retain(|assignment| earlier(assignment.call));
    }),
    ("assignment", "is always a first attempt", |_, _, network| {
        network.assignments_mut().iter_mut().for_each(|assignment| assignment.attempt = 1);
    }),
    ("assignment", "runs before its handoff", |_, _, network| {
        network.assignments_mut().iter_mut().for_each(|assignment| assignment.status = StepStatus::Running);
    }),
    ("assignment", "waits although its handoff was accepted", |_, _, network| {
        let remote = network.assignments_mut().iter_mut().filter(|assignment| !assignment.is_local());
        remote.for_each(|assignment| assignment.status = StepStatus::Ready);
    }),
    ("handoff", "creates no connection", |before, events, network| {
        if events.iter().any(|event| matches!(event, Event::Network(NetworkEvent::CallRouted { .. }))) {
            each_pair(before, network, |was, node| node.connections = was.connections.clone());
        }
    }),
    ("weight", "is not clamped to the minimum", |before, _, network| {
        each_connection(before, network, |_, held| Connection { weight: Score::ZERO, ..held });
    }),
    ("weight", "does not change", |before, _, network| {
        each_connection(before, network, |was, held| Connection { weight: was.weight, ..held });
    }),
    ("reciprocity", "does not change", |before, _, network| {
        each_connection(before, network, |was, held| Connection { reciprocity: was.reciprocity, ..held });
    }),
    ("reciprocity", "takes given for received", |before, _, network| {
        each_connection(before, network, |was, held| {
            let change = held.reciprocity - was.reciprocity;
            Connection { reciprocity: was.reciprocity - change, ..held }
        });
    }),
    ("reciprocity", "drifts down", |before, _, network| drift(before, network, -1_000)),
    ("reciprocity", "drifts up", |before, _, network| drift(before, network, 1_000)),
    ("tone", "leaves its range", |before, _, network| {
        each_connection(before, network, |_, held| Connection { tone: Millionths::new(1_000_001), ..held });
    }),
    ("tone", "does not change", |before, _, network| {
        each_connection(before, network, |was, held| Connection { tone: was.tone, ..held });
    }),
    ("connection quality", "does not change", |before, _, network| {
        each_connection(before, network, |was, held| Connection { quality: was.quality, ..held });
    }),
    ("interactions", "are not counted", |before, _, network| {
        each_connection(before, network, |was, held| Connection { interactions: was.interactions, ..held });
    }),
    ("affirmations", "are not counted", |before, _, network| {
        each_connection(before, network, |was, held| Connection { affirmations: was.affirmations, ..held });
    }),
    ("computed trust", "is not limited by the diversity", |before, _, network| {
        each_pair(before, network, |was, node| {
            if node.computed_trust != was.computed_trust {
                node.computed_trust = Score::ONE;
            }
        });
    }),
    ("computed trust", "does not change", |before, _, network| {
        each_pair(before, network, |was, node| node.computed_trust = was.computed_trust);
    }),
    ("stored trust", "does not change", |before, _, network| {
        each_pair(before, network, |was, node| node.trust = was.trust);
    }),
    ("stored trust", "is the computed one on probation", |before, _, network| {
        each_pair(before, network, |_, node| node.trust = node.computed_trust);
    }),
    ("capability quality", "does not change", |before, _, network| {
        each_capability(before, network, |was, held| held.quality = was.quality);
    }),
    ("capability volume", "does not change", |before, _, network| {
        each_capability(before, network, |was, held| held.volume = was.volume);
    }),
    ("record", "counts nothing", |before, _, network| {
        each_pair(before, network, |was, node| node.record = was.record);
    }),
    ("partners", "are forgotten", |before, _, network| {
        each_pair(before, network, |was, node| node.recent_partners = was.recent_partners.clone());
    }),
    ("belief", "does not rise", |before, _, network| {
        each_pair(before, network, |was, node| node.threat_beliefs = was.threat_beliefs.clone());
    }),
    ("belief", "is certain at once", |before, _, network| {
        each_belief(before, network, |belief| belief.level = Score::ONE);
    }),
    ("belief", "is confirmed by one source", |before, _, network| {
        each_belief(before, network, |belief| belief.is_confirmed = true);
    }),
    ("belief", "is never confirmed", |before, _, network| {
        each_belief(before, network, |belief| belief.is_confirmed = false);
    }),
    ("priming", "does not change", |before, _, network| {
        each_pair(before, network, |was, node| node.defense.priming = was.defense.priming);
    }),
    ("defense", "does not cut the connection to a threat", |before, events, network| {
        if events.iter().any(|event| matches!(event, Event::Network(NetworkEvent::SignalReceived { .. }))) {
            each_connection(before, network, |was, held| Connection { weight: was.weight, ..held });
        }
    }),
    ("defense", "cuts every connection", |before, events, network| {
        let Some(min_weight) = before.network().map(|network| network.policy().connection.min_weight) else {
            return;
        };
        let receivers: Vec<&NodeId> = events
            .iter()
            .filter_map(|event| match event {
                Event::Network(NetworkEvent::SignalReceived { receiver, .. }) => Some(receiver),
                _ => None,
            })
            .collect();
        for receiver in receivers {
            network.nodes_mut().update(receiver, |node| {
                let all: Vec<_> =
                    node.connections.iter().map(|(id, held)| (id.clone(), held.clone())).collect();
                for (partner, held) in all {
                    node.connections.insert(partner, Connection { weight: min_weight, ..held });
                }
            });
        }
    }),
    ("availability", "does not change", |before, _, network| {
        each_capability(before, network, |was, held| held.available = was.available);
    }),
    ("reported load", "does not change", |before, _, network| {
        each_pair(before, network, |was, node| node.reported_load = was.reported_load);
    }),
    ("key", "does not change", |_, events, network| {
        let is_rotation = |event: &Event| matches!(event, Event::Network(NetworkEvent::Changed(change)) if matches!(**change, NetworkInput::RotateKey { .. }));
        if events.iter().any(is_rotation) {
            let orchestrator = network.orchestrator().clone();
            network.nodes_mut().update(&orchestrator, |node| node.public_key = vec![0]);
        }
    }),
    ("node", "does not leave", |before, _, network| {
        let gone: Vec<Node> = before
            .network()
            .into_iter()
            .flat_map(|network| network.nodes().iter())
            .filter(|node| network.node(&node.id).is_none())
            .cloned()
            .collect();
        gone.into_iter().for_each(|node| network.nodes_mut().insert(node));
    }),
    ("node", "does not join", |before, _, network| {
        let Some(earlier) = before.network() else { return };
        let ids: Vec<NodeId> = network.nodes().iter().map(|node| node.id.clone()).collect();
        for id in ids.iter().filter(|id| earlier.node(id).is_none()) {
            network.nodes_mut().remove(id);
        }
    }),
    ("node", "that joins has no task of those that it executes", |before, _, network| {
        let Some(earlier) = before.network() else { return };
        let ids: Vec<NodeId> = network.nodes().iter().map(|node| node.id.clone()).collect();
        for id in ids.iter().filter(|id| earlier.node(id).is_none()) {
            network.nodes_mut().update(id, |node| {
                node.capabilities.values_mut().for_each(|held| held.current_tasks = 0);
            });
        }
    }),
];

/// Changes the number of running tasks of each capability, given the number before.
fn each_load(before: &State, network: &mut NetworkState, change: impl Fn(u32, u32) -> u32) {
    each_capability(before, network, |was, held| {
        held.current_tasks = change(was.current_tasks, held.current_tasks);
    });
}

/// Keeps the loads after a batch with such an event.
fn keep_load(
    before: &State,
    events: &[Event],
    network: &mut NetworkState,
    is_meant: impl Fn(&Event) -> bool,
) {
    if events.iter().any(is_meant) {
        each_load(before, network, |was, is| is.max(was));
    }
}

fn each_capability(
    before: &State,
    network: &mut NetworkState,
    change: impl Fn(
        &orchestrion_kernel::network::CapabilityState,
        &mut orchestrion_kernel::network::CapabilityState,
    ),
) {
    each_pair(before, network, |was, node| {
        for (id, held) in &mut node.capabilities {
            if let Some(was) = was.capabilities.get(id) {
                change(was, held);
            }
        }
    });
}

/// Changes each connection that changed, given what it was; a new one had fresh values.
fn each_connection(
    before: &State,
    network: &mut NetworkState,
    change: impl Fn(&Connection, Connection) -> Connection,
) {
    let policy = network.policy().connection;
    each_pair(before, network, |was, node| {
        let changed: Vec<(NodeId, Connection)> = node
            .connections
            .iter()
            .filter_map(|(partner, held)| {
                let fresh = || Connection::new(&policy, held.last_active);
                let was = was.connections.get(partner).cloned().unwrap_or_else(fresh);
                (was != *held).then(|| (partner.clone(), change(&was, held.clone())))
            })
            .collect();
        changed.into_iter().for_each(|(partner, held)| node.connections.insert(partner, held));
    });
}

fn drift(before: &State, network: &mut NetworkState, by: i64) {
    each_connection(before, network, |_, held| Connection {
        reciprocity: held.reciprocity + Millionths::new(by),
        ..held
    });
}

/// Changes each belief of a node that changed.
fn each_belief(
    before: &State,
    network: &mut NetworkState,
    change: impl Fn(&mut orchestrion_kernel::network::ThreatBelief),
) {
    each_pair(before, network, |_, node| {
        let beliefs: Vec<_> =
            node.threat_beliefs.iter().map(|(id, belief)| (id.clone(), belief.clone())).collect();
        for (subject, mut belief) in beliefs {
            change(&mut belief);
            node.threat_beliefs.insert_mut(subject, belief);
        }
    });
}
