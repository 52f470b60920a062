//! The machine of a connection's status.

use super::connection::{Connection, ConnectionStatus};
use super::machine::{NetworkTransition, first_transition};
use super::policy::ConnectionPolicy;
use crate::ids::Timestamp;

use ConnectionStatus::{Active, Dormant, New, Removed};

/// What happens to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionTrigger {
    /// An interaction.
    Interaction,
    /// Time passes.
    Tick,
}

/// A condition of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectionGuard {
    /// No condition.
    Always,
    /// The weight is the minimum.
    MinWeight,
    /// The connection is idle for the time of the policy.
    Idle,
}

/// A row of the table.
pub type ConnectionTransition = NetworkTransition<ConnectionStatus, ConnectionTrigger, ConnectionGuard, ()>;

/// The table. An interaction over a removed connection keeps its values: fresh ones would raise the weight.
#[rustfmt::skip]
pub const CONNECTION_TRANSITIONS: &[ConnectionTransition] = &[
    row("L01", &[New],                  ConnectionTrigger::Interaction, ConnectionGuard::Always,    Active,  "first interaction"),
    row("L02", &[Dormant],              ConnectionTrigger::Interaction, ConnectionGuard::Always,    Active,  "interaction after a pause"),
    row("L03", &[Removed],              ConnectionTrigger::Interaction, ConnectionGuard::Always,    Active,  "interaction after the removal"),
    row("L04", &[New, Active, Dormant], ConnectionTrigger::Tick,        ConnectionGuard::MinWeight, Removed, "decayed to the minimum weight"),
    row("L05", &[Active],               ConnectionTrigger::Tick,        ConnectionGuard::Idle,      Dormant, "idle"),
];

const fn row(
    id: &'static str,
    from: &'static [ConnectionStatus],
    on: ConnectionTrigger,
    when: ConnectionGuard,
    to: ConnectionStatus,
    label: &'static str,
) -> ConnectionTransition {
    NetworkTransition { id, clause: "decision 0041", from, on, when, action: (), to, label }
}

impl Connection {
    /// Takes the row for this trigger, if any.
    pub fn trigger(&mut self, policy: &ConnectionPolicy, on: ConnectionTrigger, now: Timestamp) {
        let idle_ms = now.millis().saturating_sub(self.last_active.millis());
        let taken = first_transition(CONNECTION_TRANSITIONS, &self.status, &on, |guard| match guard {
            ConnectionGuard::Always => true,
            ConnectionGuard::MinWeight => self.weight <= policy.min_weight,
            ConnectionGuard::Idle => idle_ms >= policy.dormant_after_ms,
        });
        if let Some(row) = taken {
            self.status = row.to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::check_rows;

    #[test]
    fn connection_rests_and_returns() {
        check_rows(CONNECTION_TRANSITIONS);
        let policy = ConnectionPolicy::default();
        let mut connection = Connection::new(&policy, Timestamp::from_millis(1));
        let mut after = |on, ms: u64, minimum: bool| {
            if minimum {
                connection.weight = policy.min_weight;
            }
            connection.trigger(&policy, on, Timestamp::from_millis(ms));
            connection.status
        };
        assert_eq!(after(ConnectionTrigger::Tick, 500_000, false), New);
        assert_eq!(after(ConnectionTrigger::Interaction, 1, false), Active);
        assert_eq!(after(ConnectionTrigger::Tick, 100_000, false), Active);
        assert_eq!(after(ConnectionTrigger::Tick, 100_001, false), Dormant);
        assert_eq!(after(ConnectionTrigger::Interaction, 100_002, false), Active);
        assert_eq!(after(ConnectionTrigger::Tick, 100_003, true), Removed);
        assert_eq!(after(ConnectionTrigger::Interaction, 100_004, true), Active);
    }
}
