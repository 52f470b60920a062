//! Faults in the machines of nodes, connections and defenses: each row missing, or with another end.
//!
//! The rows are applied with an event, so a fault corrects the status after the batch. The rows of steps and workflows decide, so
//! their faults are those of attempts and of reports about workflows.

use crate::kernel_under_test::NetworkMutation;
use orchestrion_kernel::network::{
    CONNECTION_TRANSITIONS, Connection, ConnectionStatus, ConnectionTransition, DEFENSE_TRANSITIONS,
    DefenseStatus, DefenseTransition, NODE_TRANSITIONS, Node, NodeStatus, NodeTransition,
};
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{Event, NodeId, State};

const MISSING: &str = "is missing";
const REDIRECTED: &str = "leads to another status";

/// The row at a position missing, and leading to another status.
macro_rules! rows {
    ($($row:literal $table:ident $fault:ident),* $(,)?) => {
        &[$(
            ($table[$row].id, MISSING, $fault::<$row, false> as NetworkMutation),
            ($table[$row].id, REDIRECTED, $fault::<$row, true>),
        )*]
    };
}

/// Each row with each fault.
pub(super) const FAULTS: &[(&str, &str, NetworkMutation)] = rows![
    0 NODE_TRANSITIONS node_fault,
    1 NODE_TRANSITIONS node_fault,
    2 NODE_TRANSITIONS node_fault,
    3 NODE_TRANSITIONS node_fault,
    4 NODE_TRANSITIONS node_fault,
    5 NODE_TRANSITIONS node_fault,
    6 NODE_TRANSITIONS node_fault,
    7 NODE_TRANSITIONS node_fault,
    0 CONNECTION_TRANSITIONS connection_fault,
    1 CONNECTION_TRANSITIONS connection_fault,
    2 CONNECTION_TRANSITIONS connection_fault,
    3 CONNECTION_TRANSITIONS connection_fault,
    4 CONNECTION_TRANSITIONS connection_fault,
    0 DEFENSE_TRANSITIONS defense_fault,
    1 DEFENSE_TRANSITIONS defense_fault,
    2 DEFENSE_TRANSITIONS defense_fault,
    3 DEFENSE_TRANSITIONS defense_fault,
    4 DEFENSE_TRANSITIONS defense_fault,
];

fn node_fault<const ROW: usize, const REDIRECTED: bool>(
    before: &State,
    _: &[Event],
    network: &mut NetworkState,
) {
    let row: &NodeTransition = &NODE_TRANSITIONS[ROW];
    // A failed probation starts another one with the same status.
    let is_counted = |earlier: &Node, node: &Node| {
        node.record.failed_probations > earlier.record.failed_probations || row.from != [row.to]
    };
    each_pair(before, network, |earlier, node| {
        if row.from.contains(&earlier.status) && node.status == row.to && is_counted(earlier, node) {
            match NodeStatus::ALL.iter().find(|status| **status != row.to && !row.from.contains(status)) {
                Some(other) if REDIRECTED => node.status = *other,
                _ if REDIRECTED => node.status = NodeStatus::Member,
                _ => {
                    (node.status, node.trust, node.record) = (earlier.status, earlier.trust, earlier.record);
                }
            }
        }
    });
}

fn connection_fault<const ROW: usize, const REDIRECTED: bool>(
    before: &State,
    _: &[Event],
    network: &mut NetworkState,
) {
    let row: &ConnectionTransition = &CONNECTION_TRANSITIONS[ROW];
    each_pair(before, network, |earlier, node| {
        let taken: Vec<(NodeId, Connection)> = node
            .connections
            .iter()
            .filter_map(|(partner, connection)| {
                let from = earlier.connections.get(partner).map_or(ConnectionStatus::New, |held| held.status);
                let is_taken = from != row.to && row.from.contains(&from) && connection.status == row.to;
                let others = ConnectionStatus::ALL;
                let other = others.into_iter().find(|status| *status != row.to && *status != from);
                let status = if REDIRECTED { other.unwrap_or(from) } else { from };
                is_taken.then(|| (partner.clone(), Connection { status, ..connection.clone() }))
            })
            .collect();
        taken.into_iter().for_each(|(partner, connection)| node.connections.insert(partner, connection));
    });
}

fn defense_fault<const ROW: usize, const REDIRECTED: bool>(
    before: &State,
    _: &[Event],
    network: &mut NetworkState,
) {
    let row: &DefenseTransition = &DEFENSE_TRANSITIONS[ROW];
    each_pair(before, network, |earlier, node| {
        let from = earlier.defense.status;
        if from != row.to && row.from.contains(&from) && node.defense.status == row.to {
            let other = DefenseStatus::ALL.into_iter().find(|status| *status != row.to && *status != from);
            node.defense.status = if REDIRECTED { other.unwrap_or(from) } else { from };
        }
    });
}

/// Changes each node that was in the network before, given what it was.
pub(super) fn each_pair(
    before: &State,
    network: &mut NetworkState,
    mut change: impl FnMut(&Node, &mut Node),
) {
    let earlier = before.network().into_iter().flat_map(|network| network.nodes().iter());
    for node in earlier {
        network.nodes_mut().update(&node.id, |now| {
            if now != node {
                change(node, now);
            }
        });
    }
}
