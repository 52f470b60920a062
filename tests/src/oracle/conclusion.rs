//! Storing, audit, final answer (004-1.33 to 004-1.36), failed calls (F14) and the cancel.

use super::conversation::ExpectedConversation;
use super::encoding::OracleOperation;
use super::items::{ExpectedText, key};
use serde_json::{Value, json};

impl ExpectedConversation {
    /// Returns the kind under which the request is stored. F13: without the rule it is always an outcome.
    fn stored_kind(&self) -> &'static str {
        match &self.request.conclusion {
            Some((kind, _)) if self.policy.rules.typed_kinds => kind,
            _ => "outcome",
        }
    }

    /// Enters StoringMemory and calls the local store first (004-2.16).
    pub(super) fn store(&mut self) {
        let kind = self.stored_kind();
        // Decision 0011: the stores receive the ratings only if a decision was taken.
        let ratings = self.request.ratings_after.clone().filter(|_| !self.request.decisions.is_empty());
        let mut record = json!({ "trace": self.trace_id(), "kind": kind, "ratings": ratings });
        if self.request.scope != "global" {
            record["scope"] = self.request.scope.clone(); // decision 0037
        }
        self.expect_event(json!({ "memory_recorded": { "record": record } }));
        self.enter_phase("StoringMemory");
        self.request.stores_called[0] = true;
        self.expect_call(OracleOperation::StoreMemory { store: "local", kind });
    }

    /// Takes the status of a store after its reply or failure (decision 0008).
    pub(super) fn take_store_status(&mut self, operation: OracleOperation, status: &'static str) {
        if let OracleOperation::StoreMemory { store: "local", kind } = operation {
            self.request.store_statuses[0] = status;
            self.request.stores_called[1] = true;
            self.enter_phase("StoringMemory");
            self.expect_call(OracleOperation::StoreMemory { store: "cloud", kind });
        } else {
            self.request.store_statuses[1] = status;
            self.audit(); // 004-1.35
        }
    }

    /// Enters Auditing: emits the audit record and delivers it.
    pub(super) fn audit(&mut self) {
        let request = &self.request;
        let recorded_status = |store: usize| {
            // F12: without the rule the audit records every called store as holding the record.
            if !self.policy.rules.recorded_stores && request.stores_called[store] {
                "held"
            } else {
                request.store_statuses[store]
            }
        };
        let tasks: Vec<Value> = request
            .ledger
            .iter()
            .map(|started| {
                // F15: each effect as kept, undone or undo failed; a pure task has none (decision 0003).
                let is_listed = self.policy.rules.effects_ledger && started.effect != "pure";
                json!({ "task": started.task, "effect": is_listed.then_some(started.outcome) })
            })
            .collect();
        let (kind, cause) = request.conclusion.clone().unwrap_or(("", Value::Null));
        let record = json!({
            "trace": self.trace_id(),
            "user": self.session,
            "conclusion": { "kind": kind, "cause": cause },
            "decisions": request.decisions,
            "stores": { "local": recorded_status(0), "cloud": recorded_status(1) },
            "tasks": tasks,
        });
        self.expect_event(json!({ "audit_recorded": { "record": record } }));
        self.enter_phase("Auditing");
        self.deliver_audit();
    }

    fn deliver_audit(&mut self) {
        self.request.audit_attempts += 1;
        self.expect_call(OracleOperation::DeliverAudit);
    }

    /// 004-1.36: the results and the trace id; the final answer to a verified request is a fact (decision 0016).
    pub(super) fn emit_final_answer(&mut self) {
        self.expect_event(json!({ "final_answer": { "trace": self.trace_id() } }));
        if self.request.verified {
            let item = key("final_answer", &json!(self.requests));
            let text = ExpectedText::Composed { from: json!("the final answer"), parts: Vec::new() };
            self.expect_fact(item, text, self.request_dependency());
        }
        // F16: the next request is accepted after the audit; as drawn, Done is final.
        self.enter_phase(if self.policy.rules.next_request { "Idle" } else { "Done" });
    }

    /// Takes a failed call (F14).
    pub(super) fn take_failure(&mut self, operation: OracleOperation, failure: &str) {
        let cause = Self::failure_cause(operation, failure);
        match operation {
            // Decision 0005: audited, not stored.
            OracleOperation::VerifyIdentity => {
                self.conclude("aborted", cause);
                self.audit();
            }
            OracleOperation::Summarize => self.load_context(), // decision 0021, K03: the request continues
            // Decision 0001: without a planner there is no plan. The oracle reads memory and classifier alike.
            OracleOperation::LoadContext | OracleOperation::Classify | OracleOperation::DraftPlan => {
                self.conclude("aborted", cause);
                self.store();
            }
            // After tasks ran, "blocked" would leave their effects (decision 0013).
            OracleOperation::ReviewRevision | OracleOperation::Approve
                if self.phase.starts_with("Repair") =>
            {
                self.roll_back(cause);
            }
            // Decision 0001: a missing argument blocks the plan. Decision 0013: so does a missing approval.
            OracleOperation::Argue(_)
            | OracleOperation::ArgueAdditional { .. }
            | OracleOperation::ReviewRevision
            | OracleOperation::Approve => {
                self.conclude("blocked", cause);
                self.enter_phase("Blocked");
            }
            OracleOperation::RunTask { task, .. } => self.take_task_failure(task, failure),
            OracleOperation::Diagnose => self.roll_back(cause), // 004-2.7
            OracleOperation::UndoTask { task } => self.take_compensation(task, false), // decision 0003
            // Decision 0008: after an error the store holds nothing; the same if the call never reached a store.
            OracleOperation::StoreMemory { .. } => {
                let is_missing = matches!(failure, "error" | "no_candidates" | "over_budget" | "forbidden");
                self.take_store_status(operation, if is_missing { "missing" } else { "unknown" });
            }
            // DESIGN §2, audit: a bounded number of attempts, then undelivered; the request still ends.
            OracleOperation::DeliverAudit
                if self.request.audit_attempts < self.policy.bounds.audit_attempts =>
            {
                self.enter_phase("Auditing");
                self.deliver_audit();
            }
            OracleOperation::DeliverAudit => {
                self.expect_event(json!("audit_undelivered"));
                self.emit_final_answer();
            }
        }
    }

    /// Takes a cancel (decision 0002), by phase.
    pub(super) fn take_cancel(&mut self) {
        match self.phase {
            // "accepted, and nothing changes": one transition, and the pending call stays
            "RollbackActive" | "RollbackComplete" | "StoringMemory" | "Auditing" => {
                self.enter_phase(self.phase);
            }
            "VerifyingIdentity" => {
                self.drop_pending_calls();
                self.conclude("aborted", json!("cancelled"));
                self.audit(); // decision 0005
            }
            "Blocked" => {
                self.drop_pending_calls();
                self.store(); // the conclusion stays
            }
            "RunningTasks" | "AssertingOutcomes" | "Success" | "Failure" | "SelfHealingActive"
            | "RepairReview" | "RepairScoring" | "RepairApproval" => {
                // "a task that was running counts as failed"; decision 0040: a cancel ends every pending call
                for operation in self.drop_pending_calls() {
                    if let OracleOperation::RunTask { task, .. } = operation {
                        self.expect_status(task, "failed");
                    }
                }
                self.roll_back(json!("cancelled"));
            }
            _ => {
                self.drop_pending_calls();
                self.conclude("aborted", json!("cancelled"));
                self.store();
            }
        }
    }

    /// Expects the event of a cancel, drops the pending calls, and returns their operations.
    fn drop_pending_calls(&mut self) -> Vec<OracleOperation> {
        self.expect_event(json!("cancelled"));
        self.pending_calls.drain(..).map(|call| call.operation).collect()
    }
}
