//! The rules of supersession (003-6; decisions 0019, 0021, 0027).

use super::dependents::{Changed, review};
use super::{Items, all, dependencies, fact_of_key, latest, ranks, supersede};
use crate::reference::items::{chain_end, fact_keys, is_in_force, item_scope, superseded_by};
use crate::semantic_view::SemanticView;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text, Timestamp};
use orchestrion_kernel::item::{
    Audience, FactRecord, FactSource, Item, ItemKey, Layer, Rank, Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::{NewFact, Reference};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::semantic::{Entry, SemanticState};

/// An item that a new fact competes with, or names in another scope.
struct Rival<'s> {
    entry: &'s Entry,
    is_named: bool,
    /// The keys that a summary loses and those that it keeps. A rival that keeps none is superseded as a whole.
    lost: Vec<Text>,
    kept: Vec<Text>,
}

/// A new fact with its source and its time.
struct Claimed<'w> {
    new: &'w NewFact,
    source: FactSource,
    established_at: Timestamp,
}

/// The items after the write of a fact; none if it is refused.
pub(super) fn items_after(policy: &Policy, before: &SemanticView<'_>, new: &NewFact) -> Option<Items> {
    let known = before.semantic();
    let fact = Claimed {
        new,
        source: ranks::source(policy, before, new)?,
        established_at: new.established_at.unwrap_or(before.now()),
    };
    let rivals = rivals(known, new)?;
    let replaced = rivals.iter().filter(|rival| rival.kept.is_empty()).map(Rival::id).collect();
    let deps = dependencies(known, &new.depends_on, &new.scope, &replaced)?;
    let mut items = all(known);
    if let [rival] = rivals.as_slice()
        && rival.is_repeated_by(new)
    {
        reaffirm(&mut items, rival.id(), &fact, deps);
        return Some(items);
    }
    if new.supersedes.is_none()
        && rivals.iter().any(|rival| !rival.covers(&new.key))
        && was_current(known, new)
    {
        return Some(items);
    }
    let id = known.next_id();
    let validity = if ranks::may_write(policy, new, fact.source.rank) {
        fact.defeat(&rivals).unwrap_or(Validity::Current)
    } else {
        Validity::Denied
    };
    let is_current = validity == Validity::Current;
    let record = FactRecord {
        source: fact.source.clone(),
        established_at: fact.established_at,
        memory: new.memory,
        scope: new.scope.clone(),
        supersedes: rivals.iter().filter(|_| is_current).find(|rival| fact.may_link(rival)).map(Rival::id),
        time_sensitive: new.time_sensitive,
        audience: new.audience.clone(),
        summarized_keys: if is_current { fact.taken_keys(&rivals) } else { Vec::new() },
    };
    let item = Item {
        id,
        kind: new.kind.into(),
        key: ItemKey::Fact(new.key.clone()),
        text: new.text.clone(),
        layer: Layer::Fact(Arc::new(record)),
        validity,
    };
    items.insert(id, Entry { item, deps });
    if is_current {
        let (whole, in_part): (Vec<&Rival<'_>>, Vec<&Rival<'_>>) =
            rivals.iter().filter(|rival| rival.competes(new)).partition(|rival| rival.kept.is_empty());
        let reduced: BTreeMap<ItemId, Vec<Text>> =
            in_part.iter().map(|rival| (rival.id(), rival.kept.clone())).collect();
        let changed = Changed { replaced: whole.iter().map(|rival| rival.id()).collect(), reduced };
        review(known, &mut items, &changed, Some(id));
        for rival in whole {
            supersede(&mut items, rival.id(), id, fact.rule(rival));
        }
    }
    Some(items)
}

/// What the new fact names, and the valid fact of its key and scope or the successor of that key. None if the named fact does not exist.
fn rivals<'s>(known: &'s SemanticState, new: &NewFact) -> Option<Vec<Rival<'s>>> {
    let mut rivals = Vec::new();
    let mut named_key = Some(&new.key);
    if let Some(reference) = &new.supersedes {
        let found = match reference {
            Reference::Id(id) => known.get(*id).filter(|entry| entry.item.fact().is_some())?,
            Reference::Key(key) => fact_of_key(known, key, &new.scope)?,
        };
        let key = match (reference, &found.item.key) {
            (Reference::Key(key), _) | (Reference::Id(_), ItemKey::Fact(key)) => Some(key),
            // The id of a summary names the whole summary.
            (Reference::Id(_), _) => None,
        };
        let current = chain_end(known, found.item.id).and_then(|end| known.get(end)).unwrap_or(found);
        rivals.extend(Rival::new(current, true, |covered| {
            *covered == new.key || key.is_none_or(|key| covered == key)
        }));
        named_key = key.or(named_key);
    }
    let own = of_own_key(known, new)
        .filter(|own| rivals.first().is_none_or(|named: &Rival<'_>| named.id() != own.item.id));
    let is_taken = |covered: &Text| *covered == new.key || Some(covered) == named_key;
    rivals.extend(own.and_then(|own| Rival::new(own, false, is_taken)));
    Some(rivals)
}

/// The valid fact of the scope that has the key, else the valid end of a chain that starts at a fact with the key, the latest first.
/// A summary is no such end.
fn of_own_key<'s>(known: &'s SemanticState, new: &NewFact) -> Option<&'s Entry> {
    let has_key = |item: &Item| {
        item.fact().is_some_and(|fact| fact.scope == new.scope) && fact_keys(item).any(|key| *key == new.key)
    };
    latest(known, |item| has_key(item) && is_in_force(item)).or_else(|| {
        let ends = known.entries().filter(|entry| has_key(&entry.item)).filter_map(|entry| {
            let end = known.get(chain_end(known, entry.item.id)?)?;
            let is_successor = is_in_force(&end.item)
                && end.item.key != ItemKey::Summary
                && end.item.fact().is_some_and(|fact| fact.scope == new.scope);
            is_successor.then_some(end)
        });
        ends.last()
    })
}

/// Whether the text was a current value of the key in this scope, and was superseded. A fact that lost was never current: its successor
/// is older.
fn was_current(known: &SemanticState, new: &NewFact) -> bool {
    known.entries().map(|entry| &entry.item).any(|item| {
        fact_keys(item).any(|key| *key == new.key)
            && item.fact().is_some_and(|fact| fact.scope == new.scope)
            && (&item.text, item.kind) == (&new.text, new.kind.into())
            && superseded_by(item).is_some_and(|by| by > item.id)
    })
}

/// A source of at least the fact's rank confirms it. It may raise rank and time, restrict the audience and add dependencies.
fn reaffirm(items: &mut Items, id: ItemId, by: &Claimed<'_>, new_deps: Vec<ItemId>) {
    let Some(Entry { item, deps }) = items.get_mut(&id) else { return };
    let Layer::Fact(fact) = &mut item.layer else { return };
    if by.source.rank < fact.source.rank {
        return;
    }
    item.validity = Validity::Current;
    let fact = Arc::make_mut(fact);
    if by.source.rank > fact.source.rank {
        fact.source = by.source.clone();
    }
    fact.established_at = fact.established_at.max(by.established_at);
    if by.new.audience != Audience::Everybody {
        fact.audience = by.new.audience.clone();
    }
    let all: BTreeSet<ItemId> = deps.iter().copied().chain(new_deps).collect();
    *deps = all.into_iter().collect();
}

impl<'s> Rival<'s> {
    /// None for a summary that has no such key.
    fn new(entry: &'s Entry, is_named: bool, is_taken: impl Fn(&Text) -> bool) -> Option<Self> {
        if entry.item.key != ItemKey::Summary {
            return Some(Self { entry, is_named, lost: Vec::new(), kept: Vec::new() });
        }
        let (lost, kept): (Vec<Text>, Vec<Text>) = fact_keys(&entry.item).cloned().partition(&is_taken);
        (!lost.is_empty()).then_some(Self { entry, is_named, lost, kept })
    }

    fn id(&self) -> ItemId {
        self.entry.item.id
    }

    fn covers(&self, key: &Text) -> bool {
        fact_keys(&self.entry.item).any(|covered| covered == key)
    }

    /// Narrower scopes shadow and never supersede.
    fn competes(&self, new: &NewFact) -> bool {
        is_in_force(&self.entry.item) && self.entry.item.fact().is_some_and(|fact| fact.scope == new.scope)
    }

    /// A summary is never repeated: its text is no value of one key.
    fn is_repeated_by(&self, new: &NewFact) -> bool {
        let Item { key, text, kind, .. } = &self.entry.item;
        let ItemKey::Fact(key) = key else { return false };
        self.competes(new)
            && (*key == new.key || !self.is_named)
            && (text, *kind) == (&new.text, new.kind.into())
    }
}

impl Claimed<'_> {
    /// The rule by which the new fact supersedes a rival: authority, else the explicit reference or what the boundary detected, else
    /// the time of time-sensitive facts, else the order of writes.
    fn rule(&self, rival: &Rival<'_>) -> SupersessionRule {
        let Some(fact) = rival.entry.item.fact() else { return SupersessionRule::Implicit };
        let stated = match (rival.is_named, self.new.detected_rule) {
            (true, None) => SupersessionRule::Explicit,
            (true, Some(detected)) => detected,
            (false, _) => SupersessionRule::Implicit,
        };
        if self.source.rank > fact.source.rank {
            SupersessionRule::Authority
        } else if stated == SupersessionRule::Implicit && (self.new.time_sensitive || fact.time_sensitive) {
            SupersessionRule::Temporal
        } else {
            stated
        }
    }

    /// The rank of a rival that wins, and the rule: a higher rank always does, a later time where the time decides.
    fn loss(&self, rival: &Rival<'_>) -> Option<(Rank, SupersessionRule)> {
        let fact = rival.entry.item.fact().filter(|_| rival.competes(self.new))?;
        if fact.source.rank > self.source.rank {
            return Some((fact.source.rank, SupersessionRule::Authority));
        }
        let is_later = fact.established_at > self.established_at;
        (self.rule(rival) == SupersessionRule::Temporal && is_later)
            .then_some((fact.source.rank, SupersessionRule::Temporal))
    }

    /// The validity of the new fact if it loses: the rival of the highest rank wins, of equals that of its own key.
    fn defeat(&self, rivals: &[Rival<'_>]) -> Option<Validity> {
        let losses = rivals.iter().filter_map(|rival| Some((rival, self.loss(rival)?)));
        let (winner, (_, rule)) = losses.max_by_key(|(rival, (rank, _))| (*rank, !rival.is_named))?;
        Some(Validity::Superseded { superseded_by: Some(winner.id()), rule })
    }

    /// Whether a current fact has a link to this rival: it supersedes it as a whole, or shadows it, a global fact.
    fn may_link(&self, rival: &Rival<'_>) -> bool {
        let Item { layer, .. } = &rival.entry.item;
        let Layer::Fact(fact) = layer else { return false };
        let is_tentative = matches!(self.new.scope, Scope::Hypothetical(_) | Scope::Draft(_));
        let shadows = || {
            *item_scope(&rival.entry.item) == Scope::Global
                && (is_tentative || fact.source.rank <= self.source.rank)
        };
        rival.kept.is_empty() && is_in_force(&rival.entry.item) && (fact.scope == self.new.scope || shadows())
    }

    /// The keys that the new fact takes from summaries which keep others, besides its own.
    fn taken_keys(&self, rivals: &[Rival<'_>]) -> Vec<Text> {
        let in_part = rivals.iter().filter(|rival| rival.competes(self.new) && !rival.kept.is_empty());
        let keys: BTreeSet<Text> = in_part.flat_map(|rival| rival.lost.iter().cloned()).collect();
        keys.into_iter().filter(|key| *key != self.new.key).collect()
    }
}
