//! Running, judging, healing and rolling back (004-1.24 to 004-1.32, decision 0003).

use super::conversation::{ExpectedConversation, Started};
use super::encoding::{OracleOperation, Task};
use super::items::{ExpectedText, key};
use super::policy::Repairs;
use serde_json::{Value, json};

impl ExpectedConversation {
    /// 004-1.24: the plan is carried out from its first task on.
    pub(super) fn run(&mut self) {
        self.request.ends.clear();
        self.enter_phase("RunningTasks");
        self.run_next_task();
    }

    /// Decision 0003: the ledger's entry is made when the call leaves, and says kept; running again renews it.
    fn run_next_task(&mut self) {
        let Some(task) = self.request.plan.get(self.request.ends.len()).cloned() else { return };
        let effect = task.effect.kind();
        self.mark(task.id, "in_progress"); // 000-2.3, decision 0016
        self.request.ledger.retain(|started| started.task != task.id);
        self.request.ledger.push(Started { task: task.id, effect, end: "kept" });
        self.ask(OracleOperation::RunTask { task: task.id, effect });
    }

    /// A task ended with an exit code: 0 is success (004-2.6).
    pub(super) fn task_exited(&mut self, task: u32, code: i32, text: &str) {
        self.mark(task, if code == 0 { "done" } else { "failed" });
        // Decision 0016: a fact, resting on the subtask.
        let output = key("output", &json!([self.requests, task]));
        self.expect_item(output, ExpectedText::Verbatim(text.to_owned()), [self.task_key(task)].into());
        self.task_ended(if code == 0 { json!("succeeded") } else { json!({ "exited": code }) });
    }

    /// A task ended without a result (004-1.1, F14).
    pub(super) fn task_without_result(&mut self, task: u32, failure: &str) {
        self.mark(task, "failed"); // decision 0016: "gets no result"
        if failure == "unknown" {
            // Decision 0015: neither running it again nor going on is safe.
            self.roll_back(Self::no_answer(OracleOperation::RunTask { task, effect: "" }, failure));
        } else {
            self.task_ended(json!({ "no_result": failure }));
        }
    }

    /// The next task, or the execution report (004-1.25), which names the tasks that were not run.
    fn task_ended(&mut self, end: Value) {
        let succeeded = end == "succeeded";
        self.request.ends.push(end);
        let request = &self.request;
        if succeeded && request.ends.len() < request.plan.len() {
            self.enter_phase("RunningTasks");
            self.run_next_task();
            return;
        }
        let ends = request.ends.iter().cloned().chain(std::iter::repeat(json!("not_run")));
        let tasks: Vec<Value> = request
            .plan
            .iter()
            .zip(ends)
            .map(|(task, ended)| json!({ "task": task.id, "ended": ended }))
            .collect();
        self.expect_event(
            json!({ "execution_reported": { "revision": self.request.revision, "tasks": tasks } }),
        );
        self.enter_phase("AssertingOutcomes"); // 004-1.26
    }

    /// 004-1.27, 004-1.28.
    pub(super) fn assert_outcomes(&mut self) {
        let all = self.request.plan.len();
        if self.request.ends.iter().filter(|end| **end == "succeeded").count() == all {
            self.conclude("outcome", json!("completed"));
            self.enter_phase("Success");
        } else {
            self.enter_phase("Failure");
        }
    }

    /// 004-1.29: healing starts, unless the bound on repairs is used up (F3).
    pub(super) fn heal(&mut self) {
        match self.lines.bounds.repairs {
            Repairs::AtMost(bound) if self.request.repairs >= bound => {
                self.roll_back(json!("repairs_spent"));
                return;
            }
            Repairs::AtMost(_) => {
                self.request.repairs += 1;
                self.expect_event(json!("repair_started")); // "only given where the policy bounds repairs"
            }
            Repairs::Unbounded => {}
        }
        self.enter_phase("SelfHealingActive");
        self.ask(OracleOperation::Diagnose); // 004-2.14
    }

    fn diagnosed(&mut self, text: &str) {
        let diagnosis = key("diagnosis", &json!(self.requests));
        self.expect_item(diagnosis, ExpectedText::Verbatim(text.to_owned()), self.on_the_request());
    }

    /// 004-1.30.
    pub(super) fn repaired(&mut self, text: &str, plan: &[Task]) {
        self.diagnosed(text);
        self.adopt(plan);
        if self.lines.rules.cleared_revisions {
            self.enter_phase("RepairReview"); // F10
            self.ask(OracleOperation::Reread);
        } else {
            self.run();
        }
    }

    /// 004-1.31, 004-2.7.
    pub(super) fn not_repaired(&mut self, text: &str) {
        self.diagnosed(text);
        self.roll_back(json!("no_repair"));
    }

    /// RollbackActive is entered, and the latest effect is to be undone.
    pub(super) fn roll_back(&mut self, cause: Value) {
        self.conclude("rolled_back", cause);
        self.enter_phase("RollbackActive");
        self.undo_next();
    }

    /// Decision 0003, 004-2.15: from the latest to the earliest, each that is undoable and kept. Where nothing is
    /// left, an internal step leads on (004-1.32).
    fn undo_next(&mut self) {
        let next = self
            .request
            .ledger
            .iter()
            .rev()
            .find(|started| started.effect == "undoable" && started.end == "kept")
            .map(|started| started.task);
        if let Some(task) = next {
            self.ask(OracleOperation::UndoTask { task });
        }
    }

    /// A compensation ended: tried once; a failure is recorded, and the next is tried (decision 0003).
    pub(super) fn undo_ended(&mut self, task: u32, undone: bool) {
        if undone {
            self.mark(task, "failed"); // decision 0016: "is undone with exit code 0"
        }
        for started in &mut self.request.ledger {
            if started.task == task {
                started.end = if undone { "undone" } else { "undo_failed" };
            }
        }
        self.enter_phase("RollbackActive");
        self.undo_next();
    }
}
