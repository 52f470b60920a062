//! The start and the end of a session, and a request up to the baseline plan (004-1.3 to 004-1.10).

use super::authority;
use super::compaction::{SUMMARY, compact};
use super::conversation::{ExpectedConversation, Request};
use super::encoding::{
    OracleInput, OracleOperation, OraclePlan, OracleReply, PastRequest, Ratings, Role, Task,
};
use super::facts;
use super::fold::Fold;
use super::items::{ExpectedText, key};
use super::situation::Situation;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl ExpectedConversation {
    /// Takes an accepted input. `encoded` is the input in its published encoding; events repeat parts of it unchanged.
    pub(super) fn take(&mut self, input: &OracleInput, encoded: &Value, semantic: &Fold) {
        match input {
            OracleInput::SessionStart { user, identity } => {
                self.session = Some(user.clone());
                self.expect_event(json!({ "session_started": { "user": user } }));
                // 003-1.3: set once at session start; an invalid identity is refused.
                if let Some(new) = identity
                    && let Ok(layer) = authority::identity_layer(&self.policy, new)
                {
                    let item = json!({
                        "id": semantic.next_id(), "kind": "fact", "key": "identity", "text": new.name,
                        "layer": layer, "validity": "current",
                    });
                    self.batch.item_events = vec![json!({ "add_item": { "item": item, "deps": [] } })];
                }
                self.enter_phase("Idle");
            }
            OracleInput::SessionEnd => {
                // Decision 0004: the working set is forgotten, if it is not empty.
                self.batch.forgotten_keys = self.items.forget_working_set();
                self.batch.forgotten_ids = facts::session_ids(semantic);
                self.batch.forget_cause = json!("session_end");
                self.session = None;
                self.expect_event(json!("session_ended"));
                self.enter_phase("Idle");
            }
            OracleInput::UserMessage { user, text, scope } => self.take_user_message(user, text, scope),
            OracleInput::Reply { call, report, summary_update, action } => {
                if let Some(operation) = self.take_pending_call(*call) {
                    // 000-3.3: the module is that of the call.
                    let encoded_report = &encoded["reply"]["report"];
                    self.expect_event(json!({ "tool_result": {
                        "module": operation.module(), "call": call, "report": encoded_report,
                    }}));
                    // Decision 0037: the situation belongs to the scope of the request.
                    let is_own_scope = self.call_scope(operation) == self.request.scope;
                    self.take_report(operation, report, encoded_report, semantic);
                    if is_own_scope {
                        self.take_situation(summary_update, action);
                    }
                }
            }
            OracleInput::CallFailed { call, failure } => {
                if let Some(operation) = self.take_pending_call(*call) {
                    self.expect_event(json!({ "call_failed": {
                        "module": operation.module(), "call": call, "failure": failure,
                    }}));
                    self.take_failure(operation, failure);
                }
            }
            OracleInput::Step => self.take_step(semantic),
            OracleInput::Cancel => self.take_cancel(),
            OracleInput::Write(write) => {
                // An invalid write is refused, and not taken.
                if let Ok(effects) =
                    facts::decide_write(semantic, &self.policy, self.session.as_deref(), write)
                {
                    // Decision 0021: a change of S during the summarizer's call, except signals.
                    let is_relevant = |event: &Value| {
                        let change = event.as_object().and_then(|event| event.values().next());
                        let layer = change.map(|change| &change["item"]["layer"]);
                        layer.is_some_and(|layer| layer != "environment")
                    };
                    if self.phase == "Compacting" {
                        self.request.outdated |= effects.events.iter().any(is_relevant);
                    }
                    // Decision 0038: a fact that the request reads is superseded. Only update events supersede an older fact.
                    let supersedes = |event: &Value| {
                        let item = &event["update_item"]["item"];
                        let scope = &item["layer"]["fact"]["scope"];
                        let is_read =
                            *scope == self.request.scope || *scope == "global" || *scope == "session";
                        item["validity"].get("superseded").is_some() && is_read
                    };
                    let is_planned = self.is_running() && !self.request.plan.tasks().is_empty();
                    self.request.plan_outdated |= is_planned && effects.events.iter().any(supersedes);
                    self.batch.item_events = effects.events;
                }
            }
            // Decision 0036: the time and the expired items are compared with every input.
            OracleInput::Tick => {}
            // Decision 0015: no transition and no change.
            OracleInput::Resume => self.expect_event(json!("resumed")),
        }
        if !self.is_running() {
            self.end_situation();
        }
    }

    /// Decision 0034: the situation leaves S with its request.
    fn end_situation(&mut self) {
        let fields: Vec<_> = std::mem::take(&mut self.situation).fields().collect();
        for key in fields.iter().map(|(field, _)| key("situation", &json!(field))) {
            if self.items.forget(&key) {
                self.batch.forgotten_keys.insert(key);
                self.batch.forget_cause = json!("request_end");
            }
        }
    }

    /// 004-1.3, 004-2.1, 004-2.9: the identity guard checks every request.
    fn take_user_message(&mut self, user: &str, text: &str, scope: &Value) {
        self.requests += 1;
        self.request = Request::new(text, scope);
        self.situation = Situation::default(); // decision 0034: the situation belongs to the request
        let mut event = json!({ "request": self.requests, "user": user, "text": text });
        if *scope != "global" {
            event["scope"] = scope.clone();
        }
        self.expect_event(json!({ "user_msg": event }));
        self.enter_phase("VerifyingIdentity");
        self.expect_call(OracleOperation::VerifyIdentity);
    }

    fn take_report(
        &mut self,
        operation: OracleOperation,
        report: &OracleReply,
        encoded: &Value,
        semantic: &Fold,
    ) {
        match report {
            OracleReply::Identity { gcp, mongodb } => self.take_identity(*gcp && *mongodb),
            OracleReply::Context { ratings, traces } => self.take_past(ratings, traces),
            OracleReply::Summary { text, forgets } => self.take_summary(semantic, text, forgets.as_deref()),
            OracleReply::Classification { tags } => self.take_classification(tags, encoded),
            OracleReply::Plan(plan) => self.take_plan(plan),
            OracleReply::Argument { argument, text, plan } => {
                if let OracleOperation::ArgueAdditional { debater } = operation {
                    return self.take_additional_argument(debater, *argument, text);
                }
                self.take_argument(operation, *argument, text, plan.as_ref());
            }
            OracleReply::Approval { approved, text } => self.take_approval(*approved, text),
            OracleReply::Repaired { text, plan } => self.take_repair(text, plan),
            OracleReply::NoRepair { text } => self.take_no_repair(text),
            OracleReply::Exit { code, text, number } => match operation {
                OracleOperation::RunTask { task, .. } => self.take_task_exit(task, *code, text, *number),
                OracleOperation::UndoTask { task } => self.take_compensation(task, *code == 0),
                _ => {}
            },
            OracleReply::Stored { held } => {
                self.take_store_status(operation, if *held { "held" } else { "missing" });
            }
            OracleReply::Delivered => self.emit_final_answer(),
        }
    }

    /// Takes the situation from a reply. 002-4.2: the update is merged, if the user is verified (004-2.9). Each field with
    /// a value is an item of the working set (decision 0020). 002-2.1: an action is recorded and changes no item.
    fn take_situation(&mut self, summary_update: &Value, action: &Value) {
        if self.request.verified {
            self.situation.update(&self.policy.situation, summary_update);
        }
        let fields: Vec<_> = self.situation.fields().collect();
        for (field, text) in fields {
            if !text.is_empty() {
                let text = ExpectedText::Verbatim(text);
                self.expect_fact(key("situation", &json!(field)), text, BTreeSet::new());
            }
        }
        if !action.is_null() {
            let limits = &self.policy.situation;
            self.situation.act(limits, action);
            let (record, max_history) = (self.situation.latest_action(), limits.max_history);
            self.expect_event(json!({ "action_recorded": { "record": record, "max_history": max_history } }));
        }
    }

    fn take_identity(&mut self, both_locks_match: bool) {
        if both_locks_match {
            // 004-1.4; decision 0005: this step adds the request as a fact.
            self.request.verified = true;
            let text = self.request.text.clone();
            self.expect_fact(self.request_key(), ExpectedText::Verbatim(text), BTreeSet::new());
            self.enter_phase("IdentityVerified");
        } else {
            self.conclude("aborted", json!("identity_mismatch"));
            if self.policy.rules.audited_abort {
                self.audit(); // F1; decision 0005: audited, not stored
            } else {
                self.enter_phase("Aborted"); // 004-1.5, 004-2.2, 004-2.10
            }
        }
    }

    /// 004-1.6: ratings and past traces; decision 0016: of two with one trace id the first counts.
    fn take_past(&mut self, ratings: &Ratings, traces: &[PastRequest]) {
        self.request.ratings.clone_from(ratings);
        let mut seen = BTreeSet::new();
        for past in traces {
            let key = key("trace", &past.trace);
            if seen.insert(key.clone()) {
                let text = ExpectedText::Verbatim(past.text.clone());
                // Decision 0037: a past request has the scope in which it ran.
                self.expect_item(json!("fact"), key, text, BTreeSet::new(), past.scope.clone());
            }
        }
        self.enter_phase("Classifying"); // 004-1.7
        self.expect_call(OracleOperation::Classify);
    }

    /// Decision 0021, K02: the summary replaces the items that are forgotten.
    fn take_summary(&mut self, semantic: &Fold, text: &str, forgets: Option<&[u64]>) {
        if self.request.outdated {
            return self.load_context();
        }
        // An invalid summary is refused, and not taken.
        let Some(effects) = compact(semantic, &self.policy, &self.request.cluster, text, forgets) else {
            return;
        };
        for (id, entry) in effects.forgotten.iter().filter_map(|id| Some((*id, semantic.get(*id)?))) {
            if self.items.forget(&entry.key) {
                self.batch.forgotten_keys.insert(entry.key.clone());
            } else {
                self.batch.forgotten_ids.insert(id);
            }
        }
        for (id, deps) in effects.deps {
            let Some(entry) = semantic.get(id).filter(|entry| !entry.is_written()) else { continue };
            let mut deps = semantic.keys(&deps);
            deps.extend(effects.repointed.then(|| SUMMARY.to_owned()));
            self.items.set_deps(&entry.key, deps);
        }
        self.batch.item_events = effects.events;
        self.batch.forget_cause = json!({ "compaction": { "into": effects.into } });
        self.load_context();
    }

    /// 004-1.6, F17.
    pub(super) fn load_context(&mut self) {
        self.enter_phase("LoadingContext");
        self.expect_call(OracleOperation::LoadContext);
    }

    fn take_classification(&mut self, tags: &[String], encoded: &Value) {
        let text = ExpectedText::Composed { from: encoded.clone(), parts: tags.to_vec() };
        self.expect_fact(key("tags", &json!(self.requests)), text, self.request_dependency());
        self.enter_phase("Planning"); // 004-1.8
        self.expect_call(OracleOperation::DraftPlan);
    }

    fn take_plan(&mut self, plan: &OraclePlan) {
        self.adopt_plan(plan);
        self.enter_phase("Round_1_Analyst"); // 004-1.10, 004-2.3
        self.request.pass = 1;
        self.expect_call(OracleOperation::Argue(Role::Analyst));
    }

    /// Adopts a plan as the next revision; the planner's plan is revision 1 (004-1.8). Each task becomes a subtask (decision
    /// 0016). It depends on the request and on its declared dependencies that its readers see (decision 0040), otherwise on the
    /// last task before it that they see (decision 0037).
    pub(super) fn adopt_plan(&mut self, plan: &OraclePlan) {
        self.request.revision += 1;
        self.request.plan = plan.clone();
        self.expect_event(json!({ "plan_adopted": { "revision": self.request.revision, "plan": plan } }));
        // Decision 0037: the request continues in the scope that all tasks declare.
        let plan = plan.tasks();
        if let Some(Task { scope: Some(scope), .. }) = plan.first()
            && plan.iter().all(|task| task.scope.as_ref() == Some(scope))
        {
            self.request.scope = scope.clone();
        }
        let mut previous: Vec<(Value, u32)> = Vec::new();
        for task in plan {
            let scope = task.scope.clone().unwrap_or_else(|| self.request.scope.clone());
            let readable: Vec<u32> = previous
                .iter()
                .filter(|(other, _)| *other == scope || *other == "global")
                .map(|(_, task)| *task)
                .collect();
            let mut deps = self.request_dependency();
            match &task.depends_on {
                Some(declared) => {
                    let seen = declared.iter().filter(|dependency| readable.contains(dependency));
                    deps.extend(seen.map(|dependency| self.task_key(*dependency)));
                }
                None => deps.extend(readable.last().map(|before| self.task_key(*before))),
            }
            let text = ExpectedText::Composed {
                from: json!([task.text, task.effect, task.step]),
                parts: vec![task.text.clone()],
            };
            let key = self.task_key(task.id);
            self.expect_item(json!({ "subtask": "unassigned" }), key, text, deps, scope.clone());
            previous.push((scope, task.id));
        }
    }
}
