//! Claims on what modules are shown (000 §5, decision 0023).

use super::*;
use crate::context::{Candidate, Mark};
use crate::ids::ItemId;
use crate::item::{Item, Layer};
use crate::present::{OverBudget, Plain, Question, present, question};
use crate::state::Call;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// With more items than these, nobody tries every set.
const TRIED_MAX: usize = 14;

pub(super) const CONTEXTS: &[Claim] = &[
    Claim {
        id: "C-95",
        clause: "000-5.7",
        statement: "A module is shown nothing that may not be shown, nothing without what it rests on, and no more than its \
                    budget; who speaks and what comes from outside it is shown always. Nothing becomes known by that.",
        formula: "□ (waiting(M) ⇒ Ctx ⊆ selectable(S) ∧ deps(Ctx) ⊆ Ctx ∧ cost(Ctx) ≤ T_M ∧ pinned ⊆ Ctx ∧ S' = S)",
        check: Check::State(|policy, state| {
            let Some(call) = state.control.waiting() else { return true };
            let Ok(shown) = present(policy, state, call.ask, &Plain) else { return true };
            let known = state.semantic.clone();
            let reader = known.speaker();
            let free: BTreeSet<ItemId> = known.selectable(&reader).map(|entry| entry.item.id).collect();
            let alone = call.ask == Ask::Summarize;
            let rests = |id: &ItemId| known.get(*id).map(|entry| entry.deps.as_slice()).unwrap_or_default();
            let closed = |id: &ItemId| alone || rests(id).iter().all(|dep| shown.ids.contains(dep));
            let pinned =
                |item: &Item| !alone && matches!(item.layer, Layer::Identity(_) | Layer::Environment);
            let missing = |id: &&ItemId| {
                known.get(**id).is_some_and(|entry| {
                    pinned(&entry.item) && entry.deps.is_empty() && !shown.ids.contains(id)
                })
            };
            shown.ids.iter().all(|id| free.contains(id) && closed(id))
                && free.iter().find(missing).is_none()
                && u64::try_from(shown.text.len().div_ceil(4))
                    .is_ok_and(|tokens| tokens <= policy.contexts.room(call.ask.module()))
                && known == state.semantic
        }),
        premise: |policy, state| left_out(policy, state) > 0,
        ..CLAIM
    },
    Claim {
        id: "C-96",
        clause: "000-5.9",
        statement: "What a module is shown is worth most to it of all that it might be shown; of what is worth as much it \
                    costs least, and of that its ids are the first.",
        formula: "□ (waiting(M) ⇒ Ctx = lexmin argmin_c argmax_w { X closed, cost(X) ≤ T_M })",
        check: Check::State(|policy, state| {
            let Some(call) = state.control.waiting() else { return true };
            let (Ok(asked), Ok(shown)) =
                (asked(policy, state, call), present(policy, state, call.ask, &Plain))
            else {
                return true;
            };
            best(&asked).is_none_or(|best| shown.ids == best)
        }),
        premise: |policy, state| left_out(policy, state) > 0,
        ..CLAIM
    },
    Claim {
        id: "C-97",
        clause: "000-5.6",
        statement: "A module is not asked where what it must be shown does not fit, and only there; such a call is never \
                    answered, it fails.",
        formula: "□ (ToolCall(M) ∈ σ ⇒ (over_budget' ⇔ c(pinned*) > T_M)) ∧ □ (over_budget ∧ ToolResult ∉ σ)",
        check: Step(|policy, before, events, after| {
            let over = |state: &State| of_request(state, |request| request.over_budget);
            let answered = events.iter().any(|event| matches!(event, Event::ToolResult { .. }));
            let calls = events.iter().any(|event| matches!(event, Event::ToolCall { .. }));
            let right = |call: Call| over(after) == asked(policy, after, call).is_err();
            !(answered && over(before)) && (!calls || after.control.waiting().is_none_or(right))
        }),
        premise: |_, state| of_request(state, |request| request.over_budget),
        ..CLAIM
    },
];

/// What may be chosen for a call, as the kernel itself counts.
fn asked(policy: &Policy, state: &State, call: Call) -> Result<Question, OverBudget> {
    let room = policy.contexts.room(call.ask.module());
    question(policy, &state.semantic, state.control.request(), call.ask, room, &Plain)
}

/// How many of the items that might be shown to the module that is asked are left out.
fn left_out(policy: &Policy, state: &State) -> usize {
    let Some(call) = state.control.waiting() else { return 0 };
    match (asked(policy, state, call), present(policy, state, call.ask, &Plain)) {
        (Ok(asked), Ok(shown)) => asked.ids.len().saturating_sub(shown.ids.len()),
        _ => 0,
    }
}

/// The items of the set that counts, found by trying every one; nothing where there are too many.
fn best(asked: &Question) -> Option<Vec<ItemId>> {
    let items = asked.ids.len();
    if items > TRIED_MAX {
        return None;
    }
    let all = asked.problem.candidates();
    let mark = |at: usize| all.get(at).map(|candidate| candidate.mark).unwrap_or_default();
    let deps = |at: usize| all.get(at).map(|candidate| candidate.deps.as_slice()).unwrap_or_default();
    let mut best: Option<(u64, Reverse<u64>, Reverse<Vec<ItemId>>)> = None;
    for number in 0_u32..1 << items {
        let chosen = |at: usize| at < items && number >> at & 1 == 1;
        let needed = |at: usize| (0..).zip(all).any(|(by, other)| chosen(by) && other.deps.contains(&at));
        // A heading, which is none of the items, is there where it is needed.
        let has = |at: usize| chosen(at) || at >= items && (needed(at) || mark(at) == Mark::Pinned);
        let as_marked = |at: usize| match mark(at) {
            Mark::Pinned => has(at),
            Mark::Forbidden => !has(at),
            Mark::Free => true,
        };
        let closed = |at: usize| !has(at) || deps(at).iter().all(|dep| has(*dep));
        if !(0..all.len()).all(|at| as_marked(at) && closed(at)) {
            continue;
        }
        let sum = |of: fn(&Candidate) -> u64| -> u64 {
            (0..).zip(all).filter(|(at, _)| has(*at)).map(|(_, candidate)| of(candidate)).sum()
        };
        let cost = sum(|candidate| candidate.cost);
        if cost <= asked.problem.budget() {
            let ids = (0..).zip(&asked.ids).filter(|(at, _)| chosen(*at)).map(|(_, id)| *id).collect();
            best = best.max(Some((sum(|candidate| candidate.utility), Reverse(cost), Reverse(ids))));
        }
    }
    best.map(|(_, _, Reverse(ids))| ids)
}
