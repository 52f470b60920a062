//! The semantic state `S = (I, deps)` (000 §2.2): items and their dependencies.
//!
//! Only `AddItem`, `UpdateItem` and `ForgetItems` change it. Deliberately absent: control, and the utility of items.

#[cfg(test)]
mod tests;
mod totals;

use crate::digest::{CachedDigest, SharedDigest, digest};
use crate::event::{BaseEvent, Event};
use crate::ids::{ItemId, RequestId, TaskId, Text, Timestamp};
use crate::item::{FactRecord, Item, ItemKey, ItemKind, Layer, SubtaskStatus, Validity};
use crate::shared_map::{SharedMap, SharedSet};
use crate::situation::SummaryField;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::ops::Bound;
use totals::Totals;

/// Items with their dependencies, in id order. A clone shares its structure with the original and takes constant time.
///
/// ```
/// use orchestrion_kernel::event::Event;
/// use orchestrion_kernel::item::{Item, ItemKey, ItemKind};
/// use orchestrion_kernel::semantic::SemanticState;
/// use orchestrion_kernel::{ItemId, RequestId, UserId};
///
/// let mut semantic = SemanticState::default();
/// let key = ItemKey::Request(RequestId::FIRST);
/// let id = semantic.next_id();
/// let item = Item::from_request(UserId::new("ada"), id, ItemKind::Fact, key, "plan a trip".into());
/// semantic.apply(&Event::AddItem { item, deps: vec![] });
/// assert_eq!(semantic.request(RequestId::FIRST), Some(ItemId::FIRST));
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "encoding::Encoded", into = "encoding::Encoded"))]
pub struct SemanticState {
    /// The valid items.
    valid: SharedMap<ItemId, Arc<KeptEntry>>,
    /// The superseded and denied items. No context contains them, so no call reads through them.
    archived: SharedMap<ItemId, Arc<KeptEntry>>,
    next: ItemId,
    /// Index: the items of a key, and the summaries that cover it.
    by_key: SharedSet<(ItemKey, ItemId)>,
    /// Index: the dependents of an item.
    dependents: SharedSet<(ItemId, ItemId)>,
    /// Index: the items that an item links to, with that item: its successor, and the fact that it supersedes or shadows.
    links: SharedSet<(ItemId, ItemId)>,
    /// Index: the facts of a scope other than the global one.
    scoped: SharedSet<ItemId>,
    /// Index: the items that expire.
    expiries: SharedSet<(Timestamp, ItemId)>,
    /// Index: totals of the valid items.
    totals: Totals,
    /// The digest of the items and the next id.
    digest: SharedDigest,
}

/// An item with its dependencies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Entry {
    /// The item.
    pub item: Item,
    /// Its dependencies, in id order.
    pub deps: Vec<ItemId>,
}

/// An entry with its digest.
#[derive(Clone, Debug)]
struct KeptEntry {
    entry: Entry,
    digest: CachedDigest,
}

impl PartialEq for KeptEntry {
    fn eq(&self, other: &Self) -> bool {
        self.entry == other.entry
    }
}

/// Ignores the indexes, which follow from the items.
impl PartialEq for SemanticState {
    fn eq(&self, other: &Self) -> bool {
        self.digest.is_same(&other.digest)
            || self.next == other.next && self.valid == other.valid && self.archived == other.archived
    }
}

impl Eq for SemanticState {}

impl Hash for SemanticState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.digest());
    }
}

impl Default for SemanticState {
    fn default() -> Self {
        Self {
            valid: SharedMap::default(),
            archived: SharedMap::default(),
            next: ItemId::FIRST,
            by_key: SharedSet::default(),
            dependents: SharedSet::default(),
            links: SharedSet::default(),
            scoped: SharedSet::default(),
            expiries: SharedSet::default(),
            totals: Totals::default(),
            digest: SharedDigest::default(),
        }
    }
}

impl SemanticState {
    /// Returns the digest of the items and the next id.
    fn digest(&self) -> u128 {
        self.digest.get_or_compute(|| self.compute_digest(|kept| kept.digest.of(&kept.entry)))
    }

    fn compute_digest(&self, of: impl Fn(&KeptEntry) -> u128) -> u128 {
        let all = |items: &SharedMap<ItemId, Arc<KeptEntry>>| {
            items.values().map(|kept| of(kept)).collect::<Vec<u128>>()
        };
        digest(&(all(&self.valid), all(&self.archived), self.next))
    }

    /// Returns every item with its dependencies, in id order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let mut valid = entries_of(&self.valid).peekable();
        let mut archived = entries_of(&self.archived).peekable();
        core::iter::from_fn(move || {
            let is_archived_next = match (valid.peek(), archived.peek()) {
                (Some(valid), Some(archived)) => archived.item.id < valid.item.id,
                (None, Some(_)) => true,
                (Some(_) | None, None) => false,
            };
            if is_archived_next { archived.next() } else { valid.next() }
        })
    }

    /// Returns the valid items with their dependencies, in id order, without a scan of the others.
    pub fn valid_entries(&self) -> impl Iterator<Item = &Entry> {
        entries_of(&self.valid)
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.valid.size().saturating_add(self.archived.size())
    }

    /// Returns whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.valid.is_empty() && self.archived.is_empty()
    }

    /// Returns the item with this id.
    #[must_use]
    pub fn get(&self, id: ItemId) -> Option<&Entry> {
        self.valid.get(&id).or_else(|| self.archived.get(&id)).map(|kept| &kept.entry)
    }

    /// Returns the items with this key and the summaries that cover it, latest first.
    pub fn by_key<'a>(&'a self, key: &ItemKey) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let end = self.by_key.place_after(|(known, _)| known <= key);
        let mut earlier = self.by_key.before(end).rev().map(|(entry, ())| entry);
        let latest = earlier.next().filter(|(known, _)| known == key);
        let found = latest.map(|(known, _)| known);
        let others = earlier.take_while(move |(known, _)| Some(known) == found);
        latest.into_iter().chain(others).filter_map(|(_, id)| self.get(*id))
    }

    /// Returns the latest item with this key, or summary that covers it.
    #[must_use]
    pub fn latest_by_key(&self, key: &ItemKey) -> Option<&Entry> {
        self.by_key(key).next()
    }

    /// Returns the direct dependents of an item, in id order.
    pub fn dependents(&self, id: ItemId) -> impl Iterator<Item = ItemId> {
        self.dependents.range((id, LOWEST)..=(id, HIGHEST)).map(|((_, dependent), ())| *dependent)
    }

    /// Returns the items whose successor is this item, or that name it as the fact that they supersede or shadow, in id order.
    pub(crate) fn linked_to(&self, id: ItemId) -> impl Iterator<Item = &Entry> {
        self.links.range((id, LOWEST)..=(id, HIGHEST)).filter_map(|((_, by), ())| self.get(*by))
    }

    /// Returns the facts of a scope other than the global one, in id order.
    pub(crate) fn scoped_facts(&self) -> impl Iterator<Item = &Entry> {
        self.scoped.keys().filter_map(|id| self.get(*id))
    }

    /// Returns the id of the item with the user's message of a request.
    #[must_use]
    pub fn request(&self, request: RequestId) -> Option<ItemId> {
        self.latest_by_key(&ItemKey::Request(request)).map(|entry| entry.item.id)
    }

    /// Returns the outputs of the completed tasks of a request, in the order of task numbers.
    pub fn outputs(&self, request: RequestId) -> impl Iterator<Item = &Item> {
        let of_task = |task: u32, id: ItemId| (ItemKey::Output(request, TaskId::new(task)), id);
        let outputs = of_task(u32::MIN, LOWEST)..=of_task(u32::MAX, HIGHEST);
        self.by_key.range(outputs).filter_map(move |((key, id), ())| {
            let ItemKey::Output(_, task) = key else { return None };
            let subtask = self.latest_by_key(&ItemKey::Task(request, *task))?;
            (subtask.item.kind == ItemKind::Subtask(SubtaskStatus::Done)).then_some(&self.get(*id)?.item)
        })
    }

    /// Returns the written fields of the situation summary.
    pub(crate) fn situation_fields(&self) -> impl Iterator<Item = (SummaryField, Text)> {
        // The latest item of a field comes last, and replaces the earlier ones.
        self.situation_items().filter_map(|item| match item.key {
            ItemKey::Situation(field) => Some((field, item.text.clone())),
            _ => None,
        })
    }

    /// Returns the ids of the situation summary, in id order.
    pub(crate) fn situation_ids(&self) -> Vec<ItemId> {
        let mut ids: Vec<ItemId> = self.situation_items().map(|item| item.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the items of the situation summary, in the order of their fields.
    pub(crate) fn situation_items(&self) -> impl Iterator<Item = &Item> {
        let of = |field: SummaryField, id: ItemId| (ItemKey::Situation(field), id);
        let [first, .., last] = SummaryField::ALL;
        let of_situation = self.by_key.range(of(first, LOWEST)..=of(last, HIGHEST));
        of_situation.filter_map(|((_, id), ())| Some(&self.get(*id)?.item))
    }

    /// Returns the signals, in the order of their keys.
    pub(crate) fn signals(&self) -> impl Iterator<Item = &Entry> {
        let signals = self.by_key.range((ItemKey::Environment("".into()), LOWEST)..);
        let signals = signals.take_while(|((key, _), ())| matches!(key, ItemKey::Environment(_)));
        signals.filter_map(|((_, id), ())| self.get(*id))
    }

    /// Returns the number of valid items that end with the session, without the identity.
    pub(crate) const fn session_items(&self) -> usize {
        self.totals.session_items
    }

    /// Returns an upper bound on the bytes of the lines of all valid items in a context.
    pub(crate) const fn line_bytes_max(&self) -> usize {
        self.totals.line_bytes_max
    }

    /// Returns the first expiry after this time, if any.
    #[must_use]
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        if self.expiries.is_empty() {
            return None;
        }
        let later = (Bound::Excluded((now, HIGHEST)), Bound::Unbounded);
        self.expiries.range(later).next().map(|((at, _), ())| *at)
    }

    /// Returns the items that expire at this time or before, in the order of their expiries.
    pub(crate) fn expiring_until(&self, now: Timestamp) -> impl Iterator<Item = ItemId> {
        self.expiries.range(..=(now, HIGHEST)).map(|((_, id), ())| *id)
    }

    /// Returns the id of the next item.
    #[must_use]
    pub const fn next_id(&self) -> ItemId {
        self.next
    }

    /// Returns the items that end with the session.
    #[must_use]
    pub fn working_set(&self) -> Vec<ItemId> {
        self.entries().filter(|entry| !entry.item.is_persistent()).map(|entry| entry.item.id).collect()
    }

    /// Returns whether ids, indexes and digests match the items and every dependency exists (000 §2.2). False only after foreign events.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let edges = self.entries().map(|entry| entry.deps.len()).sum::<usize>();
        let key_count = self.entries().map(|entry| keys(&entry.item).count()).sum::<usize>();
        let link_count = self.entries().map(|entry| links(&entry.item).count()).sum::<usize>();
        let scoped_count = self.entries().filter(|entry| is_scoped(&entry.item)).count();
        let expiries = || self.entries().filter_map(|entry| expiry(&entry.item));
        self.digest() == self.compute_digest(|kept| digest(&kept.entry))
            && self.by_key.size() == key_count
            && self.dependents.size() == edges
            && self.expiries.size() == expiries().count()
            && self.links.size() == link_count
            && self.scoped.size() == scoped_count
            && self.totals
                == self.valid_entries().fold(Totals::default(), |totals, entry| totals.with(&entry.item))
            && expiries().all(|expiry| self.expiries.contains_key(&expiry))
            && self.valid_entries().all(|entry| entry.item.is_valid())
            && !entries_of(&self.archived).any(|entry| entry.item.is_valid())
            && self.valid.iter().chain(self.archived.iter()).all(|(id, kept)| {
                let entry = &kept.entry;
                entry.item.id == *id
                    && *id < self.next
                    && links(&entry.item).all(|target| self.links.contains_key(&(target, *id)))
                    && (!is_scoped(&entry.item) || self.scoped.contains_key(id))
                    && keys(&entry.item).all(|key| self.by_key.contains_key(&(key, *id)))
                    && entry
                        .deps
                        .iter()
                        .all(|dep| self.get(*dep).is_some() && self.dependents.contains_key(&(*dep, *id)))
            })
    }

    /// Returns the state after these events; borrowed if none of them is semantic.
    pub(crate) fn after(&self, events: &[Event]) -> Cow<'_, Self> {
        let mut after = Cow::Borrowed(self);
        for event in events.iter().filter(|event| event.is_semantic()) {
            after.to_mut().apply(event);
        }
        after
    }

    /// Applies one semantic event and ignores every other event. Total: a foreign event is applied as far as possible.
    pub fn apply(&mut self, event: &Event) {
        match event.base() {
            Some(BaseEvent::AddItem(item, deps) | BaseEvent::UpdateItem(item, deps)) => {
                self.write(Entry { item: item.clone(), deps: deps.to_vec() });
            }
            Some(BaseEvent::ForgetItems(ids)) => ids.iter().for_each(|id| self.forget(*id)),
            Some(
                BaseEvent::UserMsg(..)
                | BaseEvent::ToolCall(..)
                | BaseEvent::ToolResult(..)
                | BaseEvent::FinalAnswer(_),
            )
            | None => {}
        }
    }

    fn write(&mut self, entry: Entry) {
        let id = entry.item.id;
        self.next = self.next.max(id.next());
        let old = self.get(id);
        if old.is_some_and(|old| !is_indexed_alike(&old.item, &entry.item)) {
            self.forget(id);
            return self.write(entry);
        }
        let old_deps = old.map_or(&[][..], |old| old.deps.as_slice());
        let removed: Vec<ItemId> = old_deps.iter().copied().filter(|dep| !entry.deps.contains(dep)).collect();
        let added: Vec<ItemId> = entry.deps.iter().copied().filter(|dep| !old_deps.contains(dep)).collect();
        let is_new = old.is_none();
        let totals = old.map_or(self.totals, |old| self.totals.without(&old.item));
        self.totals = totals.with(&entry.item);
        for dep in removed {
            self.dependents.remove(&(dep, id));
        }
        for dep in added {
            self.dependents.insert((dep, id), ());
        }
        if is_new {
            self.index(&entry.item);
        }
        self.digest.reset();
        let items = if entry.item.is_valid() { &mut self.valid } else { &mut self.archived };
        items.insert(id, Arc::new(KeptEntry { entry, digest: CachedDigest::default() }));
    }

    /// Adds an item to the indexes that follow from the item alone.
    fn index(&mut self, item: &Item) {
        for key in keys(item) {
            self.by_key.insert((key, item.id), ());
        }
        for target in links(item) {
            self.links.insert((target, item.id), ());
        }
        if is_scoped(item) {
            self.scoped.insert(item.id, ());
        }
        if let Some(expiry) = expiry(item) {
            self.expiries.insert(expiry, ());
        }
    }

    fn forget(&mut self, id: ItemId) {
        let Some(Entry { item, deps }) = self.get(id).cloned() else { return };
        self.totals = self.totals.without(&item);
        for key in keys(&item) {
            self.by_key.remove(&(key, id));
        }
        for dep in deps {
            self.dependents.remove(&(dep, id));
        }
        for target in links(&item) {
            self.links.remove(&(target, id));
        }
        self.scoped.remove(&id);
        if let Some(expiry) = expiry(&item) {
            self.expiries.remove(&expiry);
        }
        self.digest.reset();
        let items = if item.is_valid() { &mut self.valid } else { &mut self.archived };
        items.remove(&id);
    }

    /// Renumbers the items 1, 2, 3 … and keeps their order (design §2, rule 3).
    pub(crate) fn canonicalize(&mut self) {
        let mut next = ItemId::FIRST;
        // The ids are distinct and below the next one.
        if usize::try_from(self.next.number().saturating_sub(next.number())) == Ok(self.len()) {
            return;
        }
        let mut renamed = BTreeMap::new();
        for old in self.entries() {
            renamed.insert(old.item.id, next);
            next = next.next();
        }
        // A link to an item that is gone leads to none: under its old number it would lead to another item.
        let rename = |id: ItemId| renamed.get(&id).copied().unwrap_or(ItemId::new(0));
        let mut canonical = Self::default();
        for Entry { item, deps } in self.entries() {
            let item = Item {
                id: rename(item.id),
                layer: match &item.layer {
                    Layer::Fact(fact) => {
                        let supersedes = fact.supersedes.map(rename);
                        Layer::Fact(Arc::new(FactRecord { supersedes, ..(**fact).clone() }))
                    }
                    layer => layer.clone(),
                },
                validity: match item.validity {
                    Validity::Superseded { superseded_by, rule } => {
                        Validity::Superseded { superseded_by: superseded_by.map(rename), rule }
                    }
                    validity => validity,
                },
                ..item.clone()
            };
            canonical.write(Entry { item, deps: deps.iter().map(|dep| rename(*dep)).collect() });
        }
        canonical.next = next;
        canonical.digest.reset();
        *self = canonical;
    }
}

/// Returns the entries, in id order.
fn entries_of(items: &SharedMap<ItemId, Arc<KeptEntry>>) -> impl Iterator<Item = &Entry> {
    items.values().map(|kept| &kept.entry)
}

/// Returns the key of an item and the keys that it summarizes.
fn keys(item: &Item) -> impl Iterator<Item = ItemKey> {
    let summarized = item.fact().into_iter().flat_map(|fact| &fact.summarized_keys);
    core::iter::once(item.key.clone()).chain(summarized.cloned().map(ItemKey::Fact))
}

/// Returns the items that an item links to: its successor, and the fact that it supersedes or shadows.
fn links(item: &Item) -> impl Iterator<Item = ItemId> {
    let successor = match item.validity {
        Validity::Superseded { superseded_by, .. } => superseded_by,
        Validity::Current | Validity::NeedsReview | Validity::Denied => None,
    };
    let superseded = item.fact().and_then(|fact| fact.supersedes).filter(|id| Some(*id) != successor);
    [successor, superseded].into_iter().flatten()
}

/// Returns whether an item is a fact of a scope other than the global one.
fn is_scoped(item: &Item) -> bool {
    item.fact().is_some_and(|fact| !fact.scope.is_global())
}

/// Returns whether two versions of an item have the same place in every index but that of dependents.
fn is_indexed_alike(old: &Item, new: &Item) -> bool {
    old.key == new.key
        && old.is_valid() == new.is_valid()
        && is_scoped(old) == is_scoped(new)
        && old.covered_keys().eq(new.covered_keys())
        && links(old).eq(links(new))
        && expiry(old) == expiry(new)
}

/// Returns the expiry of an item with its id, if it expires.
const fn expiry(item: &Item) -> Option<(Timestamp, ItemId)> {
    match item.layer {
        Layer::Working { expires_at: Some(at), .. } => Some((at, item.id)),
        Layer::Working { expires_at: None, .. }
        | Layer::Request { .. }
        | Layer::Identity(_)
        | Layer::Fact(_)
        | Layer::Environment => None,
    }
}

const LOWEST: ItemId = ItemId::new(u64::MIN);
const HIGHEST: ItemId = ItemId::new(u64::MAX);

/// The encoding: items and the next id. Decoding rebuilds the indexes.
#[cfg(feature = "serde")]
mod encoding {
    use super::{Entry, SemanticState};
    use crate::ids::ItemId;
    use alloc::vec::Vec;

    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Encoded {
        items: Vec<Entry>,
        next: ItemId,
    }

    impl From<SemanticState> for Encoded {
        fn from(semantic: SemanticState) -> Self {
            Self { items: semantic.entries().cloned().collect(), next: semantic.next }
        }
    }

    impl From<Encoded> for SemanticState {
        fn from(encoding: Encoded) -> Self {
            let mut semantic = Self::default();
            encoding.items.into_iter().for_each(|entry| semantic.write(entry));
            semantic.next = semantic.next.max(encoding.next);
            semantic.digest.reset();
            semantic
        }
    }
}
