//! The file of a network of the kernel. A file has no history of nodes, so not every network has one.

use super::build::joining_node;
use super::conversation::module_capability;
use super::format::{CapabilityConstraintsFile, CapabilityFile, ConnectionFile, HeldCapabilityFile};
use super::{ById, LoadedNetwork, NetworkFile, NodeFile, PolicyFile, PublicKeyText, Reciprocity, Tone};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::{
    Capability, CapabilityConstraints, CapabilityState, Connection, ConnectionStatus, NetworkInput, Node,
    NodeStatus, TrustPolicy,
};
use orchestrion_kernel::{CapabilityId, NodeId, Timestamp};
use orchestrion_yaml::{Decimal, Spanned, StrictText};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

impl NetworkFile {
    /// Returns the file from which a conversation creates this network. It declares the capabilities of the nodes that join later,
    /// too. `None` if no file means this network.
    #[must_use]
    pub fn from_kernel(input: &NetworkInput, joining: &[&Node]) -> Option<Self> {
        let NetworkInput::Create { orchestrator, policy, nodes } = input else { return None };
        let added: BTreeSet<CapabilityId> = Module::ALL
            .into_iter()
            .filter(|module| is_added(*module, orchestrator, nodes, joining))
            .map(Module::capability)
            .collect();
        let held = nodes.iter().chain(joining.iter().copied()).flat_map(|node| node.capabilities.values());
        let mut declared: BTreeMap<&str, CapabilityFile> = held
            .filter(|state| !added.contains(&state.capability.id))
            .map(|state| (state.capability.id.as_str(), declaration(&state.capability)))
            .collect();
        // The orchestrator gets no capability that the file declares.
        let without_node: Vec<CapabilityState> = Module::ALL
            .into_iter()
            .filter(|module| !added.contains(&module.capability()))
            .map(module_capability)
            .collect();
        for state in &without_node {
            let id = state.capability.id.as_str();
            declared.entry(id).or_insert_with(|| declaration(&state.capability));
        }
        let file = Self {
            orchestrator: Some(Spanned::from(StrictText::from(orchestrator.as_str()))),
            policy: PolicyFile::from_policy(policy),
            capabilities: declared.into_iter().collect(),
            nodes: nodes.iter().map(|node| (node.id.as_str(), node_file(policy, node, &added))).collect(),
        };
        let created = LoadedNetwork::from_file(&file).and_then(|loaded| loaded.conversation_input());
        (created.ok().as_ref() == Some(input)).then_some(file)
    }
}

impl LoadedNetwork {
    /// Returns the file of a node that joins the network; `None` if no file means this node.
    #[must_use]
    pub fn joining_file(&self, node: &Node) -> Option<NodeFile> {
        let file = node_file(&self.policy, node, &BTreeSet::new());
        let partners = node.connections.iter().map(|(partner, _)| partner.clone());
        let others = partners.chain(node.threat_beliefs.keys().cloned()).collect();
        let id = Spanned::from(StrictText::from(node.id.as_str()));
        let joined = joining_node(self, &id, &file, &others);
        (joined.ok().as_ref() == Some(node)).then_some(file)
    }
}

/// Returns whether the orchestrator holds the capability of a module because no other node does.
fn is_added(module: Module, orchestrator: &NodeId, nodes: &[Node], joining: &[&Node]) -> bool {
    let (id, expected) = (module.capability(), module_capability(module));
    let holders = nodes.iter().chain(joining.iter().copied());
    let mut holders = holders.filter_map(|node| Some((&node.id, node.capabilities.get(&id)?)));
    holders.next() == Some((orchestrator, &expected)) && holders.next().is_none()
}

fn declaration(capability: &Capability) -> CapabilityFile {
    let Capability { id: _, name, category, input_types, output_types, constraints, max_capacity: _ } =
        capability;
    let CapabilityConstraints { max_input_size, timeout_ms } = *constraints;
    CapabilityFile {
        name: name.clone().into(),
        category: *category,
        input_types: input_types.iter().cloned().map(StrictText::from).collect(),
        output_types: output_types.iter().cloned().map(StrictText::from).collect(),
        constraints: CapabilityConstraintsFile { max_input_size, timeout_ms },
    }
}

fn node_file(policy: &TrustPolicy, node: &Node, omitted: &BTreeSet<CapabilityId>) -> NodeFile {
    let capabilities = node.capabilities.iter().filter(|(id, _)| !omitted.contains(id));
    NodeFile {
        trust: Some(Decimal(node.trust)).filter(|trust| trust.0 != policy.start.swift_trust),
        status: Some(node.status).filter(|status| *status != NodeStatus::Probationary),
        cluster: node.cluster.as_ref().map(|cluster| cluster.as_str().into()),
        load: node.reported_load.map(Decimal),
        public_key: Some(PublicKeyText(node.public_key.clone()))
            .filter(|key| !key.0.is_empty())
            .map(Spanned::from),
        capabilities: capabilities.map(|(id, state)| (id.as_str(), held_file(policy, state))).collect(),
        connections: node
            .connections
            .iter()
            .map(|(partner, connection)| (partner.as_str(), connection_file(policy, connection)))
            .collect(),
        threats: node
            .threat_beliefs
            .iter()
            .map(|(subject, belief)| (subject.as_str(), Decimal(belief.level)))
            .collect::<ById<_>>(),
    }
}

fn held_file(policy: &TrustPolicy, state: &CapabilityState) -> HeldCapabilityFile {
    let capacity = NonZeroU32::new(state.capability.max_capacity);
    HeldCapabilityFile {
        quality: Some(Decimal(state.quality)).filter(|quality| quality.0 != policy.start.capability_quality),
        volume: state.volume,
        tasks: state.current_tasks.into(),
        max_capacity: capacity.filter(|capacity| *capacity != NonZeroU32::MIN).map(Spanned::from),
        available: Some(state.available).filter(|available| !available),
    }
}

fn connection_file(policy: &TrustPolicy, connection: &Connection) -> ConnectionFile {
    let fresh = Connection::new(&policy.connection, Timestamp::from_millis(0));
    let default = match connection.interactions {
        0 => ConnectionStatus::New,
        _ => ConnectionStatus::Active,
    };
    ConnectionFile {
        w: Some(connection.weight).filter(|w| *w != fresh.weight).map(|w| Decimal(w).into()),
        r: Some(Reciprocity(connection.reciprocity)).filter(|r| r.0 != fresh.reciprocity),
        q: Some(Decimal(connection.quality)).filter(|q| q.0 != fresh.quality),
        tau: Some(Tone(connection.tone)).filter(|tau| tau.0 != fresh.tone),
        interactions: connection.interactions,
        status: Some(connection.status).filter(|status| *status != default),
    }
}
