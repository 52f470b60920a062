//! The course of a conversation as the documents tell it: what is remembered between two inputs.

use super::batch::Batch;
use super::encoding::{OracleOperation, Ratings, Role, Task, Voice, starting_ratings};
use super::items::{ExpectedItems, ExpectedText, key};
use super::policy::OraclePolicy;
use super::situation::Situation;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The conversation so far.
#[derive(Clone, Debug)]
pub(super) struct ExpectedConversation {
    pub(super) lines: OraclePolicy,
    pub(super) conversation: String,
    /// The control state, by its name in 004.
    pub(super) phase: &'static str,
    /// Whose session is open.
    pub(super) session: Option<String>,
    /// The call that is out (000-7.6: at most one).
    pub(super) waiting: Option<(u64, OracleOperation)>,
    /// How many calls were given an id (000-1.7).
    pub(super) calls: u64,
    /// How many requests were submitted.
    pub(super) requests: u32,
    pub(super) things: ExpectedItems,
    pub(super) request: Request,
    /// 002's two fields: what was said in the session, and what was done in the request.
    pub(super) situation: Situation,
    /// The batch that is being told.
    pub(super) batch: Batch,
}

/// What is remembered of the running request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) text: String,
    /// What the summarizer was asked about (decision 0021).
    pub(super) cluster: Vec<u64>,
    /// Something became known since the summarizer was asked.
    pub(super) outdated: bool,
    /// Both locks matched (004-1.4).
    pub(super) verified: bool,
    /// As loaded; they do not move within a request (DESIGN §2, rule 4).
    pub(super) ratings: Ratings,
    /// After the duels (004-1.21).
    pub(super) ratings_after: Option<Ratings>,
    pub(super) plan: Vec<Task>,
    pub(super) revision: u32,
    /// Passes begun (004-2.4).
    pub(super) pass: u32,
    /// Decision 0011: the latest argument of each role.
    pub(super) voices: BTreeMap<Role, Voice>,
    /// The revision that Security read last (F9).
    pub(super) security_read: u32,
    /// A veto was raised in any pass (F6).
    pub(super) veto_raised: bool,
    /// The latest consensus.
    pub(super) consensus: u32,
    pub(super) decisions: Vec<Decision>,
    /// How each task of the present run ended.
    pub(super) ends: Vec<Value>,
    pub(super) repairs: u32,
    pub(super) ledger: Vec<Started>,
    pub(super) ending: Option<(&'static str, Value)>,
    /// What the stores hold: local, cloud.
    pub(super) holdings: [&'static str; 2],
    /// Whether each store was asked.
    pub(super) asked: [bool; 2],
    pub(super) audit_attempts: u32,
    /// What the user is to read, as the record has it.
    pub(super) read: Option<String>,
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
pub(super) struct Started {
    pub(super) task: u32,
    pub(super) effect: &'static str,
    pub(super) end: &'static str,
}

impl Request {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cluster: Vec::new(),
            outdated: false,
            verified: false,
            ratings: starting_ratings(),
            ratings_after: None,
            plan: Vec::new(),
            revision: 0,
            pass: 0,
            voices: BTreeMap::new(),
            security_read: 0,
            veto_raised: false,
            consensus: 0,
            decisions: Vec::new(),
            ends: Vec::new(),
            repairs: 0,
            ledger: Vec::new(),
            ending: None,
            holdings: ["missing"; 2], // 0008: a store that was never asked is missing
            asked: [false; 2],
            audit_attempts: 0,
            read: None,
        }
    }
}

impl ExpectedConversation {
    /// 004-1.2: the system starts in Idle.
    pub(super) fn new(lines: OraclePolicy, conversation: &str) -> Self {
        Self {
            lines,
            conversation: conversation.to_owned(),
            phase: "Idle",
            session: None,
            waiting: None,
            calls: 0,
            requests: 0,
            things: ExpectedItems::default(),
            request: Request::new(""),
            situation: Situation::default(),
            batch: Batch::default(),
        }
    }

    /// Whether a request runs: there is one, it is not answered, and the run did not halt (decision 0015).
    pub(super) fn runs(&self) -> bool {
        !matches!(self.phase, "Idle" | "Done" | "Aborted")
    }

    /// Control moves; every batch does so once (000-4.12).
    pub(super) fn enter_phase(&mut self, phase: &'static str) {
        self.phase = phase;
        self.batch.moves += 1;
    }

    pub(super) fn expect_event(&mut self, event: Value) {
        self.batch.events.push(event);
    }

    /// 000-7.5: entering a state that asks emits its call; ids come in order (000-1.7).
    pub(super) fn ask(&mut self, question: OracleOperation) {
        self.calls += 1;
        self.waiting = Some((self.calls, question));
        self.expect_event(json!({ "tool_call": { "call": self.calls, "ask": question } }));
    }

    /// "It is settled as what and why the request ends."
    pub(super) fn conclude(&mut self, kind: &'static str, cause: Value) {
        self.expect_event(json!({ "concluded": { "ending": { "kind": kind, "cause": cause } } }));
        self.request.ending = Some((kind, cause));
    }

    /// Decision 0001: the cause NoAnswer with the module's name.
    pub(super) fn no_answer(question: OracleOperation, failure: &str) -> Value {
        json!({ "no_answer": [question.module(), failure] })
    }

    /// 004-1.36: the trace id is the conversation and the number of the request in it.
    pub(super) fn trace_id(&self) -> Value {
        json!({ "conversation": self.conversation, "request": self.requests })
    }

    /// A fact becomes known (decision 0016).
    pub(super) fn expect_item(&mut self, key: String, words: ExpectedText, rests_on: BTreeSet<String>) {
        self.know_as(json!("fact"), key, words, rests_on);
    }

    pub(super) fn know_as(
        &mut self,
        variant: Value,
        key: String,
        words: ExpectedText,
        rests_on: BTreeSet<String>,
    ) {
        // Decision 0020: the situation is the session's, and of no request.
        let user = self.session.clone().filter(|_| !key.starts_with("{\"situation\""));
        self.batch.changes.extend(self.things.know(key, variant, words, rests_on, user));
    }

    /// A subtask gets another status (decision 0016).
    pub(super) fn mark(&mut self, task: u32, status: &str) {
        let task = self.task_key(task);
        self.batch.changes.extend(self.things.mark(&task, status));
    }

    pub(super) fn request_key(&self) -> String {
        key("request", &json!(self.requests))
    }

    pub(super) fn task_key(&self, task: u32) -> String {
        key("task", &json!([self.requests, task]))
    }

    /// Decision 0016: "rests on the request"; where the request's own item is not in S nothing rests on it.
    pub(super) fn on_the_request(&self) -> BTreeSet<String> {
        Some(self.request_key()).filter(|key| self.things.has(key)).into_iter().collect()
    }
}
