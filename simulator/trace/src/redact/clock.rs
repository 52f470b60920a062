//! Times relative to the first step.

use super::texts::Redactor;
use orchestrion_kernel::network::{Connection, NetworkInput, Node};
use orchestrion_kernel::{NodeId, Timestamp};
use serde_json::Value;

/// The time of the first step after redaction: 2000-01-01.
const FIRST_MS: u64 = 946_684_800_000;

/// The fields of events with a time.
const TIME_FIELDS: [&str; 8] =
    ["at", "now", "timestamp", "created_at", "expires_at", "established_at", "last_active", "last_used"];

/// The difference by which all times move. A trace whose first step has the time 0 has no clock, and keeps its times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeShift {
    /// The time of the first step; 0 without a clock.
    first_ms: u64,
}

impl TimeShift {
    pub(super) const fn from_first(at: Timestamp) -> Self {
        Self { first_ms: at.millis() }
    }

    /// Moves a time. The time 0 means no time, and stays. A time 30 years before the first step becomes the earliest one.
    pub(super) fn apply(self, time: Timestamp) -> Timestamp {
        match (self.first_ms, time.millis()) {
            (0, _) | (_, 0) => time,
            (first, at) => Timestamp::from_millis(at.saturating_add(FIRST_MS).saturating_sub(first).max(1)),
        }
    }
}

impl Redactor {
    /// Moves the times of an input of the network. Its names stay.
    pub(super) fn network_input(&self, input: &NetworkInput) -> NetworkInput {
        let mut input = input.clone();
        match &mut input {
            NetworkInput::Create { nodes, .. } => nodes.iter_mut().for_each(|node| self.move_node(node)),
            NetworkInput::Join { node } => self.move_node(node),
            NetworkInput::Leave { .. }
            | NetworkInput::SetAvailable { .. }
            | NetworkInput::ReportLoad { .. }
            | NetworkInput::RotateKey { .. }
            | NetworkInput::Signal { .. }
            | NetworkInput::ResolveThreat { .. }
            | NetworkInput::Tick
            | NetworkInput::Handoff(_) => {}
        }
        input
    }

    fn move_node(&self, node: &mut Node) {
        for capability in node.capabilities.values_mut() {
            capability.last_used = capability.last_used.map(|time| self.time(time));
        }
        let moved = |(partner, connection): (&NodeId, &Connection)| {
            let last_active = self.time(connection.last_active);
            (partner.clone(), Connection { last_active, ..connection.clone() })
        };
        let connections: Vec<_> = node.connections.iter().map(moved).collect();
        for (partner, connection) in connections {
            node.connections.insert(partner, connection);
        }
    }
}

/// Removes the times from an event as JSON. They follow from those of the inputs.
pub(super) fn remove_times(event: &mut Value) {
    match event {
        Value::Object(fields) => {
            for (name, value) in fields {
                if TIME_FIELDS.contains(&name.as_str()) {
                    *value = Value::Null;
                } else {
                    remove_times(value);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(remove_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
