//! The capacity of a session (decision 0021), decided by a scan of the whole of S.

use super::compaction::{ended_in, unlinked};
use super::facts::{is_valid, persists};
use super::fold::{Entry, Fold};
use super::items::ExpectedItems;
use super::policy::OraclePolicy;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Returns the events that bring S below the capacity, in their order; none if it is below.
pub(super) fn capacity_events(semantic: &Fold, policy: &OraclePolicy) -> Vec<Value> {
    let is_counted = |(_, entry): &(u64, &Entry)| {
        is_valid(entry) && !persists(entry) && entry.item["layer"].get("identity").is_none()
    };
    let counted: Vec<u64> = semantic.entries().filter(is_counted).map(|(id, _)| id).collect();
    let excess = counted.len().saturating_sub(policy.compaction.session_items_max);
    if excess == 0 || !policy.rules.compaction {
        return Vec::new();
    }
    let oldest: BTreeSet<u64> = counted[..excess].iter().copied().collect();
    let forgotten = ended_in(semantic, &oldest);
    let mut events = unlinked(semantic, &forgotten, None).events;
    events.push(json!({ "forget_items": { "ids": forgotten, "cause": "capacity" } }));
    events
}

/// Applies these events to S and to the items of requests.
pub(super) fn apply_capacity(
    events: &[Value],
    semantic: &mut Fold,
    items: &mut ExpectedItems,
) -> Result<(), String> {
    for event in events {
        let forgotten = event.pointer("/forget_items/ids").map(|ids| semantic.forget(ids)).transpose()?;
        for (_, entry) in forgotten.into_iter().flatten().filter(|(_, entry)| !entry.is_written()) {
            items.forget(&entry.key);
        }
        if let Some(update) = semantic.apply(event)?
            && !update.is_written
        {
            items.set_deps(&update.key, update.deps);
        }
    }
    Ok(())
}
