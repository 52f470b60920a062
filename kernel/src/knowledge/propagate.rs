//! Effects of a write on existing items: supersession, overwriting, and review of dependents (003, repair propagation).

use crate::event::{Event, Events};
use crate::ids::{ItemId, Text};
use crate::item::{Item, ItemKey, ItemKind, Layer, SupersessionRule, Validity};
use crate::semantic::{Entry, SemanticState};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A summary that lost some of its keys, with the remaining ones.
pub(super) type ReducedSummary = (ItemId, Vec<Text>);

/// Appends the events by which `successor` supersedes items. Their dependents depend on the successor and need review; so do
/// reduced summaries and their dependents.
pub(super) fn supersede(
    semantic: &SemanticState,
    successor: ItemId,
    superseded: &[(ItemId, SupersessionRule)],
    reduced: &[ReducedSummary],
    events: &mut Events,
) {
    let update = |(id, rule): &(ItemId, SupersessionRule)| {
        let Entry { item, deps } = semantic.get(*id)?;
        let validity = Validity::Superseded { superseded_by: Some(successor), rule: *rule };
        Some(Event::UpdateItem { item: Item { validity, ..item.clone() }, deps: deps.clone() })
    };
    let ids: Vec<ItemId> = superseded.iter().map(|(id, _)| *id).collect();
    let reviewed = review_dependents(semantic, &ids, reduced, Some(successor));
    // Events are large: one allocation for all of them.
    events.reserve(superseded.len().saturating_add(reviewed.size_hint().1.unwrap_or(0)));
    events.extend(superseded.iter().filter_map(update));
    events.extend(reviewed);
}

/// Adds an item, or overwrites the item of its key. The dependents of an item with a new text need review.
pub(super) fn overwrite(
    semantic: &SemanticState,
    key: ItemKey,
    text: &Text,
    layer: Layer,
    deps: Vec<ItemId>,
) -> Events {
    let old = semantic.latest_by_key(&key);
    let (id, kind) =
        old.map_or((semantic.next_id(), ItemKind::Fact), |entry| (entry.item.id, entry.item.kind));
    let item = Item { id, kind, key, text: text.clone(), layer, validity: Validity::Current };
    let Some(old) = old else { return Vec::from([Event::AddItem { item, deps }]) };
    if item == old.item && deps == old.deps {
        return Vec::new();
    }
    let has_new_text = item.text != old.item.text;
    let mut events = Vec::from([Event::UpdateItem { item, deps }]);
    if has_new_text {
        events.extend(review_dependents(semantic, &[id], &[], None));
    }
    events
}

/// Returns the updates of the dependents of changed items, and of reduced summaries and their dependents, without the changed
/// items. With a successor, dependencies on changed items move to it.
fn review_dependents(
    semantic: &SemanticState,
    changed: &[ItemId],
    reduced: &[ReducedSummary],
    successor: Option<ItemId>,
) -> impl Iterator<Item = Event> {
    let mut affected = semantic.transitive_dependents(changed);
    for (id, _) in reduced {
        affected.extend(semantic.transitive_dependents(&[*id]));
        affected.insert(*id);
        changed.iter().for_each(|id| {
            affected.remove(id);
        });
    }
    let update = move |id: ItemId| {
        let Entry { item: old, deps: old_deps } = semantic.get(id).filter(|entry| entry.item.is_valid())?;
        let mut item = old.clone();
        if let Layer::Fact(fact) = &mut item.layer {
            item.validity = Validity::NeedsReview;
            if let Some((_, keys)) = reduced.iter().find(|(summary, _)| *summary == id) {
                Arc::make_mut(fact).summarized_keys.clone_from(keys);
            }
        }
        let redirect = |dep: &ItemId| successor.filter(|_| changed.contains(dep)).unwrap_or(*dep);
        let mut deps: Vec<ItemId> = old_deps.iter().map(redirect).collect();
        deps.sort_unstable();
        deps.dedup();
        (item != *old || deps != *old_deps).then_some(Event::UpdateItem { item, deps })
    };
    affected.into_iter().filter_map(update)
}
