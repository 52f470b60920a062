//! The naive fold of the kernel's item events (000-4.8), held against what every such event must keep to.

use super::compaction::SUMMARY;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// S with ids, as 000 §2 has it: each id with its item and its dependencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    entries: BTreeMap<u64, Entry>,
    given: u64,
}

/// An item with its dependencies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The item in the published encoding.
    pub(super) item: Value,
    /// Its key, as one text.
    pub(super) key: String,
    pub(super) text: String,
    pub(super) deps: Vec<u64>,
}

/// One item event, its ids replaced by the keys that they stand for.
#[derive(Clone, Debug)]
pub(super) struct ObservedItemEvent {
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) variant: Value,
    pub(super) text: String,
    pub(super) rests_on: BTreeSet<String>,
    /// Whether it was written by name (decision 0019), and not left by a request.
    pub(super) written: bool,
    /// Whose request left it, if one did (decision 0004).
    pub(super) user: Option<String>,
}

impl Fold {
    /// 000-4.8: the item events in their order. What was added or updated is told by key, what was forgotten too.
    pub(super) fn apply(&mut self, event: &Value) -> Result<Option<ObservedItemEvent>, String> {
        if let Some(added) = event.get("add_item") {
            return self.write("add_item", added).map(Some);
        }
        if let Some(updated) = event.get("update_item") {
            return self.write("update_item", updated).map(Some);
        }
        Ok(None)
    }

    fn write(&mut self, event: &'static str, body: &Value) -> Result<ObservedItemEvent, String> {
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
            // 000-1.6, decision 0016: a new item gets the next id; an id is never used again.
            self.given += 1;
            if id != self.given {
                return Err(format!("a new item gets the id {}; it came with {id} (0016)", self.given));
            }
            // 003-2.2: facts may share a key; decision 0021: so may summaries.
            let shared = key.starts_with("{\"fact\"") || key == SUMMARY;
            if !shared && self.entries.values().any(|other| other.key == *key) {
                return Err(format!("a second item of the key {key} entered S (0016)"));
            }
        } else {
            // 000-3.5: the item with the same id is replaced; 0016: it keeps its id, and something changed.
            let Some(old) = self.entries.get(&id) else {
                return Err(format!("item {id} is updated, but S has no such item (000-3.5)"));
            };
            if old.key != *key {
                return Err(format!("item {id} is updated from the key {} to {key} (0016)", old.key));
            }
            if *old == entry {
                return Err(format!(
                    "item {id} ({key}) is updated although nothing about it changed; no event was expected (0016)"
                ));
            }
        }
        // 000-2.6: without repetition and in id order.
        if !entry.deps.is_sorted_by(|a, b| a < b) {
            let deps = &entry.deps;
            return Err(format!("the dependencies of item {id} are not in id order: {deps:?} (000-2.6)"));
        }
        // 000-2.9: no dependency dangles.
        if let Some(dep) = entry.deps.iter().find(|dep| !self.entries.contains_key(dep)) {
            return Err(format!("item {id} depends on {dep}, which is not in S (000-2.9)"));
        }
        let seen = ObservedItemEvent {
            event,
            key: entry.key.clone(),
            variant: entry.item["variant"].clone(),
            text: entry.text.clone(),
            rests_on: self.keys(&entry.deps),
            written: entry.is_written(),
            user: entry.user().map(str::to_owned),
        };
        self.entries.insert(id, entry);
        Ok(seen)
    }

    /// What these ids stand for.
    pub(super) fn keys(&self, ids: &[u64]) -> BTreeSet<String> {
        ids.iter().filter_map(|id| self.entries.get(id)).map(|entry| entry.key.clone()).collect()
    }

    /// 000-2.11, 000-3.6: items leave; those that left, with their ids.
    pub(super) fn forget(&mut self, ids: &Value) -> Result<Vec<(u64, Entry)>, String> {
        let ids = numbers(ids);
        if !ids.is_sorted_by(|a, b| a < b) {
            return Err(format!("the forgotten ids are not in id order: {ids:?} (000-3.6)"));
        }
        let mut gone = Vec::new();
        for id in &ids {
            let Some(entry) = self.entries.remove(id) else {
                return Err(format!("item {id} is forgotten, but S has no such item (000-3.6)"));
            };
            gone.push((*id, entry));
        }
        for (id, entry) in &self.entries {
            if let Some(dep) = entry.deps.iter().find(|dep| ids.contains(dep)) {
                return Err(format!("item {id} stays and depends on {dep}, which is forgotten (000-2.9)"));
            }
        }
        Ok(gone)
    }

    /// S in id order.
    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(id, entry)| (*id, entry))
    }

    pub(super) fn get(&self, id: u64) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// The id that the next new item gets (decision 0016).
    pub(super) const fn next_id(&self) -> u64 {
        self.given + 1
    }
}

impl Entry {
    /// Decision 0019: what a request leaves is of the layer `request`; everything else was written by name, but for what
    /// modules said of the situation (decision 0020). A summary, which may be of that layer, is judged like what was written:
    /// by its whole event.
    pub(super) fn is_written(&self) -> bool {
        (self.item["layer"].get("request").is_none() || self.key == SUMMARY) && !self.is_situation()
    }

    /// Decision 0004: whose request left it, if one did.
    pub(super) fn user(&self) -> Option<&str> {
        self.item["layer"]["request"]["user"].as_str()
    }

    /// Decision 0021: what a fact is called, and what a summary of facts stands for.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let own = self.item["key"]["fact"].as_str();
        let stands_for = self.item["layer"]["fact"]["stands_for"].as_array().into_iter().flatten();
        own.into_iter().chain(stands_for.filter_map(Value::as_str)).collect()
    }

    /// Decision 0021: whether all that is said there under a name is said here too.
    pub(super) fn speaks_for(&self, other: &Self) -> bool {
        !other.names().is_empty() && other.names().is_subset(&self.names())
    }

    pub(super) fn is_situation(&self) -> bool {
        self.key.starts_with("{\"situation\"")
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().map(|ids| ids.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}
