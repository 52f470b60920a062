//! From a session's start to the baseline plan (004-1.3 to 004-1.10), and its end.

use super::compaction::{SUMMARY, compact};
use super::conversation::{ExpectedConversation, Request};
use super::encoding::{OracleInput, OracleOperation, OracleReply, PastTrace, Ratings, Role, Task};
use super::facts;
use super::fold::Fold;
use super::items::{ExpectedText, key};
use super::situation::Situation;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl ExpectedConversation {
    /// What an accepted input leads to; `raw` is it in the published encoding, for what is passed on as it came.
    pub(super) fn take(&mut self, came: &OracleInput, raw: &Value, known: &Fold) {
        match came {
            OracleInput::SessionStart { user } => {
                self.session = Some(user.clone());
                self.expect_event(json!({ "session_started": { "user": user } }));
                self.enter_phase("Idle");
            }
            OracleInput::SessionEnd => {
                // Decision 0004: the working set is forgotten; if it is empty, nothing is.
                self.batch.forgotten = self.things.forget_working_set();
                self.batch.leaving = facts::of_the_session(known);
                self.batch.because = json!("session_end");
                self.session = None;
                self.situation = Situation::default();
                self.expect_event(json!("session_ended"));
                self.enter_phase("Idle");
            }
            OracleInput::UserMessage { user, text } => self.submitted(user, text),
            OracleInput::Reply { report, summary_update, action, .. } => {
                if let Some((call, question)) = self.waiting.take() {
                    // 000-3.3: the module is that of the call.
                    let report_as_it_came = &raw["reply"]["report"];
                    self.expect_event(json!({ "tool_result": {
                        "module": question.module(), "call": call, "report": report_as_it_came,
                    }}));
                    self.answered(question, report, report_as_it_came, known);
                    self.said(summary_update, action);
                }
            }
            OracleInput::CallFailed { failure, .. } => {
                if let Some((call, question)) = self.waiting.take() {
                    self.expect_event(json!({ "call_failed": {
                        "module": question.module(), "call": call, "failure": failure,
                    }}));
                    self.unanswered(question, failure);
                }
            }
            OracleInput::Step => self.step(known),
            OracleInput::Cancel => self.cancelled(),
            OracleInput::Write(wrote) => {
                // What is refused is not taken.
                if let Ok(told) = facts::write(known, self.lines.writes, wrote) {
                    // Decision 0021: what becomes known meanwhile, signals and the time apart.
                    let is_known = |event: &Value| {
                        let change = event.as_object().and_then(|event| event.values().next());
                        let layer = change.map(|change| &change["item"]["layer"]);
                        layer.is_some_and(|layer| layer != "environment" && layer.get("clock").is_none())
                    };
                    if self.phase == "Compacting" {
                        let known = told.events.iter().any(is_known) || !told.expired.is_empty();
                        self.request.outdated |= known;
                    }
                    (self.batch.written, self.batch.leaving) = (told.events, told.expired);
                    self.batch.because = json!("expiry");
                }
            }
            // Decision 0015: it moves nothing and changes nothing.
            OracleInput::Resume => self.expect_event(json!("resumed")),
        }
    }

    /// 004-1.3, 004-2.1, 004-2.9: every request is checked by the identity guard.
    fn submitted(&mut self, user: &str, text: &str) {
        self.requests += 1;
        self.request = Request::new(text);
        self.situation.begin(); // decision 0020: actions are those of the request
        self.expect_event(json!({ "user_msg": { "request": self.requests, "user": user, "text": text } }));
        self.enter_phase("VerifyingIdentity");
        self.ask(OracleOperation::VerifyIdentity);
    }

    fn answered(&mut self, question: OracleOperation, report: &OracleReply, raw: &Value, known: &Fold) {
        match report {
            OracleReply::Identity { gcp, mongodb } => self.identified(*gcp && *mongodb),
            OracleReply::Context { ratings, traces } => self.loaded(ratings, traces),
            OracleReply::Summary { text, forgets } => self.summarized(known, text, forgets.as_deref()),
            OracleReply::Classification { tags } => self.classified(tags, raw),
            OracleReply::Plan(plan) => self.planned(plan),
            OracleReply::Argument { argument, text, plan } => {
                self.argued(question, *argument, text, plan.as_deref());
            }
            OracleReply::Approval { approved, text } => self.approval(*approved, text),
            OracleReply::Repaired { text, plan } => self.repaired(text, plan),
            OracleReply::NoRepair { text } => self.not_repaired(text),
            OracleReply::Exit { code, text } => match question {
                OracleOperation::RunTask { task, .. } => self.task_exited(task, *code, text),
                OracleOperation::UndoTask { task } => self.undo_ended(task, *code == 0),
                _ => {}
            },
            OracleReply::Stored { held } => {
                self.stored(question, if *held { "held" } else { "missing" });
            }
            OracleReply::Delivered => self.answer_the_user(),
        }
    }

    /// 002-4.2: what is said of the situation is merged, of a verified user's request (004-2.9); each field that says
    /// something is an item of the session (decision 0020). 002-2.1: an action is recorded, and nothing else.
    fn said(&mut self, summary_update: &Value, action: &Value) {
        if self.request.verified {
            self.situation.update(summary_update);
        }
        let summary: Vec<_> = self.situation.summary().collect();
        for (field, text) in summary {
            if !text.is_empty() {
                let words = ExpectedText::Verbatim(text);
                self.expect_item(key("situation", &json!(field)), words, BTreeSet::new());
            }
        }
        if !action.is_null() {
            self.expect_event(json!({ "action_recorded": { "record": action } }));
            self.situation.act(action);
        }
    }

    fn identified(&mut self, both_locks_match: bool) {
        if both_locks_match {
            // 004-1.4; decision 0005: the request is added as a fact by this very step.
            self.request.verified = true;
            let text = self.request.text.clone();
            self.expect_item(self.request_key(), ExpectedText::Verbatim(text), BTreeSet::new());
            self.enter_phase("IdentityVerified");
        } else {
            self.conclude("aborted", json!("identity_mismatch"));
            if self.lines.rules.audited_abort {
                self.audit(); // F1; decision 0005: audited, not stored
            } else {
                self.enter_phase("Aborted"); // 004-1.5, 004-2.2, 004-2.10
            }
        }
    }

    /// 004-1.6: ratings and traces of the past; decision 0016: of two with one trace id the first counts.
    fn loaded(&mut self, ratings: &Ratings, traces: &[PastTrace]) {
        self.request.ratings.clone_from(ratings);
        let mut told = BTreeSet::new();
        for past in traces {
            let key = key("trace", &past.trace);
            if told.insert(key.clone()) {
                self.expect_item(key, ExpectedText::Verbatim(past.text.clone()), BTreeSet::new());
            }
        }
        self.enter_phase("Classifying"); // 004-1.7
        self.ask(OracleOperation::Classify);
    }

    /// Decision 0021, K02: the summary stands for what is forgotten.
    fn summarized(&mut self, known: &Fold, text: &str, forgets: Option<&[u64]>) {
        if self.request.outdated {
            return self.load_context();
        }
        // What is refused is not taken.
        let Some(compacted) = compact(known, &self.lines, &self.request.cluster, text, forgets) else {
            return;
        };
        for (id, entry) in compacted.gone.iter().filter_map(|id| Some((*id, known.get(*id)?))) {
            if self.things.forget(&entry.key) {
                self.batch.forgotten.insert(entry.key.clone());
            } else {
                self.batch.leaving.insert(id);
            }
        }
        for (id, rests_on) in compacted.rests_on {
            let Some(entry) = known.get(id).filter(|entry| !entry.is_written()) else { continue };
            let mut rests_on = known.keys(&rests_on);
            rests_on.extend(compacted.repointed.then(|| SUMMARY.to_owned()));
            self.things.repoint(&entry.key, rests_on);
        }
        self.batch.written = compacted.events;
        self.batch.because = json!({ "compaction": { "into": compacted.into } });
        self.load_context();
    }

    /// 004-1.6, F17.
    pub(super) fn load_context(&mut self) {
        self.enter_phase("LoadingContext");
        self.ask(OracleOperation::LoadContext);
    }

    fn classified(&mut self, tags: &[String], raw: &Value) {
        let words = ExpectedText::Composed { from: raw.clone(), saying: tags.to_vec() };
        self.expect_item(key("tags", &json!(self.requests)), words, self.on_the_request());
        self.enter_phase("Planning"); // 004-1.8
        self.ask(OracleOperation::DraftPlan);
    }

    fn planned(&mut self, plan: &[Task]) {
        self.adopt(plan);
        self.enter_phase("Round_1_Analyst"); // 004-1.10, 004-2.3
        self.request.pass = 1;
        self.ask(OracleOperation::Argue(Role::Analyst));
    }

    /// A plan becomes the next revision; the planner's is revision 1 (004-1.8). Its tasks become subtasks, each
    /// resting on the request and on the task before it (decision 0016).
    pub(super) fn adopt(&mut self, plan: &[Task]) {
        self.request.revision += 1;
        self.request.plan = plan.to_vec();
        self.expect_event(json!({ "plan_adopted": { "revision": self.request.revision, "plan": plan } }));
        let mut before = None;
        for task in plan {
            let mut rests_on = self.on_the_request();
            rests_on.extend(before);
            let words = ExpectedText::Composed { from: json!(task), saying: vec![task.text.clone()] };
            let key = self.task_key(task.id);
            self.know_as(json!({ "subtask": "unassigned" }), key.clone(), words, rests_on);
            before = Some(key);
        }
    }
}
