//! The capacity of a session (decision 0021): while no request runs, the items that end with the session are not more than the
//! policy allows.
//!
//! Compaction alone does not bound them: it happens once in a request, has a limited cluster, and its summarizer may fail.

use super::compaction::{forget, with_predecessors};
use crate::event::{Event, Events, ForgetCause};
use crate::ids::ItemId;
use crate::policy::Policy;
use crate::semantic::SemanticState;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Returns the events that follow those of an input after which no request runs. They forget the oldest session items over the
/// capacity, with those that they superseded; dependents lose the dependency.
pub(crate) fn forget_excess(policy: &Policy, before: &SemanticState, events: &[Event]) -> Events {
    let capacity = usize::try_from(policy.compaction.session_items_max).unwrap_or(usize::MAX);
    // An event adds at most one item, so the usual case needs no scan.
    let most = before.session_items().saturating_add(events.len());
    if !policy.rules.compaction || most <= capacity {
        return Vec::new();
    }
    let semantic = before.after(events);
    let of_session = semantic.valid_entries().filter(|entry| entry.item.is_session_item());
    let ids: Vec<ItemId> = of_session.map(|entry| entry.item.id).collect();
    let excess = ids.len().saturating_sub(capacity);
    if excess == 0 {
        return Vec::new();
    }
    let oldest: BTreeSet<ItemId> = ids.into_iter().take(excess).collect();
    forget(&semantic, with_predecessors(&semantic, &oldest), None, ForgetCause::Capacity)
}
