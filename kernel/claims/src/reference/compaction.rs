//! Compaction: its groups, its cluster and its trigger (000 §6, decision 0021).

use super::items::{facts_in_force, item_scope, persists};
use super::reading::{selectable_items, shadows};
use alloc::vec::Vec;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, Layer, Scope};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// Whether two items are in the same compaction group: facts of one kind, rank, memory, scope and audience; persistent items
/// of one user's requests; or items of the session.
pub(crate) fn is_same_group(one: &Item, other: &Item) -> bool {
    match (one.fact(), other.fact()) {
        (Some(a), Some(b)) => {
            (one.kind, a.source.rank, a.memory) == (other.kind, b.source.rank, b.memory)
                && (&a.scope, &a.audience) == (&b.scope, &b.audience)
        }
        (None, None) => {
            persists(one) == persists(other)
                && (!persists(one) || (one.user(), item_scope(one)) == (other.user(), item_scope(other)))
        }
        _ => false,
    }
}

/// The items that compaction may summarize: readable by the session principal and shadowed in no narrower scope. Excluded are the
/// identity, signals, items with an expiry, the situation summary, items of the running request, and constraints unless the
/// policy includes them.
fn compactable<'s>(policy: &Policy, state: &'s State) -> Vec<&'s Item> {
    let running = state.control().request().map(|request| request.id);
    let is_free = |item: &&Item| match &item.layer {
        Layer::Fact(_) => {
            (policy.rules.compacted_constraints || matches!(item.kind, ItemKind::Fact))
                && !facts_in_force(state.semantic()).any(|narrow| shadows(state, narrow, item))
        }
        Layer::Request { scope, .. } => {
            // Decision 0037: a summary of the session has no scope.
            running.is_none_or(|running| item.key.request() != Some(running))
                && (persists(item) || *scope == Scope::Global)
        }
        Layer::Working { expires_at, .. } => {
            expires_at.is_none() && !matches!(item.key, ItemKey::Situation(_))
        }
        Layer::Identity(_) | Layer::Environment => false,
    };
    session_items(state).into_iter().filter(is_free).collect()
}

/// The items that the session user may read in the scope of the request.
fn session_items(state: &State) -> Vec<&Item> {
    let scope = state.control().request().map_or(&Scope::Global, |request| &request.scope);
    selectable_items(state, scope)
}

/// The largest compaction group, of equally large ones that with the oldest item.
pub(crate) fn largest_group(policy: &Policy, state: &State) -> Vec<ItemId> {
    let free = compactable(policy, state);
    let mut largest: Vec<ItemId> = Vec::new();
    for item in &free {
        let alike = free.iter().filter(|other| is_same_group(item, other)).map(|other| other.id);
        let group: Vec<ItemId> = alike.collect();
        if group.len() > largest.len() {
            largest = group;
        }
    }
    largest
}

/// The items of the compaction group of this one, with its size, if it may be summarized.
pub(crate) fn group_of(policy: &Policy, state: &State, id: ItemId) -> Vec<ItemId> {
    let free = compactable(policy, state);
    let Some(item) = free.iter().find(|item| item.id == id) else { return Vec::new() };
    free.iter().filter(|other| is_same_group(item, other)).map(|other| other.id).collect()
}

/// The cluster: the oldest items of the largest compaction group.
pub(crate) fn cluster(policy: &Policy, state: &State) -> Vec<ItemId> {
    let mut most = largest_group(policy, state);
    most.truncate(usize::try_from(policy.compaction.cluster_items).unwrap_or(usize::MAX));
    most
}

/// Whether a compaction is due: the largest group or the readable tokens reach their thresholds.
pub(crate) fn is_due(policy: &Policy, state: &State) -> bool {
    let at_least = |count: usize, limit: u32| usize::try_from(limit).is_ok_and(|limit| count >= limit);
    let largest = largest_group(policy, state).len();
    let tokens = session_items(state).iter().map(|item| item.text.as_str().len().div_ceil(4)).sum();
    largest >= 2
        && (at_least(largest, policy.compaction.from_items)
            || at_least(tokens, policy.compaction.from_tokens))
}
