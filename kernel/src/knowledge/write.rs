//! What a write means (003, state write and supersession rules; design §2 for their precedence).

use super::{FactKind, Misuse, NewFact, Reference, Write};
use crate::event::{Event, Events, ForgetCause};
use crate::ids::{ItemId, Text};
use crate::item::{
    Audience, FactRecord, Item, Key, Layer, MemoryType, Rank, Scope, Standing, SupersessionRule, Variant,
};
use crate::policy::Policy;
use crate::semantic::{Entry, Semantic};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// What a write means in what is known: the events that say it. None if it says again, with no more authority, what is known.
///
/// A fact meets its rivals: the fact that it names as superseded, and the current one of its own key, in its own scope. Authority
/// decides first, then what the write says explicitly, then time where that counts, and else the later write. What the
/// write loses against stays as it is, and the write is kept as superseded by it. Saying again what a fact says affirms
/// it: it is not added a second time, however often it is said.
///
/// # Errors
/// A [`Misuse`] if the write does not fit what is known; nothing is to change then.
pub fn decide_write(policy: &Policy, known: &Semantic, write: &Write) -> Result<Events, Misuse> {
    match write {
        Write::Identity { .. } if known.identity().is_some() => Err(Misuse::IdentityIsSet),
        Write::Identity { name, identity } => {
            let layer = Layer::Identity(Box::new(identity.clone()));
            Ok(overwrite(known, Key::Identity, name, layer, Vec::new()))
        }
        Write::Clock { now: came, .. } if *came < known.now() => {
            Err(Misuse::ClockSetBack { now: known.now(), came: *came })
        }
        Write::Clock { now, text } => {
            let mut events = overwrite(known, Key::Clock, text, Layer::Clock { now: *now }, Vec::new());
            let ids = known.expired(*now);
            if !ids.is_empty() {
                events.push(Event::ForgetItems { ids, cause: ForgetCause::Expiry });
            }
            Ok(events)
        }
        Write::Fact(new) => fact(policy, known, new),
        Write::Working { key, text, expires_at, rests_on } => {
            let now = known.now();
            if let Some(at) = expires_at.filter(|at| *at <= now) {
                return Err(Misuse::Expired { at, now });
            }
            let key = Key::Working(key.clone());
            let own: Vec<ItemId> = known.find(&key).map(|entry| entry.item.id).into_iter().collect();
            let deps = rested_on(known, rests_on, &Scope::Session, &own)?;
            let layer = Layer::Working { created_at: now, expires_at: *expires_at };
            Ok(overwrite(known, key, text, layer, deps))
        }
        Write::Environment { key, text, supersedes } => environment(known, key, text, supersedes.as_ref()),
    }
}

/// A fact that the new one meets, and the rule by which the new one takes its place.
struct Rival<'a> {
    entry: &'a Entry,
    fact: &'a FactRecord,
    rule: SupersessionRule,
}

fn fact(policy: &Policy, known: &Semantic, new: &NewFact) -> Result<Events, Misuse> {
    let named = match &new.supersedes {
        Some(reference) => {
            let found = named_fact(known, reference, &new.scope);
            let found = found.ok_or_else(|| Misuse::SupersedesNothing(reference.clone()))?;
            Some(known.current(found.item.id).unwrap_or(found).item.id)
        }
        None => None,
    };
    let namesake = valid_in(known, &new.key, &new.scope);
    let replaced: Vec<ItemId> = namesake.map(|entry| entry.item.id).into_iter().chain(named).collect();
    let deps = rested_on(known, &new.rests_on, &new.scope, &replaced)?;
    if let Some(entry) = namesake
        && entry.item.text == new.text
        && entry.item.variant == new.kind.into()
        && named.is_none_or(|named| named == entry.item.id)
    {
        return Ok(affirm(new, entry, deps));
    }
    let rivals = rivals(known, new, named, namesake);
    let standing = standing(policy, new, &rivals);
    let record = FactRecord {
        source: new.source.clone(),
        at: new.at,
        memory: new.memory,
        scope: new.scope.clone(),
        supersedes: replaced
            .iter()
            .rev()
            .copied()
            .find(|id| standing == Standing::Current && may_name(known, *id, new)),
        time_sensitive: new.time_sensitive,
        audience: new.audience.clone(),
    };
    let item = Item {
        id: known.next_id(),
        variant: new.kind.into(),
        key: Key::Fact(new.key.clone()),
        text: new.text.clone(),
        layer: Layer::Fact(Box::new(record)),
        standing,
    };
    let id = item.id;
    let mut events = Vec::from([Event::AddItem { item, deps }]);
    if standing == Standing::Current {
        let ended: Vec<_> = rivals.iter().map(|rival| (rival.entry.item.id, rival.rule)).collect();
        events.extend(supersede(known, id, &ended));
    }
    Ok(events)
}

/// Whether a fact takes the place of another, or hides it, and so keeps a link to it: what nobody believes needs neither, what has
/// a higher rank is not hidden, what counts elsewhere is not its matter, and what leaves with the session would leave the
/// link dangling.
fn may_name(known: &Semantic, id: ItemId, new: &NewFact) -> bool {
    let other = known.get(id).map(|entry| &entry.item).filter(|item| item.is_valid());
    other.and_then(Item::fact).is_some_and(|other| {
        let is_outranked = other.source.rank > new.source.rank && !new.scope.is_supposed();
        other.scope == new.scope || other.scope == Scope::Global && !is_outranked
    })
}

/// The fact that a reference names: a valid one in this scope, or else everywhere, or else anywhere, or else any.
fn named_fact<'a>(known: &'a Semantic, reference: &Reference, scope: &Scope) -> Option<&'a Entry> {
    match reference {
        Reference::Id(id) => known.get(*id).filter(|entry| entry.item.fact().is_some()),
        Reference::Key(key) => {
            let all = || known.all(&Key::Fact(key.clone()));
            valid_in(known, key, scope)
                .or_else(|| valid_in(known, key, &Scope::Global))
                .or_else(|| all().find(|entry| entry.item.is_valid()))
                .or_else(|| all().next())
        }
    }
}

/// The valid fact of this key in this scope.
fn valid_in<'a>(known: &'a Semantic, key: &Text, scope: &Scope) -> Option<&'a Entry> {
    let in_scope = |entry: &&Entry| entry.item.fact().is_some_and(|fact| fact.scope == *scope);
    known.all(&Key::Fact(key.clone())).filter(in_scope).find(|entry| entry.item.is_valid())
}

/// What the new fact would take the place of: valid facts of its own scope.
fn rivals<'a>(
    known: &'a Semantic,
    new: &NewFact,
    named: Option<ItemId>,
    namesake: Option<&'a Entry>,
) -> Vec<Rival<'a>> {
    let named_entry = named.and_then(|id| known.get(id));
    let other = namesake.filter(|entry| Some(entry.item.id) != named);
    let rival = |entry: &'a Entry| {
        let fact = entry.item.fact().filter(|fact| fact.scope == new.scope && entry.item.is_valid())?;
        let is_named = named == Some(entry.item.id);
        let found = if is_named {
            new.detected.unwrap_or(SupersessionRule::Explicit)
        } else {
            SupersessionRule::Implicit
        };
        let timed = new.time_sensitive || fact.time_sensitive;
        let rule = match found {
            _ if new.source.rank > fact.source.rank => SupersessionRule::Authority,
            SupersessionRule::Implicit if timed => SupersessionRule::Temporal,
            found => found,
        };
        Some(Rival { entry, fact, rule })
    };
    named_entry.into_iter().chain(other).filter_map(rival).collect()
}

/// Whether the new fact is to be believed: its source may write it, and no rival stands against it.
fn standing(policy: &Policy, new: &NewFact, rivals: &[Rival<'_>]) -> Standing {
    let constraint = matches!(new.kind, FactKind::Constraint(_)).then_some(policy.writes.constraint_from);
    let organizational =
        (new.memory == MemoryType::Organizational).then_some(policy.writes.organizational_from);
    // A constraint of the organization asks for both.
    let may_write = constraint.max(organizational).unwrap_or(Rank::Unverified);
    if new.source.rank < may_write {
        return Standing::Denied;
    }
    let lost = |rival: &Rival<'_>| {
        let rule = match rival.rule {
            _ if rival.fact.source.rank > new.source.rank => SupersessionRule::Authority,
            SupersessionRule::Temporal if rival.fact.at > new.at => SupersessionRule::Temporal,
            _ => return None,
        };
        Some((rival.fact.source.rank, Standing::Superseded { by: Some(rival.entry.item.id), rule }))
    };
    // Of several, to the one of the highest rank; of equals, to the namesake, which comes last.
    let against = rivals.iter().filter_map(lost).max_by_key(|(rank, _)| *rank);
    against.map_or(Standing::Current, |(_, standing)| standing)
}

/// Ends what a new item takes the place of: what rested on that rests on the new one, and is marked.
fn supersede(known: &Semantic, by: ItemId, ended: &[(ItemId, SupersessionRule)]) -> Events {
    let superseded = |(id, rule): &(ItemId, SupersessionRule)| {
        restand(known, *id, Standing::Superseded { by: Some(by), rule: *rule })
    };
    let ids: Vec<ItemId> = ended.iter().map(|(id, _)| *id).collect();
    ended.iter().filter_map(superseded).chain(review(known, &ids, Some(by))).collect()
}

/// Marks what rests on items that say something else now, but not these. If something took their place it rests on that.
fn review(known: &Semantic, changed: &[ItemId], by: Option<ItemId>) -> impl Iterator<Item = Event> {
    let resting = known.resting_on(changed);
    let renewed = move |id: ItemId| {
        let Entry { item: old, deps: old_deps } = known.get(id).filter(|entry| entry.item.is_valid())?;
        let standing = if old.fact().is_some() { Standing::NeedsReview } else { old.standing };
        let instead = |dep: &ItemId| by.filter(|_| changed.contains(dep)).unwrap_or(*dep);
        let mut deps: Vec<ItemId> = old_deps.iter().map(instead).collect();
        deps.sort_unstable();
        deps.dedup();
        let is_changed = standing != old.standing || deps != *old_deps;
        is_changed.then(|| Event::UpdateItem { item: Item { standing, ..old.clone() }, deps })
    };
    resting.into_iter().filter_map(renewed)
}

/// Gives an item another standing.
fn restand(known: &Semantic, id: ItemId, standing: Standing) -> Option<Event> {
    let Entry { item, deps } = known.get(id)?;
    Some(Event::UpdateItem { item: Item { standing, ..item.clone() }, deps: deps.clone() })
}

/// A fact is said again: by somebody of its rank or a higher one that clears the mark, and makes it the later. It is for whom is
/// said now, but what was kept from some is not given to everybody by saying nothing of that; and it rests on more, if told so.
fn affirm(new: &NewFact, Entry { item, deps }: &Entry, more: Vec<ItemId>) -> Events {
    let Some(fact) = item.fact().filter(|fact| fact.source.rank <= new.source.rank) else {
        return Vec::new();
    };
    let source = if fact.source.rank < new.source.rank { &new.source } else { &fact.source };
    let audience = if new.audience == Audience::Everybody { &fact.audience } else { &new.audience };
    let (source, audience, at) = (source.clone(), audience.clone(), fact.at.max(new.at));
    let record = FactRecord { source, audience, at, ..fact.clone() };
    let all: BTreeSet<ItemId> = deps.iter().copied().chain(more).collect();
    let affirmed = Item { layer: Layer::Fact(Box::new(record)), standing: Standing::Current, ..item.clone() };
    if affirmed == *item && all.len() == deps.len() {
        return Vec::new();
    }
    Vec::from([Event::UpdateItem { item: affirmed, deps: all.into_iter().collect() }])
}

fn environment(
    known: &Semantic,
    key: &Text,
    text: &Text,
    supersedes: Option<&Reference>,
) -> Result<Events, Misuse> {
    let older = match supersedes {
        Some(reference) => {
            let found = match reference {
                Reference::Id(id) => known.get(*id).filter(|entry| entry.item.layer == Layer::Environment),
                Reference::Key(key) => known.find(&Key::Environment(key.clone())),
            };
            let found = found.map(|entry| known.current(entry.item.id).unwrap_or(entry));
            Some(found.ok_or_else(|| Misuse::SupersedesNothing(reference.clone()))?)
        }
        None => None,
    };
    let key = Key::Environment(key.clone());
    let own = known.find(&key).map(|entry| entry.item.id);
    let mut events = overwrite(known, key, text, Layer::Environment, Vec::new());
    let older = older.filter(|older| older.item.is_valid() && Some(older.item.id) != own);
    let ended: Vec<_> = older.map(|older| (older.item.id, SupersessionRule::Temporal)).into_iter().collect();
    events.extend(supersede(known, own.unwrap_or(known.next_id()), &ended));
    Ok(events)
}

/// Adds an item, or overwrites the one of its key; then what rests on that must be looked at again.
fn overwrite(known: &Semantic, key: Key, text: &Text, layer: Layer, deps: Vec<ItemId>) -> Events {
    let of_id = |id, variant| {
        let (key, text) = (key.clone(), text.clone());
        Item { id, variant, key, text, layer: layer.clone(), standing: Standing::Current }
    };
    let Some(old) = known.find(&key) else {
        let item = of_id(known.next_id(), Variant::Fact);
        return Vec::from([Event::AddItem { item, deps }]);
    };
    let item = of_id(old.item.id, old.item.variant);
    if item == old.item && deps == old.deps {
        return Vec::new();
    }
    let says_else = item.text != old.item.text;
    let id = item.id;
    let mut events = Vec::from([Event::UpdateItem { item, deps }]);
    if says_else {
        events.extend(review(known, &[id], None));
    }
    events
}

/// The ids of what a write of this scope rests on, in id order: what stands in the place of each today. It may neither leave
/// before the write, nor count elsewhere, nor rest on what the write takes the place of.
fn rested_on(
    known: &Semantic,
    references: &[Reference],
    scope: &Scope,
    replaced: &[ItemId],
) -> Result<Vec<ItemId>, Misuse> {
    let mut ids = BTreeSet::new();
    let taken = if references.is_empty() { BTreeSet::new() } else { known.resting_on(replaced) };
    for reference in references {
        let named = match reference {
            Reference::Id(id) => known.get(*id),
            Reference::Key(_) => named_fact(known, reference, scope),
        };
        let Some(current) = named.and_then(|entry| known.current(entry.item.id)) else {
            return Err(Misuse::DanglingDependency { on: reference.clone() });
        };
        let Item { id, .. } = current.item;
        if *scope != Scope::Session && !current.item.persists() {
            return Err(Misuse::Outlives(reference.clone()));
        }
        if current.item.fact().is_some_and(|fact| !fact.scope.counts_in(scope)) {
            return Err(Misuse::OutOfScope(reference.clone()));
        }
        if replaced.contains(&id) || taken.contains(&id) {
            return Err(Misuse::Cyclic(reference.clone()));
        }
        ids.insert(id);
    }
    Ok(ids.into_iter().collect())
}
