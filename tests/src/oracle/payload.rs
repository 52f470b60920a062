//! The payload of a call: what a module receives beside its context (000 §5.3, decision 0033).

use super::conversation::ExpectedConversation;
use super::encoding::OracleOperation;
use serde_json::{Value, json};

impl ExpectedConversation {
    /// Returns the payload of a call, if its operation has one.
    pub(super) fn payload(&self, operation: OracleOperation) -> Option<Value> {
        let request = &self.request;
        match operation {
            OracleOperation::VerifyIdentity
            | OracleOperation::LoadContext
            | OracleOperation::Summarize
            | OracleOperation::Classify
            | OracleOperation::DraftPlan => None,
            OracleOperation::Argue(_)
            | OracleOperation::ReviewRevision
            | OracleOperation::Approve
            | OracleOperation::Diagnose => Some(json!({ "plan": request.plan })),
            OracleOperation::RunTask { task, .. } | OracleOperation::UndoTask { task } => {
                let started = request.ledger.iter().find(|started| started.task == task)?;
                Some(json!({ "task": started.version }))
            }
            OracleOperation::StoreMemory { .. } => {
                // The user receives this text too.
                let mut record = request.memory_record.clone();
                record["text"] = json!(request.answer);
                Some(json!({ "record": record }))
            }
            OracleOperation::DeliverAudit => Some(json!({ "audit": request.audit_record })),
        }
    }
}
