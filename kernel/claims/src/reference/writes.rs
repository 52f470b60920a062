//! What a write does (003-5, 003-6; decisions 0019, 0021, 0027, 0028, 0032, 0037), as the items after it.
//!
//! It searches all items for every question, and keeps no index.

mod dependents;
mod facts;
mod ranks;

use super::items::{chain_end, fact_keys, is_in_force, item_scope, persists, reads, transitive_dependents};
use crate::semantic_view::SemanticView;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use dependents::{Changed, review};
use orchestrion_kernel::ids::{ItemId, Text};
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, Layer, Scope, SupersessionRule, Validity};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::semantic::{Entry, SemanticState};

/// Items with their dependencies, by id.
pub type Items = BTreeMap<ItemId, Entry>;

/// The items after a write; none if the rules refuse the write.
pub(crate) fn items_after(policy: &Policy, before: &SemanticView<'_>, write: &Write) -> Option<Items> {
    if needs_session(write) && before.session().is_none() {
        return None;
    }
    let known = before.semantic();
    match write {
        Write::Fact(new) => facts::items_after(policy, before, new),
        Write::Promote { key, scope, source } => {
            facts::items_after(policy, before, &promoted_fact(known, key, scope, source)?)
        }
        Write::Working { key, text, expires_at, depends_on } => {
            if expires_at.is_some_and(|at| at <= before.now()) {
                return None;
            }
            let key = ItemKey::Working(key.clone());
            let own = latest(known, |item| item.key == key).map(|entry| entry.item.id);
            let deps = dependencies(known, depends_on, &Scope::Session, &own.into_iter().collect())?;
            let layer = Layer::Working { created_at: before.now(), expires_at: *expires_at };
            Some(overwritten(known, key, text, layer, deps).0)
        }
        Write::Environment { key, text, supersedes } => signals_after(known, key, text, supersedes.as_ref()),
    }
}

/// Whether a write is about the session: working items, facts of the session, and those of the session user.
fn needs_session(write: &Write) -> bool {
    match write {
        Write::Working { .. } => true,
        Write::Fact(NewFact { scope, source, .. }) | Write::Promote { scope, source, .. } => {
            *scope == Scope::Session || source.name.is_none()
        }
        Write::Environment { .. } => false,
    }
}

/// All items.
fn all(known: &SemanticState) -> Items {
    known.entries().map(|entry| (entry.item.id, entry.clone())).collect()
}

/// The latest item for which `is` holds.
fn latest(known: &SemanticState, is: impl Fn(&Item) -> bool) -> Option<&Entry> {
    known.entries().filter(|entry| is(&entry.item)).last()
}

/// The fact that a key refers to: the valid one of the scope, else the global one, else the latest valid one, else the latest.
fn fact_of_key<'s>(known: &'s SemanticState, key: &Text, scope: &Scope) -> Option<&'s Entry> {
    let has_key = |item: &Item| item.fact().is_some() && fact_keys(item).any(|covered| covered == key);
    let valid = |of: &dyn Fn(&Scope) -> bool| {
        latest(known, |item| has_key(item) && is_in_force(item) && of(item_scope(item)))
    };
    valid(&|of| of == scope)
        .or_else(|| valid(&|of| *of == Scope::Global))
        .or_else(|| valid(&|_| true))
        .or_else(|| latest(known, has_key))
}

/// The current versions of what a write in this scope depends on, in id order. None if the write is refused: a dependency does not
/// exist, is part of the situation, ends before the written item, is valid only in another scope, or is replaced by the write or
/// derived from what it replaces.
fn dependencies(
    known: &SemanticState,
    references: &[Reference],
    scope: &Scope,
    replaced: &BTreeSet<ItemId>,
) -> Option<Vec<ItemId>> {
    let derived = transitive_dependents(known, replaced);
    let resolve = |reference: &Reference| {
        let found = match reference {
            Reference::Id(id) => known.get(*id)?,
            Reference::Key(key) => fact_of_key(known, key, scope)?,
        };
        let item = &known.get(chain_end(known, found.item.id)?)?.item;
        let outlives = *scope == Scope::Session || persists(item);
        let is_valid_there = reads(scope, item_scope(item));
        let is_acyclic = !replaced.contains(&item.id) && !derived.contains(&item.id);
        let is_situation = matches!(item.key, ItemKey::Situation(_));
        (outlives && is_valid_there && is_acyclic && !is_situation).then_some(item.id)
    };
    let ids: Option<BTreeSet<ItemId>> = references.iter().map(resolve).collect();
    Some(ids?.into_iter().collect())
}

/// The items after one was added, or the item of its key overwritten, and the id of that item. What depends on a new text needs review.
fn overwritten(
    known: &SemanticState,
    key: ItemKey,
    text: &Text,
    layer: Layer,
    deps: Vec<ItemId>,
) -> (Items, ItemId) {
    let mut items = all(known);
    let old = latest(known, |item| item.key == key);
    let (id, kind) = old.map_or((known.next_id(), ItemKind::Fact), |entry| (entry.item.id, entry.item.kind));
    if old.is_some_and(|old| old.item.text != *text) {
        review(known, &mut items, &Changed { replaced: BTreeSet::from([id]), ..Changed::default() }, None);
    }
    let item = Item { id, kind, key, text: text.clone(), layer, validity: Validity::Current };
    items.insert(id, Entry { item, deps });
    (items, id)
}

/// The items after a signal, which may supersede an older one under another key: the time decides.
fn signals_after(
    known: &SemanticState,
    key: &Text,
    text: &Text,
    supersedes: Option<&Reference>,
) -> Option<Items> {
    let older = match supersedes {
        Some(reference) => {
            let found = match reference {
                Reference::Id(id) => known.get(*id).filter(|entry| entry.item.layer == Layer::Environment)?,
                Reference::Key(key) => latest(known, |item| item.key == ItemKey::Environment(key.clone()))?,
            };
            Some(chain_end(known, found.item.id).unwrap_or(found.item.id))
        }
        None => None,
    };
    let (mut items, id) =
        overwritten(known, ItemKey::Environment(key.clone()), text, Layer::Environment, Vec::new());
    let is_older =
        |older: &ItemId| *older != id && known.get(*older).is_some_and(|entry| is_in_force(&entry.item));
    if let Some(older) = older.filter(is_older) {
        let changed = Changed { replaced: BTreeSet::from([older]), ..Changed::default() };
        review(known, &mut items, &changed, Some(id));
        supersede(&mut items, older, id, SupersessionRule::Temporal);
    }
    Some(items)
}

/// Marks an item as superseded.
fn supersede(items: &mut Items, id: ItemId, by: ItemId, rule: SupersessionRule) {
    if let Some(entry) = items.get_mut(&id) {
        entry.item.validity = Validity::Superseded { superseded_by: Some(by), rule };
    }
}

/// The global fact that a promotion writes: the content of the valid fact of this key and scope, from the source of the promotion.
fn promoted_fact(known: &SemanticState, key: &Text, scope: &Scope, source: &WriteSource) -> Option<NewFact> {
    let own = ItemKey::Fact(key.clone());
    let covers = |item: &Item| fact_keys(item).any(|covered| covered == key);
    let Entry { item, deps } =
        latest(known, |item| is_in_force(item) && covers(item) && item_scope(item) == scope)?;
    let fact = item.fact().filter(|_| item.key == own && *scope != Scope::Global)?;
    let is_global = |id: &ItemId| {
        let of = known.get(*id).and_then(|entry| entry.item.fact());
        of.is_some_and(|fact| fact.scope == Scope::Global)
    };
    // What was promoted before is a global fact with the same key and text.
    let promoted = |id: &ItemId| -> Option<ItemId> {
        let dependency = known.get(*id).map(|entry| &entry.item).filter(|item| item_scope(item) == scope)?;
        let ItemKey::Fact(key) = &dependency.key else { return None };
        let global = latest(known, |item| {
            is_in_force(item)
                && item.fact().is_some_and(|fact| fact.scope == Scope::Global)
                && fact_keys(item).any(|covered| covered == key)
        })?;
        (global.item.text == dependency.text).then_some(global.item.id)
    };
    Some(NewFact {
        kind: match item.kind {
            ItemKind::Constraint(constraint) => FactKind::Constraint(constraint),
            ItemKind::Fact | ItemKind::Subtask(_) => FactKind::Fact,
        },
        established_at: Some(fact.established_at),
        memory: fact.memory,
        audience: fact.audience.clone(),
        time_sensitive: fact.time_sensitive,
        supersedes: fact.supersedes.filter(is_global).map(Reference::Id),
        depends_on: deps.iter().map(|id| Reference::Id(promoted(id).unwrap_or(*id))).collect(),
        ..NewFact::global(key.clone(), item.text.clone(), source.clone())
    })
}
