//! The protocol between a conversation and its host. Each message is one JSON value on one line.
//!
//! The conversation sends `opened` first, then `call` for each call, and `final_answer` when a request ends. The host sends `reply`
//! with the id of the call. The host sends `write`, `ingest` or `handoff` at any time; a text, and a write that requires a session,
//! wait for one. Messages about an input contain its line number, counted from 1. `close` follows the inputs before it. Those that still
//! wait for a session are then refused, because none follows.
//!
//! # Recovery
//!
//! After a crash, an effectful call that was in flight is sent as `recover`. The host looks whether it executed the call, by its trace
//! and task. It sends the reply if it is known, `{"fail": "outcome_unknown"}` as its content if the outcome is unknown, or
//! `not_started`: the call then follows as `call`. The host must not execute a call on `recover`.
//!
//! Only `undo_task`, and `run_task` of a task with an effect, are effectful. Every other call may be sent again after a crash,
//! `store_memory` and `deliver_audit` too: a store replaces its record of the same trace and operation. The `id` of a call identifies it
//! only while no line of the journal is lost.
//!
//! A disk can lose the end of a journal, with a call that the host executed. So every effectful call after the opening of an existing
//! journal is sent as `recover` first, also one that the host does not know. A host avoids this: it stores the `step` of a call before
//! it executes it, and passes the largest one as `--acknowledged-step`. A journal that ends before this step is refused. After a
//! truncated torn tail, calls are recovered first in any case, also by later processes until the request ends. A journal that was once
//! opened without a step recovers calls first from then on: the requests that it lost may be sent again at any time. `opened` says
//! with `recovers_first` which holds.
//!
//! # Acknowledged inputs
//!
//! The host sends a request, a write or a cancel with a key of its choice: `{"input": {"idempotency_key": KEY, "content": {"write": …}}}`.
//! When the step is durable, it gets `acknowledged` with the key and the step. `accepted` says whether the kernel accepted the input: it
//! neither refused it nor denied its write. Otherwise `refused` with its line says why, and the input keeps its key. The host repeats an
//! input that was not acknowledged, also to the next process with the same journal. An input that was recorded is acknowledged again with
//! `repeated`, and has no second effect; `accepted` is the same. The same key with another content is answered with `key_reused`, and
//! nothing is recorded. A write that requires a session is acknowledged when one is open; one that is sent again before is acknowledged
//! once.
//!
//! A conversation remembers the latest 1,024 keys. A repetition of an older key is a new input, so a host does not send 1,024 further
//! inputs before it repeats one. At most 64 inputs wait for a session, and 64 wait to be taken. A further one is answered with
//! `parse_failed`: nothing is recorded, and the host sends it again.
//!
//! `request`, `write`, `ingest` and `cancel` without a key happen at most once: they are not acknowledged, and are lost if the process
//! ends before they are durable. `ingest` has no key, because the number of its writes depends on the state. `close` needs none: a closed
//! journal cannot be opened again.
//!
//! # Hosts that do not read
//!
//! Output never delays deadlines, cancels or the end of input: a call that the host does not read exceeds its deadline. At most 16 MiB
//! wait for the host, beside one message of any size. Then it is disconnected as at the end of input, because a gap would mislead it. At
//! the end the process waits while the host reads, at most 5 s for a further part. Exit code 3 and a message on standard error say that
//! the host did not read.
//!
//! # Handoffs
//!
//! A handoff that its receiver refuses is answered with `handoff_refused`. If the receiver cannot execute the call, the message
//! names the call that repeats it at the next-best node. If no other node is left, the call fails, and the final answer says so.

//!
//! # Many conversations
//!
//! A host of many conversations opens each with `{"open": {"conversation": NAME}}`, and a message of this conversation to the host is
//! `{"message": {"conversation": NAME, "content": …}}`, as is one to it. The host waits for `opened` before it sends the first one. It
//! opens a conversation again in a later process, with the `acknowledged_step` that it stored for this conversation. `open_failed` says
//! why a journal cannot be used, and `failed` that one failed; other conversations continue. Each conversation has the limits above; the
//! limit of output holds for all together.

use orchestrion_kernel::event::Conclusion;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::network::HandoffRefusal;
use orchestrion_kernel::situation::SummaryField;
use orchestrion_kernel::{CallId, ConversationId, NodeId, Text, TraceId};
use orchestrion_runtime::{
    Acknowledgement, Call, Conversation, Journal, KeyResult, RefusedHandoff, RequestResult, SignedHandoff,
};
use orchestrion_scenario::{
    ApproverReply, ArgumentReply, AuditorReply, ClassifierReply, DiagnosisReply, IdentityFile, IdentityReply,
    IngestFile, MemoryReply, PlannerReply, ReplyFile, RevisionReply, StoreReply, SummarizerReply, TaskReply,
    WriteFile, request_scope_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The version of the protocol.
pub const PROTOCOL: &str = "orchestrion-stdio/2";

/// A message to the host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToHost<'a> {
    /// The conversation is open.
    Opened {
        /// [`PROTOCOL`].
        protocol: &'static str,
        /// The name of the conversation.
        conversation: &'a ConversationId,
        /// Whether an interrupted request is resumed.
        unfinished: bool,
        /// The number of steps in the journal.
        steps: u64,
        /// Whether each effectful call is sent as `recover` first, because the end of the journal may be lost.
        recovers_first: bool,
        /// The truncated tail of the journal, as a sentence.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated_tail: Option<String>,
    },
    /// A call.
    Call(&'a Call),
    /// An effectful call that was in flight when the runtime crashed, or that a lost end of the journal may have contained. The host
    /// recovers its outcome.
    Recover(&'a Call),
    /// The end of a request.
    FinalAnswer {
        /// The trace id of the request.
        trace: &'a TraceId,
        /// The conclusion.
        conclusion: Option<Conclusion>,
        /// The final answer.
        text: &'a Text,
    },
    /// An input with a key is durable.
    Acknowledged {
        /// Its key.
        idempotency_key: &'a str,
        /// Its step.
        step: u64,
        /// Whether the kernel accepted it: it neither refused it nor denied its write.
        accepted: bool,
        /// Whether it was recorded before, so that it has no second effect.
        repeated: bool,
    },
    /// The key of an input belongs to another one. Nothing was recorded.
    KeyReused {
        /// The key.
        idempotency_key: &'a str,
        /// The step of the other input.
        step: u64,
        /// The defect.
        reason: String,
    },
    /// An input was refused, or its write was denied because the rank of its source is too low. Either is recorded. If the input is a reply
    /// to a pending call, the call fails as malformed.
    Refused {
        /// The line of the input, from 1; 0 for an input without a line.
        line: u64,
        /// The refusal or the denial.
        reason: String,
    },
    /// A receiver refused a handoff (001 §6.2). The conversation continues.
    HandoffRefused {
        /// The line of the handoff, from 1; 0 for one that the runtime sent.
        line: u64,
        /// The call that the handoff names.
        call: CallId,
        /// The sender that it names.
        from: &'a NodeId,
        /// The receiver.
        to: &'a NodeId,
        /// The failed check.
        refusal: HandoffRefusal,
        /// The refusal as a sentence.
        reason: String,
        /// The call that repeats the attempt. Absent if the expected handoff can still arrive, or if no other node is left.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeated_as: Option<CallId>,
    },
    /// A line could not be parsed or used.
    ParseFailed {
        /// The line, from 1; 0 for an input without a line.
        line: u64,
        /// The call of the reply. If the call is pending, it fails as malformed. Without a call, nothing changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The defect.
        reason: String,
    },
    /// The conversation halted: the kernel refuses every next input.
    Halted {
        /// The refusal.
        reason: String,
    },
    /// The conversation is closed, and its trace ended.
    Closed,
}

impl<'a> ToHost<'a> {
    pub(crate) fn opened<J: Journal>(conversation: &'a Conversation<J>) -> Self {
        Self::Opened {
            protocol: PROTOCOL,
            conversation: conversation.state().control().conversation(),
            unfinished: conversation.is_unfinished(),
            steps: conversation.steps(),
            recovers_first: conversation.recovers_first(),
            truncated_tail: conversation.truncated_tail().map(|tail| tail.to_string()),
        }
    }

    pub(crate) fn acknowledgement(notice: &'a Acknowledgement) -> Self {
        let Acknowledgement { key, step, result } = notice;
        let (idempotency_key, step) = (key.as_str(), *step);
        match *result {
            KeyResult::Recorded { is_accepted: accepted, is_repeated: repeated } => {
                Self::Acknowledged { idempotency_key, step, accepted, repeated }
            }
            KeyResult::KeyReused => Self::KeyReused { idempotency_key, step, reason: notice.to_string() },
        }
    }

    pub(crate) fn handoff_refused(refused: &'a RefusedHandoff) -> Self {
        let RefusedHandoff { sequence, call, from, to, refusal, detail: _, repeated_as } = refused;
        Self::HandoffRefused {
            line: sequence.unwrap_or(0),
            call: *call,
            from,
            to,
            refusal: *refusal,
            reason: refused.to_string(),
            repeated_as: *repeated_as,
        }
    }

    pub(crate) const fn final_answer(RequestResult { trace, conclusion, text }: &'a RequestResult) -> Self {
        Self::FinalAnswer { trace, conclusion: *conclusion, text }
    }
}

/// A message from the host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromHost {
    /// The reply or failure of a call.
    Reply(ReplyMessage),
    /// A call that was sent as `recover` never started. It is sent again.
    NotStarted(NotStartedMessage),
    /// A request, a write or a cancel with an idempotency key. It is acknowledged when it is durable.
    Input(InputMessage),
    /// A user's request, at most once.
    Request(RequestMessage),
    /// A write in the form of a scenario file, at most once.
    Write(#[schemars(with = "WriteFile")] Box<RawValue>),
    /// A text from which facts are derived, in the form of a scenario file. It waits for a session.
    Ingest(#[schemars(with = "IngestFile")] Box<RawValue>),
    /// A signed handoff that reached its receiver (001 §6). The runtime verifies it and the kernel decides on it.
    Handoff(#[schemars(with = "Value")] Box<SignedHandoff>),
    /// Cancels the running request, at most once.
    Cancel,
    /// Closes the conversation and ends its trace.
    Close,
}

/// A message from a host of many conversations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromHostOfMany {
    /// Opens a conversation, or starts it if its journal does not exist. `opened` or `open_failed` follows.
    Open(OpenMessage),
    /// A message to an open conversation.
    Message(ConversationMessage),
}

/// Opens a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenMessage {
    /// The name: 1 to 128 ASCII letters, digits, hyphens and underscores. It is the name of the journal.
    #[schemars(length(min = 1, max = 128), regex(pattern = "^[A-Za-z0-9_-]+$"))]
    pub conversation: String,
    /// The largest `step` of a call that the host stored. A journal that ends before is refused. Default: none.
    #[serde(default)]
    pub acknowledged_step: Option<u64>,
}

/// A message to an open conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationMessage {
    /// The name of the conversation.
    pub conversation: String,
    /// The message.
    #[schemars(with = "FromHost")]
    pub content: Box<RawValue>,
}

/// A message to the host of many conversations.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToHostOfMany<'a> {
    /// A message of a conversation.
    Message {
        /// Its name.
        conversation: &'a str,
        /// The message.
        content: &'a ToHost<'a>,
    },
    /// A conversation could not be opened.
    OpenFailed {
        /// Its name.
        conversation: &'a str,
        /// The defect.
        reason: String,
    },
    /// The journal of a conversation failed, and the conversation ended. It can be opened again.
    Failed {
        /// Its name.
        conversation: &'a str,
        /// The defect.
        reason: String,
    },
    /// A line could not be used.
    ParseFailed {
        /// The line, from 1.
        line: u64,
        /// The defect.
        reason: String,
    },
}

/// The reply or failure of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyMessage {
    /// The id of the call.
    #[schemars(with = "u64")]
    pub call: CallId,
    /// The reply in the form of a scenario file.
    #[schemars(with = "AnyReply")]
    pub content: Box<RawValue>,
}

/// A call that never started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotStartedMessage {
    /// The id of the call.
    #[schemars(with = "u64")]
    pub call: CallId,
}

/// An input with an idempotency key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputMessage {
    /// The key: 1 to 128 bytes without control characters. Another input needs another key.
    #[schemars(length(min = 1, max = 128))]
    pub idempotency_key: String,
    /// The input.
    pub content: HostInput,
}

/// The content of an input with an idempotency key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum HostInput {
    /// A user's request.
    Request(RequestMessage),
    /// A write in the form of a scenario file.
    Write(#[schemars(with = "WriteFile")] Box<RawValue>),
    /// Cancels the running request.
    Cancel,
}

/// A user's request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestMessage {
    /// The user.
    pub user: String,
    /// The identity of the user, in the form of a scenario file. It is used if the request starts a session. Default: none.
    #[serde(default)]
    pub identity: Option<IdentityFile>,
    /// The text of the request.
    pub text: String,
    /// The scope in which the request runs: global, or `task`, `hypothetical` or `draft` with a name, which an earlier fact opened.
    /// Default: global.
    #[serde(default)]
    #[schemars(schema_with = "request_scope_schema")]
    pub scope: Scope,
}

/// A reply of any module.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum AnyReply {
    Identity(ReplyFile<IdentityReply>),
    Memory(ReplyFile<MemoryReply>),
    Summarizer(ReplyFile<SummarizerReply>),
    Classifier(ReplyFile<ClassifierReply>),
    Planner(ReplyFile<PlannerReply>),
    Argument(ReplyFile<ArgumentReply>),
    Revision(ReplyFile<RevisionReply>),
    Approver(ReplyFile<ApproverReply>),
    Diagnosis(ReplyFile<DiagnosisReply>),
    Task(ReplyFile<TaskReply>),
    Store(ReplyFile<StoreReply>),
    Auditor(ReplyFile<AuditorReply>),
}

/// Returns the JSON Schema of a message from the host. `$defs` contains `to_host`, the schema of a message to the host.
#[must_use]
pub fn schema() -> Value {
    let mut schema = orchestrion_yaml::schema_of::<FromHost>("Orchestrion stdio: message from the host");
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.insert("to_host".to_owned(), to_host_schema());
        definitions.insert("call".to_owned(), call_schema());
    }
    schema
}

/// Returns the JSON Schema of a message from a host of many conversations. `$defs` contains `to_host_of_many`, the schema of a message to
/// it.
#[must_use]
pub fn many_schema() -> Value {
    let mut schema = orchestrion_yaml::schema_of::<FromHostOfMany>(
        "Orchestrion stdio: message from the host of many conversations",
    );
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.insert("to_host".to_owned(), to_host_schema());
        definitions.insert("to_host_of_many".to_owned(), to_host_of_many_schema());
        definitions.insert("call".to_owned(), call_schema());
    }
    schema
}

fn to_host_of_many_schema() -> Value {
    let text = json!({"type": "string"});
    let message = |key: &str, properties: Value| {
        let required: Vec<&String> =
            properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
        let content = json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false});
        json!({"type": "object", "properties": {key: content}, "required": [key], "additionalProperties": false})
    };
    json!({
        "title": "Orchestrion stdio: message to the host of many conversations",
        "oneOf": [
            message("message", json!({"conversation": text, "content": {"$ref": "#/$defs/to_host"}})),
            message("open_failed", json!({"conversation": text, "reason": text})),
            message("failed", json!({"conversation": text, "reason": text})),
            message("parse_failed", json!({"line": {"type": "integer", "minimum": 1}, "reason": text})),
        ],
    })
}

fn to_host_schema() -> Value {
    let text = json!({"type": "string"});
    let message = |key: &str, content: Value| json!({"type": "object", "properties": {key: content}, "required": [key], "additionalProperties": false});
    let object = |required: &[&str], properties: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let step =
        json!({"type": "integer", "minimum": 1, "description": "The step of the input with this key."});
    let line = json!({"type": "integer", "minimum": 0, "description": "The line of the input, from 1; 0 for an input without a line."});
    json!({
        "title": "Orchestrion stdio: message to the host",
        "oneOf": [
            message("opened", object(&["protocol", "conversation", "unfinished", "steps", "recovers_first"], json!({
                "protocol": {"const": PROTOCOL}, "conversation": text, "unfinished": {"type": "boolean"},
                "steps": {"type": "integer", "minimum": 0, "description": "The number of steps in the journal."},
                "recovers_first": {"type": "boolean", "description": "Whether each effectful call is sent as `recover` first, because the end of the journal may be lost."},
                "truncated_tail": text,
            }))),
            message("call", json!({"$ref": "#/$defs/call"})),
            message("recover", json!({"$ref": "#/$defs/call"})),
            message("final_answer", object(&["trace", "conclusion", "text"], json!({
                "trace": {"type": "object"}, "conclusion": {"type": ["object", "null"]}, "text": text,
            }))),
            message("acknowledged", object(&["idempotency_key", "step", "accepted", "repeated"], json!({
                "idempotency_key": text, "step": step,
                "accepted": {"type": "boolean", "description": "Whether the kernel accepted the input: it neither refused it nor denied its write."},
                "repeated": {"type": "boolean", "description": "Whether the input was recorded before, so that it has no second effect."},
            }))),
            message("key_reused", object(&["idempotency_key", "step", "reason"], json!({
                "idempotency_key": text, "step": step, "reason": text,
            }))),
            message("refused", object(&["line", "reason"], json!({"line": line, "reason": text}))),
            message("handoff_refused", object(&["line", "call", "from", "to", "refusal", "reason"], json!({
                "line": line, "call": {"type": "integer", "minimum": 1}, "from": text, "to": text,
                "refusal": {"enum": HandoffRefusal::ALL}, "reason": text,
                "repeated_as": {"type": "integer", "minimum": 1, "description": "The call that repeats the attempt. Absent if the expected handoff can still arrive, or if no other node is left."},
            }))),
            message("parse_failed", object(&["line", "reason"], json!({
                "line": line, "call": {"type": "integer", "minimum": 1}, "reason": text,
            }))),
            message("halted", object(&["reason"], json!({"reason": text}))),
            {"const": "closed"},
        ],
    })
}

fn call_schema() -> Value {
    let described = |kind: &str, description: &str| json!({"type": kind, "description": description});
    json!({
        "type": "object",
        "properties": {
            "id": described("integer", "The id of the call. A call that is repeated after a crash keeps its id."),
            "step": described("integer", "The durable steps when the call is sent. A host stores it before it executes the call, and passes the largest one as --acknowledged-step."),
            "trace": described("object", "The trace id of the request: `conversation` and `request`."),
            "module": {"description": "The module: a name, or a name with its role, as in {\"debater\": \"critic\"}."},
            "operation": {"description": "The operation: a name, or an object with the name as its key, as in {\"argue\": \"critic\"}."},
            "node": described("string", "The node that executes the call. Absent without a network."),
            "handoff": described("object", "The signed handoff that the node accepted: `handoff` and `signature`. Absent if the node that routed the call executes it."),
            "expects": described("string", "The expected reply, as a noun phrase."),
            "deadline_ms": described("integer", "The deadline in milliseconds after the call is sent."),
            "user": described("string", "The user of the request."),
            "request": described("string", "The text of the request."),
            "summary_update": {
                "type": "object",
                "description": "The summary update for which the call asks, if the module reasons: the reply is {\"reply\": …, \"summary_update\": {NAME: TEXT}}, with any of these fields.",
                "properties": {
                    "fields": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "name": {"enum": SummaryField::ALL.map(SummaryField::name), "description": "The key of the field in the update."},
                                "question": described("string", "The question that its text answers."),
                                "chars_max": described("integer", "The maximum number of characters of its text. A longer text is truncated."),
                            },
                            "required": ["name", "question", "chars_max"],
                            "additionalProperties": false,
                        },
                    },
                },
                "required": ["fields"],
                "additionalProperties": false,
            },
            "scope": described("object", "The scope in which the call runs: `task`, `hypothetical` or `draft` with its name. Absent if it is global."),
            "pass": described("integer", "The pass of the debate, from 1; 0 before the first."),
            "payload": {
                "type": "object",
                "description": "The data of the operation, if it has any. For a module that reads a context, the budget covers the text of the context and this value as compact JSON.",
                "properties": {
                    "plan": described("array", "The current plan."),
                    "task": described("object", "The task to run or to undo: `id`, `text`, `effect`, and `scope` if it declares one."),
                    "record": described("object", "The record for a store."),
                    "audit": described("object", "The record for the audit sink."),
                },
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
            },
            "context": described("object", "The context: `ids`, `cost_tokens`, `payload_tokens`, `text`, `utility`, `bound`, and the `status` optimal or not_proven. Absent for identity guard, stores and audit sink."),
        },
        "required": [
            "id", "step", "trace", "module", "operation", "expects", "deadline_ms", "user", "request", "pass",
        ],
        "additionalProperties": false,
    })
}
