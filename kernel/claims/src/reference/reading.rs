//! What a module reads (003; decisions 0004, 0019, 0021, 0037): the items of a scope for the session user, at a time.

use super::items::{chain_end, fact_keys, identity, item_scope, items_in_force};
use super::plans::call_scope;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text, Timestamp};
use orchestrion_kernel::item::{Audience, Item, ItemKey, Layer, Rank, Scope, Validity};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// The items that a call may read.
pub(crate) fn readable_items(policy: &Policy, state: &State, operation: Operation) -> BTreeSet<ItemId> {
    let is_hidden = |item: &Item| {
        item.validity == Validity::NeedsReview && item.fact().is_some() && !policy.contexts.needs_review
    };
    let selectable = selectable_items(state, call_scope(state, operation)).into_iter();
    selectable.filter(|item| !is_hidden(item)).map(|item| item.id).collect()
}

/// The items that the session user may read in a scope, and that no other of them shadows, in id order.
pub(crate) fn selectable_items<'s>(state: &'s State, scope: &Scope) -> Vec<&'s Item> {
    let may_read = |item: &&Item| {
        is_in_scope(item, scope) && is_for_session(state, item) && !has_expired(item, state.now())
    };
    let readable: Vec<&Item> = items_in_force(state.semantic()).filter(may_read).collect();
    let narrow: Vec<&Item> =
        readable.iter().copied().filter(|item| *item_scope(item) != Scope::Global).collect();
    let is_shadowed = |item: &&Item| narrow.iter().any(|narrow| shadows(state, narrow, item));
    readable.into_iter().filter(|item| !is_shadowed(item)).collect()
}

/// The largest subset of the items that contains the dependencies of each of its items.
pub(crate) fn closed_subset(state: &State, mut items: BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    loop {
        let has_deps = |id: &ItemId| {
            state.semantic().get(*id).is_some_and(|entry| entry.deps.iter().all(|dep| items.contains(dep)))
        };
        let closed: BTreeSet<ItemId> = items.iter().copied().filter(has_deps).collect();
        if closed.len() == items.len() {
            return closed;
        }
        items = closed;
    }
}

/// Whether a call in this scope may read the item: items of this scope, global ones, and those of the session.
pub(crate) fn is_in_scope(item: &Item, scope: &Scope) -> bool {
    match &item.layer {
        Layer::Fact(fact) => matches!(fact.scope, Scope::Global | Scope::Session) || fact.scope == *scope,
        Layer::Request { scope: own, .. } => *own == Scope::Global || own == scope,
        Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => true,
    }
}

/// Whether the session user may read the item.
pub(crate) fn is_for_session(state: &State, item: &Item) -> bool {
    let mut identities = state.semantic().entries().filter_map(|entry| identity(&entry.item));
    match &item.layer {
        Layer::Fact(fact) => match &fact.audience {
            Audience::Everybody => true,
            Audience::AtLeast(Rank::Unverified) => true,
            Audience::AtLeast(rank) => identities.any(|identity| identity.rank >= *rank),
            Audience::Permitted(name) => identities.any(|identity| identity.permissions.contains(name)),
        },
        Layer::Request { user, .. } => state.control().session() == Some(user),
        Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => true,
    }
}

/// The time at which an item expires.
pub(crate) const fn expires_at(item: &Item) -> Option<Timestamp> {
    match item.layer {
        Layer::Working { expires_at, .. } => expires_at,
        Layer::Identity(_) | Layer::Fact(_) | Layer::Request { .. } | Layer::Environment => None,
    }
}

pub(crate) fn has_expired(item: &Item, now: Timestamp) -> bool {
    expires_at(item).is_some_and(|at| at <= now)
}

/// Whether a fact hides another one of a wider scope: it has all its keys, or names it as superseded. A fact of a lower rank does so
/// only as a hypothesis or a draft.
pub(crate) fn shadows(state: &State, narrow: &Item, wide: &Item) -> bool {
    let (Some(fact), Some(other)) = (narrow.fact(), wide.fact()) else { return false };
    let width = |scope: &Scope| match scope {
        Scope::Global => 2,
        Scope::Session => 1,
        Scope::Task(_) | Scope::Hypothetical(_) | Scope::Draft(_) => 0,
    };
    if width(&fact.scope) >= width(&other.scope) {
        return false;
    }
    let is_tentative = matches!(fact.scope, Scope::Hypothetical(_) | Scope::Draft(_));
    let keys = |item: &Item| -> BTreeSet<Text> { fact_keys(item).cloned().collect() };
    // A fact that covers keys of a summary counts by its own key.
    let wide_keys = match &wide.key {
        ItemKey::Fact(own) => BTreeSet::from([own.clone()]),
        _ => keys(wide),
    };
    let has_keys = !wide_keys.is_empty() && wide_keys.is_subset(&keys(narrow));
    let names = || fact.supersedes.and_then(|id| chain_end(state.semantic(), id)) == Some(wide.id);
    (is_tentative || fact.source.rank >= other.source.rank) && (has_keys || names())
}
