//! The network that a file describes.

use super::LoadedNetwork;
use super::by_id::ById;
use super::format::{CapabilityFile, ConnectionFile, HeldCapabilityFile, NetworkFile, NodeFile};
use super::public_key::PublicKeyText;
use orchestrion_kernel::network::{
    Capability, CapabilityConstraints, CapabilityState, Connection, ConnectionStatus, Network, Node,
    NodeStatus, ThreatBelief, TrustPolicy,
};
use orchestrion_kernel::{CapabilityId, ClusterId, NodeId, Timestamp};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, suggest_nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Names listed in a help text; more would hide the suggestion.
const LISTED_MAX: usize = 8;

pub(super) fn load(source: &Source) -> Result<LoadedNetwork, ReadError> {
    let file: NetworkFile = source.parse()?;
    build(&file).map_err(|error| ReadError::in_source(source, error))
}

pub(super) fn build(file: &NetworkFile) -> Result<LoadedNetwork, LabeledError> {
    let policy = file.policy.validate()?;
    let mut builder = Builder {
        policy: &policy,
        declared: file.capabilities.0.iter().map(|(id, file)| (id.value.as_str(), file)).collect(),
        nodes: file.nodes.0.iter().map(|(id, _)| (id.value.as_str(), NodeId::new(id.value.text()))).collect(),
        keys: BTreeMap::new(),
        capabilities: BTreeMap::new(),
    };
    let nodes = file.nodes.0.iter().map(|(id, node)| builder.node(id, node));
    let network: Network = nodes.collect::<Result<_, _>>()?;
    let orchestrator = file.orchestrator.as_ref().map(|id| builder.orchestrator(id)).transpose()?;
    let declarations = file.capabilities.0.iter();
    let capabilities =
        declarations.map(|(id, file)| (CapabilityId::new(id.value.text()), file.clone())).collect();
    Ok(LoadedNetwork { policy, orchestrator, network, capabilities })
}

/// Returns the node of a file that joins a network later. `others` are nodes that it may refer to beside those of the network.
pub(super) fn joining_node(
    network: &LoadedNetwork,
    id: &Spanned<StrictText>,
    file: &NodeFile,
    others: &BTreeSet<NodeId>,
) -> Result<Node, LabeledError> {
    let nodes = network.network.iter().map(|node| &node.id).chain(others);
    let mut builder = Builder {
        policy: &network.policy,
        declared: network.capabilities.iter().map(|(id, file)| (id.as_str(), file)).collect(),
        nodes: nodes.map(|id| (id.as_str(), id.clone())).collect(),
        keys: network
            .network
            .iter()
            .filter(|node| !node.public_key.is_empty())
            .map(|node| (node.public_key.as_slice(), node.id.as_str()))
            .collect(),
        capabilities: BTreeMap::new(),
    };
    builder.node(id, file)
}

struct Builder<'f> {
    policy: &'f TrustPolicy,
    declared: BTreeMap<&'f str, &'f CapabilityFile>,
    nodes: BTreeMap<&'f str, NodeId>,
    /// The nodes with a public key, by their keys.
    keys: BTreeMap<&'f [u8], &'f str>,
    /// The declarations by id and capacity. Nodes with the same declaration share it.
    capabilities: BTreeMap<(&'f str, u32), Arc<Capability>>,
}

impl<'f> Builder<'f> {
    fn node(&mut self, id: &'f Spanned<StrictText>, file: &'f NodeFile) -> Result<Node, LabeledError> {
        let NodeFile { trust, status, cluster, load, public_key, capabilities, connections, threats } = file;
        let mut node = Node::new(&self.policy.start, NodeId::new(id.value.text()));
        node.trust = trust.map_or(node.trust, |trust| trust.0);
        node.computed_trust = node.trust;
        node.status = status.unwrap_or(NodeStatus::Probationary);
        node.cluster = cluster.as_ref().map(|cluster| ClusterId::new(cluster.text()));
        node.reported_load = load.map(|load| load.0);
        if let Some(key) = public_key {
            self.check_own_key(id, key)?;
            node.public_key.clone_from(&key.value.0);
        }
        for (capability, held) in &capabilities.0 {
            node.add_capability(self.capability(capability, held)?);
        }
        node.connections = self
            .partners(id, connections, "connection")?
            .map(|(partner, file)| Ok((partner, self.connection(file)?)))
            .collect::<Result<_, LabeledError>>()?;
        node.threat_beliefs = self
            .partners(id, threats, "threat")?
            .map(|(subject, level)| (subject, ThreatBelief { level: level.0, ..ThreatBelief::default() }))
            .collect();
        Ok(node)
    }

    /// Checks that no other node has this public key: each could sign the handoffs of the other.
    fn check_own_key(
        &mut self,
        id: &'f Spanned<StrictText>,
        key: &'f Spanned<PublicKeyText>,
    ) -> Result<(), LabeledError> {
        let Some(other) = self.keys.insert(&key.value.0, id.value.as_str()) else { return Ok(()) };
        let error = LabeledError::new(
            format!(
                "public key of two nodes: expected a key of its own for `{}`, found that of `{}`",
                id.value.as_str().escape_debug(),
                other.escape_debug()
            ),
            "remove this `public_key`, and create a key with `orchestrion keys create`",
        );
        Err(error.with_label(key.span(), "the same key"))
    }

    fn orchestrator(&self, id: &Spanned<StrictText>) -> Result<NodeId, LabeledError> {
        let name = id.value.as_str();
        self.nodes.get(name).cloned().ok_or_else(|| {
            unknown("node", name, self.nodes.keys().copied(), "name a node of `nodes`")
                .with_label(id.span(), "unknown")
        })
    }

    fn capability(
        &mut self,
        id: &'f Spanned<StrictText>,
        file: &'f HeldCapabilityFile,
    ) -> Result<CapabilityState, LabeledError> {
        let HeldCapabilityFile { quality, volume, tasks, max_capacity, available } = file;
        let name = id.value.as_str();
        let Some(declared) = self.declared.get(name).copied() else {
            let help = "declare it in `capabilities`";
            let error = unknown("capability", name, self.declared.keys().copied(), help);
            return Err(error.with_label(id.span(), "unknown"));
        };
        let capacity = max_capacity.as_ref().map_or(NonZeroU32::MIN, |capacity| capacity.value).get();
        if tasks.value > capacity {
            let error = LabeledError::new(
                format!("load above capacity: expected `tasks` of at most {capacity}, found {}", tasks.value),
                "correct `tasks`, or raise `max_capacity`; without it, a node executes one task at a time",
            );
            let capacity_span = max_capacity.as_ref().and_then(Spanned::span);
            return Err(error.with_label(tasks.span(), "tasks").with_label(capacity_span, "capacity"));
        }
        let capability = self.capabilities.entry((name, capacity));
        let capability =
            Arc::clone(capability.or_insert_with(|| Arc::new(declaration(id, declared, capacity))));
        Ok(CapabilityState {
            capability,
            quality: quality.map_or(self.policy.start.capability_quality, |quality| quality.0),
            volume: *volume,
            last_used: None,
            available: available.unwrap_or(true),
            current_tasks: tasks.value,
        })
    }

    /// Returns the values of a node about other nodes, by their ids.
    fn partners<'v, V>(
        &self,
        node: &Spanned<StrictText>,
        values: &'v ById<V>,
        kind: &str,
    ) -> Result<std::vec::IntoIter<(NodeId, &'v V)>, LabeledError> {
        let mut partners = Vec::with_capacity(values.0.len());
        for (id, value) in &values.0 {
            let Some(partner) = self.nodes.get(id.value.as_str()) else {
                let help = format!("add the node to `nodes`, or remove the {kind}");
                let error = unknown("node", id.value.as_str(), self.nodes.keys().copied(), &help);
                return Err(error.with_label(id.span(), "unknown"));
            };
            if id.value == node.value {
                return Err(LabeledError::new(
                    format!("{kind} of `{}` to itself", id.value.as_str().escape_debug()),
                    "write the id of another node",
                )
                .with_label(id.span(), "the node itself"));
            }
            partners.push((partner.clone(), value));
        }
        Ok(partners.into_iter())
    }

    fn connection(&self, file: &ConnectionFile) -> Result<Connection, LabeledError> {
        let ConnectionFile { w, r, q, tau, interactions, status } = file;
        let policy = &self.policy.connection;
        let mut connection = Connection::new(policy, Timestamp::from_millis(0));
        if let Some(w) = w {
            let (min, max) = (policy.min_weight, policy.max_weight);
            if !(min..=max).contains(&w.value.0) {
                return Err(LabeledError::new(
                    format!("weight out of range: expected {min} to {max}, found {}", w.value.0),
                    "write a weight in the range, or change `connection.min_weight` or `connection.max_weight` in `policy`",
                )
                .with_label(w.span(), "out of range"));
            }
            connection.weight = w.value.0;
        }
        connection.reciprocity = r.map_or(connection.reciprocity, |r| r.0);
        connection.quality = q.map_or(connection.quality, |q| q.0);
        connection.tone = tau.map_or(connection.tone, |tau| tau.0);
        connection.interactions = *interactions;
        let default = if *interactions == 0 { ConnectionStatus::New } else { ConnectionStatus::Active };
        connection.status = status.unwrap_or(default);
        Ok(connection)
    }
}

fn declaration(id: &Spanned<StrictText>, file: &CapabilityFile, max_capacity: u32) -> Capability {
    let CapabilityFile { name, category, input_types, output_types, constraints } = file;
    Capability {
        id: CapabilityId::new(id.value.text()),
        name: name.text(),
        category: *category,
        input_types: input_types.iter().map(StrictText::text).collect(),
        output_types: output_types.iter().map(StrictText::text).collect(),
        constraints: CapabilityConstraints {
            max_input_size: constraints.max_input_size,
            timeout_ms: constraints.timeout_ms,
        },
        max_capacity,
    }
}

/// Returns the error for an id that the network does not have.
pub(super) fn unknown<'a>(
    kind: &str,
    id: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    help: &str,
) -> LabeledError {
    let near = suggest_nearest(id, known.clone());
    let names: Vec<&str> = known.clone().take(LISTED_MAX).collect();
    let more = if known.count() > names.len() { ", …" } else { "" };
    let expected = if names.is_empty() {
        String::new()
    } else {
        format!("expected one of {}{more}; ", names.join(", "))
    };
    LabeledError::new(format!("unknown {kind} `{}`", id.escape_debug()), format!("{near}{expected}{help}"))
}
