//! The semantic state `S = (I, deps)` (000 §2.2): everything that is known, and what rests on what.
//!
//! It changes only by `AddItem`, `UpdateItem` and `ForgetItems`. Deliberately absent: control, and any
//! judgement on which item matters to whom.

use crate::event::Event;
use crate::ids::{ItemId, RequestId, TaskId};
use crate::item::{Item, Key, Status, Variant};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use rpds::RedBlackTreeMapSync as Map;

/// Items and their dependencies, both in id order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Semantic {
    items: Map<ItemId, Entry>,
    by_key: Map<Key, ItemId>,
    next: ItemId,
}

/// An item with the items it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entry {
    /// The item.
    pub item: Item,
    /// Its dependencies, in id order.
    pub deps: Vec<ItemId>,
}

/// Keys stand in the items too, so the second order of them is not hashed.
impl Hash for Semantic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.items.hash(state);
        self.next.hash(state);
    }
}

impl Default for Semantic {
    fn default() -> Self {
        Self { items: Map::new_sync(), by_key: Map::new_sync(), next: ItemId::FIRST }
    }
}

impl Semantic {
    /// Every item with its dependencies, in id order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.items.values()
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.size()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item with this id.
    #[must_use]
    pub fn get(&self, id: ItemId) -> Option<&Entry> {
        self.items.get(&id)
    }

    /// The item that speaks of this.
    #[must_use]
    pub fn find(&self, key: &Key) -> Option<&Entry> {
        self.get(*self.by_key.get(key)?)
    }

    /// The id of the request's own item.
    #[must_use]
    pub fn request(&self, request: RequestId) -> Option<ItemId> {
        self.by_key.get(&Key::Request(request)).copied()
    }

    /// What the tasks of a request gave, in the order of the tasks' numbers; only of tasks that are done.
    pub fn outputs(&self, request: RequestId) -> impl Iterator<Item = &Item> {
        let of_task = |task: u32| Key::Output(request, TaskId::new(task));
        self.by_key.range(of_task(u32::MIN)..=of_task(u32::MAX)).filter_map(move |(key, id)| {
            let Key::Output(_, task) = key else { return None };
            let subtask = self.find(&Key::Task(request, *task))?;
            (subtask.item.variant == Variant::Subtask(Status::Done)).then_some(&self.get(*id)?.item)
        })
    }

    /// The id that the next item gets.
    #[must_use]
    pub const fn next_id(&self) -> ItemId {
        self.next
    }

    /// What leaves when the session ends: every item that does not outlive it.
    #[must_use]
    pub fn working_set(&self) -> Vec<ItemId> {
        self.entries().filter(|entry| !entry.item.key.persists()).map(|entry| entry.item.id).collect()
    }

    /// Whether every id is its item's, every key leads to its item, and no dependency dangles (000 §2.2).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.by_key.size() == self.items.size()
            && self.items.iter().all(|(id, entry)| {
                entry.item.id == *id
                    && *id < self.next
                    && self.by_key.get(&entry.item.key) == Some(id)
                    && entry.deps.iter().all(|dep| self.items.contains_key(dep))
            })
    }

    /// Writes one semantic event; every other event leaves the state as it is.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::AddItem { item, deps } | Event::UpdateItem { item, deps } => {
                self.next = self.next.max(item.id.next());
                let entry = Entry { item: item.clone(), deps: deps.clone() };
                if let Some(old) = self.items.get(&item.id) {
                    if old.item.key == item.key {
                        self.items.insert_mut(item.id, entry);
                        return;
                    }
                    self.by_key.remove_mut(&old.item.key);
                }
                self.items.insert_mut(item.id, entry);
                self.by_key.insert_mut(item.key.clone(), item.id);
            }
            Event::ForgetItems { ids, .. } => {
                for id in ids {
                    if let Some(entry) = self.items.get(id) {
                        self.by_key.remove_mut(&entry.item.key);
                        self.items.remove_mut(id);
                    }
                }
            }
            _ => {}
        }
    }

    /// Renumbers the items 1, 2, 3 … keeping their order (design §2, rule 3).
    pub(crate) fn canon(&mut self) {
        let mut next = ItemId::FIRST;
        let mut renamed = BTreeMap::new();
        for old in self.items.keys() {
            renamed.insert(*old, next);
            next = next.next();
        }
        if self.next == next {
            return;
        }
        self.next = next;
        let rename = |id: ItemId| renamed.get(&id).copied().unwrap_or(id);
        let renamed_entry = |entry: &Entry| {
            let item = Item { id: rename(entry.item.id), ..entry.item.clone() };
            (item.id, Entry { item, deps: entry.deps.iter().map(|dep| rename(*dep)).collect() })
        };
        self.items = self.items.values().map(renamed_entry).collect();
        self.by_key = self.by_key.iter().map(|(key, id)| (key.clone(), rename(*id))).collect();
    }
}
