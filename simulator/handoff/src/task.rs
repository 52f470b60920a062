//! The task in a handoff.

use orchestrion_kernel::{TaskId, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A task as the receiver of a handoff gets it (001 §6.1 `Task`). Its requirements are absent: they chose the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandoffTask {
    /// The task in its plan.
    pub id: TaskId,
    /// What to do.
    pub text: Text,
    /// Values for the receiver, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<Text, Text>,
}
