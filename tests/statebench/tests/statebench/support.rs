//! Invented timelines, and the contexts of their queries.

use orchestrion_statebench::read::Reader;
use orchestrion_statebench::score::Scorer;
use serde_json::{Value, json};

/// A line with these events after the default initial state.
pub(crate) fn line(events: &Value) -> String {
    line_from(&initial(), events)
}

/// A line with this initial state and these events.
pub(crate) fn line_from(initial: &Value, events: &Value) -> String {
    let line = json!({"id": "T-1", "track": "made_up", "initial_state": initial, "events": events});
    format!("{line}\n")
}

/// An initial state with a cook as session user.
pub(crate) fn initial() -> Value {
    json!({
        "identity_role": {"user_name": "Ada", "authority": "Cook", "department": "Kitchen", "organization": "Inn"},
        "persistent_facts": [], "working_set": [], "environment": {"now": "2025-01-01T10:00:00"},
    })
}

/// An initial state with these facts.
pub(crate) fn with_facts(facts: Value) -> Value {
    with(initial(), "persistent_facts", facts)
}

/// An initial state with a session user of this title.
pub(crate) fn with_title(title: &str) -> Value {
    let mut initial = initial();
    initial["identity_role"]["authority"] = title.into();
    initial
}

/// A record with another field.
pub(crate) fn with(mut record: Value, field: &str, value: impl Into<Value>) -> Value {
    record[field] = value.into();
    record
}

/// A query with its ground truth.
pub(crate) fn query(prompt: &str, must: &[&str], must_not: &[&str]) -> Value {
    json!({"ts": "2025-01-01T12:00:00", "type": "query", "prompt": prompt,
        "ground_truth": {"must_mention": must, "must_not_mention": must_not}})
}

/// A query without ground truth.
pub(crate) fn ask(prompt: &str) -> Value {
    query(prompt, &[], &[])
}

/// A turn of the user.
pub(crate) fn say(text: &str) -> Value {
    json!({"ts": "2025-01-01T11:00:00", "type": "conversation_turn", "speaker": "user", "text": text})
}

/// A fact.
pub(crate) fn fact(key: &str, value: &str) -> Value {
    json!({"id": "W-AUTO", "layer": "persistent_facts", "key": key, "value": value,
        "source": {"type": "user", "authority": "peer"}})
}

/// A fact that supersedes another one.
pub(crate) fn successor(key: &str, value: &str, of: &str) -> Value {
    with(fact(key, value), "supersedes", of)
}

/// A signal.
pub(crate) fn signal(key: &str, value: &str) -> Value {
    json!({"layer": "environment", "key": key, "value": value})
}

/// A note.
pub(crate) fn note(key: &str, value: &str) -> Value {
    json!({"layer": "working_set", "key": key, "value": value})
}

/// An event with one write.
pub(crate) fn write(write: Value) -> Value {
    json!({"ts": "2025-01-01T11:00:00", "type": "state_write", "writes": [write]})
}

/// The contexts of a timeline's queries.
pub(crate) fn contexts(initial: &Value, events: &Value) -> Vec<String> {
    contexts_with(&Scorer::default(), initial, events)
}

/// The contexts of a timeline's queries with another scorer.
pub(crate) fn contexts_with(scorer: &Scorer<'_>, initial: &Value, events: &Value) -> Vec<String> {
    let text = line_from(initial, events);
    let case = Reader::new(text.as_bytes(), "some.jsonl").next().unwrap().unwrap();
    assert!(case.diagnostics.is_empty(), "{:?}", case.diagnostics);
    let mut contexts = Vec::new();
    scorer.replay(&case.timeline, |_, _, context| contexts.push(context));
    contexts
}

/// The context of one query after these events, without identity and clock.
pub(crate) fn context_of(initial: &Value, events: &[Value], prompt: &str) -> String {
    let mut events = events.to_vec();
    events.push(ask(prompt));
    let context = contexts(initial, &events.into()).remove(0);
    let pinned = "Ada; Kitchen; Inn\n\nnow: 2025-01-01T12:00:00";
    let rest = context.strip_prefix(pinned);
    rest.unwrap_or_else(|| panic!("identity and clock are missing: {context}")).trim_start().to_string()
}
