//! What a module reads (003; decisions 0004, 0019, 0021, 0037): the items of a scope for the session user, at a time.

use super::items::{chain_end, fact_keys, identity, is_in_force, item_scope, items_in_force, reads};
use super::plans::call_scope;
use crate::semantic_view::SemanticView;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text, Timestamp, UserId};
use orchestrion_kernel::item::{Audience, Item, ItemKey, Layer, Rank, Scope, Validity};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::state::State;

/// The items that a call may read. A summary may be made of facts that other calls do not read because they need review (decision 0030).
pub(crate) fn readable_items(policy: &Policy, state: &State, operation: Operation) -> BTreeSet<ItemId> {
    let hides_review = !policy.contexts.needs_review && operation != Operation::Summarize;
    let is_hidden =
        |item: &Item| hides_review && item.validity == Validity::NeedsReview && item.fact().is_some();
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
        Layer::Fact(fact) => reads(scope, &fact.scope),
        Layer::Request { scope: own, .. } => *own == Scope::Global || own == scope,
        Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => true,
    }
}

/// Whether the session user may read the item.
pub(crate) fn is_for_session(state: &State, item: &Item) -> bool {
    is_for_user(state.semantic(), state.control().session(), item)
}

/// Whether the session user may read the item. The identity of the session is one of the items.
fn is_for_user(known: &SemanticState, session: Option<&UserId>, item: &Item) -> bool {
    let mut identities = known.entries().filter_map(|entry| identity(&entry.item));
    match &item.layer {
        Layer::Fact(fact) => match &fact.audience {
            Audience::Everybody => true,
            Audience::AtLeast(Rank::Unverified) => true,
            Audience::AtLeast(rank) => identities.any(|identity| identity.rank >= *rank),
            Audience::Permitted(name) => identities.any(|identity| identity.permissions.contains(name)),
        },
        Layer::Request { user, .. } => session == Some(user),
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
    is_wider(narrow, wide) && (has_keys_of(narrow, wide) || names(state.semantic(), narrow, wide))
}

/// Whether a fact links to another one, or to one that this one followed.
fn names(known: &SemanticState, narrow: &Item, wide: &Item) -> bool {
    narrow.fact().and_then(|fact| chain_end(known, fact.supersedes?)) == Some(wide.id)
}

/// Whether a fact has all the keys of another one.
fn has_keys_of(narrow: &Item, wide: &Item) -> bool {
    let keys = |item: &Item| -> BTreeSet<Text> { fact_keys(item).cloned().collect() };
    // A fact that covers keys of a summary counts by its own key.
    let wide_keys = match &wide.key {
        ItemKey::Fact(own) => BTreeSet::from([own.clone()]),
        _ => keys(wide),
    };
    !wide_keys.is_empty() && wide_keys.is_subset(&keys(narrow))
}

/// How narrow a scope is.
const fn narrowness(scope: &Scope) -> u8 {
    match scope {
        Scope::Global => 0,
        Scope::Session => 1,
        Scope::Task(_) | Scope::Hypothetical(_) | Scope::Draft(_) => 2,
    }
}

const fn is_tentative(scope: &Scope) -> bool {
    matches!(scope, Scope::Hypothetical(_) | Scope::Draft(_))
}

/// Whether a fact may hide another one: its scope is narrower, and its rank is not lower, or it is a hypothesis or a draft.
fn is_wider(narrow: &Item, wide: &Item) -> bool {
    let (Some(fact), Some(other)) = (narrow.fact(), wide.fact()) else { return false };
    narrowness(&fact.scope) > narrowness(&other.scope)
        && (is_tentative(&fact.scope) || fact.source.rank >= other.source.rank)
}

/// The current value of a key for the session user in the scope of the request (003-5.10): of the valid facts that have the key, else of
/// the valid successors of facts that had it, unless a narrower fact names it. Hypotheses and drafts come first, then the highest rank,
/// the narrowest scope and the latest.
pub(crate) fn current_value<'s>(view: &SemanticView<'s>, key: &Text) -> Option<&'s Item> {
    let known = view.semantic();
    let scope = view.request_scope().unwrap_or(&Scope::Global);
    let precedence = |item: &&Item| {
        let of =
            item.fact().map(|fact| (is_tentative(&fact.scope), fact.source.rank, narrowness(&fact.scope)));
        (of, item.id)
    };
    let successors = known.entries().map(|entry| &entry.item).filter(|item| {
        item.fact().is_some() && is_in_scope(item, scope) && fact_keys(item).any(|covered| covered == key)
    });
    let ends = successors.filter_map(|item| Some(&known.get(chain_end(known, item.id)?)?.item));
    let found = readable_facts(view)
        .filter(|item| fact_keys(item).any(|covered| covered == key))
        .max_by_key(precedence)
        .or_else(|| ends.filter(|item| is_readable(view, item)).last())?;
    let hides = |item: &&Item| is_wider(item, found) && names(known, item, found);
    Some(readable_facts(view).filter(hides).max_by_key(precedence).unwrap_or(found))
}

/// The valid facts that the session user may read in the scope of the request.
pub(crate) fn readable_facts<'s>(view: &SemanticView<'s>) -> impl Iterator<Item = &'s Item> {
    let view = *view;
    items_in_force(view.semantic()).filter(move |item| item.fact().is_some() && is_readable(&view, item))
}

fn is_readable(view: &SemanticView<'_>, item: &Item) -> bool {
    let scope = view.request_scope().unwrap_or(&Scope::Global);
    is_in_force(item)
        && is_in_scope(item, scope)
        && is_for_user(view.semantic(), view.session(), item)
        && !has_expired(item, view.now())
}
