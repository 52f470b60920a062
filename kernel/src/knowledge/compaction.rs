//! Compaction (000 §6, decision 0021): one summary replaces several items.
//!
//! The policy determines the cluster; the summarizer (`f_sum`) supplies the text and chooses the forgotten items. Only items of
//! equal kind, rank, memory, scope and audience are summarized together, so that a summary has the same readers.

use super::error::KnowledgeError;
use super::read::Principal;
use crate::event::{Event, Events, ForgetCause};
use crate::ids::{ItemId, RequestId, Text, UserId};
use crate::item::{
    Audience, FactRecord, FactSource, Item, ItemKey, ItemKind, Layer, MemoryType, Rank, Scope, Validity,
};
use crate::policy::Policy;
use crate::semantic::{Entry, SemanticState};
use crate::state::State;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A compaction group: items that may be summarized together.
#[derive(PartialEq, Eq)]
enum CompactionGroup<'a> {
    /// Facts of equal kind, rank, memory, scope and audience.
    Facts { kind: ItemKind, rank: Rank, memory: MemoryType, scope: &'a Scope, audience: &'a Audience },
    /// Persistent items of one user's earlier requests in one scope.
    Past { user: &'a UserId, scope: &'a Scope },
    /// Items that end with the session.
    Session,
}

impl<'a> CompactionGroup<'a> {
    /// Returns the group of an item. Identity, signals, expiring items, the situation summary and the items of the running request
    /// and those that end with the session in a scope
    /// have none; constraints only if the policy enables `compacted_constraints`.
    fn from_item(policy: &Policy, item: &'a Item, running: Option<RequestId>) -> Option<Self> {
        match &item.layer {
            Layer::Fact(fact) => {
                let FactRecord { source, memory, scope, audience, .. } = &**fact;
                let constraint = matches!(item.kind, ItemKind::Constraint(_));
                (!constraint || policy.rules.compacted_constraints).then_some(Self::Facts {
                    kind: item.kind,
                    rank: source.rank,
                    memory: *memory,
                    scope,
                    audience,
                })
            }
            Layer::Request { .. } if running.is_some() && item.key.request() == running => None,
            Layer::Working { .. } if matches!(item.key, ItemKey::Situation(_)) => None,
            Layer::Request { user, scope } if item.is_persistent() => Some(Self::Past { user, scope }),
            // A summary of the session has no scope.
            Layer::Request { scope, .. } if *scope != Scope::Global => None,
            Layer::Request { .. } | Layer::Working { expires_at: None, .. } => Some(Self::Session),
            Layer::Working { .. } | Layer::Identity(_) | Layer::Environment => None,
        }
    }
}

/// Returns whether the semantic state has reached a limit of compaction.
#[must_use]
pub fn is_due(policy: &Policy, state: &State) -> bool {
    let limits = &policy.compaction;
    let (semantic, principal) = (state.semantic(), state.session_principal());
    let largest = largest_group(policy, semantic, &principal, running_request(state)).len();
    let tokens = || {
        semantic
            .selectable(&principal)
            .map(|entry| estimate_tokens(entry.item.text.as_str()))
            .fold(0, usize::saturating_add)
    };
    let reaches = |count: usize, limit: u32| u32::try_from(count).map_or(true, |count| count >= limit);
    largest >= 2 && (reaches(largest, limits.from_items) || reaches(tokens(), limits.from_tokens))
}

/// Returns the cluster, in id order: the oldest items of the largest compaction group.
#[must_use]
pub fn cluster(policy: &Policy, state: &State) -> Vec<ItemId> {
    cluster_for(policy, state.semantic(), &state.session_principal(), running_request(state))
}

fn running_request(state: &State) -> Option<RequestId> {
    state.control().request().map(|request| request.id)
}

/// Returns the cluster of a principal while a request runs.
pub(crate) fn cluster_for(
    policy: &Policy,
    semantic: &SemanticState,
    principal: &Principal,
    running: Option<RequestId>,
) -> Vec<ItemId> {
    let mut cluster = largest_group(policy, semantic, principal, running);
    cluster.truncate(usize::try_from(policy.compaction.cluster_items).unwrap_or(usize::MAX));
    cluster
}

/// Returns the largest compaction group of selectable items, in id order; of equals, the one with the oldest item. Shadowed items
/// are excluded, because a summary would be readable in the narrower scope.
fn largest_group(
    policy: &Policy,
    semantic: &SemanticState,
    principal: &Principal,
    running: Option<RequestId>,
) -> Vec<ItemId> {
    let shadowed = semantic.shadowed(Item::is_valid);
    let mut groups: Vec<(CompactionGroup<'_>, Vec<ItemId>)> = Vec::new();
    for Entry { item, .. } in
        semantic.selectable(principal).filter(|entry| !shadowed.contains(&entry.item.id))
    {
        let Some(group) = CompactionGroup::from_item(policy, item, running) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == group) {
            Some((_, ids)) => ids.push(item.id),
            None => groups.push((group, Vec::from([item.id]))),
        }
    }
    // `max_by_key` returns the last maximum, so the reversal prefers the first group.
    let largest = groups.into_iter().rev().max_by_key(|(_, ids)| ids.len());
    largest.map(|(_, ids)| ids).unwrap_or_default()
}

/// Checks that a summary may replace these items (000 §6, `F ⊆ C`).
///
/// # Errors
/// [`KnowledgeError`] if an item is not in the cluster, or if there is no item.
pub fn validate_summary(policy: &Policy, state: &State, forgets: &[ItemId]) -> Result<(), KnowledgeError> {
    let cluster = cluster(policy, state);
    match forgets.iter().find(|id| cluster.binary_search(id).is_err()) {
        Some(id) => Err(KnowledgeError::NotInCluster(*id)),
        None if forgets.is_empty() => Err(KnowledgeError::EmptySummary),
        None => Ok(()),
    }
}

/// Returns the batch of a compaction: it adds the summary, redirects the dependents of the summarized items to it, and forgets
/// these items together with those that they superseded.
pub(crate) fn summarize(policy: &Policy, state: &State, text: &Text, forgets: Option<&[ItemId]>) -> Events {
    let semantic = state.semantic();
    let summarized = forgets.map_or_else(|| cluster(policy, state), <[ItemId]>::to_vec);
    let summarized: BTreeSet<ItemId> = summarized.into_iter().collect();
    let forgotten = with_predecessors(semantic, &summarized);
    let Some((item, deps)) = create_summary(state, text, &summarized, &forgotten) else {
        return Vec::new();
    };
    let into = item.id;
    let successor = policy.rules.repointed_dependents.then_some(into);
    let mut events = Vec::from([Event::AddItem { item, deps }]);
    events.extend(forget(semantic, forgotten, successor, ForgetCause::Compaction { into }));
    events
}

/// Returns the events that forget items. What linked to one of them loses the link, and what depended on one depends on the
/// successor instead, if there is one.
pub(super) fn forget(
    semantic: &SemanticState,
    forgotten: BTreeSet<ItemId>,
    successor: Option<ItemId>,
    cause: ForgetCause,
) -> Events {
    let linked: BTreeSet<ItemId> = forgotten
        .iter()
        .flat_map(|id| semantic.dependents(*id).chain(semantic.linked_to(*id).map(|entry| entry.item.id)))
        .collect();
    let remaining = linked.difference(&forgotten).filter_map(|id| semantic.get(*id));
    let mut events: Events = remaining.filter_map(|entry| unlink(entry, &forgotten, successor)).collect();
    events.push(Event::ForgetItems { ids: forgotten.into_iter().collect(), cause });
    events
}

/// Returns items with all items that end in them: those whose chain of successors leads to one of them.
pub(super) fn with_predecessors(semantic: &SemanticState, items: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    let is_superseded = |id: &ItemId| {
        semantic.get(*id).is_none_or(|entry| matches!(entry.item.validity, Validity::Superseded { .. }))
    };
    let mut open: Vec<ItemId> = items.iter().copied().filter(|id| !is_superseded(id)).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            let precedes = |entry: &&Entry| matches!(entry.item.validity, Validity::Superseded { superseded_by, .. } if superseded_by == Some(id));
            open.extend(semantic.linked_to(id).filter(precedes).map(|entry| entry.item.id));
        }
    }
    reached
}

/// Creates the summary with its dependencies. It has the scope, audience and dependencies of its parts, and needs review if one
/// of them does.
fn create_summary(
    state: &State,
    text: &Text,
    summarized: &BTreeSet<ItemId>,
    forgotten: &BTreeSet<ItemId>,
) -> Option<(Item, Vec<ItemId>)> {
    let semantic = state.semantic();
    let parts: Vec<&Entry> = summarized.iter().filter_map(|id| semantic.get(*id)).collect();
    let first = &parts.first()?.item;
    let latest = parts.iter().filter_map(|entry| entry.item.fact()).map(|fact| fact.established_at).max();
    let layer = match &first.layer {
        Layer::Fact(fact) => Layer::Fact(Arc::new(FactRecord {
            source: FactSource { name: "summarizer".into(), rank: fact.source.rank, derivation: None },
            established_at: latest.unwrap_or(fact.established_at),
            supersedes: None,
            time_sensitive: false,
            summarized_keys: merged_keys(semantic, &fact.scope, forgotten),
            ..(**fact).clone()
        })),
        Layer::Request { .. } if first.is_persistent() => first.layer.clone(),
        Layer::Request { .. } | Layer::Working { .. } | Layer::Identity(_) | Layer::Environment => {
            Layer::Working { created_at: state.now(), expires_at: None }
        }
    };
    let needs_review = parts.iter().any(|entry| entry.item.validity == Validity::NeedsReview);
    let kind = if first.fact().is_some() { first.kind } else { ItemKind::Fact };
    let validity = if needs_review { Validity::NeedsReview } else { Validity::Current };
    let item =
        Item { id: semantic.next_id(), kind, key: ItemKey::Summary, text: text.clone(), layer, validity };
    // A dependency on a dependent would close a cycle.
    let dependents = semantic.transitive_dependents(&forgotten.iter().copied().collect::<Vec<_>>());
    let deps: BTreeSet<ItemId> = parts.iter().flat_map(|entry| entry.deps.iter().copied()).collect();
    let is_allowed = |id: &ItemId| !forgotten.contains(id) && !dependents.contains(id);
    Some((item, deps.into_iter().filter(is_allowed).collect()))
}

/// Returns the fact keys of the forgotten items, by which later writes find the summary (decisions 0021, 0027). A key that a
/// remaining fact of this scope covers belongs to that fact.
fn merged_keys(semantic: &SemanticState, scope: &Scope, forgotten: &BTreeSet<ItemId>) -> Vec<Text> {
    let items = forgotten.iter().filter_map(|id| semantic.get(*id));
    let keys: BTreeSet<&Text> = items.flat_map(|entry| entry.item.covered_keys()).collect();
    let remains = |key: &Text| {
        semantic.by_key(&ItemKey::Fact(key.clone())).any(|Entry { item, .. }| {
            let has_scope = item.fact().is_some_and(|fact| fact.scope == *scope);
            has_scope && item.is_valid() && !forgotten.contains(&item.id)
        })
    };
    keys.into_iter().filter(|key| !remains(key)).cloned().collect()
}

/// Returns the update that removes the links of an item to forgotten items, if it has any.
fn unlink(
    Entry { item, deps }: &Entry,
    forgotten: &BTreeSet<ItemId>,
    successor: Option<ItemId>,
) -> Option<Event> {
    let mut unlinked = item.clone();
    if let Layer::Fact(fact) = &mut unlinked.layer
        && fact.supersedes.is_some_and(|id| forgotten.contains(&id))
    {
        Arc::make_mut(fact).supersedes = None;
    }
    let mut kept: BTreeSet<ItemId> = deps.iter().copied().filter(|dep| !forgotten.contains(dep)).collect();
    if kept.len() < deps.len() {
        kept.extend(successor);
    }
    let kept: Vec<ItemId> = kept.into_iter().collect();
    (unlinked != *item || kept != *deps).then_some(Event::UpdateItem { item: unlinked, deps: kept })
}

/// Estimates the tokens of a text as bytes / 4, rounded up.
#[must_use]
pub const fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
