//! The network of a conversation: its nodes, and which of them execute the pending calls (decision 0042).

use crate::event::Event;
use crate::ids::{CallId, CapabilityId, NodeId, Timestamp};
use crate::network::defense;
use crate::network::{
    Network, NetworkEvent, NetworkInput, Node, NodeRecord, NodeStatus, StepStatus, TrustPolicy,
};
use crate::score::Score;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The network of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NetworkState {
    policy: TrustPolicy,
    orchestrator: NodeId,
    nodes: Network,
    /// In the order of calls.
    assignments: Vec<Assignment>,
}

/// A pending call with the node that executes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignment {
    /// The call.
    pub call: CallId,
    /// The node that routed it.
    pub from: NodeId,
    /// The node that executes it.
    pub to: NodeId,
    /// The capability that is scored and loaded.
    pub capability: CapabilityId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The nodes of the earlier attempts.
    pub tried: Vec<NodeId>,
    /// Ready until the handoff is accepted, then running.
    pub status: StepStatus,
}

impl Assignment {
    /// Returns whether the node executes the call: it routed the call to itself, or accepted the handoff.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.status == StepStatus::Running
    }

    /// Returns whether the node executes its own task, without a handoff.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.from == self.to
    }
}

impl NetworkState {
    /// Returns the constants.
    #[must_use]
    pub const fn policy(&self) -> &TrustPolicy {
        &self.policy
    }

    /// Returns the node from whose view calls are routed.
    #[must_use]
    pub const fn orchestrator(&self) -> &NodeId {
        &self.orchestrator
    }

    /// Returns the nodes.
    #[must_use]
    pub const fn nodes(&self) -> &Network {
        &self.nodes
    }

    /// Returns the node with this id.
    #[must_use]
    pub fn node(&self, id: &NodeId) -> Option<&Node> {
        self.nodes.node(id)
    }

    /// Returns the pending calls that nodes execute, in the order of calls.
    #[must_use]
    pub fn assignments(&self) -> &[Assignment] {
        &self.assignments
    }

    /// Returns the assignment of a pending call.
    #[must_use]
    pub fn assignment(&self, call: CallId) -> Option<&Assignment> {
        self.assignments.iter().find(|assignment| assignment.call == call)
    }

    /// Returns the constants, for a model checker to mutate.
    #[cfg(feature = "checker")]
    pub const fn policy_mut(&mut self) -> &mut TrustPolicy {
        &mut self.policy
    }

    /// Returns the nodes, for a model checker to mutate.
    #[cfg(feature = "checker")]
    pub const fn nodes_mut(&mut self) -> &mut Network {
        &mut self.nodes
    }

    /// Returns the assignments, for a model checker to mutate.
    #[cfg(feature = "checker")]
    pub const fn assignments_mut(&mut self) -> &mut Vec<Assignment> {
        &mut self.assignments
    }

    /// Applies an event, with the time of its input. Creating the network is the first.
    pub(crate) fn apply(network: &mut Option<Arc<Self>>, event: &Event, now: Timestamp) {
        if let Event::Network(NetworkEvent::Changed(change)) = event
            && let NetworkInput::Create { orchestrator, policy, nodes } = &**change
        {
            let created = Self {
                policy: *policy,
                orchestrator: orchestrator.clone(),
                nodes: nodes.iter().cloned().collect(),
                assignments: Vec::new(),
            };
            *network = Some(Arc::new(created));
            return;
        }
        let Some(network) = network else { return };
        match event {
            Event::Network(event) => Arc::make_mut(network).apply_network(event, now),
            Event::ToolResult { call, .. } | Event::CallFailed { call, .. } => {
                if network.assignment(*call).is_some() {
                    Arc::make_mut(network).end_call(*call);
                }
            }
            Event::Cancelled if !network.assignments.is_empty() => {
                let network = Arc::make_mut(network);
                let calls: Vec<CallId> = network.assignments.iter().map(|pending| pending.call).collect();
                calls.into_iter().for_each(|call| network.end_call(call));
            }
            Event::Cancelled
            | Event::UserMsg { .. }
            | Event::ToolCall { .. }
            | Event::AddItem { .. }
            | Event::UpdateItem { .. }
            | Event::ForgetItems { .. }
            | Event::FinalAnswer { .. }
            | Event::TimeAdvanced { .. }
            | Event::ActionRecorded { .. }
            | Event::SessionStarted { .. }
            | Event::SessionEnded
            | Event::OverBudget { .. }
            | Event::Resumed
            | Event::Transitioned { .. }
            | Event::PlanAdopted { .. }
            | Event::VetoRaised { .. }
            | Event::ConsensusScored { .. }
            | Event::RatingsUpdated { .. }
            | Event::Decided { .. }
            | Event::ExecutionReported { .. }
            | Event::RepairStarted
            | Event::Concluded { .. }
            | Event::MemoryRecorded { .. }
            | Event::AuditRecorded { .. }
            | Event::AuditUndelivered => {}
        }
    }

    fn apply_network(&mut self, event: &NetworkEvent, now: Timestamp) {
        match event {
            NetworkEvent::Changed(change) => self.apply_change(change, now),
            NetworkEvent::SignalReceived { receiver, signal } => {
                self.nodes.receive_signal(&self.policy, receiver, signal);
            }
            NetworkEvent::CallRouted { call, from, to, capability, attempt, tried } => {
                let is_local = from == to;
                if is_local {
                    self.start_task(to, capability);
                } else {
                    let policy = self.policy;
                    self.nodes.update(from, |node| node.send_handoff(&policy, to, now));
                }
                let status = if is_local { StepStatus::Running } else { StepStatus::Ready };
                let assignment = Assignment {
                    call: *call,
                    from: from.clone(),
                    to: to.clone(),
                    capability: capability.clone(),
                    attempt: *attempt,
                    tried: tried.clone(),
                    status,
                };
                let at = self.assignments.partition_point(|earlier| earlier.call < *call);
                self.assignments.insert(at, assignment);
            }
            NetworkEvent::HandoffAccepted { call } => {
                let accepted = self.assignments.iter_mut().find(|assignment| assignment.call == *call);
                let Some(assignment) = accepted else { return };
                assignment.status = StepStatus::Running;
                let (to, capability) = (assignment.to.clone(), assignment.capability.clone());
                self.start_task(&to, &capability);
            }
            NetworkEvent::NoCandidates { call, .. } | NetworkEvent::AttemptFailed { call, .. } => {
                self.end_call(*call);
            }
            NetworkEvent::Exchanged(exchange) => {
                self.nodes.record_exchange(&self.policy, exchange);
            }
            // The kernel decided on them; the request has what later decisions read.
            NetworkEvent::HandoffRefused { .. }
            | NetworkEvent::Affirmed { .. }
            | NetworkEvent::StepsAssigned { .. }
            | NetworkEvent::StepsUnroutable { .. }
            | NetworkEvent::ValidationFailed { .. }
            | NetworkEvent::ResultsAggregated { .. }
            | NetworkEvent::AggregationFailed { .. }
            | NetworkEvent::WorkflowEnded { .. } => {}
        }
    }

    fn apply_change(&mut self, change: &NetworkInput, now: Timestamp) {
        let policy = self.policy;
        match change {
            NetworkInput::Join { node } => {
                let id = &node.id;
                self.nodes.insert(node.clone());
                // It left while it executed calls, which still run.
                let running = |assignment: &&Assignment| assignment.is_running() && assignment.to == *id;
                let running: Vec<CapabilityId> = self
                    .assignments
                    .iter()
                    .filter(running)
                    .map(|running| running.capability.clone())
                    .collect();
                running.iter().for_each(|capability| self.start_task(id, capability));
            }
            NetworkInput::Leave { node } => {
                self.nodes.remove(node);
            }
            NetworkInput::SetAvailable { node, capability, available } => {
                self.nodes.update(node, |node| {
                    let state = node.capabilities.get_mut(capability);
                    state.into_iter().for_each(|state| state.available = *available);
                });
            }
            NetworkInput::ReportLoad { node, load } => {
                self.nodes.update(node, |node| node.reported_load = *load);
            }
            NetworkInput::RotateKey { node, public_key } => {
                self.nodes.update(node, |node| node.public_key = public_key.clone());
            }
            NetworkInput::ResolveThreat { node, subject } => {
                self.nodes.update(node, |node| defense::resolve_threat(&policy.defense, node, subject));
            }
            NetworkInput::Tick => {
                let ids: Vec<NodeId> = self.nodes.iter().map(|node| node.id.clone()).collect();
                for id in &ids {
                    self.nodes.update(id, |node| node.tick(&policy, now));
                }
            }
            // They have events of their own.
            NetworkInput::Create { .. } | NetworkInput::Signal { .. } | NetworkInput::Handoff(_) => {}
        }
    }

    fn start_task(&mut self, node: &NodeId, capability: &CapabilityId) {
        self.nodes.update(node, |node| node.start_task(capability));
    }

    /// Ends a call, which lowers the load of the node that executes it.
    fn end_call(&mut self, call: CallId) {
        let Some(at) = self.assignments.iter().position(|assignment| assignment.call == call) else { return };
        let Assignment { to, capability, status, .. } = self.assignments.remove(at);
        if status == StepStatus::Running {
            self.nodes.update(&to, |node| node.end_task(&capability));
        }
    }

    /// Renumbers the calls in their order, as those of the control state.
    pub(super) fn canonicalize(&mut self, pending: &[CallId]) {
        for assignment in &mut self.assignments {
            let number = pending.iter().zip(1..).find(|(call, _)| **call == assignment.call);
            // The node of a call that ended has no call: under its old number it would be that of another one.
            assignment.call = CallId::new(number.map_or(0, |(_, number)| number));
        }
        if self.ignores_counts() {
            self.forget_counts();
        }
    }

    /// Whether no later decision depends on the number of interactions: they change no connection and no quality, no node leaves
    /// its probation, and no number of them is a reason for a warning. A model of the checker has such a policy, so that its states
    /// are finitely many.
    fn ignores_counts(&self) -> bool {
        let TrustPolicy { connection, status, .. } = &self.policy;
        let on_probation =
            |node: &Node| matches!(node.status, NodeStatus::Probationary | NodeStatus::Expelled);
        connection.smoothing == Score::ONE
            && [connection.reinforcement, connection.weight_decay, connection.threat_effect]
                .iter()
                .all(|effect| *effect == Score::ZERO)
            && connection.warn_after_interactions == u32::MAX
            && status.probation_interactions == u32::MAX
            && self.nodes.iter().all(on_probation)
    }

    /// Forgets how often nodes interacted, with whom and when, and the trust that was computed from it.
    fn forget_counts(&mut self) {
        let has_counts = |node: &&Node| {
            node.computed_trust != Score::ZERO || node.capabilities.values().any(|state| state.volume > 0)
        };
        let ids: Vec<NodeId> = self.nodes.iter().filter(has_counts).map(|node| node.id.clone()).collect();
        for id in &ids {
            self.nodes.update(id, |node| {
                node.record = NodeRecord::default();
                node.recent_partners = Arc::default();
                node.computed_trust = Score::ZERO;
                for state in node.capabilities.values_mut() {
                    (state.volume, state.last_used) = (0, None);
                }
                node.connections.forget_counts();
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Capability, CapabilityState, Connection};

    fn network() -> NetworkState {
        let mut policy = TrustPolicy::default();
        let connection = &mut policy.connection;
        connection.smoothing = Score::ONE;
        (connection.reinforcement, connection.weight_decay, connection.threat_effect) =
            (Score::ZERO, Score::ZERO, Score::ZERO);
        connection.warn_after_interactions = u32::MAX;
        policy.status.probation_interactions = u32::MAX;
        let node = |id| Node::new(&policy.start, NodeId::new(id));
        NetworkState {
            policy,
            orchestrator: NodeId::new("a"),
            nodes: [node("a"), node("b")].into_iter().collect(),
            assignments: Vec::new(),
        }
    }

    fn set_status(network: &mut NetworkState, status: NodeStatus) {
        network.nodes.update(&NodeId::new("b"), |node| node.status = status);
    }

    #[test]
    fn counts_are_ignored_only_where_nothing_reads_them() {
        let ignores = |change: fn(&mut NetworkState)| {
            let mut network = network();
            change(&mut network);
            network.ignores_counts()
        };
        assert!(ignores(|_| ()));
        assert!(ignores(|network| set_status(network, NodeStatus::Expelled)));
        let reads: [fn(&mut NetworkState); 7] = [
            |network| network.policy.connection.smoothing = Score::ZERO,
            |network| network.policy.connection.reinforcement = Score::ONE,
            |network| network.policy.connection.weight_decay = Score::ONE,
            |network| network.policy.connection.threat_effect = Score::ONE,
            |network| network.policy.connection.warn_after_interactions = 5,
            |network| network.policy.status.probation_interactions = 5,
            |network| set_status(network, NodeStatus::Member),
        ];
        for (number, change) in reads.into_iter().enumerate() {
            assert!(!ignores(change), "change {number}");
        }
    }

    /// Canonicalization resets the counts of interactions if no later decision reads them, and keeps them otherwise.
    #[test]
    fn canonicalize_resets_only_unread_counts() {
        let with = |change: fn(&mut Node)| {
            let mut network = network();
            network.nodes.update(&NodeId::new("b"), |node| {
                let capability = Capability::new(CapabilityId::new("read"), 1);
                node.add_capability(CapabilityState::new(capability, Score::ONE));
                change(node);
            });
            network
        };
        let canonical = |mut network: NetworkState| {
            network.canonicalize(&[]);
            network
        };
        let changes: [fn(&mut Node); 3] = [
            |node| node.computed_trust = Score::ONE,
            |node| {
                node.computed_trust = Score::ZERO;
                node.capabilities.values_mut().for_each(|state| state.volume = 7);
            },
            |node| {
                // Only nodes with a computed trust or a used capability have counts to reset.
                node.computed_trust = Score::ONE;
                let counted = Connection {
                    interactions: 7,
                    ..Connection::new(&TrustPolicy::default().connection, Timestamp::default())
                };
                node.connections.insert(NodeId::new("a"), counted);
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let without_counts = canonical(with(change));
            let node = without_counts.node(&NodeId::new("b")).unwrap();
            assert_eq!(node.computed_trust, Score::ZERO, "change {number}");
            assert!(node.capabilities.values().all(|state| state.volume == 0), "change {number}");
            let counts = node.connections.iter().map(|(_, connection)| connection.interactions);
            assert_eq!(counts.sum::<u32>(), 0, "change {number}");
            let mut read = with(change);
            read.policy.connection.warn_after_interactions = 5;
            assert_eq!(canonical(read.clone()), read, "change {number}");
        }
    }
}
