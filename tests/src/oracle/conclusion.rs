//! Storing, auditing, answering (004-1.33 to 004-1.36), calls without an answer (F14) and the cancel.

use super::conversation::ExpectedConversation;
use super::encoding::OracleOperation;
use super::items::{ExpectedText, key};
use serde_json::{Value, json};

impl ExpectedConversation {
    /// F13: told to the stores as what it is; without the rule everything is stored alike, as an outcome.
    fn stored_kind(&self) -> &'static str {
        match &self.request.ending {
            Some((kind, _)) if self.lines.rules.typed_kinds => kind,
            _ => "outcome",
        }
    }

    /// StoringMemory is entered; the local store is asked first (004-2.16).
    pub(super) fn store(&mut self) {
        let kind = self.stored_kind();
        // Decision 0011: the ratings are handed to the stores only if a decision was taken.
        let ratings = self.request.ratings_after.clone().filter(|_| !self.request.decisions.is_empty());
        let record = json!({ "trace": self.trace_id(), "kind": kind, "ratings": ratings });
        self.expect_event(json!({ "memorized": { "record": record } }));
        self.enter_phase("StoringMemory");
        self.request.asked[0] = true;
        self.ask(OracleOperation::Remember { store: "local", kind });
    }

    /// A store answered, or did not (decision 0008).
    pub(super) fn stored(&mut self, question: OracleOperation, holding: &'static str) {
        if let OracleOperation::Remember { store: "local", kind } = question {
            self.request.holdings[0] = holding;
            self.request.asked[1] = true;
            self.enter_phase("StoringMemory");
            self.ask(OracleOperation::Remember { store: "cloud", kind });
        } else {
            self.request.holdings[1] = holding;
            self.audit(); // 004-1.35
        }
    }

    /// Auditing is entered: the record exists from here on, and is to be delivered.
    pub(super) fn audit(&mut self) {
        let request = &self.request;
        let holds = |store: usize| {
            // F12: without the rule a store that failed is nowhere recorded; the audit takes it as held.
            if !self.lines.rules.recorded_stores && request.asked[store] {
                "held"
            } else {
                request.holdings[store]
            }
        };
        let tasks: Vec<Value> = request
            .ledger
            .iter()
            .map(|started| {
                // F15: each effect as kept, undone or undo failed; a pure task has none (decision 0003).
                let listed = self.lines.rules.effects_ledger && started.effect != "pure";
                json!({ "task": started.task, "effect": listed.then_some(started.end) })
            })
            .collect();
        let (kind, cause) = request.ending.clone().unwrap_or(("", Value::Null));
        let record = json!({
            "trace": self.trace_id(),
            "user": self.session,
            "ending": { "kind": kind, "cause": cause },
            "decisions": request.decisions,
            "stores": { "local": holds(0), "cloud": holds(1) },
            "tasks": tasks,
        });
        self.expect_event(json!({ "audited": { "record": record } }));
        self.enter_phase("Auditing");
        self.deliver();
    }

    fn deliver(&mut self) {
        self.request.audit_attempts += 1;
        self.ask(OracleOperation::DeliverAudit);
    }

    /// 004-1.36: the results and the trace id; the answer to a verified request is a fact (decision 0016).
    pub(super) fn answer_the_user(&mut self) {
        self.expect_event(json!({ "final_answer": { "trace": self.trace_id() } }));
        if self.request.verified {
            let answer = key("answer", &json!(self.requests));
            let words = ExpectedText::Composed { from: json!("what the user reads"), saying: Vec::new() };
            self.expect_item(answer, words, self.on_the_request());
        }
        // F16: after the audit the next request is accepted; as drawn, this end is final.
        self.enter_phase(if self.lines.rules.next_request { "Idle" } else { "Done" });
    }

    /// A call ended without an answer (F14).
    pub(super) fn unanswered(&mut self, question: OracleOperation, failure: &str) {
        let cause = Self::no_answer(question, failure);
        match question {
            // Decision 0005: audited, not stored.
            OracleOperation::VerifyIdentity => {
                self.conclude("aborted", cause);
                self.audit();
            }
            OracleOperation::Summarize => self.load_context(), // decision 0021, K03: the request goes on
            // Decision 0001: without the planner there is no plan. Memory and classifier are taken alike.
            OracleOperation::LoadContext | OracleOperation::Classify | OracleOperation::DraftPlan => {
                self.conclude("aborted", cause);
                self.store();
            }
            // Once tasks ran, "blocked" would leave their effects standing (decision 0013).
            OracleOperation::Reread | OracleOperation::Approve if self.phase.starts_with("Repair") => {
                self.roll_back(cause)
            }
            // Decision 0001: a missing voice blocks the plan. Decision 0013: so does a missing approver.
            OracleOperation::Argue(_) | OracleOperation::Reread | OracleOperation::Approve => {
                self.conclude("blocked", cause);
                self.enter_phase("Blocked");
            }
            OracleOperation::RunTask { task, .. } => self.task_without_result(task, failure),
            OracleOperation::Diagnose => self.roll_back(cause), // 004-2.7
            OracleOperation::UndoTask { task } => self.undo_ended(task, false), // decision 0003
            // Decision 0008: an error says that nothing was stored; so does that nobody was there.
            OracleOperation::Remember { .. } => self.stored(
                question,
                if matches!(failure, "error" | "no_candidates" | "over_budget") {
                    "missing"
                } else {
                    "unknown"
                },
            ),
            // DESIGN §2, audit: retried a bounded number of times, then marked undelivered; the request still ends.
            OracleOperation::DeliverAudit
                if self.request.audit_attempts < self.lines.bounds.audit_attempts =>
            {
                self.enter_phase("Auditing");
                self.deliver();
            }
            OracleOperation::DeliverAudit => {
                self.expect_event(json!("audit_undelivered"));
                self.answer_the_user();
            }
        }
    }

    /// Decision 0002, state by state.
    pub(super) fn cancelled(&mut self) {
        match self.phase {
            // "accepted, and nothing changes": one move, and the call that is out stays out
            "RollbackActive" | "RollbackComplete" | "StoringMemory" | "Auditing" => {
                self.enter_phase(self.phase)
            }
            "VerifyingIdentity" => {
                self.give_up();
                self.conclude("aborted", json!("cancelled"));
                self.audit(); // decision 0005
            }
            "Blocked" => {
                self.give_up();
                self.store(); // "as blocked, as it was settled"
            }
            "RunningTasks" | "AssertingOutcomes" | "Success" | "Failure" | "SelfHealingActive"
            | "RepairReview" | "RepairScoring" | "RepairApproval" => {
                // "a task that was running counts as failed"
                if let Some(OracleOperation::RunTask { task, .. }) = self.give_up() {
                    self.mark(task, "failed");
                }
                self.roll_back(json!("cancelled"));
            }
            _ => {
                self.give_up();
                self.conclude("aborted", json!("cancelled"));
                self.store();
            }
        }
    }

    /// "The user cancelled the running request; a call that was waited for is given up."
    fn give_up(&mut self) -> Option<OracleOperation> {
        self.expect_event(json!("cancelled"));
        self.waiting.take().map(|(_, question)| question)
    }
}
