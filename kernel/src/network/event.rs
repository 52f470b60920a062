//! The recorded changes of the network of a conversation (decision 0042).

use super::aggregation::{Aggregate, AggregationError};
use super::defense::Signal;
use super::exchange::Exchange;
use super::handoff::HandoffRefusal;
use super::input::{HandoffReceipt, NetworkInput};
use super::routing::NoCandidates;
use super::workflow::WorkflowStatus;
use crate::ids::{CallId, CapabilityId, NodeId, TaskId};
use crate::module::{Failure, Module};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A recorded change of the network, of a handoff or of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum NetworkEvent {
    /// An input about nodes was accepted. It is no handoff and no signal.
    Changed(Box<NetworkInput>),
    /// A defense signal reached a node.
    SignalReceived {
        /// The receiver.
        receiver: NodeId,
        /// The signal.
        signal: Signal,
    },
    /// A call was routed. If both nodes are the same, the call runs; otherwise it waits for its handoff.
    CallRouted {
        /// The call.
        call: CallId,
        /// The node that routed.
        from: NodeId,
        /// The node that executes.
        to: NodeId,
        /// The capability that is scored and loaded.
        capability: CapabilityId,
        /// The attempt, from 1.
        attempt: u32,
        /// The nodes of the earlier attempts.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
        tried: Vec<NodeId>,
    },
    /// No node can execute a call: it is not made, and must fail.
    NoCandidates {
        /// The call.
        call: CallId,
        /// The required capability; `None` if the task requires none.
        capability: Option<CapabilityId>,
        /// The removed nodes by filter.
        removed: NoCandidates,
    },
    /// A node accepted a handoff, and executes the call.
    HandoffAccepted {
        /// The call.
        call: CallId,
    },
    /// A node refused a handoff.
    HandoffRefused {
        /// The handoff.
        receipt: HandoffReceipt,
        /// The reason.
        refusal: HandoffRefusal,
    },
    /// An attempt ended without a reply, and another one follows in the same batch. In 000 a `ToolResult`.
    AttemptFailed {
        /// The module.
        module: Module,
        /// The call.
        call: CallId,
        /// The failure.
        failure: Failure,
    },
    /// A call and its result are an interaction of two nodes, or a use of the node's own capability.
    Exchanged(Box<Exchange>),
    /// An interaction was an affirmation: quality and tone are high.
    Affirmed {
        /// The node that affirms.
        node: NodeId,
        /// Its partner.
        partner: NodeId,
    },
    /// The members of the plan were routed.
    StepsAssigned {
        /// The members with their nodes.
        assigned: Vec<AssignedStep>,
        /// The members of an ensemble for which no node is left. They do not run.
        left_out: Vec<TaskId>,
    },
    /// A member cannot be routed: only this one is called, and fails.
    StepsUnroutable {
        /// The member.
        task: TaskId,
    },
    /// A validation failed: these tasks run again.
    ValidationFailed {
        /// The validation.
        task: TaskId,
        /// The tasks that run again, in plan order.
        repeated: Vec<TaskId>,
    },
    /// The results of the members became one.
    ResultsAggregated {
        /// The answer.
        aggregate: Aggregate,
    },
    /// The results of the members have no aggregate.
    AggregationFailed {
        /// The reason.
        error: AggregationError,
    },
    /// A run of the plan ended.
    WorkflowEnded {
        /// The status.
        status: WorkflowStatus,
        /// The nodes that executed, in order.
        lineage: Vec<NodeId>,
        /// The way of the results to the orchestrator, hop by hop.
        return_path: Vec<NodeId>,
    },
}

/// A member of the plan with its node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AssignedStep {
    /// The member.
    pub task: TaskId,
    /// The node.
    pub node: NodeId,
}
