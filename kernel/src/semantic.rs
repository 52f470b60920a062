//! The semantic state `S = (I, deps)` (000 §2.2): everything that is known, and what rests on what.
//!
//! It changes only by `AddItem`, `UpdateItem` and `ForgetItems`. Deliberately absent: control, and any
//! judgement on which item matters to whom.

use crate::event::Event;
use crate::ids::{ItemId, RequestId, TaskId, Text};
use crate::item::{Item, ItemKey, ItemKind, Layer, SubtaskStatus, Validity};
use crate::situation::SummaryField;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use rpds::RedBlackTreeMapSync as Map;

/// Items and their dependencies, in id order. A copy shares everything with the original, and costs nothing.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "stored::Stored", into = "stored::Stored"))]
pub struct SemanticState {
    items: Map<ItemId, Entry>,
    next: ItemId,
    /// Which items speak of a key, their own or as a summary of facts: an index, as the next.
    by_key: Map<(ItemKey, ItemId), ()>,
    /// Which items rest on an item.
    dependents: Map<(ItemId, ItemId), ()>,
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

/// The indexes say nothing that the items do not.
impl PartialEq for SemanticState {
    fn eq(&self, other: &Self) -> bool {
        self.next == other.next && self.items == other.items
    }
}

impl Eq for SemanticState {}

impl Hash for SemanticState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.items.hash(state);
        self.next.hash(state);
    }
}

impl Default for SemanticState {
    fn default() -> Self {
        let (items, by_key, dependents) = (Map::new_sync(), Map::new_sync(), Map::new_sync());
        Self { items, next: ItemId::FIRST, by_key, dependents }
    }
}

impl SemanticState {
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

    /// Every item that speaks of this, the latest first: facts of a name, and summaries that stand for such.
    pub fn by_key<'a>(&'a self, key: &ItemKey) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let of_key = (key.clone(), LOWEST)..=(key.clone(), HIGHEST);
        self.by_key.range(of_key).rev().filter_map(|((_, id), ())| self.get(*id))
    }

    /// The latest item that speaks of this.
    #[must_use]
    pub fn latest_by_key(&self, key: &ItemKey) -> Option<&Entry> {
        self.by_key(key).next()
    }

    /// The items that rest on an item, in id order.
    pub fn dependents(&self, id: ItemId) -> impl Iterator<Item = ItemId> {
        self.dependents.range((id, LOWEST)..=(id, HIGHEST)).map(|((_, dependent), ())| *dependent)
    }

    /// The id of the request's own item.
    #[must_use]
    pub fn request(&self, request: RequestId) -> Option<ItemId> {
        self.latest_by_key(&ItemKey::Request(request)).map(|entry| entry.item.id)
    }

    /// What the tasks of a request gave, in the order of the tasks' numbers; only of tasks that are done.
    pub fn outputs(&self, request: RequestId) -> impl Iterator<Item = &Item> {
        let of_task = |task: u32, id: ItemId| (ItemKey::Output(request, TaskId::new(task)), id);
        let outputs = of_task(u32::MIN, LOWEST)..=of_task(u32::MAX, HIGHEST);
        self.by_key.range(outputs).filter_map(move |((key, id), ())| {
            let ItemKey::Output(_, task) = key else { return None };
            let subtask = self.latest_by_key(&ItemKey::Task(request, *task))?;
            (subtask.item.kind == ItemKind::Subtask(SubtaskStatus::Done)).then_some(&self.get(*id)?.item)
        })
    }

    /// What is said of each field of the situation, if anything is.
    pub(crate) fn situation_fields(&self) -> impl Iterator<Item = (SummaryField, Text)> {
        let of = |field: SummaryField, id: ItemId| (ItemKey::Situation(field), id);
        let [first, .., last] = SummaryField::ALL;
        // Of one field the latest comes last, and is what counts.
        self.by_key.range(of(first, LOWEST)..=of(last, HIGHEST)).filter_map(|((key, id), ())| match key {
            ItemKey::Situation(field) => Some((*field, self.get(*id)?.item.text.clone())),
            _ => None,
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
        self.entries().filter(|entry| !entry.item.persists()).map(|entry| entry.item.id).collect()
    }

    /// Whether every id is its item's, every key leads to its items, and no dependency dangles (000 §2.2).
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let edges = self.entries().map(|entry| entry.deps.len()).sum::<usize>();
        let spoken_of = self.entries().map(|entry| keys(&entry.item).count()).sum::<usize>();
        self.by_key.size() == spoken_of
            && self.dependents.size() == edges
            && self.items.iter().all(|(id, entry)| {
                entry.item.id == *id
                    && *id < self.next
                    && keys(&entry.item).all(|key| self.by_key.contains_key(&(key, *id)))
                    && entry
                        .deps
                        .iter()
                        .all(|dep| self.items.contains_key(dep) && self.dependents.contains_key(&(*dep, *id)))
            })
    }

    /// Writes one semantic event; every other event leaves the state as it is. Total: what does not fit is written as far
    /// as it makes sense; [`admit`](crate::knowledge::admit) says whether it fits.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::AddItem { item, deps } | Event::UpdateItem { item, deps } => {
                self.write(Entry { item: item.clone(), deps: deps.clone() });
            }
            Event::ForgetItems { ids, .. } => ids.iter().for_each(|id| self.forget(*id)),
            _ => {}
        }
    }

    fn write(&mut self, entry: Entry) {
        let id = entry.item.id;
        self.next = self.next.max(id.next());
        let old = self.items.get(&id);
        let speaks_of_others = |old: &Entry| {
            old.item.key != entry.item.key || !old.item.covered_keys().eq(entry.item.covered_keys())
        };
        if old.is_some_and(speaks_of_others) {
            self.forget(id);
            return self.write(entry);
        }
        let before = old.map_or(&[][..], |old| &old.deps);
        for dep in before.iter().filter(|dep| !entry.deps.contains(dep)) {
            self.dependents.remove_mut(&(*dep, id));
        }
        for dep in entry.deps.iter().filter(|dep| !before.contains(dep)) {
            self.dependents.insert_mut((*dep, id), ());
        }
        if old.is_none() {
            keys(&entry.item).for_each(|key| {
                self.by_key.insert_mut((key, id), ());
            });
        }
        self.items.insert_mut(id, entry);
    }

    fn forget(&mut self, id: ItemId) {
        let Some(Entry { item, deps }) = self.items.get(&id) else { return };
        for key in keys(item) {
            self.by_key.remove_mut(&(key, id));
        }
        for dep in deps {
            self.dependents.remove_mut(&(*dep, id));
        }
        self.items.remove_mut(&id);
    }

    /// Renumbers the items 1, 2, 3 … keeping their order (design §2, rule 3).
    pub(crate) fn canonicalize(&mut self) {
        let mut next = ItemId::FIRST;
        let mut renamed = BTreeMap::new();
        for old in self.items.keys() {
            renamed.insert(*old, next);
            next = next.next();
        }
        if self.next == next {
            return;
        }
        let rename = |id: ItemId| renamed.get(&id).copied().unwrap_or(id);
        let mut canonical = Self::default();
        for Entry { item, deps } in self.entries() {
            let item = Item {
                id: rename(item.id),
                layer: match &item.layer {
                    Layer::Fact(fact) => {
                        let mut fact = fact.clone();
                        fact.supersedes = fact.supersedes.map(rename);
                        Layer::Fact(fact)
                    }
                    layer => layer.clone(),
                },
                validity: match item.validity {
                    Validity::Superseded { superseded_by: by, rule } => {
                        Validity::Superseded { superseded_by: by.map(rename), rule }
                    }
                    standing => standing,
                },
                ..item.clone()
            };
            canonical.write(Entry { item, deps: deps.iter().map(|dep| rename(*dep)).collect() });
        }
        canonical.next = next;
        *self = canonical;
    }
}

/// What an item speaks of: its key, and the keys of the facts that it stands for.
fn keys(item: &Item) -> impl Iterator<Item = ItemKey> {
    let stands_for = item.fact().into_iter().flat_map(|fact| &fact.summarized_keys);
    core::iter::once(item.key.clone()).chain(stands_for.cloned().map(ItemKey::Fact))
}

const LOWEST: ItemId = ItemId::new(u64::MIN);
const HIGHEST: ItemId = ItemId::new(u64::MAX);

/// The encoding: items, and the next id. Indexes are made anew.
#[cfg(feature = "serde")]
mod stored {
    use super::{Entry, SemanticState};
    use crate::ids::ItemId;
    use alloc::vec::Vec;

    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Stored {
        items: Vec<Entry>,
        next: ItemId,
    }

    impl From<SemanticState> for Stored {
        fn from(semantic: SemanticState) -> Self {
            Self { items: semantic.entries().cloned().collect(), next: semantic.next }
        }
    }

    impl From<Stored> for SemanticState {
        fn from(stored: Stored) -> Self {
            let mut semantic = Self::default();
            stored.items.into_iter().for_each(|entry| semantic.write(entry));
            semantic.next = semantic.next.max(stored.next);
            semantic
        }
    }
}
