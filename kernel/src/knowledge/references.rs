//! Resolution of the references of a write.

use super::error::KnowledgeError;
use super::types::Reference;
use crate::ids::{ItemId, Text};
use crate::item::{Item, ItemKey, Scope};
use crate::semantic::{Entry, SemanticState};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Returns the fact of a reference. For a key, a valid fact is preferred: of this scope, then of global scope, then of any.
pub(super) fn find_fact<'a>(
    semantic: &'a SemanticState,
    reference: &Reference,
    scope: &Scope,
) -> Option<&'a Entry> {
    match reference {
        Reference::Id(id) => semantic.get(*id).filter(|entry| entry.item.fact().is_some()),
        Reference::Key(key) => {
            let facts = || semantic.by_key(&ItemKey::Fact(key.clone()));
            find_valid_fact(semantic, key, scope)
                .or_else(|| find_valid_fact(semantic, key, &Scope::Global))
                .or_else(|| facts().find(|entry| entry.item.is_valid()))
                .or_else(|| facts().next())
        }
    }
}

/// Returns the valid fact or summary of this scope that covers the key.
pub(super) fn find_valid_fact<'a>(
    semantic: &'a SemanticState,
    key: &Text,
    scope: &Scope,
) -> Option<&'a Entry> {
    facts_in_scope(semantic, key, scope).find(|entry| entry.item.is_valid())
}

/// Returns the valid fact at the end of the chain of successors of a fact with this key and scope; of several, that of the
/// latest. A summary is not such an end: it is found by the keys that it covers.
pub(super) fn find_successor<'a>(
    semantic: &'a SemanticState,
    key: &Text,
    scope: &Scope,
) -> Option<&'a Entry> {
    let facts = facts_in_scope(semantic, key, scope);
    let mut ends = facts.filter_map(|entry| semantic.current_version(entry.item.id));
    ends.find(|Entry { item, .. }| {
        item.is_valid() && item.key != ItemKey::Summary && is_in_scope(item, scope)
    })
}

/// Returns the facts and summaries of this scope that cover the key, latest first.
fn facts_in_scope<'a>(
    semantic: &'a SemanticState,
    key: &Text,
    scope: &Scope,
) -> impl Iterator<Item = &'a Entry> {
    semantic.by_key(&ItemKey::Fact(key.clone())).filter(move |entry| is_in_scope(&entry.item, scope))
}

fn is_in_scope(item: &Item, scope: &Scope) -> bool {
    item.fact().is_some_and(|fact| fact.scope == *scope)
}

/// Resolves the dependencies of a write in this scope to their current versions, in id order. `replaced` are the items that
/// the write overwrites or supersedes.
pub(super) fn resolve_dependencies(
    semantic: &SemanticState,
    references: &[Reference],
    scope: &Scope,
    replaced: &[ItemId],
) -> Result<Vec<ItemId>, KnowledgeError> {
    let mut ids = BTreeSet::new();
    let dependents =
        if references.is_empty() { BTreeSet::new() } else { semantic.transitive_dependents(replaced) };
    for reference in references {
        let found = match reference {
            Reference::Id(id) => semantic.get(*id),
            Reference::Key(_) => find_fact(semantic, reference, scope),
        };
        let Some(current) = found.and_then(|entry| semantic.current_version(entry.item.id)) else {
            return Err(KnowledgeError::DanglingDependency { on: reference.clone() });
        };
        let Item { id, .. } = current.item;
        if matches!(current.item.key, ItemKey::Situation(_)) {
            return Err(KnowledgeError::SituationDependency(reference.clone()));
        }
        if *scope != Scope::Session && !current.item.is_persistent() {
            return Err(KnowledgeError::OutlivesDependency(reference.clone()));
        }
        if !current.item.scope().contains(scope) {
            return Err(KnowledgeError::OutOfScope(reference.clone()));
        }
        if replaced.contains(&id) || dependents.contains(&id) {
            return Err(KnowledgeError::CyclicDependency(reference.clone()));
        }
        ids.insert(id);
    }
    Ok(ids.into_iter().collect())
}
