//! What a write means (003, state write and supersession rules; design §2 for their precedence).

use super::{FactKind, Misuse, NewFact, Reference, Write};
use crate::event::{Event, Events, ForgetCause};
use crate::ids::{ItemId, Text};
use crate::item::{
    FactRecord, Item, Key, Layer, MemoryType, Rank, Scope, Standing, SupersessionRule, Variant,
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
    let now = known.now();
    match write {
        Write::Identity { .. } if known.identity().is_some() => Err(Misuse::IdentityIsSet),
        Write::Identity { name, identity } => {
            let layer = Layer::Identity(Box::new(identity.clone()));
            Ok(overwrite(known, Key::Identity, name, layer, Vec::new()))
        }
        Write::Clock { now: came, .. } if *came < now => Err(Misuse::ClockSetBack { now, came: *came }),
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
            if let Some(at) = expires_at.filter(|at| *at <= now) {
                return Err(Misuse::Expired { at, now });
            }
            let deps = rested_on(known, rests_on)?;
            let layer = Layer::Working { created_at: now, expires_at: *expires_at };
            Ok(overwrite(known, Key::Working(key.clone()), text, layer, deps))
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
    let deps = lasting(known, new)?;
    let named = match &new.supersedes {
        Some(reference) => {
            let found = named_fact(known, reference, &new.scope);
            let found = found.ok_or_else(|| Misuse::SupersedesNothing(reference.clone()))?;
            let current = known.current(found.item.id);
            if current.is_some_and(|current| deps.contains(&current.item.id)) {
                return Err(Misuse::Cyclic(reference.clone()));
            }
            Some(current.unwrap_or(found).item.id)
        }
        None => None,
    };
    let namesake = valid_in(known, &new.key, &new.scope);
    if let Some(entry) = namesake
        && entry.item.text == new.text
        && entry.item.variant == new.kind.into()
        && named.is_none_or(|named| named == entry.item.id)
    {
        return Ok(affirm(new, entry));
    }
    let rivals = rivals(known, new, named, namesake);
    let standing = standing(policy, new, &rivals);
    let record = FactRecord {
        source: new.source.clone(),
        at: new.at,
        memory: new.memory,
        scope: new.scope.clone(),
        supersedes: named.filter(|id| standing == Standing::Current && may_name(known, *id, &new.scope)),
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

/// Whether a fact of this scope may keep a link to another: what counts elsewhere is not its matter, and what leaves with the
/// session would leave the link dangling.
fn may_name(known: &Semantic, id: ItemId, scope: &Scope) -> bool {
    let other = known.get(id).and_then(|entry| entry.item.fact());
    other.is_some_and(|other| other.scope == *scope || other.scope == Scope::Global)
}

/// The fact that a reference names: a valid one in this scope before a valid one anywhere, and that before any.
fn named_fact<'a>(known: &'a Semantic, reference: &Reference, scope: &Scope) -> Option<&'a Entry> {
    match reference {
        Reference::Id(id) => known.get(*id).filter(|entry| entry.item.fact().is_some()),
        Reference::Key(key) => {
            let all = || known.all(&Key::Fact(key.clone()));
            valid_in(known, key, scope)
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
        let rule = if new.source.rank > fact.source.rank {
            SupersessionRule::Authority
        } else if named == Some(entry.item.id) {
            new.detected.unwrap_or(SupersessionRule::Explicit)
        } else if new.time_sensitive || fact.time_sensitive {
            SupersessionRule::Temporal
        } else {
            SupersessionRule::Implicit
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
    let over = |rival: &&Rival<'_>| rival.fact.source.rank > new.source.rank;
    let later = |rival: &&Rival<'_>| rival.rule == SupersessionRule::Temporal && rival.fact.at > new.at;
    let lost = |rival: &Rival<'_>, rule| Standing::Superseded { by: Some(rival.entry.item.id), rule };
    let highest = rivals.iter().filter(over).max_by_key(|rival| rival.fact.source.rank);
    let against = highest.map(|rival| lost(rival, SupersessionRule::Authority));
    let earlier = || rivals.iter().find(later).map(|rival| lost(rival, SupersessionRule::Temporal));
    against.or_else(earlier).unwrap_or(Standing::Current)
}

/// Ends what a new item takes the place of, and marks what rested on that.
fn supersede(known: &Semantic, by: ItemId, ended: &[(ItemId, SupersessionRule)]) -> Events {
    let superseded = |(id, rule): &(ItemId, SupersessionRule)| {
        restand(known, *id, Standing::Superseded { by: Some(by), rule: *rule })
    };
    let ids: Vec<ItemId> = ended.iter().map(|(id, _)| *id).collect();
    ended.iter().filter_map(superseded).chain(review(known, &ids)).collect()
}

/// Marks what rests on items that say something else now, but not these.
fn review(known: &Semantic, changed: &[ItemId]) -> impl Iterator<Item = Event> {
    let mut marked: BTreeSet<ItemId> = changed.iter().flat_map(|id| known.to_review(*id)).collect();
    marked.retain(|id| !changed.contains(id));
    marked.into_iter().filter_map(|id| restand(known, id, Standing::NeedsReview))
}

/// Gives an item another standing.
fn restand(known: &Semantic, id: ItemId, standing: Standing) -> Option<Event> {
    let Entry { item, deps } = known.get(id)?;
    Some(Event::UpdateItem { item: Item { standing, ..item.clone() }, deps: deps.clone() })
}

/// A fact is said again: by somebody of its rank or a higher one that clears the mark, and makes it the later.
fn affirm(new: &NewFact, Entry { item, deps }: &Entry) -> Events {
    let Some(fact) = item.fact().filter(|fact| fact.source.rank <= new.source.rank) else {
        return Vec::new();
    };
    let source = if fact.source.rank < new.source.rank { &new.source } else { &fact.source };
    let record = FactRecord { source: source.clone(), at: fact.at.max(new.at), ..fact.clone() };
    let affirmed = Item { layer: Layer::Fact(Box::new(record)), standing: Standing::Current, ..item.clone() };
    if affirmed == *item {
        return Vec::new();
    }
    Vec::from([Event::UpdateItem { item: affirmed, deps: deps.clone() }])
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
        events.extend(review(known, &[id]));
    }
    events
}

/// The ids of what a write rests on, in id order: what stands in the place of each today.
fn rested_on(known: &Semantic, references: &[Reference]) -> Result<Vec<ItemId>, Misuse> {
    let found = |reference: &Reference| {
        let named = match reference {
            Reference::Id(id) => known.get(*id),
            Reference::Key(key) => named_fact(known, &Reference::Key(key.clone()), &Scope::Global),
        };
        let current = named.and_then(|entry| known.current(entry.item.id));
        let current = current.ok_or_else(|| Misuse::DanglingDependency { on: reference.clone() })?;
        Ok(current.item.id)
    };
    let ids: BTreeSet<ItemId> = references.iter().map(found).collect::<Result<_, _>>()?;
    Ok(ids.into_iter().collect())
}

/// The same for a fact, which may not rest on what leaves before it.
fn lasting(known: &Semantic, new: &NewFact) -> Result<Vec<ItemId>, Misuse> {
    let deps = rested_on(known, &new.rests_on)?;
    let lasts = new.scope != Scope::Session;
    let leaves = |id: &ItemId| known.get(*id).is_some_and(|entry| !entry.item.persists());
    match deps.iter().copied().find(leaves) {
        Some(id) if lasts => Err(Misuse::Outlives(Reference::Id(id))),
        _ => Ok(deps),
    }
}
