//! The payload of a call: the data that a module receives beside its context (000 §5.3, decision 0033).

use super::request::Request;
use crate::event::{AuditRecord, MemoryRecord};
use crate::json::{WriteJson, write_tagged};
use crate::module::Operation;
use crate::plan::{Plan, Task};
use alloc::string::String;
use core::fmt;

/// The data of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum CallPayload {
    /// The current plan, for debaters, the approver and the diagnosis.
    Plan(Plan),
    /// The task to run or to undo in its latest started version.
    Task(Task),
    /// The record for a store.
    Record(MemoryRecord),
    /// The record for the audit sink.
    Audit(AuditRecord),
}

impl Request {
    /// Returns the payload of a call with this operation, if it has one.
    #[must_use]
    pub fn payload(&self, operation: Operation) -> Option<CallPayload> {
        match operation {
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan => None,
            Operation::Argue(_) | Operation::ReviewRevision | Operation::Approve | Operation::Diagnose => {
                self.plan.as_ref().map(|revised| CallPayload::Plan(revised.plan.clone()))
            }
            Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
                let started = self.ledger.iter().find(|started| started.task == task)?;
                started.version.clone().map(CallPayload::Task)
            }
            Operation::StoreMemory { .. } => self.memory_record.clone().map(CallPayload::Record),
            Operation::DeliverAudit => self.audit_record.clone().map(CallPayload::Audit),
        }
    }
}

impl CallPayload {
    /// Returns the text that counts against the budget of the call: compact JSON, as a host in another language receives it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_json(&mut text);
        text
    }

    /// Returns the length of [`Self::text`] in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        let mut length = Length(0);
        let _ = self.write_json(&mut length);
        length.0
    }
}

impl WriteJson for CallPayload {
    fn write_json(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Self::Plan(plan) => write_tagged(out, "plan", plan),
            Self::Task(task) => write_tagged(out, "task", task),
            Self::Record(record) => write_tagged(out, "record", record),
            Self::Audit(record) => write_tagged(out, "audit", record),
        }
    }
}

/// Counts the bytes that are written to it.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(text.len());
        Ok(())
    }
}
