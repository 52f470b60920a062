//! Pending calls.

use crate::ids::{CallId, TaskId};
use crate::module::{Failure, Operation};

/// A module call that awaits its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The id; also the idempotency key.
    pub id: CallId,
    /// The operation.
    pub operation: Operation,
    /// The failure with which the call must end, because it is not made: it is over budget, or no node can execute it.
    pub not_made: Option<Failure>,
}

/// Returns the call with this id.
pub(crate) fn find_call(calls: &[Call], id: CallId) -> Option<Call> {
    calls.iter().find(|call| call.id == id).copied()
}

impl Call {
    /// Returns the task that the call runs.
    #[must_use]
    pub const fn running_task(&self) -> Option<TaskId> {
        match self.operation {
            Operation::RunTask { task, .. } => Some(task),
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose
            | Operation::UndoTask { .. }
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => None,
        }
    }
}
