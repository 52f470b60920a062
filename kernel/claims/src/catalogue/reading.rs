//! Claims about what a module reads: the context that a call receives, compared with a reference.

use super::prelude::*;
use crate::SentCall;
use crate::reference::items::{fact_keys, facts_in_force, is_in_force, session_identity};
use crate::reference::plans::call_scope;
use crate::reference::reading::{
    current_value, expires_at, has_expired, is_for_session, is_in_scope, readable_facts,
};
use alloc::vec::Vec;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::{Item, Layer, Rank};
use orchestrion_kernel::knowledge::Principal;
use orchestrion_kernel::semantic::Entry;

pub(super) const READING: &[Claim] = &[
    Claim {
        id: "C-54",
        clause: "003-9.1",
        statement: "No context contains a superseded or denied item.",
        formula: "□ (∃ y valid: supersedes(y) = x ∨ denied(x) ⇒ x ∉ Ctx)",
        check: ContextInvariant(|ContextView { state, .. }, sent| {
            // Derived from the successors' links, not from the item's own validity.
            let valid = state.semantic().entries().filter(|entry| is_in_force(&entry.item));
            let facts = valid.filter_map(|entry| entry.item.fact());
            let named: Vec<_> = facts.filter_map(|fact| Some((fact.supersedes?, &fact.scope))).collect();
            shown_items(state, sent).all(|item| {
                let is_named = item.fact().is_some_and(|fact| named.contains(&(item.id, &fact.scope)));
                !is_named && is_in_force(item)
            })
        }),
        premise: Premise::Context(|view| has_item(view.state, |item| !is_in_force(item))),
        ..CLAIM
    },
    Claim {
        id: "C-55",
        clause: "003-2.21",
        statement: "A context contains an item in a task, hypothetical or draft scope only if its call runs in this scope.",
        formula: "□ (scope(x) ∉ {global, session, scope(call)} ⇒ x ∉ Ctx)",
        check: ContextInvariant(|ContextView { state, operation, .. }, sent| {
            let scope = call_scope(state, *operation);
            shown_items(state, sent).all(|item| is_in_scope(item, scope))
        }),
        premise: Premise::Context(|ContextView { state, operation, .. }| {
            let scope = call_scope(state, *operation);
            has_item(state, |item| is_in_force(item) && !is_in_scope(item, scope))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-56",
        clause: "003-8.4",
        statement: "A context contains a restricted fact only if the session user belongs to its audience, and an item of a \
                    request only if it belongs to the session user.",
        formula: "□ (x ∈ Ctx ⇒ session ∈ audience(x)) ∧ □ (x ∈ Ctx of a request ⇒ user(x) = session)",
        check: ContextInvariant(|ContextView { state, .. }, sent| {
            shown_items(state, sent).all(|item| is_for_session(state, item))
        }),
        premise: Premise::Context(|ContextView { state, .. }| {
            has_item(state, |item| is_in_force(item) && !is_for_session(state, item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-57",
        clause: "003-3.5",
        statement: "No context contains an expired item.",
        formula: "□ (expires_at(x) ≤ now ⇒ x ∉ Ctx)",
        check: ContextInvariant(|ContextView { state, .. }, sent| {
            shown_items(state, sent).all(|item| !has_expired(item, state.now()))
        }),
        premise: Premise::Context(|ContextView { state, .. }| {
            has_item(state, |item| has_expired(item, state.now()))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-104",
        clause: "003-2.21",
        statement: "The candidates of a context are exactly the items that its call may read: valid, not expired, in its \
                    scope, for its user, and not shadowed. Those of a summary are readable too.",
        formula: "□ (ToolCall(M) ∈ σ ⇒ candidates = readable(S, scope(M))), or ⊆ if M summarizes",
        check: ContextInvariant(|ContextView { operation, readable, .. }, sent| {
            let mut candidates = sent.candidates().iter();
            candidates.all(|id| readable.contains(id))
                && (*operation == Operation::Summarize || sent.candidates().len() == readable.len())
        }),
        premise: Premise::Context(|view| view.readable.len() < view.state.semantic().entries().count()),
        ..CLAIM
    },
    Claim {
        id: "C-210",
        clause: "003-5.10",
        statement: "The current value of a key is that of the valid fact that the reader may read, else of the end of its chain, else \
                    nothing; a narrower fact that names it comes first. A key is current if such a fact has it.",
        formula: "□ (∀ k: value(k) = value(S, k, reader)) ∧ □ (current(k) ⇔ ∃ x readable: k ∈ keys(x)) ∧ □ (read_facts = valid facts)",
        check: SemanticInvariant(|_, state| {
            let known = state.semantic();
            let identity = session_identity(known);
            let reader = Principal {
                user: state.session().cloned(),
                rank: identity.map_or(Rank::Unverified, |identity| identity.rank),
                permissions: identity.map(|identity| identity.permissions.clone()).unwrap_or_default(),
                scope: state.request_scope().cloned().unwrap_or_default(),
                now: state.now(),
            };
            let mut keys: Vec<&Text> = known.entries().flat_map(|entry| fact_keys(&entry.item)).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().all(|key| {
                let is_current = readable_facts(state).any(|item| fact_keys(item).any(|own| own == key));
                known.get_current_value(key, &reader) == current_value(state, key)
                    && known.is_fact_current(key, &reader) == is_current
            }) && known.read_valid_facts().eq(facts_in_force(known))
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| entry.item.fact().is_some() && !is_in_force(&entry.item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-211",
        clause: "003-4.3",
        statement: "The conversation only reads the environment: only a write, which is no input of a user or a module, adds or changes \
                    a signal. Nothing removes one.",
        formula: "□ (x' ≠ x ∧ signal(x) ⇒ σ is a write) ∧ □ (x ∈ F ⇒ ¬signal(x))",
        check: StepInvariant(|_, before, events, _| {
            let signal = |id: ItemId| {
                let item = before.semantic().get(id).map(|entry| &entry.item);
                item.filter(|item| matches!(item.layer, Layer::Environment))
            };
            // The batch of a write has item events only, after those of the time.
            let is_of_write = |event: &Event| {
                matches!(
                    event,
                    Event::AddItem { .. }
                        | Event::UpdateItem { .. }
                        | Event::ForgetItems { .. }
                        | Event::TimeAdvanced { .. }
                )
            };
            events.iter().all(|event| match event {
                Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                    let is_signal = signal(item.id).is_some() || matches!(item.layer, Layer::Environment);
                    !is_signal || signal(item.id) == Some(item) || events.iter().all(is_of_write)
                }
                Event::ForgetItems { ids, .. } => ids.iter().all(|id| signal(*id).is_none()),
                _ => true,
            })
        }),
        premise: Premise::State(|policy, state| {
            let items = state.semantic().entries().map(|entry| &entry.item);
            running(policy, state) && items.into_iter().any(|item| matches!(item.layer, Layer::Environment))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-111",
        clause: "003-3.5",
        statement: "The time never goes back. When it advances, every expired item leaves on which no remaining item depends.",
        formula: "□ (now ≤ now') ∧ □ (now < now' ∧ x ∈ I' ∧ expires_at(x) ≤ now' ⇒ ∃ y ∈ I': x ∈ deps(y))",
        check: SemanticStepInvariant(|_, before, _, after| {
            let is_needed = |id: ItemId| after.semantic().entries().any(|entry| entry.deps.contains(&id));
            let is_kept = |entry: &Entry| !has_expired(&entry.item, after.now()) || is_needed(entry.item.id);
            before.now() == after.now()
                || before.now() < after.now() && after.semantic().entries().all(is_kept)
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| has_expired(&entry.item, state.now()))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-112",
        clause: "decision 0036",
        statement: "A tick advances the time to the next expiry. It is refused if no item expires.",
        formula: "□ (tick ⇒ now' = min { expires_at(x) > now }), or refused if there is none",
        check: ResponseInvariant(|_, decide, state| {
            let times = state.semantic().entries().filter_map(|entry| expires_at(&entry.item));
            let next = times.filter(|at| *at > state.now()).min();
            let advances = |events: &[Event]| {
                events.iter().find_map(|event| match event {
                    Event::TimeAdvanced { now } => Some(*now),
                    _ => None,
                })
            };
            decide(state, &Input::Tick).ok().map(|events| advances(&events)) == next.map(Some)
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| expires_at(&entry.item).is_some_and(|at| at > state.now()))
        }),
        ..CLAIM
    },
];

/// Whether the state has such an item.
fn has_item(state: &State, is: impl Fn(&Item) -> bool) -> bool {
    state.semantic().entries().any(|entry| is(&entry.item))
}

/// The items of a context.
fn shown_items<'a>(state: &'a State, sent: &'a SentCall) -> impl Iterator<Item = &'a Item> {
    sent.items().iter().filter_map(|id| state.semantic().get(*id)).map(|entry| &entry.item)
}
