//! A plain fold of the kernel's item events (000-4.8) that checks the invariants of each event.

use super::compaction::SUMMARY;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// S by id, as 000 §2 defines it: each id with its item and its dependencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    entries: BTreeMap<u64, Entry>,
    last_id: u64,
    /// The time, in milliseconds since 1970 (003-4.5).
    pub(super) now: u64,
}

/// An item with its dependencies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The item in its published encoding.
    pub(super) item: Value,
    /// The key of the item as one text.
    pub(super) key: String,
    pub(super) text: String,
    pub(super) deps: Vec<u64>,
}

/// One item event, with keys instead of ids.
#[derive(Clone, Debug)]
pub(super) struct ObservedItemEvent {
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) kind: Value,
    pub(super) text: String,
    pub(super) deps: BTreeSet<String>,
    /// Whether a write or a compaction made the item (decision 0019), not a request.
    pub(super) is_written: bool,
    /// The user of the request that left the item, if a request left it (decision 0004).
    pub(super) user: Option<String>,
    /// The scope of the item (decision 0037).
    pub(super) scope: Value,
}

impl Fold {
    /// Applies an item event that adds or updates (000-4.8). Returns `None` for any other event.
    pub(super) fn apply(&mut self, event: &Value) -> Result<Option<ObservedItemEvent>, String> {
        if let Some(added) = event.get("add_item") {
            return self.put("add_item", added).map(Some);
        }
        if let Some(updated) = event.get("update_item") {
            return self.put("update_item", updated).map(Some);
        }
        Ok(None)
    }

    fn put(&mut self, event: &'static str, body: &Value) -> Result<ObservedItemEvent, String> {
        let item = body.get("item").cloned().unwrap_or_default();
        let id = item["id"].as_u64().unwrap_or_default();
        let entry = Entry {
            key: item["key"].to_string(),
            text: item["text"].as_str().unwrap_or_default().to_owned(),
            deps: numbers(&body["deps"]),
            item,
        };
        let key = &entry.key;
        if event == "add_item" {
            // 000-1.6, decision 0016: a new item gets the next id; no id is used twice.
            self.last_id += 1;
            if id != self.last_id {
                return Err(format!("wrong id of a new item: expected {}, found {id} (0016)", self.last_id));
            }
            // 003-2.2: facts may share a key; decision 0021: so may summaries.
            let is_shared = key.starts_with("{\"fact\"") || key == SUMMARY;
            if !is_shared && self.entries.values().any(|other| other.key == *key) {
                return Err(format!("S has a second item with the key {key} (0016)"));
            }
        } else {
            // 000-3.5: an update replaces the item with the same id; 0016: only if the item changes.
            let Some(old) = self.entries.get(&id) else {
                return Err(format!("update of item {id}, which is not in S (000-3.5)"));
            };
            if old.key != *key {
                return Err(format!("update of item {id} changes its key from {} to {key} (0016)", old.key));
            }
            if *old == entry {
                return Err(format!("update of item {id} ({key}) changes nothing: expected no event (0016)"));
            }
        }
        // 000-2.6: without repetition and in id order.
        if !entry.deps.is_sorted_by(|a, b| a < b) {
            let deps = &entry.deps;
            return Err(format!("dependencies of item {id} not in id order: {deps:?} (000-2.6)"));
        }
        // 000-2.9: no dependency dangles.
        if let Some(dep) = entry.deps.iter().find(|dep| !self.entries.contains_key(dep)) {
            return Err(format!("item {id} depends on {dep}, which is not in S (000-2.9)"));
        }
        // Decision 0020: the situation belongs to the working set, and never expires. It may leave S in its batch.
        let layer = json!({ "working": { "created_at": self.now, "expires_at": null } });
        if entry.is_situation() && (entry.item["layer"] != layer || entry.item["validity"] != "current") {
            return Err(format!("{key} is not a current item of the working set: {} (0020)", entry.item));
        }
        let observed = ObservedItemEvent {
            event,
            key: entry.key.clone(),
            kind: entry.item["kind"].clone(),
            text: entry.text.clone(),
            deps: self.keys(&entry.deps),
            is_written: entry.is_written(),
            user: entry.user().map(str::to_owned),
            scope: entry.scope(),
        };
        self.entries.insert(id, entry);
        Ok(observed)
    }

    /// Returns the keys of the items with these ids.
    pub(super) fn keys(&self, ids: &[u64]) -> BTreeSet<String> {
        ids.iter().filter_map(|id| self.entries.get(id)).map(|entry| entry.key.clone()).collect()
    }

    /// Removes items (000-2.11, 000-3.6) and returns them with their ids.
    pub(super) fn forget(&mut self, ids: &Value) -> Result<Vec<(u64, Entry)>, String> {
        let ids = numbers(ids);
        if !ids.is_sorted_by(|a, b| a < b) {
            return Err(format!("forgotten ids not in id order: {ids:?} (000-3.6)"));
        }
        let mut forgotten = Vec::new();
        for id in &ids {
            let Some(entry) = self.entries.remove(id) else {
                return Err(format!("item {id} is forgotten, but S has no such item (000-3.6)"));
            };
            forgotten.push((*id, entry));
        }
        for (id, entry) in &self.entries {
            if let Some(dep) = entry.deps.iter().find(|dep| ids.contains(dep)) {
                return Err(format!("item {id} remains and depends on the forgotten item {dep} (000-2.9)"));
            }
        }
        Ok(forgotten)
    }

    /// Removes the items with these ids.
    pub(super) fn remove(&mut self, ids: &BTreeSet<u64>) {
        self.entries.retain(|id, _| !ids.contains(id));
    }

    /// Returns S in id order.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    pub(super) fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// Returns the id of the next new item (decision 0016).
    pub(super) const fn next_id(&self) -> u64 {
        self.last_id + 1
    }
}

impl Entry {
    /// Returns whether a write or a compaction made the item, not a request.
    ///
    /// Decision 0019: an item that a request leaves has the layer `request`. The items of the situation have another
    /// layer, and belong to no write either (decision 0020). A summary may have the layer `request`; it is compared as
    /// a whole event, like a written item.
    pub(super) fn is_written(&self) -> bool {
        (self.item["layer"].get("request").is_none() || self.key == SUMMARY) && !self.is_situation()
    }

    /// Returns the scope in which the item is readable (003-2.10, decision 0037). Items without a scope are global.
    pub(super) fn scope(&self) -> Value {
        let layer = &self.item["layer"];
        let scope = layer.get("fact").or(layer.get("request")).map(|layer| layer["scope"].clone());
        scope.unwrap_or_else(|| json!("global"))
    }

    /// Returns the user of the request that left the item, if a request left it (decision 0004).
    pub(super) fn user(&self) -> Option<&str> {
        self.item["layer"]["request"]["user"].as_str()
    }

    /// Returns the keys that a fact covers: its own key, for a summary of facts those of its parts (decision 0021), otherwise
    /// those that it took from summaries (decision 0027).
    pub(super) fn fact_keys(&self) -> BTreeSet<&str> {
        let own = self.item["key"]["fact"].as_str();
        let summarized = self.item["layer"]["fact"]["summarized_keys"].as_array().into_iter().flatten();
        own.into_iter().chain(summarized.filter_map(Value::as_str)).collect()
    }

    /// Returns whether this item covers the key of the other fact, or all keys of the other summary (decision 0021).
    pub(super) fn covers(&self, other: &Self) -> bool {
        match other.item["key"]["fact"].as_str() {
            Some(key) => self.fact_keys().contains(key),
            None => !other.fact_keys().is_empty() && other.fact_keys().is_subset(&self.fact_keys()),
        }
    }

    pub(super) fn is_situation(&self) -> bool {
        self.key.starts_with("{\"situation\"")
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().map(|ids| ids.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}
