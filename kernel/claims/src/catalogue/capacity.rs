//! Claims about the capacity of a session (decision 0021).

use super::compaction::without_compaction;
use super::prelude::*;
use crate::reference::items::{chain_end, identity, items_in_force, persists};
use alloc::collections::BTreeSet;
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::Item;

pub(super) const CAPACITY: &[Claim] = &[
    Claim {
        id: "C-161",
        clause: "decision 0021",
        statement: "While no request runs, at most `session_items_max` valid items end with the session, without \
                    the identity.",
        formula: "□ (quiescent ⇒ |{ x | valid(x) ∧ ends_with_session(x) ∧ x ≠ identity }| ≤ session_items_max)",
        check: ClaimCheck::StateInvariant(|policy, state| {
            !policy.rules.compaction
                || state.control().request().is_some()
                || session_items(state) <= capacity(policy)
        }),
        premise: Premise::State(is_full),
        not_applicable: without_compaction,
        ..CLAIM
    },
    Claim {
        id: "C-162",
        clause: "decision 0021",
        statement: "Items are forgotten for the capacity only while no request runs, and only those over it: the oldest items of the \
                    session, with those that they had superseded.",
        formula: "□ (F by capacity ⇒ quiescent' ∧ |I'| = session_items_max ∧ ∀ x ∈ F, y ∈ I' of the session: x < y)",
        check: StepInvariant(|policy, before, events, after| {
            let Some(gone) = over_capacity(events) else { return true };
            let added = events.iter().filter_map(|event| match event {
                Event::AddItem { item, .. } => Some(item.id),
                _ => None,
            });
            let known: BTreeSet<ItemId> =
                before.semantic().entries().map(|entry| entry.item.id).chain(added).collect();
            let kept = || items_in_force(after.semantic()).filter(|item| of_session(item));
            let is_oldest = |id: &ItemId| kept().all(|item| *id < item.id);
            after.control().request().is_none()
                && session_items(after) == capacity(policy)
                && gone.iter().all(|id| known.contains(id) && after.semantic().get(*id).is_none())
                && gone.iter().all(|id| {
                    let current = chain_end(before.semantic(), *id);
                    is_oldest(&current.unwrap_or(*id))
                })
        }),
        premise: Premise::State(is_full),
        not_applicable: without_compaction,
        ..CLAIM
    },
];

/// Whether an item ends with the session and is not the identity.
fn of_session(item: &Item) -> bool {
    !persists(item) && identity(item).is_none()
}

fn session_items(state: &State) -> usize {
    items_in_force(state.semantic()).filter(|item| of_session(item)).count()
}

/// The items that the events forget over the capacity.
pub(super) fn over_capacity<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<&'a [ItemId]> {
    events.into_iter().find_map(|event| match event {
        Event::ForgetItems { ids, cause: ForgetCause::Capacity } => Some(ids.as_slice()),
        _ => None,
    })
}

fn capacity(policy: &Policy) -> usize {
    usize::try_from(policy.compaction.session_items_max).unwrap_or(usize::MAX)
}

/// Whether the next item of the session is one too many.
fn is_full(policy: &Policy, state: &State) -> bool {
    !policy.rules.compaction || session_items(state) >= capacity(policy)
}
