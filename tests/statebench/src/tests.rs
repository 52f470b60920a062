//! What the tests of several files share, and rules that cross files.

mod bad_input;
mod context;
mod detection;
mod outside;
mod present;
mod state;

use super::read::Reader;
use super::score::Scorer;
use serde_json::{Value, json};

/// A line of a file, with these events.
pub(super) fn line(events: &Value) -> String {
    line_from(&initial(), events)
}

/// The same, from what is known at first.
fn line_from(initial: &Value, events: &Value) -> String {
    let line = json!({"id": "T-1", "track": "made_up", "initial_state": initial, "events": events});
    format!("{line}\n")
}

/// Nothing is known but who asks: a cook.
fn initial() -> Value {
    json!({
        "identity_role": {"user_name": "Ada", "authority": "Cook", "department": "Kitchen", "organization": "Inn"},
        "persistent_facts": [], "working_set": [], "environment": {"now": "2025-01-01T10:00:00"},
    })
}

/// These facts are known at first.
fn with_facts(facts: Value) -> Value {
    let mut initial = initial();
    initial["persistent_facts"] = facts;
    initial
}

/// A question with its answer.
pub(super) fn query(prompt: &str, must: &[&str], must_not: &[&str]) -> Value {
    json!({"ts": "2025-01-01T12:00:00", "type": "query", "prompt": prompt,
        "ground_truth": {"must_mention": must, "must_not_mention": must_not}})
}

fn ask(prompt: &str) -> Value {
    query(prompt, &[], &[])
}

fn say(text: &str) -> Value {
    json!({"ts": "2025-01-01T11:00:00", "type": "conversation_turn", "speaker": "user", "text": text})
}

/// A fact to be written.
fn fact(key: &str, value: &str) -> Value {
    json!({"id": "W-AUTO", "layer": "persistent_facts", "key": key, "value": value,
        "source": {"type": "user", "authority": "peer"}})
}

/// A fact that takes the place of another one.
fn instead(key: &str, value: &str, of: &str) -> Value {
    let mut fact = fact(key, value);
    fact["supersedes"] = of.into();
    fact
}

fn signal(key: &str, value: &str) -> Value {
    json!({"layer": "environment", "key": key, "value": value})
}

fn write(write: Value) -> Value {
    json!({"ts": "2025-01-01T11:00:00", "type": "state_write", "writes": [write]})
}

/// The contexts of a timeline's questions.
fn contexts(initial: &Value, events: &Value) -> Vec<String> {
    contexts_by(&Scorer::default(), initial, events)
}

fn contexts_by(scorer: &Scorer<'_>, initial: &Value, events: &Value) -> Vec<String> {
    let text = line_from(initial, events);
    let case = Reader::new(text.as_bytes(), "some.jsonl").next().unwrap().unwrap();
    assert!(case.faults.is_empty(), "{:?}", case.faults);
    let mut contexts = Vec::new();
    scorer.replay(&case.timeline, |_, _, context| contexts.push(context));
    contexts
}

/// What one question about what was written and said is told, without who asks and what time it is.
fn told(initial: &Value, events: &[Value], question: &str) -> String {
    let mut events = events.to_vec();
    events.push(ask(question));
    let context = contexts(initial, &events.into()).remove(0);
    let pinned = "Ada; Kitchen; Inn\n\nnow: 2025-01-01T12:00:00";
    let rest =
        context.strip_prefix(pinned).unwrap_or_else(|| panic!("identity and clock come first: {context}"));
    rest.trim_start().to_string()
}
