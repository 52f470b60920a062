//! The payload of a call: what a module reads beside its context (000 §5.3, decision 0033).

use super::conversation::ExpectedConversation;
use super::encoding::{OracleOperation, Task};
use serde_json::{Value, json};

impl ExpectedConversation {
    /// Returns the payload of a call with a context, if its operation has one.
    pub(super) fn payload(&self, operation: OracleOperation) -> Option<Value> {
        let request = &self.request;
        match operation {
            OracleOperation::VerifyIdentity
            | OracleOperation::StoreMemory { .. }
            | OracleOperation::DeliverAudit
            | OracleOperation::LoadContext
            | OracleOperation::Summarize
            | OracleOperation::Classify
            | OracleOperation::DraftPlan => None,
            OracleOperation::Argue(_)
            | OracleOperation::ArgueAdditional { .. }
            | OracleOperation::ReviewRevision
            | OracleOperation::Approve
            | OracleOperation::Diagnose => {
                Some(json!({ "plan": request.plan.tasks().iter().map(without_step).collect::<Vec<_>>() }))
            }
            OracleOperation::RunTask { task, .. } | OracleOperation::UndoTask { task } => {
                let started = request.ledger.iter().find(|started| started.task == task)?;
                Some(json!({ "task": without_step(&started.version) }))
            }
        }
    }
}

/// Returns a task as a call has it (schema `stdio`). How it is executed as a step is for the nodes (decision 0042), not for modules.
fn without_step(task: &Task) -> Task {
    Task { step: Value::Null, ..task.clone() }
}
