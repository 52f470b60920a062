//! What routing reads of a task (001 §3).

use crate::ids::{CapabilityId, NodeId, Text};
use crate::score::Score;
use alloc::vec::Vec;

/// The part of 001's `Task` that routing reads (001 §3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Requirements {
    /// The required capabilities. The first is scored and loaded; a candidate must hold the others.
    pub required_capabilities: Vec<CapabilityId>,
    /// The type of the input; none accepts every capability.
    #[cfg_attr(feature = "serde", serde(default))]
    pub input_type: Option<Text>,
    /// The expected type of the output; none accepts every capability.
    #[cfg_attr(feature = "serde", serde(default))]
    pub output_type: Option<Text>,
    /// The size of the input, in the unit of the capabilities' `max_input_size`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub input_size: u64,
    /// The constraints.
    #[cfg_attr(feature = "serde", serde(default))]
    pub constraints: TaskConstraints,
}

/// The constraints of a task (001 §3.2 `TaskConstraints`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct TaskConstraints {
    /// The time that the task may take; none without limit.
    pub timeout_ms: Option<u64>,
    /// The priority.
    pub priority: Priority,
    /// The minimum trust in the node.
    pub min_trust: Score,
    /// The minimum quality of the node for the first required capability.
    pub min_quality: Score,
    /// The nodes whose score is raised: hints, not requirements.
    pub preferred_nodes: Vec<NodeId>,
    /// The nodes that never get the task.
    pub excluded_nodes: Vec<NodeId>,
}

/// The priority of a task (001 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Priority {
    /// Low.
    Low,
    /// Normal.
    #[default]
    Normal,
    /// High.
    High,
    /// Critical.
    Critical,
}

impl Priority {
    /// Every priority, lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Normal, Self::High, Self::Critical];
}
