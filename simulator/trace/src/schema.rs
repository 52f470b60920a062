//! The JSON Schema of the lines of a trace or journal.
//!
//! It covers the lines, all inputs and all events with their keys. Values that the kernel defines, as reports, items and policies, are
//! described by their type only: the reader checks them.

use crate::format::{FORMAT, JOURNAL_FORMAT};
use serde_json::{Map, Value, json};

/// The type of a value.
#[derive(Clone, Copy)]
enum Kind {
    /// A whole number from 0.
    Count,
    /// A text, or a reference to an earlier one.
    Text,
    /// A name: a text that is never referenced.
    Name,
    /// Numbers of items, tasks or nodes.
    List,
    /// An object.
    Object,
    /// A name, or an object with one key.
    Variant,
    /// A value of any type, as a choice that may be absent.
    Any,
}

/// A key of an object, its type, and whether it is always present.
type Key = (&'static str, Kind, bool);

/// Inputs and events with keys.
type Table = [(&'static str, &'static [Key])];

/// Inputs that are a name alone.
const PLAIN_INPUTS: [&str; 5] = ["session_end", "step", "cancel", "tick", "resume"];

const INPUTS: &Table = &[
    ("session_start", &[("user", Kind::Text, true), ("identity", Kind::Object, false)]),
    (
        "user_message",
        &[("user", Kind::Text, true), ("text", Kind::Text, true), ("scope", Kind::Variant, false)],
    ),
    (
        "reply",
        &[
            ("call", Kind::Count, true),
            ("report", Kind::Variant, true),
            ("summary_update", Kind::Object, false),
            ("action", Kind::Object, false),
            ("interaction", Kind::Object, false),
        ],
    ),
    ("call_failed", &[("call", Kind::Count, true), ("failure", Kind::Name, true)]),
];

/// Inputs whose value is one value of the kernel.
const NESTED_INPUTS: [&str; 2] = ["write", "network"];

/// Events that are a name alone.
const PLAIN_EVENTS: [&str; 5] =
    ["session_ended", "cancelled", "resumed", "repair_started", "audit_undelivered"];

const EVENTS: &Table = &[
    (
        "user_msg",
        &[
            ("request", Kind::Count, true),
            ("user", Kind::Text, true),
            ("text", Kind::Text, true),
            ("scope", Kind::Variant, false),
        ],
    ),
    ("tool_call", &[("call", Kind::Count, true), ("operation", Kind::Variant, true)]),
    (
        "tool_result",
        &[("module", Kind::Variant, true), ("call", Kind::Count, true), ("report", Kind::Variant, true)],
    ),
    ("add_item", &[("item", Kind::Object, true), ("deps", Kind::List, true)]),
    ("update_item", &[("item", Kind::Object, true), ("deps", Kind::List, true)]),
    ("forget_items", &[("ids", Kind::List, true), ("cause", Kind::Variant, true)]),
    ("final_answer", &[("trace", Kind::Object, true), ("text", Kind::Text, true)]),
    ("time_advanced", &[("now", Kind::Count, true)]),
    ("action_recorded", &[("record", Kind::Object, true), ("max_history", Kind::Count, true)]),
    ("session_started", &[("user", Kind::Text, true)]),
    (
        "call_failed",
        &[("module", Kind::Variant, true), ("call", Kind::Count, true), ("failure", Kind::Name, true)],
    ),
    (
        "over_budget",
        &[
            ("call", Kind::Count, true),
            ("required_tokens", Kind::Count, true),
            ("budget_tokens", Kind::Count, true),
        ],
    ),
    ("transitioned", &[("row", Kind::Name, true)]),
    ("plan_adopted", &[("revision", Kind::Count, true), ("plan", Kind::Any, true)]),
    ("veto_raised", &[("revision", Kind::Count, true)]),
    ("consensus_scored", &[("revision", Kind::Count, true), ("score", Kind::Count, true)]),
    ("ratings_updated", &[("ratings", Kind::Object, true)]),
    ("decided", &[("decision", Kind::Object, true)]),
    ("execution_reported", &[("revision", Kind::Count, true), ("tasks", Kind::List, true)]),
    ("concluded", &[("conclusion", Kind::Object, true)]),
    ("memory_recorded", &[("record", Kind::Object, true)]),
    ("audit_recorded", &[("record", Kind::Object, true)]),
];

/// Events whose value is one value of the kernel.
const NESTED_EVENTS: [&str; 1] = ["network"];

/// Returns the JSON Schema of one line of a trace or a journal.
#[must_use]
pub fn trace_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Line of an Orchestrion trace",
        "description": "A line of a trace or a journal, as stored. Values that the kernel defines are described by their type only.",
        "oneOf": [
            {"$ref": "#/$defs/header"},
            {"$ref": "#/$defs/state"},
            {"$ref": "#/$defs/step"},
            {"$ref": "#/$defs/end"},
        ],
        "$defs": {
            "header": object(json!({
                "format": {"enum": [FORMAT, JOURNAL_FORMAT]},
                "kernel": {"type": "string"},
                "table": {"$ref": "#/$defs/digest"},
                "conversation": {"type": "string"},
                "policy": {"type": "object", "required": ["name"]},
                "scenario": {"anyOf": [
                    {"type": "null"},
                    object(
                        json!({
                            "name": {"type": "string"},
                            "digest": {"$ref": "#/$defs/digest"},
                            "seed": {"type": "string"},
                        }),
                        &["name", "digest"],
                    ),
                ]},
                "continues": object(
                    json!({"steps": {"$ref": "#/$defs/count"}, "chain": {"$ref": "#/$defs/digest"}}),
                    &["steps", "chain"],
                ),
                "upgraded_from": object(
                    json!({
                        "kernel": {"type": "string"},
                        "table": {"$ref": "#/$defs/digest"},
                        "policy": object(
                            json!({"name": {"type": "string"}, "digest": {"$ref": "#/$defs/digest"}}),
                            &["name", "digest"],
                        ),
                    }),
                    &["kernel", "table", "policy"],
                ),
                "lineage": object(
                    json!({
                        "parent": {"type": "string"},
                        "digest": {"$ref": "#/$defs/digest"},
                        "step": {"type": "integer", "minimum": 1},
                        "set": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    }),
                    &["parent", "digest", "step", "set"],
                ),
                "chain": {"$ref": "#/$defs/digest"},
            }), &["format", "kernel", "table", "conversation", "policy", "scenario", "chain"]),
            "state": object(json!({"state": {"type": "object"}, "chain": {"$ref": "#/$defs/digest"}}), &["state", "chain"]),
            "step": object(json!({
                "n": {"type": "integer", "minimum": 1},
                "at_ms": {"$ref": "#/$defs/count"},
                "note": {"$ref": "#/$defs/text"},
                "idempotency": {"type": "object"},
                "possible_loss": {"enum": ["call", "steps"]},
                "input": {"$ref": "#/$defs/input"},
                "events": {"anyOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/event"}, "minItems": 1},
                    object(
                        json!({"digest": {"$ref": "#/$defs/digest"}, "tool_call": {"$ref": "#/$defs/count"}}),
                        &["digest"],
                    ),
                ]},
                "refused": {"$ref": "#/$defs/text"},
                "context": {"anyOf": [{"$ref": "#/$defs/context"}, {"$ref": "#/$defs/digest"}]},
                "chain": {"$ref": "#/$defs/digest"},
            }), &["n", "input", "chain"]),
            "end": object(json!({
                "end": object(json!({"steps": {"$ref": "#/$defs/count"}}), &["steps"]),
                "chain": {"$ref": "#/$defs/digest"},
            }), &["end", "chain"]),
            "input": variants(&PLAIN_INPUTS, INPUTS, &NESTED_INPUTS),
            "event": variants(&PLAIN_EVENTS, EVENTS, &NESTED_EVENTS),
            "context": object(json!({
                "call": {"$ref": "#/$defs/count"},
                "items": {"anyOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/count"}},
                    object(
                        json!({
                            "from": {"$ref": "#/$defs/count"},
                            "removed": {"type": "array", "items": {"$ref": "#/$defs/count"}},
                            "added": {"type": "array", "items": {"$ref": "#/$defs/count"}},
                        }),
                        &["from", "removed", "added"],
                    ),
                ]},
                "cost_tokens": {"$ref": "#/$defs/count"},
                "payload_tokens": {"$ref": "#/$defs/count"},
                "utility": {"$ref": "#/$defs/count"},
                "bound": {"$ref": "#/$defs/count"},
                "status": {"enum": ["optimal", "not_proven"]},
                "digest": {"$ref": "#/$defs/digest"},
            }), &["call", "items", "cost_tokens", "payload_tokens", "utility", "bound", "status", "digest"]),
            "count": {"type": "integer", "minimum": 0},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "text": {"anyOf": [
                {"type": "string"},
                object(json!({"$text": {"$ref": "#/$defs/count"}}), &["$text"]),
                object(json!({"$erased": {"type": "array", "minItems": 2, "maxItems": 2}}), &["$erased"]),
            ]},
        },
    })
}

/// Returns the schema of an object without further keys.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Returns the schema of an input or event: a name, or an object whose only key is its name.
fn variants(plain: &[&str], table: &Table, nested: &[&str]) -> Value {
    let mut all = vec![json!({"enum": plain})];
    for (name, keys) in table {
        let properties: Map<String, Value> =
            keys.iter().map(|(key, kind, _)| ((*key).to_owned(), kind.schema())).collect();
        let required: Vec<&str> =
            keys.iter().filter(|(_, _, is_required)| *is_required).map(|(key, ..)| *key).collect();
        all.push(object(json!({*name: object(properties.into(), &required)}), &[name]));
    }
    all.extend(nested.iter().map(|name| object(json!({*name: {"type": ["object", "string"]}}), &[name])));
    json!({"oneOf": all})
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Count => json!({"$ref": "#/$defs/count"}),
            Self::Text => json!({"$ref": "#/$defs/text"}),
            Self::Name => json!({"type": "string"}),
            Self::List => json!({"type": "array"}),
            Self::Object => json!({"type": "object"}),
            Self::Variant => json!({"type": ["string", "object"]}),
            Self::Any => json!(true),
        }
    }
}
