//! The serialized form of a network file.

use super::by_id::ById;
use super::policy::PolicyFile;
use super::public_key::PublicKeyText;
use super::signed::{Reciprocity, Tone};
use orchestrion_kernel::Score;
use orchestrion_kernel::network::{CapabilityCategory, ConnectionStatus, NodeStatus};
use orchestrion_yaml::{Decimal, Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Trust network: nodes with their capabilities, and the view that each has of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    /// Node from whose view a conversation routes its calls; required there. It also holds the capability of each module that the
    /// file does not declare. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub orchestrator: Option<Spanned<StrictText>>,
    /// Settings that differ from the defaults.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: PolicyFile,
    /// Capabilities that nodes can hold, by id.
    pub capabilities: ById<CapabilityFile>,
    /// Nodes, by id.
    pub nodes: ById<NodeFile>,
}

/// Capability: a type of task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilityFile {
    /// Name.
    pub name: StrictText,
    /// Category.
    #[schemars(schema_with = "category_schema")]
    pub category: CapabilityCategory,
    /// Accepted types of input. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_types: Vec<StrictText>,
    /// Possible types of output. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_types: Vec<StrictText>,
    /// Limits. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub constraints: CapabilityConstraintsFile,
}

/// Limits of a capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilityConstraintsFile {
    /// Maximum size of an input, in the unit of `input_size` of tasks. Default: no limit.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub max_input_size: Option<u64>,
    /// Time after which a node gives an execution up. A task with a shorter timeout goes elsewhere. Default: no limit.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Node: what it publishes, and its view of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeFile {
    /// Trust in the node. Default: the policy's `start.swift_trust`.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub trust: Option<Decimal<Score>>,
    /// Status. Default: probationary.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "node_status_schema")]
    pub status: Option<NodeStatus>,
    /// Cluster, for the diversity of ensembles. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub cluster: Option<StrictText>,
    /// Load that the node reports. Default: the largest load of its capabilities.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub load: Option<Decimal<Score>>,
    /// Ed25519 public key, 64 hexadecimal digits. No other node has it. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub public_key: Option<Spanned<PublicKeyText>>,
    /// Held capabilities, by id.
    #[serde(default, skip_serializing_if = "ById::is_empty")]
    pub capabilities: ById<HeldCapabilityFile>,
    /// Connections to other nodes, by their id.
    #[serde(default, skip_serializing_if = "ById::is_empty")]
    pub connections: ById<ConnectionFile>,
    /// Levels of threat that the node believes of other nodes, by their id.
    #[serde(default, skip_serializing_if = "ById::is_empty")]
    pub threats: ById<Decimal<Score>>,
}

/// Capability that a node holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldCapabilityFile {
    /// Quality of the node for this capability. Default: the policy's `start.capability_quality`.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub quality: Option<Decimal<Score>>,
    /// Number of uses. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub volume: u32,
    /// Tasks in execution. The load is tasks / max_capacity. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: Spanned<u32>,
    /// Tasks at which the load is 1. Default: 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub max_capacity: Option<Spanned<NonZeroU32>>,
    /// Whether the node offers the capability now. Default: true.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
}

/// Connection to another node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionFile {
    /// Weight. Default: the policy's `connection.initial_weight`.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub w: Option<Spanned<Decimal<Score>>>,
    /// Reciprocity, -1000 to 1000. Default: 0.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub r: Option<Reciprocity>,
    /// Quality of the other node's work. Default: the policy's `connection.initial_quality`.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub q: Option<Decimal<Score>>,
    /// Tone, -1 to 1. Default: 0.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub tau: Option<Tone>,
    /// Number of interactions. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interactions: u32,
    /// Status. Default: new without interactions, else active.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "connection_status_schema")]
    pub status: Option<ConnectionStatus>,
}

fn category_schema(_: &mut SchemaGenerator) -> Schema {
    enum_schema(CapabilityCategory::ALL)
}

fn node_status_schema(_: &mut SchemaGenerator) -> Schema {
    enum_schema(NodeStatus::ALL)
}

fn connection_status_schema(_: &mut SchemaGenerator) -> Schema {
    enum_schema(ConnectionStatus::ALL)
}

/// Returns the schema of an enum of the kernel, whose names are those of its encoding.
pub(super) fn enum_schema<T: Serialize, const N: usize>(all: [T; N]) -> Schema {
    let names: Vec<_> = all.iter().filter_map(|value| serde_json::to_value(value).ok()).collect();
    json_schema!({"type": "string", "enum": names})
}

/// Whether a value is the default, which a file omits.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
