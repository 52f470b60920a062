//! The workflow so far, as a handoff passes it on (001 §6.1).

use orchestrion_kernel::{NodeId, TaskId, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The workflow so far (001 §6.1 `HandoffContext`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandoffContext {
    /// The workflow. The id is unique among all workflows whose nodes have the same keys.
    pub workflow_id: Text,
    /// The index of the step in the workflow, from 0. A call that executes no task has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_index: Option<u32>,
    /// The results of earlier steps, in the order in which the steps ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prior_results: Vec<StepResult>,
    /// The values that the workflow accumulated, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accumulated: BTreeMap<Text, Text>,
    /// The nodes that processed the workflow, in order. A node is repeated if it did so again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<NodeId>,
}

/// The result of an earlier step (001 §6.1 `StepResult`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepResult {
    /// The task of the step.
    pub task: TaskId,
    /// The exit code; 0 is success (004 §2).
    pub exit_code: i32,
    /// The output.
    pub text: Text,
}

impl StepResult {
    /// Whether the step succeeded.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.exit_code == 0
    }
}
