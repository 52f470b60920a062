//! The naive fold of the kernel's item events (000-4.8), held against what every such event must keep to.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// S with ids, as 000 §2 has it: each id with its item and its dependencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    entries: BTreeMap<u64, (Value, Vec<u64>)>,
    given: u64,
}

/// One item event, its ids replaced by the keys that they stand for.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) variant: Value,
    pub(super) text: String,
    pub(super) deps: Vec<String>,
}

impl Fold {
    /// 000-4.8: the item events in their order. What was added or updated is told by key, what was forgotten too.
    pub(super) fn apply(&mut self, event: &Value) -> Result<Option<Seen>, String> {
        if let Some(added) = event.get("add_item") {
            return self.write("add_item", added).map(Some);
        }
        if let Some(updated) = event.get("update_item") {
            return self.write("update_item", updated).map(Some);
        }
        Ok(None)
    }

    fn write(&mut self, event: &'static str, body: &Value) -> Result<Seen, String> {
        let item = body.get("item").cloned().unwrap_or_default();
        let (id, key) = (item["id"].as_u64().unwrap_or_default(), item["key"].to_string());
        let deps = numbers(&body["deps"]);
        if event == "add_item" {
            // 000-1.6, decision 0016: a new item gets the next id; an id is never used again.
            self.given += 1;
            if id != self.given {
                return Err(format!("a new item gets the id {}; it came with {id} (0016)", self.given));
            }
            if self.entries.values().any(|(other, _)| other["key"] == item["key"]) {
                return Err(format!("a second item of the key {key} entered S (0016)"));
            }
        } else {
            // 000-3.5: the item with the same id is replaced; 0016: it keeps its id, and something changed.
            let Some((old, old_deps)) = self.entries.get(&id) else {
                return Err(format!("item {id} is updated, but S has no such item (000-3.5)"));
            };
            if old["key"] != item["key"] {
                return Err(format!("item {id} is updated from the key {} to {key} (0016)", old["key"]));
            }
            if *old == item && *old_deps == deps {
                return Err(format!(
                    "item {id} ({key}) is updated although nothing about it changed; no event was expected (0016)"
                ));
            }
        }
        // 000-2.6: without repetition and in id order.
        if !deps.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(format!("the dependencies of item {id} are not in id order: {deps:?} (000-2.6)"));
        }
        // 000-2.9: no dependency dangles.
        let keys: Option<Vec<String>> =
            deps.iter().map(|dep| self.entries.get(dep).map(|(item, _)| item["key"].to_string())).collect();
        let Some(deps_by_key) = keys else {
            return Err(format!("item {id} depends on {deps:?}, not all of which are in S (000-2.9)"));
        };
        let seen = Seen {
            event,
            key,
            variant: item["variant"].clone(),
            text: item["text"].as_str().unwrap_or_default().to_owned(),
            deps: deps_by_key,
        };
        self.entries.insert(id, (item, deps));
        Ok(seen)
    }

    /// 000-2.11, 000-3.6: items leave; the keys of those that left.
    pub(super) fn forget(&mut self, ids: &Value) -> Result<Vec<String>, String> {
        let ids = numbers(ids);
        if !ids.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(format!("the forgotten ids are not in id order: {ids:?} (000-3.6)"));
        }
        let mut keys = Vec::new();
        for id in &ids {
            let Some((item, _)) = self.entries.remove(id) else {
                return Err(format!("item {id} is forgotten, but S has no such item (000-3.6)"));
            };
            keys.push(item["key"].to_string());
        }
        for (id, (_, deps)) in &self.entries {
            if let Some(dep) = deps.iter().find(|dep| ids.contains(dep)) {
                return Err(format!("item {id} stays and depends on {dep}, which is forgotten (000-2.9)"));
            }
        }
        Ok(keys)
    }

    /// S, entry by entry in id order, as a state shows it.
    pub(super) fn entries(&self) -> Vec<Value> {
        self.entries.values().map(|(item, deps)| json!({ "item": item, "deps": deps })).collect()
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().map(|ids| ids.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}
