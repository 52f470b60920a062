//! Execution, outcomes, repair and rollback (004-1.24 to 004-1.32, decisions 0003 and 0040).

use super::conversation::{ExpectedConversation, StartedTask};
use super::encoding::{OracleOperation, OraclePlan, Task};
use super::items::{ExpectedText, key};
use super::policy::Repairs;
use super::workflow::Workflow;
use serde_json::{Value, json};

impl ExpectedConversation {
    /// 004-1.24: runs the plan from its first ready task (decision 0040).
    pub(super) fn run_plan(&mut self) {
        self.enter_phase("RunningTasks");
        if let Some(task) = self.next_ready_task() {
            self.start_task(task);
        }
    }

    /// Decision 0003: the call makes the ledger's entry, with the outcome kept; a second run replaces the entry.
    fn start_task(&mut self, task: Task) {
        let effect = task.effect.kind();
        self.expect_status(task.id, "in_progress"); // 000-2.3, decision 0016
        self.request.ledger.retain(|started| started.task != task.id);
        let id = task.id;
        self.request.ledger.push(StartedTask { task: id, effect, version: task, outcome: "kept" });
        self.expect_call(OracleOperation::RunTask { task: id, effect });
    }

    /// Decision 0015: neither a second run nor a continuation is safe.
    pub(super) fn has_unknown_outcome(&self) -> bool {
        let unknown = json!({ "no_result": "outcome_unknown" });
        self.request.task_outcomes.values().any(|outcome| *outcome == unknown)
    }

    /// Decision 0040: whether a step starts a task beside the running ones.
    pub(super) fn starts_further_task(&self) -> bool {
        self.pending_calls.len() < self.policy.bounds.parallel_tasks
            && !self.has_unknown_outcome()
            && !self.is_plan_outdated()
            && self.next_ready_task().is_some()
    }

    /// Takes the exit code of a task: 0 is success (004-2.6).
    pub(super) fn take_task_exit(&mut self, task: u32, code: i32, text: &str, number: Option<i64>) {
        self.expect_status(task, if code == 0 { "done" } else { "failed" });
        // Decision 0016: a fact that depends on the subtask.
        let output = key("output", &json!([self.requests, task]));
        let answer = Some((text.to_owned(), number));
        let (text, deps) = (ExpectedText::Verbatim(text.to_owned()), [self.task_key(task)].into());
        let scope = self.call_scope(OracleOperation::RunTask { task, effect: "" });
        self.expect_item(json!("fact"), output, text, deps, scope);
        self.end_task(task, if code == 0 { json!("succeeded") } else { json!({ "exited": code }) }, answer);
    }

    /// Takes the failure of a task's call (004-1.1, F14).
    pub(super) fn take_task_failure(&mut self, task: u32, failure: &str) {
        self.expect_status(task, "failed"); // decision 0016: "gets no result"
        self.end_task(task, json!({ "no_result": failure }), None);
    }

    /// Decision 0040: what follows the end of a task, in this order.
    fn end_task(&mut self, task: u32, outcome: Value, answer: Option<(String, Option<i64>)>) {
        self.request.task_outcomes.insert(task, outcome);
        self.end_step(task, answer);
        if !self.pending_calls.is_empty() {
            self.enter_phase("RunningTasks"); // other tasks still run
        } else if self.has_unknown_outcome() {
            let operation = OracleOperation::RunTask { task, effect: "" };
            self.roll_back(Self::failure_cause(operation, "outcome_unknown")); // decision 0015: without a report
        } else if self.next_ready_task().is_none() {
            self.report_execution();
        } else if self.is_plan_outdated() {
            self.record_decision("outdated"); // decision 0038: reviewed before the next task
            self.enter_phase("RepairReview");
            self.expect_call(OracleOperation::ReviewRevision);
        } else {
            self.run_plan();
        }
    }

    /// Reports the execution in the order of the plan, with the tasks that were not run (004-1.25).
    fn report_execution(&mut self) {
        let outcome = |task: &Task| {
            let outcome = self.request.task_outcomes.get(&task.id).cloned();
            json!({ "task": task.id, "outcome": outcome.unwrap_or_else(|| json!("not_run")) })
        };
        let tasks: Vec<Value> = self.request.plan.tasks().iter().map(outcome).collect();
        self.expect_event(
            json!({ "execution_reported": { "revision": self.request.revision, "tasks": tasks } }),
        );
        self.enter_phase("AssertingOutcomes"); // 004-1.26
    }

    /// 004-1.27, 004-1.28.
    pub(super) fn assert_outcomes(&mut self) {
        if self.run_succeeds() {
            self.conclude("outcome", json!("completed"));
            self.enter_phase("Success");
        } else {
            self.enter_phase("Failure");
        }
    }

    /// 004-1.29: starts a repair, unless the bound on repairs is exhausted (F3).
    pub(super) fn heal(&mut self) {
        match self.policy.bounds.repairs {
            Repairs::AtMost(bound) if self.request.repairs >= bound => {
                self.roll_back(json!("repairs_exhausted"));
                return;
            }
            Repairs::AtMost(_) => {
                self.request.repairs += 1;
                self.expect_event(json!("repair_started")); // only where the policy bounds repairs
            }
            Repairs::Unbounded => {}
        }
        self.request.task_outcomes.clear(); // the run is over
        self.request.workflow = Workflow::default();
        self.enter_phase("SelfHealingActive");
        self.expect_call(OracleOperation::Diagnose); // 004-2.14
    }

    fn expect_diagnosis(&mut self, text: &str) {
        let item = key("diagnosis", &json!(self.requests));
        self.expect_fact(item, ExpectedText::Verbatim(text.to_owned()), self.request_dependency());
    }

    /// 004-1.30.
    pub(super) fn take_repair(&mut self, text: &str, plan: &OraclePlan) {
        self.expect_diagnosis(text);
        self.adopt_plan(plan);
        if self.policy.rules.cleared_revisions {
            self.enter_phase("RepairReview"); // F10
            self.expect_call(OracleOperation::ReviewRevision);
        } else {
            self.run_plan();
        }
    }

    /// 004-1.31, 004-2.7.
    pub(super) fn take_no_repair(&mut self, text: &str) {
        self.expect_diagnosis(text);
        self.roll_back(json!("no_repair"));
    }

    /// Enters RollbackActive and compensates the latest effect.
    pub(super) fn roll_back(&mut self, cause: Value) {
        self.conclude("rolled_back", cause);
        self.enter_phase("RollbackActive");
        self.undo_next_task();
    }

    /// Decision 0003, 004-2.15: compensates the effects that are undoable and kept, from the latest to the earliest.
    /// After the last one an internal step follows (004-1.32).
    fn undo_next_task(&mut self) {
        let next = self
            .request
            .ledger
            .iter()
            .rev()
            .find(|started| started.effect == "undoable" && started.outcome == "kept")
            .map(|started| started.task);
        if let Some(task) = next {
            self.expect_call(OracleOperation::UndoTask { task });
        }
    }

    /// Takes the end of a compensation. It is tried once; a failure is recorded, and the next one is tried (decision
    /// 0003).
    pub(super) fn take_compensation(&mut self, task: u32, succeeded: bool) {
        if succeeded {
            self.expect_status(task, "failed"); // decision 0016: "is undone with exit code 0"
        }
        for started in &mut self.request.ledger {
            if started.task == task {
                started.outcome = if succeeded { "undone" } else { "undo_failed" };
            }
        }
        self.enter_phase("RollbackActive");
        self.undo_next_task();
    }
}
