//! Task files: what routing reads of a task.

use super::LoadedNetwork;
use super::build::unknown;
use super::format::{enum_schema, is_default};
use orchestrion_kernel::network::{Node, Priority, Requirements, TaskConstraints};
use orchestrion_kernel::{CapabilityId, NodeId, Score};
use orchestrion_yaml::{Decimal, LabeledError, ReadError, Source, Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Task: the requirements that routing reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementsFile {
    /// Required capabilities, by id. The quality for the first one counts; the node must hold all of them.
    #[schemars(length(min = 1))]
    pub required_capabilities: Spanned<Vec<Spanned<StrictText>>>,
    /// Type of the input. Default: every capability accepts it.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub input_type: Option<StrictText>,
    /// Expected type of the output. Default: every capability produces it.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub output_type: Option<StrictText>,
    /// Size of the input, in the unit of the capabilities' `max_input_size`. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_size: u64,
    /// Constraints. Default: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub constraints: TaskConstraintsFile,
}

/// Constraints of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskConstraintsFile {
    /// Time that the task may take. Default: no limit.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Priority. Default: normal.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(schema_with = "priority_schema")]
    pub priority: Priority,
    /// Minimum trust in the node. Default: 0.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub min_trust: Option<Decimal<Score>>,
    /// Minimum quality of the node for the first required capability. Default: 0.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub min_quality: Option<Decimal<Score>>,
    /// Nodes whose score is raised. They are hints, not requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferred_nodes: Vec<Spanned<StrictText>>,
    /// Nodes that never get the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_nodes: Vec<Spanned<StrictText>>,
}

fn priority_schema(_: &mut SchemaGenerator) -> Schema {
    enum_schema(Priority::ALL)
}

pub(super) fn load(source: &Source, network: &LoadedNetwork) -> Result<Requirements, ReadError> {
    let file: RequirementsFile = source.parse()?;
    requirements(&file, network).map_err(|error| ReadError::in_source(source, error))
}

fn requirements(file: &RequirementsFile, network: &LoadedNetwork) -> Result<Requirements, LabeledError> {
    let requirements = file.to_kernel()?;
    for id in &file.required_capabilities.value {
        network.find_capability(id.value.as_str()).map_err(|error| error.with_label(id.span(), "unknown"))?;
    }
    let TaskConstraintsFile { preferred_nodes, excluded_nodes, .. } = &file.constraints;
    for id in preferred_nodes.iter().chain(excluded_nodes) {
        network.find_node(id.value.as_str()).map_err(|error| error.with_label(id.span(), "unknown"))?;
    }
    Ok(requirements)
}

impl RequirementsFile {
    /// Returns the requirements. Their capabilities and nodes need not exist.
    ///
    /// # Errors
    /// [`LabeledError`] without a capability.
    pub fn to_kernel(&self) -> Result<Requirements, LabeledError> {
        let Self { required_capabilities, input_type, output_type, input_size, constraints } = self;
        let TaskConstraintsFile {
            timeout_ms,
            priority,
            min_trust,
            min_quality,
            preferred_nodes,
            excluded_nodes,
        } = constraints;
        if required_capabilities.value.is_empty() {
            return Err(LabeledError::new(
                "expected at least one capability, found an empty list",
                "name the capability that the task requires",
            )
            .with_label(required_capabilities.span(), "empty"));
        }
        let capabilities = required_capabilities.value.iter();
        let nodes = |ids: &[Spanned<StrictText>]| ids.iter().map(|id| NodeId::new(id.value.text())).collect();
        Ok(Requirements {
            required_capabilities: capabilities.map(|id| CapabilityId::new(id.value.text())).collect(),
            input_type: input_type.as_ref().map(StrictText::text),
            output_type: output_type.as_ref().map(StrictText::text),
            input_size: *input_size,
            constraints: TaskConstraints {
                timeout_ms: *timeout_ms,
                priority: *priority,
                min_trust: min_trust.map_or(Score::ZERO, |trust| trust.0),
                min_quality: min_quality.map_or(Score::ZERO, |quality| quality.0),
                preferred_nodes: nodes(preferred_nodes),
                excluded_nodes: nodes(excluded_nodes),
            },
        })
    }

    /// Returns the file that means these requirements; `None` without a capability.
    #[must_use]
    pub fn from_kernel(requirements: &Requirements) -> Option<Self> {
        let Requirements { required_capabilities, input_type, output_type, input_size, constraints } =
            requirements;
        let TaskConstraints { timeout_ms, priority, min_trust, min_quality, preferred_nodes, excluded_nodes } =
            constraints;
        let above_zero = |score: &Score| Some(Decimal(*score)).filter(|score| score.0 > Score::ZERO);
        let text = |id: &str| Spanned::from(StrictText::from(id));
        let nodes = |ids: &[NodeId]| ids.iter().map(|id| text(id.as_str())).collect();
        let capabilities: Vec<_> = required_capabilities.iter().map(|id| text(id.as_str())).collect();
        Some(Self {
            required_capabilities: Some(capabilities).filter(|ids| !ids.is_empty())?.into(),
            input_type: input_type.clone().map(StrictText::from),
            output_type: output_type.clone().map(StrictText::from),
            input_size: *input_size,
            constraints: TaskConstraintsFile {
                timeout_ms: *timeout_ms,
                priority: *priority,
                min_trust: above_zero(min_trust),
                min_quality: above_zero(min_quality),
                preferred_nodes: nodes(preferred_nodes),
                excluded_nodes: nodes(excluded_nodes),
            },
        })
    }
}

impl LoadedNetwork {
    /// Returns the id of the node with this name.
    ///
    /// # Errors
    /// The network has no such node.
    pub fn find_node(&self, name: &str) -> Result<NodeId, LabeledError> {
        let id = NodeId::new(name);
        if self.network.node(&id).is_some() {
            return Ok(id);
        }
        let known: Vec<&str> = self.network.iter().map(|Node { id, .. }| id.as_str()).collect();
        Err(unknown("node", name, known.iter().copied(), "correct the name"))
    }

    /// Returns the id of the declared capability with this name.
    ///
    /// # Errors
    /// The network declares no such capability.
    pub fn find_capability(&self, name: &str) -> Result<CapabilityId, LabeledError> {
        let id = CapabilityId::new(name);
        if self.capabilities.contains_key(&id) {
            return Ok(id);
        }
        let known = self.capabilities.keys().map(CapabilityId::as_str);
        let help = "declare it in the network file, or correct the name";
        Err(unknown("capability", name, known, help))
    }
}
