//! Claims about module contexts (000 §5, decision 0024).

use super::prelude::*;
use crate::reference::contexts::{ExpectedProblem, is_pinned, payload_bytes, payload_tokens, token_limit};
use crate::sent_call::{EmittedCall, waiting_operations};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;
use orchestrion_kernel::context::{ByteMeasure, SelectionStatus, build_context};
use orchestrion_kernel::ids::{CallId, ItemId};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::selection::{Candidate, Inclusion};
use orchestrion_kernel::state::Call;
use orchestrion_optimizer::ExactSelector;

/// With more items, the claims do not enumerate every set.
const BRUTE_FORCE_ITEMS_MAX: usize = 14;

pub(super) const CONTEXTS: &[Claim] = &[
    Claim {
        id: "C-95",
        clause: "000-5.7",
        statement: "A call that is sent has a context: a closed set of readable items that contains every \
                    pinned item and fits the budget together with the payload. That of a summary contains every \
                    candidate.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ Ctx ⊆ readable(S) ∧ deps(Ctx) ⊆ Ctx ∧ pinned ⊆ Ctx ∧ cost(Ctx) + c(payload) \
                  ≤ T_M ∧ (M summarizes ⇒ Ctx = candidates))",
        check: ContextInvariant(|view, sent| {
            let ContextView { policy, state, operation, selectable, .. } = view;
            let shown: BTreeSet<ItemId> = sent.items().iter().copied().collect();
            let deps = |id: &ItemId| state.semantic().get(*id).map_or(&[][..], |entry| entry.deps.as_slice());
            let is_closed = || shown.iter().all(|id| deps(id).iter().all(|dep| shown.contains(dep)));
            let is_pinned_item = |id: &&ItemId| {
                let entry = state.semantic().get(**id);
                entry.is_some_and(|entry| is_pinned(policy, state, *operation, &entry.item))
            };
            let payload_tokens = payload_bytes(state, *operation).div_ceil(4);
            let tokens = sent.context.text.len().div_ceil(4).saturating_add(payload_tokens);
            let has_pinned = || selectable.iter().filter(is_pinned_item).all(|id| shown.contains(id));
            let is_complete = match operation {
                Operation::Summarize => sent.items() == sent.candidates(),
                _ => is_closed() && has_pinned(),
            };
            shown.is_subset(selectable)
                && is_complete
                && u64::try_from(tokens).is_ok_and(|tokens| tokens <= token_limit(policy, *operation))
        }),
        premise: Premise::Context(|view| payload_bytes(view.state, view.operation) > 0),
        ..CLAIM
    },
    Claim {
        id: "C-96",
        clause: "000-5.9",
        statement: "A context is a closed selection of maximum utility. Ties are broken by minimum cost, \
                    then by the lexicographically smallest id list.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ Ctx = lexmin argmin_c argmax_w { X closed, c(X) + c(payload) ≤ T_M })",
        check: ContextInvariant(|view, sent| {
            best_selection(&view.problem).is_none_or(|best| sent.items() == best)
        }),
        premise: Premise::Context(omits_items),
        needs_proven_contexts: true,
        ..CLAIM
    },
    Claim {
        id: "C-97",
        clause: "000-5.6",
        statement: "A call fails as over budget if and only if its pinned items and its payload exceed the \
                    budget. The event names both numbers. The kernel hands the call to no node, and accepts no reply to it.",
        formula: "□ (ToolCall(M) ∈ σ ⇒ (over_budget' ⇔ c(pinned*) + c(payload) > T_M)) ∧ □ (OverBudget(n, T) ∈ σ ⇒ n = c(pinned*) + \
                  c(payload) ∧ T = T_M ∧ CallRouted, NoCandidates ∉ σ) ∧ □ (over_budget ∧ ToolResult ∉ σ)",
        check: BudgetInvariant(|policy, before, events, emitted| {
            let is_over =
                |id: &CallId| before.control().pending_call(*id).is_some_and(|call| is_over_budget(&call));
            let answers = |event: &Event| matches!(event, Event::ToolResult { call, .. } if is_over(call));
            let is_not_made = |id: &CallId| {
                events.iter().any(|event| matches!(event, Event::OverBudget { call, .. } if call == id))
            };
            let is_routed = |event: &Event| match event {
                Event::Network(
                    NetworkEvent::CallRouted { call, .. } | NetworkEvent::NoCandidates { call, .. },
                ) => is_not_made(call),
                _ => false,
            };
            let right = |EmittedCall { call, required_tokens }: &EmittedCall| {
                let limit = token_limit(policy, call.operation);
                let names = |event: &Event| match event {
                    Event::OverBudget { call: id, required_tokens: stated, budget_tokens } => {
                        (id, stated, budget_tokens) == (&call.id, required_tokens, &limit)
                    }
                    _ => true,
                };
                is_over_budget(call) == (*required_tokens > limit) && events.iter().all(names)
            };
            !events.iter().any(|event| answers(event) || is_routed(event)) && emitted.is_none_or(right)
        }),
        premise: Premise::State(|policy, state| {
            // The pinned items alone fit.
            let by_payload = |call: &Call| {
                let payload = payload_tokens(state, call.operation);
                let required = ContextView::new(policy, state, call.operation).required_tokens();
                payload > 0 && required.saturating_sub(payload) <= token_limit(policy, call.operation)
            };
            state.control().pending_calls().iter().any(|call| is_over_budget(call) && by_payload(call))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-169",
        clause: "000-5.5",
        statement: "Each candidate of a context has the utility of its topic, its recency and the module, and costs the \
                    tokens of its line. The budget is that of the module.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ ∀ x: w(x) = w_M(S, x) ∧ c(x) = c_M(S, x) ∧ T = T_M)",
        check: ContextInvariant(|view, sent| {
            let (problem, expected) = (&sent.problem.problem, &view.problem);
            problem.budget() == expected.budget
                && problem.candidates().iter().map(numbers).eq(expected.candidates.iter().map(numbers))
        }),
        premise: Premise::Context(|view| {
            let items = view.problem.candidates.iter().take(view.problem.ids.len());
            items.map(numbers).collect::<BTreeSet<_>>().len() > 2
        }),
        ..CLAIM
    },
    Claim {
        id: "C-179",
        clause: "003-5.8",
        statement: "A small budget omits every item but the identity, signals, the message of the running request, the \
                    situation of a module that reasons, the reviews for Solution, and what these depend on. For the \
                    summarizer it omits nothing.",
        formula: "□ (ToolCall(M) ∈ σ ∧ ¬over_budget' ⇒ pinned(Ctx) = pinned_M(S))",
        check: ContextInvariant(|view, sent| {
            let pinned = |candidates: &[Candidate]| -> Vec<usize> {
                let is_pinned = |(_, one): &(usize, &Candidate)| one.inclusion == Inclusion::Pinned;
                candidates.iter().enumerate().filter(is_pinned).map(|(at, _)| at).collect()
            };
            pinned(sent.problem.problem.candidates()) == pinned(&view.problem.candidates)
        }),
        // Only a context that omits an item shows what it may omit.
        premise: Premise::Context(omits_items),
        ..CLAIM
    },
];

fn is_over_budget(call: &Call) -> bool {
    call.not_made == Some(Failure::OverBudget)
}

/// Whether the context of a pending call is not proven optimal, because the search hit the node limit of the policy.
#[must_use]
pub fn has_unproven_context(policy: &Policy, state: &State) -> bool {
    waiting_operations(state).any(|operation| is_unproven_context(policy, state, operation))
}

/// Whether the context of a call is not proven optimal.
#[must_use]
pub fn is_unproven_context(policy: &Policy, state: &State, operation: Operation) -> bool {
    build_context(policy, state, operation, &ByteMeasure, &ExactSelector::from_policy(policy))
        .is_ok_and(|context| context.status != SelectionStatus::Optimal)
}

/// The utility and the cost of a candidate.
fn numbers(candidate: &Candidate) -> (u64, u64) {
    (candidate.utility, candidate.cost)
}

/// Whether the context of a call omits readable items.
fn omits_items(view: &ContextView<'_>) -> bool {
    !is_budget_ample(&view.problem) && view.required_tokens() <= view.problem.budget
}

/// Whether all candidates together fit the budget.
fn is_budget_ample(asked: &ExpectedProblem) -> bool {
    let costs = asked.candidates.iter().map(|candidate| candidate.cost);
    costs.fold(0, u64::saturating_add) <= asked.budget
}

/// The items of the optimal set, or `None` if they do not all fit and are too many to enumerate.
fn best_selection(asked: &ExpectedProblem) -> Option<Vec<ItemId>> {
    if is_budget_ample(asked) { Some(all_useful(asked)) } else { best_by_enumeration(asked) }
}

/// The items of the optimal set where all candidates fit: those that are pinned or have utility, with everything that they depend
/// on, except for those that depend on a forbidden one.
fn all_useful(asked: &ExpectedProblem) -> Vec<ItemId> {
    let all = &asked.candidates;
    let closure = |start: usize| {
        let (mut reached, mut open) = (BTreeSet::from([start]), Vec::from([start]));
        while let Some(candidate) = open.pop().and_then(|at| all.get(at)) {
            open.extend(candidate.deps.iter().filter(|dep| reached.insert(**dep)));
        }
        reached
    };
    let is_forbidden = |at: &usize| all.get(*at).is_none_or(|one| one.inclusion == Inclusion::Forbidden);
    let is_useful = |one: &Candidate| one.inclusion == Inclusion::Pinned || one.utility > 0;
    let useful = (0..).zip(all).filter(|(_, candidate)| is_useful(candidate)).map(|(at, _)| closure(at));
    let chosen: BTreeSet<usize> = useful.filter(|set| !set.iter().any(is_forbidden)).flatten().collect();
    (0..).zip(&asked.ids).filter(|(at, _)| chosen.contains(at)).map(|(_, id)| *id).collect()
}

/// The items of the optimal set by enumeration, or `None` if there are too many items.
fn best_by_enumeration(asked: &ExpectedProblem) -> Option<Vec<ItemId>> {
    let (all, items) = (&asked.candidates, asked.ids.len());
    if items > BRUTE_FORCE_ITEMS_MAX {
        return None;
    }
    // A set is a number with one bit for each candidate.
    let bit = |at: usize| 1_u64 << at;
    let sum = |set: u64, of: fn(&Candidate) -> u64| -> u64 {
        (0..).zip(all).filter(|(at, _)| set & bit(*at) != 0).map(|(_, candidate)| of(candidate)).sum()
    };
    let marked = |mark: Inclusion| {
        (0..)
            .zip(all)
            .filter(|(_, candidate)| candidate.inclusion == mark)
            .fold(0, |set, (at, _)| set | bit(at))
    };
    let (pinned, forbidden) = (marked(Inclusion::Pinned), marked(Inclusion::Forbidden));
    let needs: Vec<u64> =
        all.iter().map(|candidate| candidate.deps.iter().fold(0, |set, dep| set | bit(*dep))).collect();
    let mut best: Option<(u64, Reverse<u64>, Reverse<Vec<ItemId>>)> = None;
    for chosen in 0..bit(items) {
        // Headings are candidates too, and follow from the items that need them.
        let needed =
            (0..).zip(&needs).filter(|(at, _)| chosen & bit(*at) != 0).fold(0, |set, (_, deps)| set | deps);
        let headings = (needed | pinned) & !bit(items).wrapping_sub(1);
        let set = chosen | headings;
        if needed & !set != 0 || pinned & !set != 0 || set & forbidden != 0 {
            continue;
        }
        let cost = sum(set, |candidate| candidate.cost);
        let utility = sum(set, |candidate| candidate.utility);
        let at_least =
            best.as_ref().is_none_or(|(most, least, _)| (utility, Reverse(cost)) >= (*most, *least));
        if cost <= asked.budget && at_least {
            let ids = (0..).zip(&asked.ids).filter(|(at, _)| chosen & bit(*at) != 0).map(|(_, id)| *id);
            best = best.max(Some((utility, Reverse(cost), Reverse(ids.collect()))));
        }
    }
    best.map(|(_, _, Reverse(ids))| ids)
}
