//! How a task is executed as a step of a workflow.

use crate::ids::{TaskId, Text};
use crate::network::Requirements;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

/// How a task is executed as a step of a workflow (001 §3, §5.2, §9.1; decision 0042).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct StepOptions {
    /// What the task requires of the node that executes it; `None` for the capability `executor`.
    pub requirements: Option<Arc<Requirements>>,
    /// The metadata that travels with the task (001 §3.3).
    pub metadata: BTreeMap<Text, Text>,
    /// Whether the run succeeds without the task.
    pub optional: bool,
    /// The task that this one validates: it runs again if this one exits with another code than 0.
    pub validates: Option<TaskId>,
}
