//! The items of requests as the documents define them: by key, without ids (decision 0016: one item per key).

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An item that S must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpectedItem {
    /// Fact, constraint or subtask (000-2.1 to 000-2.4), in the published encoding.
    pub(super) kind: Value,
    /// The text; `None` until the oracle observes a text that the kernel composed.
    pub(super) text: Option<String>,
    /// The data from which the kernel composes the text.
    pub(super) composed_from: Value,
    /// The dependencies, by key (000-2.6).
    pub(super) deps: BTreeSet<String>,
    /// The user of the request that left the item, if a request left it (decision 0004).
    pub(super) user: Option<String>,
    /// The scope of what produced the item (decision 0037).
    pub(super) scope: Value,
}

/// The text that an item must have.
#[derive(Clone, Debug)]
pub(super) enum ExpectedText {
    /// Exactly this text.
    Verbatim(String),
    /// A text that the kernel composes from this data and that contains these parts. No document requires more.
    Composed { from: Value, parts: Vec<String> },
}

/// A change of S that the documents require.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) item: ExpectedItem,
    /// Parts that a composed text must contain.
    pub(super) parts: Vec<String>,
    /// Whether the event is required. It is optional if only the source of a composed text changed: the new text may
    /// equal the old one.
    pub(super) is_required: bool,
    /// The text before the change.
    pub(super) old_text: Option<String>,
}

/// The items by key.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedItems(BTreeMap<String, ExpectedItem>);

/// Returns a key in the published encoding, as one text.
pub(super) fn key(kind: &str, of: &Value) -> String {
    json!({ kind: of }).to_string()
}

impl ExpectedItems {
    pub(super) fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns the text of a task's output, if it is readable in this scope (decision 0037).
    pub(super) fn readable_output(&self, request: u32, task: u32, scope: &Value) -> Option<&str> {
        let item = self.0.get(&key("output", &json!([request, task])))?;
        (item.scope == *scope || item.scope == "global").then_some(item.text.as_deref()?)
    }

    /// Returns the texts of a request's outputs that no reader of this scope sees, unless a text that such a reader sees
    /// contains them (decision 0037).
    pub(super) fn hidden_outputs(&self, request: u32, scope: &Value) -> impl Iterator<Item = &str> {
        let prefix = format!("{{\"output\":[{request},");
        let is_readable = |item: &ExpectedItem| item.scope == *scope || item.scope == "global";
        let (readable, hidden): (Vec<_>, Vec<_>) = self.0.iter().partition(|(_, item)| is_readable(item));
        let readable: Vec<&str> = readable.into_iter().filter_map(|(_, item)| item.text.as_deref()).collect();
        let hidden = hidden.into_iter().filter(move |(key, _)| key.starts_with(&prefix));
        hidden
            .filter_map(|(_, item)| item.text.as_deref())
            .filter(move |text| !readable.iter().any(|other| other.contains(text)))
    }

    /// Returns the text of an item, if it is known.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.text.as_deref()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds or updates the item of a key (decision 0016). Returns `None` if nothing changes.
    pub(super) fn upsert(&mut self, key: String, text: ExpectedText, item: ExpectedItem) -> Option<Change> {
        let old = self.0.get(&key).cloned();
        let (text, composed_from, parts) = match text {
            ExpectedText::Verbatim(text) => (Some(text), Value::Null, Vec::new()),
            ExpectedText::Composed { from, parts } => match &old {
                // The same data composes the same text (000-4.10).
                Some(old) if old.composed_from == from => (old.text.clone(), from, parts),
                _ => (None, from, parts),
            },
        };
        let item = ExpectedItem { text, composed_from, ..item };
        let old_text = old.as_ref().and_then(|old| old.text.clone());
        let may_equal = |old: &String| match &item.text {
            Some(text) => text == old,
            None => parts.iter().all(|part| old.contains(part.as_str())),
        };
        let is_required = old.as_ref().is_none_or(|old| {
            old.kind != item.kind
                || old.deps != item.deps
                || old.scope != item.scope
                || !old_text.as_ref().is_none_or(may_equal)
        });
        if old.as_ref() == Some(&item) {
            return None;
        }
        let event = if old.is_some() { "update_item" } else { "add_item" };
        self.0.insert(key.clone(), item.clone());
        Some(Change { event, key, item, parts, is_required, old_text })
    }

    /// Sets the status of a subtask (000-2.3).
    pub(super) fn set_status(&mut self, key: &str, status: &str) -> Option<Change> {
        let old = self.0.get(key)?.clone();
        let item = ExpectedItem { kind: json!({ "subtask": status }), ..old.clone() };
        if item == old {
            return None; // decision 0016: no event without a change
        }
        self.0.insert(key.to_owned(), item.clone());
        Some(Change {
            event: "update_item",
            key: key.to_owned(),
            item,
            parts: Vec::new(),
            is_required: true,
            old_text: None,
        })
    }

    /// Returns the item of a key. Records the observed text if the kernel composes the text of this item.
    pub(super) fn record_text(&mut self, key: &str, text: &str) -> Option<&ExpectedItem> {
        let item = self.0.get_mut(key)?;
        item.text.get_or_insert_with(|| text.to_owned());
        Some(item)
    }

    /// Removes a summarized item (decision 0021). Returns whether S had it.
    pub(super) fn forget(&mut self, key: &str) -> bool {
        self.0.remove(key).is_some()
    }

    /// Replaces the dependencies of an item (decision 0021).
    pub(super) fn set_deps(&mut self, key: &str, deps: BTreeSet<String>) {
        if let Some(item) = self.0.get_mut(key) {
            item.deps = deps;
        }
    }

    /// Removes and returns the keys that leave with the session: all but requests and final answers (decision 0004).
    pub(super) fn forget_working_set(&mut self) -> BTreeSet<String> {
        let persists = |key: &String| key.starts_with("{\"request\"") || key.starts_with(FINAL_ANSWER_PREFIX);
        let forgotten = self.0.keys().filter(|key| !persists(key)).cloned().collect();
        self.0.retain(|key, _| persists(key));
        forgotten
    }
}

/// The beginning of the key of every final answer.
pub(super) const FINAL_ANSWER_PREFIX: &str = "{\"final_answer\"";
