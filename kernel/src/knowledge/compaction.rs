//! Compaction (000 §6, decision 0021): several items give way to one that says what they come to.
//!
//! Which items is the policy's matter and computed here; what the new item says, and which of them it stands for, is the
//! summarizer's (`f_sum`). Items that count differently are never summarized together, or a summary would tell somebody what
//! is not for them, or count where its parts did not.

use super::{KnowledgeError, Principal};
use crate::event::{Event, Events, ForgetCause};
use crate::ids::{ItemId, RequestId, Text, UserId};
use crate::item::{
    Audience, FactRecord, FactSource, Item, ItemKey, ItemKind, Layer, MemoryType, Rank, Scope, Validity,
};
use crate::policy::Policy;
use crate::semantic::{Entry, SemanticState};
use crate::state::State;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Items that may be summarized together.
#[derive(PartialEq, Eq)]
enum CompactionGroup<'a> {
    /// Facts that count alike, for the same people.
    Facts { kind: ItemKind, rank: Rank, memory: MemoryType, scope: &'a Scope, audience: &'a Audience },
    /// What earlier requests of one user left for good.
    Past { user: &'a UserId },
    /// What leaves with the session.
    Session,
}

impl<'a> CompactionGroup<'a> {
    /// The family of an item; none if it stays as it is: who speaks, signals, constraints unless the policy says otherwise,
    /// what expires by itself, the summary of the situation, and whatever the running request left.
    fn of(policy: &Policy, item: &'a Item, running: Option<RequestId>) -> Option<Self> {
        match &item.layer {
            Layer::Fact(fact) => {
                let FactRecord { source, memory, scope, audience, .. } = &**fact;
                let constraint = matches!(item.kind, ItemKind::Constraint(_));
                let (variant, rank, memory) = (item.kind, source.rank, *memory);
                (!constraint || policy.rules.compacted_constraints).then_some(Self::Facts {
                    kind: variant,
                    rank,
                    memory,
                    scope,
                    audience,
                })
            }
            Layer::Request { .. } if running.is_some() && item.key.request() == running => None,
            Layer::Working { .. } if matches!(item.key, ItemKey::Situation(_)) => None,
            Layer::Request { user } if item.persists() => Some(Self::Past { user }),
            Layer::Request { .. } | Layer::Working { expires_at: None, .. } => Some(Self::Session),
            Layer::Working { .. } | Layer::Identity(_) | Layer::Environment | Layer::Clock { .. } => None,
        }
    }
}

/// Whether so much is known that a cluster of it is to be summarized.
#[must_use]
pub fn is_due(policy: &Policy, state: &State) -> bool {
    let limits = &policy.compaction;
    let (known, reader) = (&state.semantic, state.session_principal());
    let largest = largest_group(policy, known, &reader, running(state)).len();
    let tokens = || {
        known
            .selectable(&reader)
            .map(|entry| estimate_tokens(entry.item.text.as_str()))
            .fold(0, usize::saturating_add)
    };
    let reached = |count: usize, limit: u32| u32::try_from(count).map_or(true, |count| count >= limit);
    largest >= 2 && (reached(largest, limits.from_items) || reached(tokens(), limits.from_tokens))
}

/// The items that are to be summarized, in id order: the oldest of the largest family.
#[must_use]
pub fn cluster(policy: &Policy, state: &State) -> Vec<ItemId> {
    cluster_for(policy, &state.semantic, &state.session_principal(), running(state))
}

fn running(state: &State) -> Option<RequestId> {
    state.control.request().map(|request| request.id)
}

/// The same, of what is known while a request of this reader runs.
pub(crate) fn cluster_for(
    policy: &Policy,
    known: &SemanticState,
    reader: &Principal,
    running: Option<RequestId>,
) -> Vec<ItemId> {
    let mut family = largest_group(policy, known, reader, running);
    family.truncate(usize::try_from(policy.compaction.cluster_items).unwrap_or(usize::MAX));
    family
}

/// The largest family among what the speaker may be shown, in id order; of two, that of the oldest item. What a fact of some
/// narrower scope hides stays apart: in a summary it would be seen there.
fn largest_group(
    policy: &Policy,
    known: &SemanticState,
    reader: &Principal,
    running: Option<RequestId>,
) -> Vec<ItemId> {
    let hidden = known.shadowed(Item::is_valid);
    let mut families: Vec<(CompactionGroup<'_>, Vec<ItemId>)> = Vec::new();
    for Entry { item, .. } in known.selectable(reader).filter(|entry| !hidden.contains(&entry.item.id)) {
        let Some(family) = CompactionGroup::of(policy, item, running) else { continue };
        match families.iter_mut().find(|(other, _)| *other == family) {
            Some((_, ids)) => ids.push(item.id),
            None => families.push((family, Vec::from([item.id]))),
        }
    }
    // Of equals the last counts, which is the first.
    let largest = families.into_iter().rev().max_by_key(|(_, ids)| ids.len());
    largest.map(|(_, ids)| ids).unwrap_or_default()
}

/// Whether a summary may stand for these items (000 §6, `F ⊆ C`).
///
/// # Errors
/// The [`Misuse`], if it was not shown one of them, or if there is none.
pub fn validate_summary(policy: &Policy, state: &State, forgets: &[ItemId]) -> Result<(), KnowledgeError> {
    let cluster = cluster(policy, state);
    match forgets.iter().find(|id| cluster.binary_search(id).is_err()) {
        Some(stranger) => Err(KnowledgeError::NotInCluster(*stranger)),
        None if forgets.is_empty() => Err(KnowledgeError::EmptySummary),
        None => Ok(()),
    }
}

/// One batch: the summary is added, what rested on the forgotten is re-pointed to it, and they are forgotten with whatever
/// they had taken the place of.
pub(crate) fn summarize(policy: &Policy, state: &State, text: &Text, forgets: Option<&[ItemId]>) -> Events {
    let known = &state.semantic;
    let chosen = forgets.map_or_else(|| cluster(policy, state), <[ItemId]>::to_vec);
    let chosen: BTreeSet<ItemId> = chosen.into_iter().collect();
    let of = |entry: &Entry| {
        known.current_version(entry.item.id).is_some_and(|current| chosen.contains(&current.item.id))
    };
    let gone: BTreeSet<ItemId> =
        known.entries().filter(|entry| of(entry)).map(|entry| entry.item.id).collect();
    let Some((item, deps)) = summary(known, text, &chosen, &gone) else { return Vec::new() };
    let into = item.id;
    let instead = policy.rules.repointed_dependents.then_some(into);
    let mut events = Vec::from([Event::AddItem { item, deps }]);
    let stays = known.entries().filter(|entry| !gone.contains(&entry.item.id));
    events.extend(stays.filter_map(|entry| relink(entry, &gone, instead)));
    events.push(Event::ForgetItems {
        ids: gone.into_iter().collect(),
        cause: ForgetCause::Compaction { into },
    });
    events
}

/// The summary: it counts where its parts did, for whom they did, and rests on what they rested on. If one of them was to be
/// reviewed, so is it.
fn summary(
    known: &SemanticState,
    text: &Text,
    chosen: &BTreeSet<ItemId>,
    gone: &BTreeSet<ItemId>,
) -> Option<(Item, Vec<ItemId>)> {
    let parts: Vec<&Entry> = chosen.iter().filter_map(|id| known.get(*id)).collect();
    let first = &parts.first()?.item;
    let latest = parts.iter().filter_map(|entry| entry.item.fact()).map(|fact| fact.established_at).max();
    let layer = match &first.layer {
        Layer::Fact(fact) => Layer::Fact(Box::new(FactRecord {
            source: FactSource { name: "summarizer".into(), rank: fact.source.rank },
            established_at: latest.unwrap_or(fact.established_at),
            supersedes: None,
            time_sensitive: false,
            summarized_keys: merged_keys(&parts),
            ..(**fact).clone()
        })),
        Layer::Request { user } if first.persists() => Layer::Request { user: user.clone() },
        _ => Layer::Working { created_at: known.now(), expires_at: None },
    };
    let review = parts.iter().any(|entry| entry.item.validity == Validity::NeedsReview);
    let variant = if first.fact().is_some() { first.kind } else { ItemKind::Fact };
    let standing = if review { Validity::NeedsReview } else { Validity::Current };
    let item = Item {
        id: known.next_id(),
        kind: variant,
        key: ItemKey::Summary,
        text: text.clone(),
        layer,
        validity: standing,
    };
    // Not on what rests on it, or it would rest on itself.
    let round = known.transitive_dependents(&gone.iter().copied().collect::<Vec<_>>());
    let deps: BTreeSet<ItemId> = parts.iter().flat_map(|entry| entry.deps.iter().copied()).collect();
    let outside = |id: &ItemId| !gone.contains(id) && !round.contains(id);
    Some((item, deps.into_iter().filter(outside).collect()))
}

/// What writes may call what these said, so that they find the summary (decision 0021).
fn merged_keys(parts: &[&Entry]) -> Vec<Text> {
    let names: BTreeSet<&Text> = parts.iter().flat_map(|entry| entry.item.covered_keys()).collect();
    names.into_iter().cloned().collect()
}

/// What stays, without any link into the forgotten; if there was one.
fn relink(Entry { item, deps }: &Entry, gone: &BTreeSet<ItemId>, instead: Option<ItemId>) -> Option<Event> {
    let mut settled = item.clone();
    if let Layer::Fact(fact) = &mut settled.layer
        && fact.supersedes.is_some_and(|id| gone.contains(&id))
    {
        fact.supersedes = None;
    }
    let kept = deps.iter().copied().filter(|dep| !gone.contains(dep));
    let mut kept: BTreeSet<ItemId> = kept.collect();
    if kept.len() < deps.len() {
        kept.extend(instead);
    }
    let kept: Vec<ItemId> = kept.into_iter().collect();
    (settled != *item || kept != *deps).then_some(Event::UpdateItem { item: settled, deps: kept })
}

/// The tokens of a text, estimated as bytes / 4, rounded up.
#[must_use]
pub const fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
