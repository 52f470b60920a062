//! The record that passes work from one node to another (001 §6.1).

use super::context::HandoffContext;
use super::task::HandoffTask;
use orchestrion_kernel::{CallId, CapabilityId, NodeId, Text, Timestamp};
use serde::{Deserialize, Serialize};

/// Work that passes from one node to another (001 §6.1). The signature covers every field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// The sender. Its key signs the handoff.
    pub from_node: NodeId,
    /// The receiver.
    pub to_node: NodeId,
    /// The call that the receiver answers.
    pub call: CallId,
    /// The capability that the receiver needs.
    pub capability: CapabilityId,
    /// The name of the operation that the receiver executes.
    pub operation: Text,
    /// The task of the plan. A call that executes no task, such as one of the debate, has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<HandoffTask>,
    /// The workflow so far.
    pub context: HandoffContext,
    /// The time at which the sender created the handoff, in milliseconds since 1970-01-01.
    pub timestamp: Timestamp,
}
