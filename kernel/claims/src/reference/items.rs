//! Items: validity, persistence, keys, scopes, dependents and successors (000 §2; 003; decisions 0004, 0021, 0027, 0037).
//!
//! It reads the fields of items, and searches the items instead of an index.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{ItemId, Text};
use orchestrion_kernel::item::{Identity, Item, ItemKey, Layer, Rank, Scope, Validity};
use orchestrion_kernel::semantic::{Entry, SemanticState};

/// Whether an item is neither superseded nor denied.
pub(crate) const fn is_in_force(item: &Item) -> bool {
    match item.validity {
        Validity::Current | Validity::NeedsReview => true,
        Validity::Superseded { .. } | Validity::Denied => false,
    }
}

/// The items that are neither superseded nor denied.
pub(crate) fn items_in_force(known: &SemanticState) -> impl Iterator<Item = &Item> {
    known.entries().map(|entry| &entry.item).filter(|item| is_in_force(item))
}

/// The facts, and the summaries of facts, that are neither superseded nor denied.
pub(crate) fn facts_in_force(known: &SemanticState) -> impl Iterator<Item = &Item> {
    items_in_force(known).filter(|item| item.fact().is_some())
}

/// Whether an item outlives its session: a fact of another scope than the session, a signal, and of a request its text, its answer and
/// its summaries.
pub(crate) fn persists(item: &Item) -> bool {
    match &item.layer {
        Layer::Fact(fact) => fact.scope != Scope::Session,
        Layer::Environment => true,
        Layer::Request { .. } => {
            matches!(item.key, ItemKey::Request(_) | ItemKey::FinalAnswer(_) | ItemKey::Summary)
        }
        Layer::Identity(_) | Layer::Working { .. } => false,
    }
}

/// The keys of facts that an item covers: its own, and those of the facts that it summarizes or took from a summary.
pub(crate) fn fact_keys(item: &Item) -> impl Iterator<Item = &Text> {
    let own = match &item.key {
        ItemKey::Fact(key) => Some(key),
        _ => None,
    };
    own.into_iter().chain(item.fact().into_iter().flat_map(|fact| fact.summarized_keys.iter()))
}

/// The scope of an item; global for items without one.
pub(crate) fn item_scope(item: &Item) -> &Scope {
    match &item.layer {
        Layer::Fact(fact) => &fact.scope,
        Layer::Request { scope, .. } => scope,
        Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => &Scope::Global,
    }
}

/// Whether every scope reads the items of this one.
pub(crate) fn is_shared(scope: &Scope) -> bool {
    matches!(scope, Scope::Global | Scope::Session)
}

/// Whether a reader in a scope reads the items of another one (003-2.21).
pub(crate) fn reads(reader: &Scope, scope: &Scope) -> bool {
    is_shared(scope) || reader == scope
}

/// The latest item with this key.
pub(crate) fn latest_with_key<'s>(known: &'s SemanticState, key: &ItemKey) -> Option<&'s Entry> {
    known.entries().filter(|entry| entry.item.key == *key).last()
}

/// The identity that an item sets.
pub(crate) fn identity(item: &Item) -> Option<&Identity> {
    match &item.layer {
        Layer::Identity(identity) => Some(identity),
        Layer::Fact(_) | Layer::Request { .. } | Layer::Working { .. } | Layer::Environment => None,
    }
}

/// The identity of the session user.
pub(crate) fn session_identity(known: &SemanticState) -> Option<&Identity> {
    known.entries().filter_map(|entry| identity(&entry.item)).last()
}

/// The rank of a name in a table, without regard to ASCII case.
pub(crate) fn table_rank(table: &orchestrion_kernel::policy::RankTable, name: &str) -> Option<Rank> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, rank)| rank)
}

/// The item that supersedes this one.
pub(crate) const fn superseded_by(item: &Item) -> Option<ItemId> {
    match item.validity {
        Validity::Superseded { superseded_by: by, .. } => by,
        Validity::Current | Validity::NeedsReview | Validity::Denied => None,
    }
}

/// The last item of an item's chain of successors; none if it is not there.
pub(crate) fn chain_end(known: &SemanticState, id: ItemId) -> Option<ItemId> {
    let (mut end, mut passed) = (id, BTreeSet::from([id]));
    loop {
        let item = &known.get(end)?.item;
        match item.validity {
            Validity::Current | Validity::NeedsReview | Validity::Denied => return Some(end),
            Validity::Superseded { superseded_by, .. } => end = superseded_by?,
        }
        if !passed.insert(end) {
            return None;
        }
    }
}

/// The transitive dependents of these items, without the items themselves.
pub(crate) fn transitive_dependents(known: &SemanticState, changed: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    let mut reached = changed.clone();
    loop {
        let before = reached.len();
        let rests = |entry: &&Entry| entry.deps.iter().any(|dep| reached.contains(dep));
        let more: Vec<ItemId> = known.entries().filter(rests).map(|entry| entry.item.id).collect();
        reached.extend(more);
        if reached.len() == before {
            return reached.difference(changed).copied().collect();
        }
    }
}

/// Whether an event changes the semantic state.
pub(crate) const fn changes_items(event: &Event) -> bool {
    matches!(event, Event::AddItem { .. } | Event::UpdateItem { .. } | Event::ForgetItems { .. })
}
