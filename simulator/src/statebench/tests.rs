//! What the tests of several files share, and what crosses them.

use serde_json::{Value, json};

/// A line of a file, with these events.
pub(super) fn line(events: &Value) -> String {
    let initial = json!({
        "identity_role": {"user_name": "Ada", "authority": "Cook", "department": "Kitchen", "organization": "Inn"},
        "persistent_facts": [], "working_set": [], "environment": {"now": "2025-01-01T10:00:00"},
    });
    line_from(&initial, events)
}

/// The same, from what is known at first.
pub(super) fn line_from(initial: &Value, events: &Value) -> String {
    let line = json!({"id": "T-1", "track": "made_up", "initial_state": initial, "events": events});
    format!("{line}\n")
}

/// A question with its answer.
pub(super) fn query(prompt: &str, must: &[&str], must_not: &[&str]) -> Value {
    json!({"ts": "2025-01-01T12:00:00", "type": "query", "prompt": prompt,
        "ground_truth": {"must_mention": must, "must_not_mention": must_not}})
}
