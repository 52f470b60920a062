//! Routing: the node that gets a task, as one node sees the network.

use super::nodes::{ONE, OracleCapability, OracleNetwork, OracleNode};
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::{NodeStatus, Priority, Requirements};
use orchestrion_kernel::{CapabilityId, NodeId};

/// Where a task goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// The routing node executes it.
    Local,
    /// Another node does.
    Remote(NodeId),
    /// No node can.
    Nowhere,
}

/// What a call needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Need(pub(super) Requirements);

impl Need {
    /// The need of a module's call.
    pub(super) fn capability(id: CapabilityId) -> Self {
        Self(Requirements { required_capabilities: vec![id], ..Requirements::default() })
    }

    /// The scored capability.
    pub(super) fn first(&self) -> Option<&CapabilityId> {
        self.0.required_capabilities.first()
    }

    /// The need without these nodes.
    pub(super) fn without(&self, tried: &[NodeId]) -> Self {
        let mut need = self.clone();
        need.0.constraints.excluded_nodes.extend(tried.iter().cloned());
        need
    }

    pub(super) fn priority(&self) -> Priority {
        self.0.constraints.priority
    }
}

impl OracleNode {
    fn can_take(&self, id: &NodeId, need: &Need, all_capabilities: bool) -> Option<&OracleCapability> {
        let Need(task) = need;
        let limits = &task.constraints;
        let capability = self.capabilities.get(need.first()?)?;
        let accepts = |types: &[String], wanted: Option<&orchestrion_kernel::Text>| {
            wanted.is_none_or(|wanted| types.is_empty() || types.iter().any(|known| known == wanted.as_str()))
        };
        let others = &task.required_capabilities[1..];
        let fits = self.status != NodeStatus::Expelled
            && capability.available
            && !limits.excluded_nodes.contains(id)
            && (!all_capabilities || others.iter().all(|other| self.capabilities.contains_key(other)))
            && accepts(&capability.input_types, task.input_type.as_ref())
            && accepts(&capability.output_types, task.output_type.as_ref())
            && capability.max_input_size.is_none_or(|max| task.input_size <= max)
            && match (limits.timeout_ms, capability.timeout_ms) {
                (Some(allowed), Some(own)) => own <= allowed,
                (Some(_), None) | (None, Some(_) | None) => true,
            }
            && self.trust >= i64::from(limits.min_trust.millionths())
            && capability.quality >= i64::from(limits.min_quality.millionths());
        fits.then_some(capability)
    }
}

impl OracleNetwork {
    /// The candidates, best first.
    pub(super) fn rank(&self, from: &NodeId, need: &Need, with_router: bool) -> Vec<NodeId> {
        let router = self.nodes.get(from);
        let mut scored = Vec::new();
        for (id, node) in &self.nodes {
            if id == from && !with_router {
                continue;
            }
            let Some(capability) = node.can_take(id, need, self.policy.routing.all_capabilities) else {
                continue;
            };
            let weight = router.and_then(|node| node.connections.get(id)).map_or(300_000, |end| end.weight);
            let threat = router.map_or(0, |node| node.threat(id));
            let is_preferred = need.0.constraints.preferred_nodes.contains(id);
            let bonus = if is_preferred { 1_200_000 } else { ONE };
            let factors = [node.trust, capability.quality, ONE - node.load(), weight, ONE - threat, bonus];
            let all: u128 = factors.iter().map(|factor| u128::try_from(*factor).unwrap_or(0)).product();
            let met = router.and_then(|node| node.connections.get(id)).map_or(0, |end| end.interactions);
            let value = match self.policy.routing.order {
                RoutingOrder::Score => all,
                RoutingOrder::Quality => u128::try_from(capability.quality).unwrap_or(0),
                RoutingOrder::RoundRobin => u128::from(u32::MAX - met),
            };
            scored.push((value, id.clone()));
        }
        scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, id)| id).collect()
    }

    /// The node that gets a task (001 §4.2, §4.3).
    pub(super) fn route(&self, from: &NodeId, need: &Need) -> Destination {
        let local_preference = self.policy.routing.local_preference;
        if local_preference {
            let own = self.nodes.get(from);
            // Whatever candidates must hold, the routing node holds every required capability.
            let capability = own.and_then(|node| node.can_take(from, need, true));
            let is_available =
                |id| own.is_some_and(|node| node.capabilities.get(id).is_some_and(|held| held.available));
            let are_available = need.0.required_capabilities.iter().all(is_available);
            if are_available && capability.is_some_and(|capability| capability.load() <= 950_000) {
                return Destination::Local;
            }
        }
        // The routing node needs no handoff, so that it checks its own load before it starts.
        let is_overloaded = need.first().is_some_and(|id| self.is_overloaded(from, id));
        let ranked = self.rank(from, need, !local_preference && !is_overloaded);
        match ranked.first() {
            Some(best) if best == from => Destination::Local,
            Some(best) => Destination::Remote(best.clone()),
            None => Destination::Nowhere,
        }
    }

    /// Whether the load of a capability is above 0.95, or the node does not offer it.
    pub(super) fn is_overloaded(&self, node: &NodeId, capability: &CapabilityId) -> bool {
        let held = self.nodes.get(node).and_then(|node| node.capabilities.get(capability));
        held.is_none_or(|held| !held.available || held.load() > 950_000)
    }

    /// The best nodes, not all of one cluster if another one is among the candidates (001 §8.2).
    pub(super) fn ensemble(&self, from: &NodeId, need: &Need, size: usize) -> Vec<NodeId> {
        let ranked = self.rank(from, need, true);
        let top: Vec<NodeId> = ranked.iter().take(size.max(1)).cloned().collect();
        let cluster = |id: &NodeId| self.nodes.get(id).and_then(|node| node.cluster.clone());
        let first = top.first().and_then(cluster);
        let is_similar = top.len() > 1 && first.is_some() && top.iter().all(|id| cluster(id) == first);
        if !is_similar {
            return top;
        }
        let (mut members, mut clusters) = (Vec::new(), Vec::new());
        for id in &ranked {
            let own = cluster(id);
            if own.is_none() || !clusters.contains(&own) {
                clusters.push(own);
                members.push(id.clone());
            }
        }
        members.truncate(top.len());
        for id in ranked {
            if members.len() < top.len() && !members.contains(&id) {
                members.push(id);
            }
        }
        members
    }
}
