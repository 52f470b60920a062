//! Writes of facts: the supersession rules and their precedence (003; design §2).
//!
//! A key without a valid fact is a *superseded key* if a fact of it was superseded. A write under it competes with the successor.

use super::error::KnowledgeError;
use super::propagate::supersede;
use super::references::{find_fact, find_successor, find_valid_fact, resolve_dependencies};
use super::types::{FactKind, NewFact, Reference};
use crate::event::{Event, Events};
use crate::ids::{ItemId, Text, Timestamp};
use crate::item::{
    Audience, FactRecord, FactSource, Item, ItemKey, Layer, MemoryType, Rank, Scope, SupersessionRule,
    Validity,
};
use crate::policy::Policy;
use crate::semantic::{Entry, SemanticState};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

/// An item that a new fact may supersede: the named one, the valid fact of its key and scope, or the successor of that key.
struct Target<'a> {
    entry: &'a Entry,
    is_named: bool,
    /// The keys that remain to a summary. A target without remaining keys is superseded as a whole.
    remaining_keys: Vec<Text>,
    /// The keys that a summary with remaining keys loses.
    lost_keys: Vec<Text>,
}

/// A fact with its resolved source and time.
pub(super) struct SourcedFact<'a> {
    pub(super) new: &'a NewFact,
    pub(super) source: FactSource,
    pub(super) established_at: Timestamp,
}

impl Deref for SourcedFact<'_> {
    type Target = NewFact;

    fn deref(&self) -> &NewFact {
        self.new
    }
}

impl<'a> Target<'a> {
    /// Creates the target. `named_key` is the key by which the write names it; `None` if it names the item itself. Returns
    /// `None` for a summary that covers neither key.
    fn new(entry: &'a Entry, is_named: bool, own_key: &Text, named_key: Option<&Text>) -> Option<Self> {
        let is_lost = |key: &&Text| *key == own_key || named_key.is_none_or(|named| named == *key);
        // A fact is superseded as a whole, together with the keys that it took from summaries.
        let (lost_keys, remaining_keys): (Vec<_>, Vec<_>) = if entry.item.key == ItemKey::Summary {
            entry.item.covered_keys().partition(is_lost)
        } else {
            (Vec::from([own_key]), Vec::new())
        };
        let keys = |keys: Vec<&Text>| keys.into_iter().cloned().collect();
        (!lost_keys.is_empty()).then(|| Self {
            entry,
            is_named,
            lost_keys: if remaining_keys.is_empty() { Vec::new() } else { keys(lost_keys) },
            remaining_keys: keys(remaining_keys),
        })
    }

    /// Returns whether the target is the successor of this key, which it does not cover.
    fn is_successor_of(&self, key: &Text) -> bool {
        self.entry.item.covered_keys().all(|covered| covered != key)
    }

    fn id(&self) -> ItemId {
        self.entry.item.id
    }

    /// Returns the target's record if it competes with the new fact: if it is a valid fact of the same scope.
    fn competing_fact(&self, new: &SourcedFact<'_>) -> Option<&'a FactRecord> {
        self.entry.item.fact().filter(|fact| fact.scope == new.scope && self.entry.item.is_valid())
    }

    /// Returns the rule by which the new fact would supersede the target.
    fn rule(&self, fact: &FactRecord, new: &SourcedFact<'_>) -> SupersessionRule {
        let rule = match self.is_named {
            true => new.detected_rule.unwrap_or(SupersessionRule::Explicit),
            false => SupersessionRule::Implicit,
        };
        let is_timed = new.time_sensitive || fact.time_sensitive;
        match rule {
            _ if new.source.rank > fact.source.rank => SupersessionRule::Authority,
            SupersessionRule::Implicit if is_timed => SupersessionRule::Temporal,
            rule => rule,
        }
    }

    /// Returns the target's rank and the validity of the new fact, if the new fact loses against the target.
    fn defeat(&self, new: &SourcedFact<'_>) -> Option<(Rank, Validity)> {
        let fact = self.competing_fact(new)?;
        let rule = match self.rule(fact, new) {
            _ if fact.source.rank > new.source.rank => SupersessionRule::Authority,
            SupersessionRule::Temporal if fact.established_at > new.established_at => {
                SupersessionRule::Temporal
            }
            SupersessionRule::Authority
            | SupersessionRule::Explicit
            | SupersessionRule::Temporal
            | SupersessionRule::Implicit => return None,
        };
        Some((fact.source.rank, Validity::Superseded { superseded_by: Some(self.id()), rule }))
    }

    /// Returns whether the new fact repeats the target: same scope, kind and text, and the same key or a superseded one. No
    /// fact repeats a summary.
    fn is_repeated_by(&self, new: &SourcedFact<'_>) -> bool {
        let Item { key, text, kind, .. } = &self.entry.item;
        let has_key = key.fact().is_some_and(|key| *key == new.key || !self.is_named);
        has_key && self.competing_fact(new).is_some() && *text == new.text && *kind == new.kind.into()
    }
}

pub(super) fn decide_fact(
    policy: &Policy,
    semantic: &SemanticState,
    new: &SourcedFact<'_>,
) -> Result<Events, KnowledgeError> {
    let targets = find_targets(semantic, new)?;
    let replaced: Vec<ItemId> =
        targets.iter().filter(|target| target.remaining_keys.is_empty()).map(Target::id).collect();
    let deps = resolve_dependencies(semantic, &new.depends_on, &new.scope, &replaced)?;
    if let [target] = targets.as_slice()
        && target.is_repeated_by(new)
    {
        return Ok(reaffirm(new, target.entry, deps));
    }
    if new.supersedes.is_none()
        && targets.iter().any(|target| target.is_successor_of(&new.key))
        && is_superseded_value(semantic, new)
    {
        return Ok(Vec::new());
    }
    let validity = validity(policy, new, &targets);
    let is_current = validity == Validity::Current;
    let record = FactRecord {
        source: new.source.clone(),
        established_at: new.established_at,
        memory: new.memory,
        scope: new.scope.clone(),
        supersedes: replaced.iter().copied().find(|id| is_current && can_link(semantic, *id, new)),
        time_sensitive: new.time_sensitive,
        audience: new.audience.clone(),
        summarized_keys: if is_current { taken_keys(new, &targets) } else { Vec::new() },
    };
    let id = semantic.next_id();
    let item = Item {
        id,
        kind: new.kind.into(),
        key: ItemKey::Fact(new.key.clone()),
        text: new.text.clone(),
        layer: Layer::Fact(Arc::new(record)),
        validity,
    };
    let mut events = Vec::from([Event::AddItem { item, deps }]);
    if is_current {
        let (mut superseded, mut reduced) = (Vec::new(), Vec::new());
        for target in targets {
            match target.competing_fact(new) {
                Some(fact) if target.remaining_keys.is_empty() => {
                    superseded.push((target.id(), target.rule(fact, new)));
                }
                Some(_) => reduced.push((target.id(), target.remaining_keys)),
                None => {}
            }
        }
        supersede(semantic, id, &superseded, &reduced, &mut events);
    }
    Ok(events)
}

/// Returns the targets: first the current version of the named item, then the valid fact of the same key, or the successor
/// of a superseded key.
fn find_targets<'a>(semantic: &'a SemanticState, new: &NewFact) -> Result<Vec<Target<'a>>, KnowledgeError> {
    let mut targets = Vec::new();
    let mut lost_key = &new.key;
    if let Some(reference) = &new.supersedes {
        let found = find_fact(semantic, reference, &new.scope)
            .ok_or_else(|| KnowledgeError::UnknownSuperseded(reference.clone()))?;
        // A reference to a summary's id names the whole summary.
        let named_key = match reference {
            Reference::Key(key) => Some(key),
            Reference::Id(_) => found.item.key.fact(),
        };
        lost_key = named_key.unwrap_or(lost_key);
        let entry = semantic.current_version(found.item.id).unwrap_or(found);
        targets.extend(Target::new(entry, true, &new.key, named_key));
    }
    let is_other = |entry: &&Entry| targets.first().is_none_or(|named| named.id() != entry.item.id);
    let same_key = find_valid_fact(semantic, &new.key, &new.scope)
        .or_else(|| find_successor(semantic, &new.key, &new.scope))
        .filter(is_other);
    targets.extend(same_key.and_then(|entry| Target::new(entry, false, &new.key, Some(lost_key))));
    Ok(targets)
}

/// Returns whether the new fact repeats the value that a fact of its superseded key had. Repetition is no evidence against a
/// supersession (003, test vector 2).
fn is_superseded_value(semantic: &SemanticState, new: &NewFact) -> bool {
    let had_value = |Entry { item, .. }: &Entry| {
        let was_current = match item.validity {
            // A fact that lost has an earlier successor than itself.
            Validity::Superseded { superseded_by, .. } => superseded_by.is_some_and(|by| by > item.id),
            Validity::Current | Validity::NeedsReview | Validity::Denied => false,
        };
        let has_same_scope = item.fact().is_some_and(|fact| fact.scope == new.scope);
        was_current && has_same_scope && item.text == new.text && item.kind == new.kind.into()
    };
    semantic.by_key(&ItemKey::Fact(new.key.clone())).any(had_value)
}

/// Returns the keys that the new fact takes from summaries, without its own: they stay superseded keys (decision 0027).
fn taken_keys(new: &SourcedFact<'_>, targets: &[Target<'_>]) -> Vec<Text> {
    let competing = targets.iter().filter(|target| target.competing_fact(new).is_some());
    let keys: BTreeSet<&Text> = competing.flat_map(|target| &target.lost_keys).collect();
    keys.into_iter().filter(|key| **key != new.key).cloned().collect()
}

/// Returns whether the new fact keeps a link to this item: if it supersedes it, or shadows a global fact. A link to an item of
/// another scope, or of the session, could dangle.
fn can_link(semantic: &SemanticState, id: ItemId, new: &SourcedFact<'_>) -> bool {
    let item = semantic.get(id).map(|entry| &entry.item).filter(|item| item.is_valid());
    item.and_then(Item::fact).is_some_and(|fact| {
        let is_outranked = fact.source.rank > new.source.rank && !new.scope.is_tentative();
        fact.scope == new.scope || fact.scope == Scope::Global && !is_outranked
    })
}

/// Returns the validity of the new fact: denied if its rank is too low to write it, superseded if it loses, else current.
fn validity(policy: &Policy, new: &SourcedFact<'_>, targets: &[Target<'_>]) -> Validity {
    let constraint = matches!(new.kind, FactKind::Constraint(_)).then_some(policy.writes.constraint_from);
    let organizational =
        (new.memory == MemoryType::Organizational).then_some(policy.writes.organizational_from);
    let required_rank = constraint.max(organizational).unwrap_or(Rank::Unverified);
    if new.source.rank < required_rank {
        return Validity::Denied;
    }
    // Of several winners the highest rank counts; of equals the fact of the same key, which is last.
    let defeats = targets.iter().filter_map(|target| target.defeat(new));
    defeats.max_by_key(|(rank, _)| *rank).map_or(Validity::Current, |(_, validity)| validity)
}

/// Reaffirms a fact: a source of at least its rank clears the review flag, and may raise rank and timestamp, restrict the
/// audience and add dependencies. An unrestricted audience does not widen a restricted one.
fn reaffirm(new: &SourcedFact<'_>, Entry { item, deps }: &Entry, new_deps: Vec<ItemId>) -> Events {
    let Some(fact) = item.fact().filter(|fact| fact.source.rank <= new.source.rank) else {
        return Vec::new();
    };
    let source = if fact.source.rank < new.source.rank { &new.source } else { &fact.source };
    let audience = if new.audience == Audience::Everybody { &fact.audience } else { &new.audience };
    let record = FactRecord {
        source: source.clone(),
        audience: audience.clone(),
        established_at: fact.established_at.max(new.established_at),
        ..fact.clone()
    };
    let all_deps: BTreeSet<ItemId> = deps.iter().copied().chain(new_deps).collect();
    let reaffirmed =
        Item { layer: Layer::Fact(Arc::new(record)), validity: Validity::Current, ..item.clone() };
    if reaffirmed == *item && all_deps.len() == deps.len() {
        return Vec::new();
    }
    Vec::from([Event::UpdateItem { item: reaffirmed, deps: all_deps.into_iter().collect() }])
}
