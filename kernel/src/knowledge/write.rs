//! `decide_write`: the events of a write (003, state write).

use super::authority::resolve_source;
use super::error::KnowledgeError;
use super::fact::{SourcedFact, decide_fact};
use super::propagate::{overwrite, supersede};
use super::references::{find_valid_fact, resolve_dependencies};
use super::types::{FactKind, NewFact, Reference, Write, WriteSource};
use crate::event::Events;
use crate::ids::{ItemId, Text, Timestamp, UserId};
use crate::item::{Item, ItemKey, ItemKind, Layer, Rank, Scope, SupersessionRule};
use crate::policy::Policy;
use crate::semantic::{Entry, SemanticState};
use alloc::vec::Vec;

/// Decides a write at this time, in the session of this user. Returns no event if the write repeats the current value with no more authority.
///
/// A fact competes with the fact that it names as superseded, and with the current fact of its key and scope. Authority
/// decides first, then an explicit `supersedes`, then timestamps of time-sensitive facts, else the order of writes. A fact
/// that loses is kept as superseded by the winner. An equal value reaffirms the existing fact. A summary competes for each of
/// its keys, and is superseded when it loses the last one.
///
/// # Errors
/// [`KnowledgeError`] if the write does not fit the semantic state.
pub fn decide_write(
    policy: &Policy,
    semantic: &SemanticState,
    now: Timestamp,
    user: Option<&UserId>,
    write: &Write,
) -> Result<Events, KnowledgeError> {
    match write {
        Write::Fact(new) => decide_new_fact(policy, semantic, now, user, new),
        Write::Promote { key, scope, source } => {
            let new = promoted_fact(semantic, key, scope, source)?;
            decide_new_fact(policy, semantic, now, user, &new)
        }
        Write::Working { key, text, expires_at, depends_on } => {
            if let Some(at) = expires_at.filter(|at| *at <= now) {
                return Err(KnowledgeError::Expired { at, now });
            }
            let key = ItemKey::Working(key.clone());
            let overwritten: Vec<ItemId> =
                semantic.latest_by_key(&key).map(|entry| entry.item.id).into_iter().collect();
            let deps = resolve_dependencies(semantic, depends_on, &Scope::Session, &overwritten)?;
            let layer = Layer::Working { created_at: now, expires_at: *expires_at };
            Ok(overwrite(semantic, key, text, layer, deps))
        }
        Write::Environment { key, text, supersedes } => {
            decide_environment(semantic, key, text, supersedes.as_ref())
        }
    }
}

fn decide_new_fact(
    policy: &Policy,
    semantic: &SemanticState,
    now: Timestamp,
    user: Option<&UserId>,
    new: &NewFact,
) -> Result<Events, KnowledgeError> {
    let session_rank = semantic.identity().map_or(Rank::Unverified, |identity| identity.rank);
    let source = resolve_source(policy, user, session_rank, new)?;
    let established_at = new.established_at.unwrap_or(now);
    decide_fact(policy, semantic, &SourcedFact { new, source, established_at })
}

/// Returns the global fact that a promotion writes. It names the global fact that the promoted one shadows, and depends on what was
/// promoted before it.
fn promoted_fact(
    semantic: &SemanticState,
    key: &Text,
    scope: &Scope,
    source: &WriteSource,
) -> Result<NewFact, KnowledgeError> {
    let found = find_valid_fact(semantic, key, scope).filter(|entry| entry.item.key.fact() == Some(key));
    let promoted = found.and_then(|Entry { item, deps }| Some((item, item.fact()?, deps)));
    let Some((item, fact, deps)) = promoted.filter(|_| !scope.is_global()) else {
        return Err(KnowledgeError::NothingToPromote { key: key.clone(), scope: scope.clone() });
    };
    // A fact of the scope was promoted if a global fact has its key and its text.
    let promoted_dependency = |id: &ItemId| {
        let dependency = semantic.get(*id).map(|entry| &entry.item).filter(|item| item.scope() == scope);
        let global = |item: &Item| find_valid_fact(semantic, item.key.fact()?, &Scope::Global);
        let global = dependency.and_then(|item| global(item).filter(|entry| entry.item.text == item.text));
        Reference::Id(global.map_or(*id, |entry| entry.item.id))
    };
    let is_global_fact = |id: &ItemId| {
        semantic.get(*id).and_then(|entry| entry.item.fact()).is_some_and(|fact| fact.scope.is_global())
    };
    Ok(NewFact {
        kind: match item.kind {
            ItemKind::Constraint(constraint) => FactKind::Constraint(constraint),
            ItemKind::Fact | ItemKind::Subtask(_) => FactKind::Fact,
        },
        established_at: Some(fact.established_at),
        memory: fact.memory,
        audience: fact.audience.clone(),
        time_sensitive: fact.time_sensitive,
        supersedes: fact.supersedes.filter(is_global_fact).map(Reference::Id),
        depends_on: deps.iter().map(promoted_dependency).collect(),
        ..NewFact::global(key.clone(), item.text.clone(), source.clone())
    })
}

fn decide_environment(
    semantic: &SemanticState,
    key: &Text,
    text: &Text,
    supersedes: Option<&Reference>,
) -> Result<Events, KnowledgeError> {
    let older = match supersedes {
        Some(reference) => {
            let found = match reference {
                Reference::Id(id) => semantic.get(*id).filter(|entry| entry.item.layer == Layer::Environment),
                Reference::Key(key) => semantic.latest_by_key(&ItemKey::Environment(key.clone())),
            };
            let found = found.map(|entry| semantic.current_version(entry.item.id).unwrap_or(entry));
            Some(found.ok_or_else(|| KnowledgeError::UnknownSuperseded(reference.clone()))?)
        }
        None => None,
    };
    let key = ItemKey::Environment(key.clone());
    let own = semantic.latest_by_key(&key).map(|entry| entry.item.id);
    let mut events = overwrite(semantic, key, text, Layer::Environment, Vec::new());
    let older = older.filter(|older| older.item.is_valid() && Some(older.item.id) != own);
    let superseded: Vec<_> =
        older.map(|older| (older.item.id, SupersessionRule::Temporal)).into_iter().collect();
    supersede(semantic, own.unwrap_or(semantic.next_id()), &superseded, &[], &mut events);
    Ok(events)
}
