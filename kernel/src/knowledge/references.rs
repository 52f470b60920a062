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
    let in_scope = |entry: &&Entry| entry.item.fact().is_some_and(|fact| fact.scope == *scope);
    semantic.by_key(&ItemKey::Fact(key.clone())).filter(in_scope).find(|entry| entry.item.is_valid())
}

/// Returns the valid fact at the end of the chain of successors of a fact with this key and scope; of several, that of the
/// latest.
pub(super) fn find_successor<'a>(
    semantic: &'a SemanticState,
    key: &Text,
    scope: &Scope,
) -> Option<&'a Entry> {
    let in_scope = |entry: &&Entry| entry.item.fact().is_some_and(|fact| fact.scope == *scope);
    let facts = semantic.by_key(&ItemKey::Fact(key.clone())).filter(in_scope);
    let mut successors = facts.filter_map(|entry| semantic.current_version(entry.item.id));
    successors.find(|entry| entry.item.is_valid() && in_scope(entry))
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
        if *scope != Scope::Session && !current.item.is_persistent() {
            return Err(KnowledgeError::OutlivesDependency(reference.clone()));
        }
        if current.item.fact().is_some_and(|fact| !fact.scope.contains(scope)) {
            return Err(KnowledgeError::OutOfScope(reference.clone()));
        }
        if replaced.contains(&id) || dependents.contains(&id) {
            return Err(KnowledgeError::CyclicDependency(reference.clone()));
        }
        ids.insert(id);
    }
    Ok(ids.into_iter().collect())
}
