//! What a write does to the items that depend on what it changes (003-2.11, 003-2.20; decisions 0019, 0021).

use super::Items;
use crate::reference::items::{is_in_force, transitive_dependents};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text};
use orchestrion_kernel::item::{Layer, Validity};
use orchestrion_kernel::semantic::SemanticState;

/// What a write changes.
#[derive(Default)]
pub(super) struct Changed {
    /// The superseded and overwritten items.
    pub(super) replaced: BTreeSet<ItemId>,
    /// The summaries that lose keys, with the keys that remain to them.
    pub(super) reduced: BTreeMap<ItemId, Vec<Text>>,
}

/// Marks the reduced summaries and every valid item that depends on a changed one, directly or not: facts need review, and what
/// depended on a superseded item depends on its successor.
pub(super) fn review(known: &SemanticState, items: &mut Items, changed: &Changed, successor: Option<ItemId>) {
    let Changed { replaced, reduced } = changed;
    let roots: BTreeSet<ItemId> = replaced.iter().chain(reduced.keys()).copied().collect();
    let mut affected = transitive_dependents(known, &roots);
    affected.extend(reduced.keys());
    for id in affected.difference(replaced) {
        let Some(entry) = items.get_mut(id).filter(|entry| is_in_force(&entry.item)) else { continue };
        if let Layer::Fact(fact) = &mut entry.item.layer {
            entry.item.validity = Validity::NeedsReview;
            if let Some(keys) = reduced.get(id) {
                Arc::make_mut(fact).summarized_keys.clone_from(keys);
            }
        }
        if let Some(successor) = successor {
            let current = |dep: &ItemId| if replaced.contains(dep) { successor } else { *dep };
            let deps: BTreeSet<ItemId> = entry.deps.iter().map(current).collect();
            entry.deps = deps.into_iter().collect();
        }
    }
}
