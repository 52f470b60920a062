//! What a write means (003, state write and supersession rules; design §2 for their precedence).

use super::{FactKind, KnowledgeError, NewFact, Reference, Write};
use crate::event::{Event, Events, ForgetCause};
use crate::ids::{ItemId, Text};
use crate::item::{
    Audience, FactRecord, Item, ItemKey, ItemKind, Layer, MemoryType, Rank, Scope, SupersessionRule, Validity,
};
use crate::policy::Policy;
use crate::semantic::{Entry, SemanticState};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// What a write means in what is known: the events that say it. None if it says again, with no more authority, what is known.
///
/// A fact meets its rivals: the fact that it names as superseded, and the current one of its own key, in its own scope. Authority
/// decides first, then what the write says explicitly, then time where that counts, and else the later write. What the
/// write loses against stays as it is, and the write is kept as superseded by it. Saying again what a fact says affirms
/// it: it is not added a second time, however often it is said. A summary is a rival for each name that it stands for, and
/// ends with the last of them.
///
/// # Errors
/// A [`Misuse`] if the write does not fit what is known; nothing is to change then.
pub fn decide_write(policy: &Policy, known: &SemanticState, write: &Write) -> Result<Events, KnowledgeError> {
    match write {
        Write::Identity { .. } if known.identity().is_some() => Err(KnowledgeError::IdentityAlreadySet),
        Write::Identity { name, identity } => {
            let layer = Layer::Identity(Box::new(identity.clone()));
            Ok(overwrite(known, ItemKey::Identity, name, layer, Vec::new()))
        }
        Write::Clock { now: came, .. } if *came < known.now() => {
            Err(KnowledgeError::ClockWentBack { now: known.now(), came: *came })
        }
        Write::Clock { now, text } => {
            let mut events = overwrite(known, ItemKey::Clock, text, Layer::Clock { now: *now }, Vec::new());
            let ids = known.expired_items(*now);
            if !ids.is_empty() {
                events.push(Event::ForgetItems { ids, cause: ForgetCause::Expiry });
            }
            Ok(events)
        }
        Write::Fact(new) => fact(policy, known, new),
        Write::Working { key, text, expires_at, rests_on } => {
            let now = known.now();
            if let Some(at) = expires_at.filter(|at| *at <= now) {
                return Err(KnowledgeError::Expired { at, now });
            }
            let key = ItemKey::Working(key.clone());
            let own: Vec<ItemId> = known.latest_by_key(&key).map(|entry| entry.item.id).into_iter().collect();
            let deps = rested_on(known, rests_on, &Scope::Session, &own)?;
            let layer = Layer::Working { created_at: now, expires_at: *expires_at };
            Ok(overwrite(known, key, text, layer, deps))
        }
        Write::Environment { key, text, supersedes } => environment(known, key, text, supersedes.as_ref()),
    }
}

/// What a fact is to take the place of: what it names, or what is valid under its own name in its own scope.
struct Target<'a> {
    entry: &'a Entry,
    is_named: bool,
    /// The names that a summary goes on standing for. What has none left ends as a whole.
    left: Vec<Text>,
}

impl<'a> Target<'a> {
    /// What a new fact makes of it, of which it takes these names; nothing of a summary that stands for neither.
    fn new(entry: &'a Entry, is_named: bool, own: &Text, named: Option<&Text>) -> Option<Self> {
        let names = entry.item.fact().map(|fact| fact.summarized_keys.as_slice()).unwrap_or_default();
        let is_taken = |name: &Text| name == own || named.is_none_or(|named| named == name);
        let left: Vec<Text> = names.iter().filter(|name| !is_taken(name)).cloned().collect();
        (names.is_empty() || left.len() < names.len()).then_some(Self { entry, is_named, left })
    }

    const fn ends(&self) -> bool {
        self.left.is_empty()
    }

    /// The valid fact of the new one's scope that it is, if it is one, and the rule by which the new one takes its place.
    fn rival(&self, new: &NewFact) -> Option<(&'a FactRecord, SupersessionRule)> {
        let fact = self.entry.item.fact().filter(|fact| fact.scope == new.scope)?;
        let found = match self.is_named {
            true => new.detected_rule.unwrap_or(SupersessionRule::Explicit),
            false => SupersessionRule::Implicit,
        };
        let timed = new.time_sensitive || fact.time_sensitive;
        let rule = match found {
            _ if new.source.rank > fact.source.rank => SupersessionRule::Authority,
            SupersessionRule::Implicit if timed => SupersessionRule::Temporal,
            found => found,
        };
        self.entry.item.is_valid().then_some((fact, rule))
    }

    /// Whether it is a fact that says the same under the same name, where the new one counts.
    fn says(&self, new: &NewFact) -> bool {
        let Item { key, text, kind: variant, .. } = &self.entry.item;
        let is_namesake = matches!(key, ItemKey::Fact(name) if *name == new.key);
        let is_rival =
            self.entry.item.is_valid() && self.entry.item.fact().is_some_and(|fact| fact.scope == new.scope);
        is_namesake && is_rival && *text == new.text && *variant == new.kind.into()
    }
}

fn fact(policy: &Policy, known: &SemanticState, new: &NewFact) -> Result<Events, KnowledgeError> {
    let targets = targets(known, new)?;
    let replaced: Vec<ItemId> =
        targets.iter().filter(|target| target.ends()).map(|target| target.entry.item.id).collect();
    let deps = rested_on(known, &new.depends_on, &new.scope, &replaced)?;
    if let [target] = targets.as_slice()
        && target.says(new)
    {
        return Ok(affirm(new, target.entry, deps));
    }
    let standing = standing(policy, new, &targets);
    let record = FactRecord {
        source: new.source.clone(),
        established_at: new.established_at,
        memory: new.memory,
        scope: new.scope.clone(),
        supersedes: replaced
            .iter()
            .copied()
            .find(|id| standing == Validity::Current && may_name(known, *id, new)),
        time_sensitive: new.time_sensitive,
        audience: new.audience.clone(),
        summarized_keys: Vec::new(),
    };
    let item = Item {
        id: known.next_id(),
        kind: new.kind.into(),
        key: ItemKey::Fact(new.key.clone()),
        text: new.text.clone(),
        layer: Layer::Fact(Box::new(record)),
        validity: standing,
    };
    let id = item.id;
    let mut events = Vec::from([Event::AddItem { item, deps }]);
    if standing == Validity::Current {
        let (mut ended, mut shaken) = (Vec::new(), Vec::new());
        for target in targets {
            let rival = target.entry.item.id;
            match target.rival(new) {
                Some((_, rule)) if target.ends() => ended.push((rival, rule)),
                Some(_) => shaken.push((rival, target.left)),
                None => {}
            }
        }
        events.extend(supersede(known, id, &ended, &shaken));
    }
    Ok(events)
}

/// What a new fact is to take the place of: first what it names, as what stands there today, then its namesake.
fn targets<'a>(known: &'a SemanticState, new: &NewFact) -> Result<Vec<Target<'a>>, KnowledgeError> {
    let mut targets = Vec::new();
    let namesake = valid_in(known, &new.key, &new.scope);
    let mut taken = &new.key;
    if let Some(reference) = &new.supersedes {
        let found = named_fact(known, reference, &new.scope);
        let found = found.ok_or_else(|| KnowledgeError::UnknownSuperseded(reference.clone()))?;
        let named = match (reference, &found.item.key) {
            (Reference::Key(name), _) | (_, ItemKey::Fact(name)) => Some(name),
            // A summary that is named itself is meant as a whole.
            _ => None,
        };
        taken = named.unwrap_or(taken);
        let entry = known.current_version(found.item.id).unwrap_or(found);
        targets.extend(Target::new(entry, true, &new.key, named));
    }
    let is_other = |entry: &&Entry| targets.first().is_none_or(|named| named.entry.item.id != entry.item.id);
    let other = namesake.filter(is_other).and_then(|entry| Target::new(entry, false, &new.key, Some(taken)));
    targets.extend(other);
    Ok(targets)
}

/// Whether a fact takes the place of another, or hides it, and so keeps a link to it: what nobody believes needs neither, what has
/// a higher rank is not hidden, what counts elsewhere is not its matter, and what leaves with the session would leave the
/// link dangling.
fn may_name(known: &SemanticState, id: ItemId, new: &NewFact) -> bool {
    let other = known.get(id).map(|entry| &entry.item).filter(|item| item.is_valid());
    other.and_then(Item::fact).is_some_and(|other| {
        let is_outranked = other.source.rank > new.source.rank && !new.scope.is_tentative();
        other.scope == new.scope || other.scope == Scope::Global && !is_outranked
    })
}

/// The fact that a reference names: a valid one in this scope, or else everywhere, or else anywhere, or else any.
fn named_fact<'a>(known: &'a SemanticState, reference: &Reference, scope: &Scope) -> Option<&'a Entry> {
    match reference {
        Reference::Id(id) => known.get(*id).filter(|entry| entry.item.fact().is_some()),
        Reference::Key(key) => {
            let all = || known.by_key(&ItemKey::Fact(key.clone()));
            valid_in(known, key, scope)
                .or_else(|| valid_in(known, key, &Scope::Global))
                .or_else(|| all().find(|entry| entry.item.is_valid()))
                .or_else(|| all().next())
        }
    }
}

/// The valid fact of this key in this scope, or the summary that stands for it.
fn valid_in<'a>(known: &'a SemanticState, key: &Text, scope: &Scope) -> Option<&'a Entry> {
    let in_scope = |entry: &&Entry| entry.item.fact().is_some_and(|fact| fact.scope == *scope);
    known.by_key(&ItemKey::Fact(key.clone())).filter(in_scope).find(|entry| entry.item.is_valid())
}

/// Whether the new fact is to be believed: its source may write it, and no rival stands against it.
fn standing(policy: &Policy, new: &NewFact, targets: &[Target<'_>]) -> Validity {
    let constraint = matches!(new.kind, FactKind::Constraint(_)).then_some(policy.writes.constraint_from);
    let organizational =
        (new.memory == MemoryType::Organizational).then_some(policy.writes.organizational_from);
    // A constraint of the organization asks for both.
    let may_write = constraint.max(organizational).unwrap_or(Rank::Unverified);
    if new.source.rank < may_write {
        return Validity::Denied;
    }
    let lost = |target: &Target<'_>| {
        let (fact, rule) = target.rival(new)?;
        let rule = match rule {
            _ if fact.source.rank > new.source.rank => SupersessionRule::Authority,
            SupersessionRule::Temporal if fact.established_at > new.established_at => {
                SupersessionRule::Temporal
            }
            _ => return None,
        };
        Some((fact.source.rank, Validity::Superseded { superseded_by: Some(target.entry.item.id), rule }))
    };
    // Of several, to the one of the highest rank; of equals, to the namesake, which comes last.
    let against = targets.iter().filter_map(lost).max_by_key(|(rank, _)| *rank);
    against.map_or(Validity::Current, |(_, standing)| standing)
}

/// A summary that says what does not hold any more, with the names that it still stands for.
type Shaken = (ItemId, Vec<Text>);

/// Ends what a new item takes the place of: what rested on that rests on the new one, and is marked. A summary that stands for
/// other names too stays, and is marked with what rests on it.
fn supersede(
    known: &SemanticState,
    by: ItemId,
    ended: &[(ItemId, SupersessionRule)],
    shaken: &[Shaken],
) -> Events {
    let superseded = |(id, rule): &(ItemId, SupersessionRule)| {
        restand(known, *id, Validity::Superseded { superseded_by: Some(by), rule: *rule })
    };
    let ids: Vec<ItemId> = ended.iter().map(|(id, _)| *id).collect();
    ended.iter().filter_map(superseded).chain(review(known, &ids, shaken, Some(by))).collect()
}

/// Marks what rests on items that say something else now, but not these, and what is shaken itself. If something took their
/// place it rests on that.
fn review(
    known: &SemanticState,
    changed: &[ItemId],
    shaken: &[Shaken],
    by: Option<ItemId>,
) -> impl Iterator<Item = Event> {
    let mut resting = known.transitive_dependents(changed);
    for (id, _) in shaken {
        resting.extend(known.transitive_dependents(&[*id]));
        resting.insert(*id);
        changed.iter().for_each(|id| {
            resting.remove(id);
        });
    }
    let renewed = move |id: ItemId| {
        let Entry { item: old, deps: old_deps } = known.get(id).filter(|entry| entry.item.is_valid())?;
        let standing = if old.fact().is_some() { Validity::NeedsReview } else { old.validity };
        let left = shaken.iter().find(|(shaken, _)| *shaken == id).map(|(_, left)| left);
        let instead = |dep: &ItemId| by.filter(|_| changed.contains(dep)).unwrap_or(*dep);
        let mut deps: Vec<ItemId> = old_deps.iter().map(instead).collect();
        deps.sort_unstable();
        deps.dedup();
        let is_changed = standing != old.validity || left.is_some() || deps != *old_deps;
        is_changed.then(|| Event::UpdateItem {
            item: renamed(Item { validity: standing, ..old.clone() }, left),
            deps,
        })
    };
    resting.into_iter().filter_map(renewed)
}

/// A summary with the names that it still stands for, if it lost any.
fn renamed(mut item: Item, left: Option<&Vec<Text>>) -> Item {
    if let (Layer::Fact(fact), Some(left)) = (&mut item.layer, left) {
        fact.summarized_keys.clone_from(left);
    }
    item
}

/// Gives an item another standing.
fn restand(known: &SemanticState, id: ItemId, standing: Validity) -> Option<Event> {
    let Entry { item, deps } = known.get(id)?;
    Some(Event::UpdateItem { item: Item { validity: standing, ..item.clone() }, deps: deps.clone() })
}

/// A fact is said again: by somebody of its rank or a higher one that clears the mark, and makes it the later. It is for whom is
/// said now, but what was kept from some is not given to everybody by saying nothing of that; and it rests on more, if told so.
fn affirm(new: &NewFact, Entry { item, deps }: &Entry, more: Vec<ItemId>) -> Events {
    let Some(fact) = item.fact().filter(|fact| fact.source.rank <= new.source.rank) else {
        return Vec::new();
    };
    let source = if fact.source.rank < new.source.rank { &new.source } else { &fact.source };
    let audience = if new.audience == Audience::Everybody { &fact.audience } else { &new.audience };
    let (source, audience, at) =
        (source.clone(), audience.clone(), fact.established_at.max(new.established_at));
    let record = FactRecord { source, audience, established_at: at, ..fact.clone() };
    let all: BTreeSet<ItemId> = deps.iter().copied().chain(more).collect();
    let affirmed = Item { layer: Layer::Fact(Box::new(record)), validity: Validity::Current, ..item.clone() };
    if affirmed == *item && all.len() == deps.len() {
        return Vec::new();
    }
    Vec::from([Event::UpdateItem { item: affirmed, deps: all.into_iter().collect() }])
}

fn environment(
    known: &SemanticState,
    key: &Text,
    text: &Text,
    supersedes: Option<&Reference>,
) -> Result<Events, KnowledgeError> {
    let older = match supersedes {
        Some(reference) => {
            let found = match reference {
                Reference::Id(id) => known.get(*id).filter(|entry| entry.item.layer == Layer::Environment),
                Reference::Key(key) => known.latest_by_key(&ItemKey::Environment(key.clone())),
            };
            let found = found.map(|entry| known.current_version(entry.item.id).unwrap_or(entry));
            Some(found.ok_or_else(|| KnowledgeError::UnknownSuperseded(reference.clone()))?)
        }
        None => None,
    };
    let key = ItemKey::Environment(key.clone());
    let own = known.latest_by_key(&key).map(|entry| entry.item.id);
    let mut events = overwrite(known, key, text, Layer::Environment, Vec::new());
    let older = older.filter(|older| older.item.is_valid() && Some(older.item.id) != own);
    let ended: Vec<_> = older.map(|older| (older.item.id, SupersessionRule::Temporal)).into_iter().collect();
    events.extend(supersede(known, own.unwrap_or(known.next_id()), &ended, &[]));
    Ok(events)
}

/// Adds an item, or overwrites the one of its key; then what rests on that must be looked at again.
fn overwrite(known: &SemanticState, key: ItemKey, text: &Text, layer: Layer, deps: Vec<ItemId>) -> Events {
    let of_id = |id, variant| {
        let (key, text) = (key.clone(), text.clone());
        Item { id, kind: variant, key, text, layer: layer.clone(), validity: Validity::Current }
    };
    let Some(old) = known.latest_by_key(&key) else {
        let item = of_id(known.next_id(), ItemKind::Fact);
        return Vec::from([Event::AddItem { item, deps }]);
    };
    let item = of_id(old.item.id, old.item.kind);
    if item == old.item && deps == old.deps {
        return Vec::new();
    }
    let says_else = item.text != old.item.text;
    let id = item.id;
    let mut events = Vec::from([Event::UpdateItem { item, deps }]);
    if says_else {
        events.extend(review(known, &[id], &[], None));
    }
    events
}

/// The ids of what a write of this scope rests on, in id order: what stands in the place of each today. It may neither leave
/// before the write, nor count elsewhere, nor rest on what the write takes the place of.
fn rested_on(
    known: &SemanticState,
    references: &[Reference],
    scope: &Scope,
    replaced: &[ItemId],
) -> Result<Vec<ItemId>, KnowledgeError> {
    let mut ids = BTreeSet::new();
    let taken = if references.is_empty() { BTreeSet::new() } else { known.transitive_dependents(replaced) };
    for reference in references {
        let named = match reference {
            Reference::Id(id) => known.get(*id),
            Reference::Key(_) => named_fact(known, reference, scope),
        };
        let Some(current) = named.and_then(|entry| known.current_version(entry.item.id)) else {
            return Err(KnowledgeError::DanglingDependency { on: reference.clone() });
        };
        let Item { id, .. } = current.item;
        if *scope != Scope::Session && !current.item.persists() {
            return Err(KnowledgeError::OutlivesDependency(reference.clone()));
        }
        if current.item.fact().is_some_and(|fact| !fact.scope.contains(scope)) {
            return Err(KnowledgeError::OutOfScope(reference.clone()));
        }
        if replaced.contains(&id) || taken.contains(&id) {
            return Err(KnowledgeError::CyclicDependency(reference.clone()));
        }
        ids.insert(id);
    }
    Ok(ids.into_iter().collect())
}
