//! The conversation as the documents define it: the data that persist between two inputs.

use super::batch::Batch;
use super::encoding::{
    OracleArgument, OracleOperation, OraclePlan, Ratings, Role, Task, global, starting_ratings,
};
use super::items::{ExpectedItem, ExpectedItems, ExpectedText, key};
use super::policy::OraclePolicy;
use super::situation::Situation;
use super::workflow::Workflow;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The expected state of a conversation.
#[derive(Clone, Debug)]
pub(super) struct ExpectedConversation {
    pub(super) policy: OraclePolicy,
    pub(super) conversation: String,
    /// The phase, by its name in 004.
    pub(super) phase: &'static str,
    /// The session user.
    pub(super) session: Option<String>,
    /// The pending calls in id order (000-7.6): at most one, except while tasks run (decision 0040).
    pub(super) pending_calls: Vec<PendingCall>,
    /// The number of calls with an id (000-1.7).
    pub(super) calls: u64,
    /// The number of submitted requests.
    pub(super) requests: u32,
    pub(super) items: ExpectedItems,
    pub(super) request: Request,
    /// 002's two fields: the summary of the session and the actions of the request.
    pub(super) situation: Situation,
    /// The batch of the present step.
    pub(super) batch: Batch,
}

/// The expected state of the running request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) text: String,
    /// The scope in which the request runs (decision 0037).
    pub(super) scope: Value,
    /// The cluster that the summarizer receives (decision 0021).
    pub(super) cluster: Vec<u64>,
    /// Whether S changed during the summarizer's call (decision 0021).
    pub(super) outdated: bool,
    /// Whether both locks matched (004-1.4).
    pub(super) verified: bool,
    /// The loaded ratings, constant within a request (DESIGN §2, rule 4).
    pub(super) ratings: Ratings,
    /// The ratings after the duels (004-1.21).
    pub(super) ratings_after: Option<Ratings>,
    pub(super) plan: OraclePlan,
    pub(super) revision: u32,
    /// Whether a fact that the request reads was superseded since Security's latest call (decision 0038).
    pub(super) plan_outdated: bool,
    /// The number of the pass (004-2.4).
    pub(super) pass: u32,
    /// The latest argument of each role (decision 0011).
    pub(super) arguments: BTreeMap<Role, OracleArgument>,
    /// The arguments of the additional debaters in this pass (decision 0039).
    pub(super) additional: Vec<OracleArgument>,
    /// The roles whose reviews of the previous pass are pinned for Solution (decision 0024).
    pub(super) pinned_reviews: BTreeSet<Role>,
    /// The revision of Security's latest argument (F9).
    pub(super) security_revision: u32,
    /// Whether any pass had a veto (F6).
    pub(super) veto_raised: bool,
    /// The latest consensus.
    pub(super) consensus: u32,
    pub(super) decisions: Vec<Decision>,
    /// The outcome of each ended task of the present run, by task number.
    pub(super) task_outcomes: BTreeMap<u32, Value>,
    /// What else the present run knows (decision 0042).
    pub(super) workflow: Workflow,
    pub(super) repairs: u32,
    pub(super) ledger: Vec<StartedTask>,
    pub(super) conclusion: Option<(&'static str, Value)>,
    /// The status of the local and the cloud store.
    pub(super) store_statuses: [&'static str; 2],
    /// Whether each store was called.
    pub(super) stores_called: [bool; 2],
    pub(super) audit_attempts: u32,
    /// The text that the user receives, as the memory record contains it.
    pub(super) answer: Option<String>,
}

/// A call without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingCall {
    pub(super) id: u64,
    pub(super) operation: OracleOperation,
    /// Whether the pinned content and the payload exceeded the budget when the call was due (decisions 0024 and 0033).
    pub(super) over_budget: bool,
}

/// A decision (004-3.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Decision {
    pub(super) revision: u32,
    pub(super) label: &'static str,
    pub(super) score: u32,
    pub(super) objection: Option<u32>,
}

/// A started task (decision 0003).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct StartedTask {
    pub(super) task: u32,
    pub(super) effect: &'static str,
    /// The started version of the task (decision 0033).
    pub(super) version: Task,
    pub(super) outcome: &'static str,
}

impl Request {
    pub(super) fn new(text: &str, scope: &Value) -> Self {
        Self {
            text: text.to_owned(),
            scope: scope.clone(),
            cluster: Vec::new(),
            outdated: false,
            verified: false,
            ratings: starting_ratings(),
            ratings_after: None,
            plan: OraclePlan::Tasks(Vec::new()),
            revision: 0,
            plan_outdated: false,
            pass: 0,
            arguments: BTreeMap::new(),
            additional: Vec::new(),
            pinned_reviews: BTreeSet::new(),
            security_revision: 0,
            veto_raised: false,
            consensus: 0,
            decisions: Vec::new(),
            task_outcomes: BTreeMap::new(),
            workflow: Workflow::default(),
            repairs: 0,
            ledger: Vec::new(),
            conclusion: None,
            store_statuses: ["missing"; 2], // decision 0008: also for a store that is never called
            stores_called: [false; 2],
            audit_attempts: 0,
            answer: None,
        }
    }
}

impl ExpectedConversation {
    /// Returns a conversation in Idle (004-1.2).
    pub(super) fn new(policy: OraclePolicy, conversation: &str) -> Self {
        Self {
            policy,
            conversation: conversation.to_owned(),
            phase: "Idle",
            session: None,
            pending_calls: Vec::new(),
            calls: 0,
            requests: 0,
            items: ExpectedItems::default(),
            request: Request::new("", &global()),
            situation: Situation::default(),
            batch: Batch::default(),
        }
    }

    /// Returns whether a request runs: one exists, has no final answer, and did not halt (decision 0015).
    pub(super) fn is_running(&self) -> bool {
        !matches!(self.phase, "Idle" | "Done" | "Aborted")
    }

    /// Enters a phase; every batch has one transition (000-4.12).
    pub(super) fn enter_phase(&mut self, phase: &'static str) {
        self.phase = phase;
        self.batch.transitions += 1;
    }

    pub(super) fn expect_event(&mut self, event: Value) {
        self.batch.events.push(event);
    }

    /// Expects the call of the entered phase (000-7.5), with the next id (000-1.7).
    pub(super) fn expect_call(&mut self, operation: OracleOperation) {
        self.calls += 1;
        if matches!(operation, OracleOperation::Argue(Role::Security) | OracleOperation::ReviewRevision) {
            self.request.plan_outdated = false; // decision 0038: Security reads the current facts
        }
        let call = PendingCall { id: self.calls, operation, over_budget: false };
        self.pending_calls.push(call);
        self.batch.call = Some(call);
        self.expect_event(json!({ "tool_call": { "call": self.calls, "operation": operation } }));
    }

    /// Returns the pending call with this id.
    pub(super) fn pending_call(&self, id: u64) -> Option<PendingCall> {
        self.pending_calls.iter().copied().find(|call| call.id == id)
    }

    /// Removes and returns the operation of the pending call with this id (000-7.6: each reply counts once).
    pub(super) fn take_pending_call(&mut self, id: u64) -> Option<OracleOperation> {
        let call = self.pending_call(id)?;
        self.pending_calls.retain(|pending| pending.id != id);
        Some(call.operation)
    }

    /// Expects the conclusion of the request.
    pub(super) fn conclude(&mut self, kind: &'static str, cause: Value) {
        self.expect_event(json!({ "concluded": { "conclusion": { "kind": kind, "cause": cause } } }));
        self.request.conclusion = Some((kind, cause));
    }

    /// Returns the cause of a conclusion after a failed call: the module and the failure (decision 0001).
    pub(super) fn failure_cause(operation: OracleOperation, failure: &str) -> Value {
        json!({ "call_failed": [operation.module(), failure] })
    }

    /// Returns the trace id: the conversation and the number of the request (004-1.36).
    pub(super) fn trace_id(&self) -> Value {
        json!({ "conversation": self.conversation, "request": self.requests })
    }

    /// Expects a fact (decision 0016) in the scope of the request.
    pub(super) fn expect_fact(&mut self, key: String, text: ExpectedText, deps: BTreeSet<String>) {
        let scope = self.request.scope.clone();
        self.expect_item(json!("fact"), key, text, deps, scope);
    }

    /// Expects an item in a scope (decision 0037).
    pub(super) fn expect_item(
        &mut self,
        kind: Value,
        key: String,
        text: ExpectedText,
        deps: BTreeSet<String>,
        scope: Value,
    ) {
        // Decision 0020: the items of the situation belong to the session, not to a request.
        let is_situation = key.starts_with("{\"situation\"");
        let user = self.session.clone().filter(|_| !is_situation);
        let scope = if is_situation { global() } else { scope };
        let item = ExpectedItem { kind, text: None, composed_from: Value::Null, deps, user, scope };
        self.batch.changes.extend(self.items.upsert(key, text, item));
    }

    /// Returns the scope of a call: that of the started version of its task, else that of the request (decision 0037).
    pub(super) fn call_scope(&self, operation: OracleOperation) -> Value {
        let task = match operation {
            OracleOperation::RunTask { task, .. } | OracleOperation::UndoTask { task } => Some(task),
            _ => None,
        };
        let started = self.request.ledger.iter().find(|started| Some(started.task) == task);
        let declared = started.and_then(|started| started.version.scope.clone());
        declared.unwrap_or_else(|| self.request.scope.clone())
    }

    /// Expects another status of a subtask (decision 0016).
    pub(super) fn expect_status(&mut self, task: u32, status: &str) {
        let task = self.task_key(task);
        self.batch.changes.extend(self.items.set_status(&task, status));
    }

    pub(super) fn request_key(&self) -> String {
        key("request", &json!(self.requests))
    }

    pub(super) fn task_key(&self, task: u32) -> String {
        key("task", &json!([self.requests, task]))
    }

    /// Returns the dependency on the request's own item, if S has that item (decision 0016).
    pub(super) fn request_dependency(&self) -> BTreeSet<String> {
        Some(self.request_key()).filter(|key| self.items.contains(key)).into_iter().collect()
    }
}
