//! Which semantic events the state admits (000 §2.2, §4.9).

use super::items::{latest_with_key, persists};
use alloc::collections::BTreeMap;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, Layer};
use orchestrion_kernel::semantic::SemanticState;

/// The semantic state after some events: the changed items, over those before. `None` is a forgotten item.
struct Items<'s> {
    before: &'s SemanticState,
    changed: BTreeMap<ItemId, Option<(&'s Item, &'s [ItemId])>>,
    next: ItemId,
}

/// Whether each event fits the items before it: a new item has a new id, an update changes an item that exists, dependencies and removed
/// items exist, distinct and in the order of ids, and a removal leaves no dependent and has a cause that applies.
pub(crate) fn are_admitted<'s>(before: &'s SemanticState, events: &[&'s Event]) -> bool {
    let mut items = Items { before, changed: BTreeMap::new(), next: before.next_id() };
    events.iter().all(|event| match event {
        Event::AddItem { item, deps } => item.id >= items.next && items.write(item, deps),
        Event::UpdateItem { item, deps } => {
            let changes = |before: (&Item, &[ItemId])| before != (item, deps.as_slice());
            items.get(item.id).is_some_and(changes) && items.write(item, deps)
        }
        Event::ForgetItems { ids, cause } => items.forget(ids, *cause),
        _ => true,
    })
}

impl<'s> Items<'s> {
    fn get(&self, id: ItemId) -> Option<(&'s Item, &'s [ItemId])> {
        match self.changed.get(&id) {
            Some(changed) => *changed,
            None => self.before.get(id).map(|entry| (&entry.item, entry.deps.as_slice())),
        }
    }

    fn write(&mut self, item: &'s Item, deps: &'s [ItemId]) -> bool {
        self.next = self.next.max(item.id.next());
        let is_closed = deps.iter().all(|dep| self.get(*dep).is_some());
        self.changed.insert(item.id, Some((item, deps)));
        is_closed && deps.is_sorted_by(|earlier, later| earlier < later)
    }

    fn forget(&mut self, ids: &[ItemId], cause: ForgetCause) -> bool {
        let has_cause = |(item, _): (&Item, _)| match cause {
            ForgetCause::SessionEnd | ForgetCause::Capacity => !persists(item),
            ForgetCause::Compaction { into } => self.get(into).is_some() && !ids.contains(&into),
            ForgetCause::RequestEnd => matches!(item.key, ItemKey::Situation(_)),
            ForgetCause::Expiry => matches!(item.layer, Layer::Working { expires_at: Some(_), .. }),
        };
        let are_known = ids.iter().all(|id| self.get(*id).is_some_and(has_cause));
        self.changed.extend(ids.iter().map(|id| (*id, None)));
        let changed = self.changed.keys().copied();
        let mut remaining = self.before.entries().map(|entry| entry.item.id).chain(changed);
        let needs =
            |id: ItemId| self.get(id).is_some_and(|(_, deps)| deps.iter().any(|dep| ids.contains(dep)));
        let are_distinct = ids.is_sorted_by(|earlier, later| earlier < later);
        are_known && are_distinct && !remaining.any(needs)
    }
}

/// Whether a batch writes an item with this key, or the state has it already, and the condition holds for it.
pub(crate) fn is_kept(
    before: &SemanticState,
    events: &[Event],
    key: &ItemKey,
    holds: impl Fn(&Item) -> bool,
) -> bool {
    let written = events.iter().rev().find_map(|event| match event {
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } if item.key == *key => Some(item),
        _ => None,
    });
    let stored = || latest_with_key(before, key).map(|entry| &entry.item);
    written.or_else(stored).is_some_and(holds)
}
