//! The lines that a conversation and its host say to each other. Each is one JSON value on one line.
//!
//! The conversation says `opened`, then for each question `call`, and `answered` once a request is over. The host says
//! `answer` with the id of the call. A call whose task may have run before a crash comes as `recover`: the host answers it if
//! it knows how it ended, with `{"fail": "unknown"}` if it cannot know, or says `never_started`. What is to be known though nobody
//! was asked for it the host says with `write`, whenever it likes; what belongs to a session waits for one. What is refused, or not
//! understood, is told with the number of its line, counted from 1.

use orchestrion_kernel::event::Conclusion;
use orchestrion_kernel::{CallId, ConversationId, Text, TraceId};
use orchestrion_runtime::{Call, Conversation, RequestResult};
use orchestrion_scenario::{
    ApproverAnswer, ArgumentReply, AuditorAnswer, ClassifierAnswer, DiagnosisAnswer, IdentityAnswer,
    MemoryAnswer, PlannerAnswer, ReplyFile, RevisionReply, StoreAnswer, SummarizerAnswer, TaskAnswer,
    WriteFile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The protocol that this version speaks.
pub const PROTOCOL: &str = "orchestrion-stdio/1";

/// What the conversation tells its host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToHost<'a> {
    /// The conversation is open.
    Opened {
        /// [`PROTOCOL`].
        protocol: &'static str,
        /// Its name.
        conversation: &'a ConversationId,
        /// Whether a request is gone on with.
        unfinished: bool,
        /// What was dropped from the end of its journal, as a sentence.
        #[serde(skip_serializing_if = "Option::is_none")]
        dropped: Option<String>,
    },
    /// A question.
    Call(&'a Call),
    /// A question that was out when the runtime crashed, and may have been carried out: what became of it?
    Recover(&'a Call),
    /// A request is over.
    Answered {
        /// The request.
        trace: &'a TraceId,
        /// As what and why it ended.
        ending: Option<Conclusion>,
        /// What the user reads.
        text: &'a Text,
    },
    /// What the host said was understood, and is recorded as refused.
    Refused {
        /// The line, from 1; 0 if it is none in particular.
        line: u64,
        /// Why.
        why: String,
    },
    /// What the host said was not understood.
    ParseFailed {
        /// The line, from 1; 0 if it is none in particular.
        line: u64,
        /// The call that the line answers: if it is still waited for, this was a malformed answer to it. Without a call,
        /// nothing has changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// Why.
        why: String,
    },
    /// Nothing leads on.
    Halted {
        /// Why.
        why: String,
    },
    /// The conversation is over, and its trace ended.
    Closed,
}

impl<'a> ToHost<'a> {
    pub(super) fn opened<J: orchestrion_runtime::Journal>(conversation: &'a Conversation<J>) -> Self {
        Self::Opened {
            protocol: PROTOCOL,
            conversation: conversation.state().control.conversation(),
            unfinished: conversation.is_unfinished(),
            dropped: conversation.dropped().map(|dropped| dropped.to_string()),
        }
    }

    pub(super) const fn answered(RequestResult { trace, ending, text }: &'a RequestResult) -> Self {
        Self::Answered { trace, ending: *ending, text }
    }
}

/// What a host tells the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromHost {
    /// How a call ended.
    Answer(ReplyMessage),
    /// A call that was to be recovered never started; it is asked again.
    NeverStarted(NeverStarted),
    /// A user asks for something.
    Ask(RequestMessage),
    /// Something is to be known that no module was asked for, as a request of a scenario has it under `write`.
    Write(#[schemars(with = "WriteFile")] Box<RawValue>),
    /// The user cancels the running request.
    Cancel,
    /// Nothing more will be asked: the trace is ended.
    Close,
}

/// How a call ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyMessage {
    /// The call's id.
    #[schemars(with = "u64")]
    pub call: CallId,
    /// The answer, as a scenario file has it for that module.
    #[schemars(with = "AnyReply")]
    pub with: Box<RawValue>,
}

/// A call never started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeverStarted {
    /// The call's id.
    #[schemars(with = "u64")]
    pub call: CallId,
}

/// A user asks for something.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestMessage {
    /// Who asks.
    pub user: String,
    /// For what.
    pub says: String,
}

/// An answer of any module.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it is there for its schema")]
enum AnyReply {
    Identity(ReplyFile<IdentityAnswer>),
    Memory(ReplyFile<MemoryAnswer>),
    Summarizer(ReplyFile<SummarizerAnswer>),
    Classifier(ReplyFile<ClassifierAnswer>),
    Planner(ReplyFile<PlannerAnswer>),
    Voice(ReplyFile<ArgumentReply>),
    Reviser(ReplyFile<RevisionReply>),
    Approver(ReplyFile<ApproverAnswer>),
    Diagnosis(ReplyFile<DiagnosisAnswer>),
    Task(ReplyFile<TaskAnswer>),
    Store(ReplyFile<StoreAnswer>),
    Auditor(ReplyFile<AuditorAnswer>),
}

/// The JSON Schema of the lines: what the host says, and, under `$defs`, what it is `told`.
#[must_use]
pub fn schema() -> Value {
    let mut schema = orchestrion_yaml::schema_of::<FromHost>("Orchestrion stdio: what a host says");
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.insert("told".to_owned(), told());
        definitions.insert("call".to_owned(), call());
    }
    schema
}

/// One line of what the host is told.
fn told() -> Value {
    let text = json!({"type": "string"});
    let one = |key: &str, what: Value| json!({"type": "object", "properties": {key: what}, "required": [key], "additionalProperties": false});
    let object = |required: &[&str], properties: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let line = json!({"type": "integer", "minimum": 0, "description": "The line of the host, from 1; 0 if none in particular."});
    let why = object(&["why"], json!({"why": text}));
    json!({
        "title": "Orchestrion stdio: what a host is told",
        "oneOf": [
            one("opened", object(&["protocol", "conversation", "unfinished"], json!({
                "protocol": {"const": PROTOCOL}, "conversation": text, "unfinished": {"type": "boolean"},
                "dropped": text,
            }))),
            one("call", json!({"$ref": "#/$defs/call"})),
            one("recover", json!({"$ref": "#/$defs/call"})),
            one("answered", object(&["trace", "ending", "text"], json!({
                "trace": {"type": "object"}, "ending": {"type": ["object", "null"]}, "text": text,
            }))),
            one("refused", object(&["line", "why"], json!({"line": line, "why": text}))),
            one("not_understood", object(&["line", "why"], json!({
                "line": line, "call": {"type": "integer", "minimum": 1}, "why": text,
            }))),
            one("halted", why),
            {"const": "closed"},
        ],
    })
}

/// A question.
fn call() -> Value {
    let described = |kind: &str, description: &str| json!({"type": kind, "description": description});
    json!({
        "type": "object",
        "properties": {
            "id": described("integer", "Names the call. One that is asked again after a crash keeps its id."),
            "trace": described("object", "The request that it belongs to: `conversation` and `request`."),
            "module": {"description": "Who is asked: a name, or one with its role, as in {\"debater\": \"critic\"}."},
            "ask": {"description": "What is asked."},
            "expects": described("string", "What a well-typed answer consists of, as a noun phrase."),
            "deadline_ms": described("integer", "How long an answer is waited for, in milliseconds."),
            "user": described("string", "Whose request it is."),
            "request": described("string", "What the user asked for."),
            "pass": described("integer", "The pass of the debate, from 1; 0 before the first."),
            "plan": described("array", "The plan as it stands, where the question is about it."),
            "task": described("object", "The task to run or to undo: `id`, `text`, `effect`."),
            "record": described("object", "What a store is to keep."),
            "audit": described("object", "What the audit sink is to take."),
            "context": described("object", "What is known: `ids`, `cost_tokens`, `text`."),
        },
        "required": [
            "id", "trace", "module", "ask", "expects", "deadline_ms", "user", "request", "pass", "context",
        ],
        "additionalProperties": false,
    })
}
